"""Comparing answers from the command line, where it is interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from rag_cover.backends import Generation
from rag_cover.cli.commands.pairwise import Contest
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.llm.cache import ResponseFile
from rag_cover.llm.session import LLMSession
from rag_cover.questions import Question
from rag_cover.testing import ScriptedGenerator
from rag_cover.traces import Trace


class Interrupted(ScriptedGenerator):
    """Plays the impatient user."""

    def generate(self, *_: object, **__: object) -> list[Generation]:
        raise KeyboardInterrupt


def said(answer: str) -> Evaluation:
    return evaluate([Trace(question=Question("Why?"), answer=answer)], measures=["groundedness"])


@pytest.mark.parametrize("cached", [True, False])
def test_an_interrupt_says_whether_what_was_answered_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *, cached: bool
) -> None:
    contest = Contest(Interrupted(), run=LLMSession(ResponseFile(tmp_path / "answers.sqlite") if cached else None))

    with pytest.raises(typer.Exit) as ended:
        contest.hold([said("It is."), said("It was.")], ["a", "b"], "same", report=None, as_json=False, quiet=False)

    assert ended.value.exit_code == 130
    assert ("What was answered is kept; the same command goes on." in capsys.readouterr().err) == cached
