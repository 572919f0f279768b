"""Calls of no kind of their own have the kind of what they did, told by what went in and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.spans.kinds import read_spans
from rag_cover.spans.model import CallSpan, SpanKind, SpanTree, trees
from rag_cover.spans.traces import trace_of_tree
from rag_cover.traces import Trace

QUESTION = "Why is the sky blue?"
BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def passages(*ids: str) -> list[dict[str, Any]]:
    return [{"id": id_, "text": f"Text of {id_}.", "metadata": {}} for id_ in ids]


def shown(*ids: str) -> str:
    return "Use this:\n" + "\n".join(passage["text"] for passage in passages(*ids))


class Pipeline:
    """Spans one after another, each under the root unless told otherwise."""

    def __init__(self, **root: Any) -> None:
        self.spans = [
            CallSpan("root", "t", started_at=BEGAN, **({"kind": "question", "name": "Chain", "query": QUESTION} | root))
        ]

    def add(self, id_: str, under: str = "root", kind: SpanKind = "other", **fields: Any) -> Pipeline:
        started = BEGAN + timedelta(seconds=len(self.spans))
        self.spans.append(CallSpan(id_, "t", under, kind, id_, started_at=started, **fields))
        return self

    @property
    def tree(self) -> SpanTree:
        (tree,) = trees(self.spans)
        return read_spans(tree)

    @property
    def kinds(self) -> dict[str, str]:
        return {span.id: span.kind for span in self.tree.spans}

    @property
    def trace(self) -> Trace:
        return trace_of_tree(self.tree)

    @property
    def steps(self) -> list[tuple[str, str, list[str | None], tuple[str, ...]]]:
        return [(step.id, step.kind, [each.id for each in step.passages], step.input_ids) for step in self.trace.steps]

    @property
    def prompt(self) -> list[str | None] | None:
        return None if self.trace.prompt is None else [each.id for each in self.trace.prompt]


def test_what_returns_passages_that_were_nowhere_before_retrieved_them() -> None:
    pipeline = Pipeline().add("search", passages=passages("a", "b"))

    assert pipeline.steps == [("search", "retrieve", ["a", "b"], ())]
    assert pipeline.trace.steps[0].query == QUESTION


def test_what_returns_some_of_what_it_was_given_filters() -> None:
    pipeline = Pipeline().add("search", passages=passages("a", "b"))
    pipeline.add("grade", consumed=passages("a", "b"), passages=passages("b"))

    assert pipeline.steps[1:] == [("grade", "filter", ["b"], ("search",))]


@pytest.mark.parametrize("kept", [("a", "b", "c"), ("a", "b")])
def test_what_gives_passages_another_score_reranks_also_where_their_order_is_kept(kept: tuple[str, ...]) -> None:
    scored = [{**passage, "score": 0.5} for passage in passages(*kept)]

    pipeline = Pipeline().add("search", kind="retriever", passages=passages("a", "b", "c"))
    pipeline.add("judge", consumed=passages("a", "b", "c"), passages=scored)

    assert [step[:2] for step in pipeline.steps] == [("search", "retrieve"), ("judge", "rerank")]


def test_what_returns_all_it_was_given_in_another_order_reranks_and_in_the_same_order_did_nothing() -> None:
    given_ = passages("a", "b")
    pipeline = Pipeline().add("search", passages=given_)
    pipeline.add("same", consumed=given_, passages=given_).add("turn", consumed=given_, passages=given_[::-1])

    assert [step[:2] for step in pipeline.steps] == [("search", "retrieve"), ("turn", "rerank")]


def test_what_adds_passages_to_those_it_was_given_retrieved_the_new_ones_alone() -> None:
    pipeline = Pipeline().add("search", passages=passages("a"))
    pipeline.add("web", consumed=passages("a"), passages=passages("a", "w"))

    assert pipeline.steps[1:] == [("web", "retrieve", ["w"], ())]


def test_what_hands_on_what_was_found_within_it_is_no_step() -> None:
    pipeline = Pipeline().add("node", passages=passages("a")).add("Dense", "node", "retriever", passages=passages("a"))

    assert pipeline.steps == [("Dense", "retrieve", ["a"], ())]


def test_what_writes_from_passages_is_where_the_answer_comes_from() -> None:
    pipeline = Pipeline(answer="Air.").add("search", passages=passages("a", "b"))
    pipeline.add("write", consumed=passages("b"), answer="Air.")

    assert (pipeline.kinds["write"], pipeline.prompt) == ("synthesis", ["b"])


def test_a_model_wrote_from_the_passages_that_it_was_shown_in_their_order_there() -> None:
    pipeline = Pipeline(answer="Air.").add("search", passages=passages("a", "b", "c"))
    pipeline.add("model", kind="llm", prompt=shown("c", "a"), answer="Air.")

    assert pipeline.prompt == ["c", "a"]


def test_a_model_that_is_asked_within_a_choice_answers_nothing() -> None:
    pipeline = Pipeline(answer="Air.").add("search", passages=passages("a", "b"))
    pipeline.add("grade", consumed=passages("a", "b"), passages=passages("a"))
    pipeline.add("grader", "grade", "llm", prompt=shown("b"), answer="no")

    assert (pipeline.kinds["grader"], pipeline.prompt) == ("llm", None)


def test_a_model_within_what_retrieves_wrote_the_answer_if_it_is_the_answer() -> None:
    pipeline = Pipeline(answer="Air.").add("both", passages=passages("a"))
    pipeline.add("model", "both", "llm", prompt=shown("a"), answer="Air.")

    assert (pipeline.steps, pipeline.prompt) == ([("both", "retrieve", ["a"], ())], ["a"])


def test_what_looks_like_writing_is_none_where_a_model_was_shown_the_passages() -> None:
    pipeline = Pipeline(answer="Air. [1]").add("search", passages=passages("a", "b"))
    pipeline.add("model", kind="llm", prompt=shown("a"), answer="Air.")
    pipeline.add("route", consumed=passages("a", "b"), answer="useful")

    assert (pipeline.kinds["route"], pipeline.prompt) == ("other", ["a"])


def test_a_model_that_checks_the_answer_afterwards_did_not_write_it() -> None:
    pipeline = Pipeline(answer="Air does it. [1]").add("search", passages=passages("a", "b"))
    pipeline.add("model", kind="llm", prompt=shown("a"), answer="Air does it.")
    pipeline.add("checker", kind="llm", prompt=shown("b"), answer="yes")

    assert pipeline.prompt == ["a"]


def test_an_answer_that_is_written_from_notes_was_written_from_what_the_notes_were() -> None:
    pipeline = Pipeline(answer="Both.").add("search", passages=passages("a", "b"))
    pipeline.add("note-1", kind="llm", prompt=shown("a"), answer="One.").add(
        "note-2", kind="llm", prompt=shown("b"), answer="Two."
    )
    pipeline.add("model", kind="llm", prompt="One. Two.", answer="Both.")

    assert pipeline.prompt == ["a", "b"]


def test_what_the_root_was_given_was_retrieved_somewhere() -> None:
    pipeline = Pipeline(consumed=passages("a")).add("grade", consumed=passages("a"), passages=[])

    assert pipeline.steps == [("root/given", "retrieve", ["a"], ())]


def test_what_the_root_returns_and_nobody_else_found_it_found_itself() -> None:
    assert Pipeline(passages=passages("a")).steps == [("root/own", "retrieve", ["a"], ())]


def test_what_is_remembered_is_no_step_and_in_the_prompt_where_a_model_was_shown_it() -> None:
    pipeline = Pipeline(answer="Air.", remembered=passages("old", "older")).add("search", passages=passages("a"))
    pipeline.add("model", kind="llm", prompt=shown("old", "a"), answer="Air.")

    assert (pipeline.steps, pipeline.prompt) == ([("search", "retrieve", ["a"], ())], ["old", "a"])


def test_a_choice_that_does_not_say_for_what_was_made_for_the_question() -> None:
    pipeline = Pipeline().add("search", passages=passages("a"))
    pipeline.add("grade", kind="postprocessor", consumed=passages("a"))

    assert [step.query for step in pipeline.trace.steps] == [QUESTION] * 2


def test_a_tool_by_itself_answered_nothing() -> None:
    pipeline = Pipeline(kind="tool", passages=[{"id": None, "text": "a, b", "metadata": {}}])
    pipeline.add("Dense", "root", "retriever", passages=passages("a", "b"))

    assert (pipeline.prompt, [step[0] for step in pipeline.steps]) == (None, ["Dense"])


KINDS: tuple[SpanKind, ...] = ("other", "other", "other", "llm", "retriever", "tool", "postprocessor", "reranker", "question")
IDS = st.lists(st.sampled_from("abcd"), max_size=4, unique=True)


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    answers = st.sampled_from([None, "Air.", "yes"])
    pipeline = Pipeline(answer=draw(answers), consumed=passages(*draw(IDS)), remembered=passages(*draw(IDS)))
    for number in range(draw(st.integers(0, 7))):
        under = draw(st.sampled_from([span.id for span in pipeline.spans]))
        fields = {"passages": passages(*draw(IDS)), "consumed": passages(*draw(IDS)), "prompt": shown(*draw(IDS))}
        pipeline.add(f"s{number}", under, draw(st.sampled_from(KINDS)), answer=draw(answers), **fields)
    return pipeline


def _known(spans: Sequence[CallSpan]) -> set[str]:
    brought = [passage for span in spans for passage in (*span.passages, *span.consumed, *span.remembered)]
    return {passage["id"] for passage in brought}


@given(pipelines())
def test_whatever_happened_becomes_a_trace_of_what_was_there(pipeline: Pipeline) -> None:
    trace = pipeline.trace

    assert Trace.model_validate_json(trace.to_json()) == trace
    assert trace.answer == pipeline.spans[0].answer or trace.answer in {span.answer for span in pipeline.spans}
    assert {each.id for step in trace.steps for each in step.passages} <= _known(pipeline.spans)
    assert {each.id for each in trace.prompt or ()} <= _known(pipeline.spans)


@given(pipelines())
def test_what_has_a_kind_keeps_it_unless_it_is_a_model_that_was_shown_passages(pipeline: Pipeline) -> None:
    kinds = pipeline.kinds

    for span in pipeline.spans:
        kept = {span.kind} | ({"synthesis"} if span.kind == "llm" else set())
        assert span.kind == "other" or kinds[span.id] in kept
