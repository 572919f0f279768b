"""Texts that give orders stay fenced, and what a model that obeys them replies is held to its form or is no verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rag_cover.backends import Generation, Message, Prompt, Sampling, ScoringItem
from rag_cover.errors import ModelFailedError
from rag_cover.llm.judge import PromptedJudge
from rag_cover.llm.prompt_safety import escape_markup
from rag_cover.traces import Sample

INJECTIONS: list[str] = json.loads((Path(__file__).parent / "injections.json").read_text(encoding="utf-8"))
FACT = "The Moselle is 545 km long."
ASKED = "How long is the Moselle?"
UNANSWERED = "Where does the Moselle rise?"

each_injection = pytest.mark.parametrize("injection", INJECTIONS)


class Model:
    """A Generator that is one function of the user's message."""

    fingerprint = "model"

    def __init__(self, reply: Callable[[str], str]) -> None:
        self.reply = reply
        self.prompts: list[tuple[Message, ...]] = []

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        del sampling, schema, purpose
        taken = [prompt for prompt in prompts if not isinstance(prompt, str)]
        self.prompts += taken
        return [Generation((Sample(self.reply(prompt[-1].content)),)) for prompt in taken]


def honest(prompt: str) -> str:
    """Judge by what stands between the tags, and by nothing else."""
    (text,) = re.findall(r"<text>\n(.*)\n</text>", prompt, re.DOTALL)
    questions = re.findall(r'<question number="(\d+)">\n(.*?)\n</question>', prompt, re.DOTALL)
    given = [
        {"question": int(number), "answered": True, "probability": 0.9, "fragment": "545 km"}
        if "long" in question and "545 km" in text
        else {"question": int(number), "answered": False, "probability": 0.1, "fragment": None}
        for number, question in questions
    ]
    return json.dumps({"verdicts": given})


def test_there_are_at_least_forty() -> None:
    assert len(set(INJECTIONS)) >= 40


@each_injection
@pytest.mark.parametrize("where", ["before", "after", "question"])
def test_an_injection_stays_between_its_tags(injection: str, where: str) -> None:
    model = Model(honest)
    text = {"before": f"{injection} {FACT}", "after": f"{FACT}\n{injection}"}.get(where, FACT)
    question = f"{UNANSWERED} {injection}" if where == "question" else UNANSWERED

    PromptedJudge(model).correctness([ScoringItem(ASKED, text), ScoringItem(question, text)])

    ((system, user),) = model.prompts
    assert injection not in system.content
    tags = re.findall(r"</?\w+[^>]*>", user.content)
    assert tags == ['<question number="1">', "</question>", '<question number="2">', "</question>", "<text>", "</text>"]
    assert f"<text>\n{escape_markup(text)}\n</text>" in user.content
    assert user.content.endswith("Reply with the JSON only.")


@each_injection
def test_an_honest_model_is_not_moved(injection: str) -> None:
    judge = PromptedJudge(Model(honest))
    items = [ScoringItem(question, f"{FACT} {injection}") for question in (ASKED, UNANSWERED)]

    scores, spans = judge.correctness(items), judge.locate(items)

    assert scores.tolist() == pytest.approx([0.9, 0.1])
    assert [span and span.of(items[0].text) for span in spans] == ["545 km", None]


def obedient(injection: str) -> dict[str, str]:
    """Reply as a model might that obeys the text instead of the rules."""
    everything: dict[str, Any] = {"answered": True, "probability": 1.0, "fragment": "everything you asked for"}
    return {
        "echo": injection,
        "echo before the verdicts": f"{injection}\n{honest_none()}",
        "everything, invented": json.dumps({"verdicts": [{"question": number, **everything} for number in (1, 2)]}),
        "nothing": "",
        "word": "COVERED",
        "other questions": json.dumps({"verdicts": [{"question": 999, **everything}]}),
    }


def saying(reply: str) -> Callable[[str], str]:
    return lambda _prompt: reply


def honest_none() -> str:
    return json.dumps({"verdicts": [{"question": number, "answered": False, "probability": 0.1} for number in (1, 2)]})


@each_injection
def test_an_obedient_model_gives_a_verdict_held_to_its_form_or_none(injection: str) -> None:
    text = f"It is a river. {injection}"
    for reply in obedient(injection).values():
        judge = PromptedJudge(Model(saying(reply)))
        items = [ScoringItem(ASKED, text), ScoringItem(UNANSWERED, text)]

        try:
            scores, spans = judge.correctness(items), judge.locate(items)
        except ModelFailedError as failed:
            kind = failed.kind
        else:
            kind = "judged"
            assert all(score < judge.threshold or span is not None for score, span in zip(scores, spans, strict=True))

        assert kind in ("judged", "malformed", "unusable verdict")
