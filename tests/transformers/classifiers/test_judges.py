"""Checkpoints as judges of whole evaluations and of the command line, by their folder's name alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate
from rag_cover.backends import Abstention, ScoringItem
from rag_cover.cli import app
from rag_cover.judge_check.run import check_judge
from rag_cover_transformers.canaries import QUESTIONS

Folder = Callable[[str], Path]


class NeverAbstains:
    """Tells no reply that declines to answer, and needs no weights."""

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return ["no" for _ in items]


@pytest.fixture(params=["bert", "deberta", "bart", "writing t5", "writing bart"])
def judge(request: pytest.FixtureRequest, nli_folder: Folder, writing_folder: Folder) -> str:
    kind = request.param
    folder = writing_folder(kind.removeprefix("writing ")) if kind.startswith("writing") else nli_folder(kind)
    return f"transformers:{folder}"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows = [
        {"question": question, "text": text, "label": int(text == texts[0])} for question, *texts in QUESTIONS for text in texts
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_folder_is_held_against_labels(judge: str, labels: Path) -> None:
    check = check_judge(labels, judge=judge)

    assert check.judge.startswith("transformers:")
    assert check.reference_free is not None
    assert check.reference_free.agreement is not None
    assert check.reference_free.agreement.estimate == 1


def test_a_folder_judges_coverage_and_groundedness(judge: str) -> None:
    question, right, _ = QUESTIONS[0]
    trace = Trace(
        question=Question(question),
        steps=(RetrievalStep(passages=(Passage(right),)),),
        answer=right,
        sub_questions=(SubQuestion(question, role="core"),),
    )

    (result,) = evaluate(
        [trace], models=Models(judge=judge, abstention=NeverAbstains()), measures=["coverage", "groundedness"]
    ).results

    assert result.coverage is not None
    assert result.groundedness is not None
    assert not result.failures


def test_the_command_checks_a_folder(nli_folder: Folder, labels: Path) -> None:
    command = ["judge", "check", "--labels", str(labels), "--judge", f"transformers:{nli_folder('bert')}", "--json"]

    done = CliRunner().invoke(app, command)

    document = json.loads(done.stdout)
    assert done.exit_code in (0, 1)  # 1: a tiny network gets the command's own plain cases wrong
    assert document["judge"].startswith("transformers:")
