"""Drafts become traces that say no more than what was seen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_cover.recording.calls import Call, TraceDraft
from rag_cover.recording.trace_builder import TraceBuilder

BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def draft(root: Call, *calls: Call) -> TraceDraft:
    for call in calls:
        call.parent = call.parent or root.id
    return TraceDraft(root, calls=[root, *calls], over=True, taken=True)


def ended(id_: str, kind: str, **fields: object) -> Call:
    return Call(id_, kind, id_, ended_at=BEGAN, started_at=BEGAN, **fields)  # type: ignore[arg-type]  # its fields


def test_a_retrieval_that_never_ended_did_not_find_nothing() -> None:
    hanging = Call("Dense", "retriever", "Dense", query="Why?", started_at=BEGAN)

    trace = TraceBuilder({}).trace(draft(ended("Chain", "question", query="Why?"), hanging))

    assert [(step.passages, step.error) for step in trace.steps] == [((), "it was not over when its question was")]


@pytest.mark.parametrize("answer", [None, "Air."])
def test_what_models_said_on_the_way_is_no_answer_of_a_question_without_one(answer: str | None) -> None:
    rewriting = ended("model", "llm", prompt="Rewrite.", answer="Why is it blue?")

    trace = TraceBuilder({}).trace(draft(ended("Chain", "question", query="Why?", answer=answer), rewriting))

    assert trace.answer == answer


def test_a_reply_that_cannot_be_read_leaves_what_else_is_known_of_the_call() -> None:
    def refuse() -> dict[str, object]:
        message = "the server's object is closed"
        raise RuntimeError(message)

    readers = (lambda: {"model": "named before"}, refuse, lambda: {"model": "named after", "prompt_tokens": 3})
    asking = ended("model", "llm", prompt="Why?", answer="Air.", llm={"finish_reason": "stop"}, llm_readers=readers)

    trace = TraceBuilder({}).trace(draft(ended("Chain", "question", query="Why?", answer="Air."), asking))

    (call,) = trace.calls or ()
    assert (call.model, call.prompt_tokens, call.finish_reason, call.output) == ("named after", 3, "stop", "Air.")


def test_halves_of_characters_and_what_json_does_not_know_are_mended_in_metadata() -> None:
    found = {
        "id": "p",
        "text": "Air.",
        "metadata": {"half": "a \ud83d", "when": BEGAN, "n": float("nan"), "share": 0.5, "ü": 1},
    }
    searching = ended("Dense", "retriever", query="Why?", passages=[found])

    trace = TraceBuilder({}).trace(draft(ended("Chain", "question", query="Why?"), searching))

    (passage,) = trace.steps[0].passages
    assert passage.metadata == {"half": "a \ufffd", "when": BEGAN.isoformat(), "n": None, "share": 0.5, "ü": 1}


def test_what_is_remembered_from_earlier_questions_is_no_step() -> None:
    old = {"id": "old", "text": "Violet scatters, too.", "metadata": {}}
    root = ended("Chain", "question", query="Why?", answer="Air.", remembered=[old])

    trace = TraceBuilder({}).trace(draft(root, ended("model", "llm", prompt="Violet scatters, too.", answer="Air.")))

    assert (trace.steps, [each.id for each in trace.prompt or ()]) == ((), ["old"])
