"""Spans of a pipeline as steps: what was retrieved, what chose among it, and what the answer was written from."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.spans.model import CallSpan, SpanKind, trees
from rag_cover.spans.steps import steps_of
from rag_cover.spans.traces import trace_of_tree
from rag_cover.traces import Trace

QUESTION = "Why is the sky blue?"
BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def passage(id_: str | None, text: str | None = None) -> dict[str, Any]:
    return {"id": id_, "text": f"Text of {id_}." if text is None else text, "metadata": {}}


def passages(*ids: str) -> list[dict[str, Any]]:
    return [passage(id_) for id_ in ids]


class Pipeline:
    """Spans one after another, each under the root unless told otherwise."""

    def __init__(self, **root: Any) -> None:
        asked = {"kind": "question", "name": "Engine", "query": QUESTION} | root
        self.spans = [CallSpan("root", "t", started_at=BEGAN, **asked)]

    def add(self, id_: str, kind: SpanKind, under: str = "root", **fields: Any) -> Pipeline:
        started = BEGAN + timedelta(seconds=len(self.spans))
        asked = {"query": QUESTION} | fields
        self.spans.append(CallSpan(id_, "t", under, kind, id_, started_at=started, **asked))
        return self

    @property
    def trace(self) -> Trace:
        (tree,) = trees(self.spans)
        return trace_of_tree(tree)

    @property
    def steps(self) -> list[tuple[str, str, list[str | None], tuple[str, ...]]]:
        """Each step's id, kind, passages by id, and inputs."""
        return [(step.id, step.kind, [each.id for each in step.passages], step.input_ids) for step in self.trace.steps]

    @property
    def prompt(self) -> list[str | None] | None:
        prompt = self.trace.prompt
        return None if prompt is None else [each.id for each in prompt]


def test_a_retriever_around_others_joins_what_they_found() -> None:
    pipeline = Pipeline().add("Fusion", "retriever", passages=passages("b", "a"))
    pipeline.add("Dense", "retriever", "Fusion", passages=passages("a", "b")).add(
        "BM25", "retriever", "Fusion", passages=passages("b", "c")
    )

    assert pipeline.steps == [
        ("Dense", "retrieve", ["a", "b"], ()),
        ("BM25", "retrieve", ["b", "c"], ()),
        ("Fusion", "fuse", ["b", "a"], ("Dense", "BM25")),
    ]
    assert [step.parent_id for step in pipeline.trace.steps] == ["Fusion", "Fusion", None]
    assert [each.id for each in pipeline.trace.contexts()[-1]] == ["b", "a"]


def test_a_retriever_that_adds_passages_of_its_own_to_what_another_found_retrieved_them() -> None:
    pipeline = Pipeline().add("AutoMerging", "retriever", passages=passages("parent", "leaf-3"))
    pipeline.add("Dense", "retriever", "AutoMerging", passages=passages("leaf-1", "leaf-2", "leaf-3"))

    assert pipeline.steps == [
        ("Dense", "retrieve", ["leaf-1", "leaf-2", "leaf-3"], ()),
        ("AutoMerging/own", "retrieve", ["parent"], ()),
        ("AutoMerging", "filter", ["parent", "leaf-3"], ("Dense", "AutoMerging/own")),
    ]


def test_what_is_taken_out_of_a_passage_is_chosen_and_not_retrieved() -> None:
    whole = passage("a", "The sky is blue because air scatters blue light.")
    taken = passage(None, "air scatters blue light")
    around = Pipeline().add("Extractor", "retriever", passages=[taken])
    around.add("Dense", "retriever", "Extractor", passages=[whole])
    after = Pipeline().add("Dense", "retriever", passages=[whole])
    after.add("Extractor", "postprocessor", consumed=[whole], passages=[taken])

    assert [step[:2] for step in around.steps] == [("Dense", "retrieve"), ("Extractor", "filter")]
    assert [step[:2] for step in after.steps] == [("Dense", "retrieve"), ("Extractor", "rerank")]
    assert [each.text for each in after.trace.contexts()[-1]] == ["air scatters blue light"]


@pytest.mark.parametrize("text", ["It is warm.", "  ", ""])
def test_what_is_no_part_of_another_passage_was_retrieved_by_itself(text: str) -> None:
    pipeline = Pipeline().add("Extractor", "retriever", passages=[passage("new", text)])
    pipeline.add("Dense", "retriever", "Extractor", passages=passages("a"))

    assert [step[0] for step in pipeline.steps] == ["Dense", "Extractor/own", "Extractor"]


def test_a_retriever_around_others_that_keeps_nothing_is_a_filter_that_leaves_nothing() -> None:
    pipeline = Pipeline().add("SetQuery", "retriever")
    pipeline.add("Dense", "retriever", "SetQuery", passages=passages("a")).add("BM25", "retriever", "SetQuery")

    assert pipeline.steps[-1] == ("SetQuery", "filter", [], ("Dense", "BM25"))
    assert pipeline.trace.contexts()[-1] == ()


def test_a_retriever_around_others_that_failed_retrieves_itself() -> None:
    pipeline = Pipeline().add("Fusion", "retriever", error="ValueError: down")
    pipeline.add("Dense", "retriever", "Fusion", error="ValueError: down")

    assert pipeline.steps == [("Dense", "retrieve", [], ()), ("Fusion", "retrieve", [], ())]
    assert [step.error for step in pipeline.trace.steps] == ["ValueError: down"] * 2


def test_fusions_may_hold_fusions() -> None:
    pipeline = Pipeline().add("Outer", "retriever", passages=passages("a"))
    pipeline.add("Inner", "retriever", "Outer", passages=passages("a", "b"))
    pipeline.add("Dense", "retriever", "Inner", passages=passages("a", "b", "c"))
    pipeline.add("BM25", "retriever", "Outer", passages=passages("d"))

    assert pipeline.steps == [
        ("Dense", "retrieve", ["a", "b", "c"], ()),
        ("Inner", "filter", ["a", "b"], ("Dense",)),
        ("BM25", "retrieve", ["d"], ()),
        ("Outer", "fuse", ["a"], ("Inner", "BM25")),
    ]


def test_a_postprocessor_that_keeps_the_order_filters_and_any_other_reranks() -> None:
    given_ = passages("a", "b", "c")
    kinds = {}
    for number, kept in enumerate(permutations(given_, 2)):
        pipeline = Pipeline().add("Dense", "retriever", passages=given_)
        pipeline.add(f"Post-{number}", "postprocessor", consumed=given_, passages=list(kept))
        _, kind, ids, inputs = pipeline.steps[-1]
        assert inputs == ("Dense",)
        kinds["".join(map(str, ids))] = kind

    assert {ids for ids, kind in kinds.items() if kind == "filter"} == {"ab", "ac", "bc"}


def test_a_reranker_that_says_that_it_is_one_reranks_whatever_the_order() -> None:
    given_ = passages("a", "b")
    pipeline = Pipeline().add("Dense", "retriever", passages=given_)
    pipeline.add("Ranker", "reranker", consumed=given_, passages=given_)

    assert pipeline.steps[-1] == ("Ranker", "rerank", ["a", "b"], ("Dense",))


def test_a_postprocessor_that_drops_everything_filters() -> None:
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a"))
    pipeline.add("Cutoff", "postprocessor", consumed=passages("a"), passages=[])

    assert pipeline.steps[-1] == ("Cutoff", "filter", [], ("Dense",))
    assert pipeline.trace.contexts()[-1] == ()


def test_a_passage_whose_text_was_changed_is_kept_beside_the_one_it_was() -> None:
    window = passage("a", "What came before. Text of a. What came after.")
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a"))
    pipeline.add("Replacement", "postprocessor", consumed=passages("a"), passages=[window])

    assert pipeline.steps[1:] == [
        ("Replacement/own", "retrieve", ["a~"], ()),
        ("Replacement", "rerank", ["a~"], ("Dense", "Replacement/own")),
    ]
    texts = {each.id: each.text for step in pipeline.trace.steps for each in step.passages}
    assert texts == {"a": "Text of a.", "a~": window["text"]}
    assert [each.id for each in pipeline.trace.contexts()[-1]] == ["a~"]


def test_a_prompt_names_a_changed_text_as_the_steps_do() -> None:
    window = passage("a", "A window around a.")
    pipeline = Pipeline(answer="Air.").add("Dense", "retriever", passages=passages("a", "b"))
    pipeline.add("Replacement", "postprocessor", consumed=passages("a", "b"), passages=[window, passage("b")])
    pipeline.add("Compact", "synthesis", consumed=[window, passage("b")], answer="Air.")

    assert pipeline.prompt == ["a~", "b"]
    assert pipeline.trace.prompt == pipeline.trace.contexts()[-1]


def test_a_text_that_is_changed_twice_has_three_names() -> None:
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a"))
    for number in (1, 2):
        pipeline.add(f"Post-{number}", "postprocessor", consumed=pipeline_last(pipeline), passages=[passage("a", f"v{number}")])

    assert [(id_, ids) for id_, _, ids, _ in pipeline.steps if not id_.endswith("/own")] == [
        ("Dense", ["a"]),
        ("Post-1", ["a~"]),
        ("Post-2", ["a~~"]),
    ]


def pipeline_last(pipeline: Pipeline) -> list[Mapping[str, Any]]:
    return list(pipeline.spans[-1].passages)


def test_what_a_reranker_was_given_and_no_step_had_brought_was_retrieved_somewhere() -> None:
    given_ = passages("a", "b")
    pipeline = Pipeline().add("Ranker", "reranker", consumed=given_, passages=passages("b"))

    assert pipeline.steps == [("Ranker/given", "retrieve", ["a", "b"], ()), ("Ranker", "rerank", ["b"], ("Ranker/given",))]


def test_only_what_no_step_had_brought_is_taken_for_retrieved_at_a_reranker() -> None:
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a"))
    pipeline.add("Ranker", "reranker", consumed=passages("a", "x"), passages=passages("x", "a"))

    assert pipeline.steps[1:] == [
        ("Ranker/given", "retrieve", ["x"], ()),
        ("Ranker", "rerank", ["x", "a"], ("Dense", "Ranker/given")),
    ]


def test_a_postprocessor_that_adds_passages_of_its_own_retrieved_them() -> None:
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a"))
    pipeline.add("Neighbours", "postprocessor", consumed=passages("a"), passages=passages("a", "next"))

    assert pipeline.steps[1:] == [
        ("Neighbours/own", "retrieve", ["next"], ()),
        ("Neighbours", "rerank", ["a", "next"], ("Dense", "Neighbours/own")),
    ]


def test_a_reranker_takes_the_place_of_the_steps_it_was_given_alone() -> None:
    pipeline = (
        Pipeline().add("Dense", "retriever", passages=passages("a", "b")).add("BM25", "retriever", passages=passages("c"))
    )
    pipeline.add("Ranker", "reranker", consumed=passages("a", "b"), passages=passages("b"))

    assert pipeline.steps[-1] == ("Ranker", "rerank", ["b"], ("Dense",))
    assert {each.id for each in pipeline.trace.contexts()[-1]} == {"b", "c"}


def test_a_reranker_that_says_nothing_of_what_it_was_given_takes_the_place_of_every_step() -> None:
    pipeline = Pipeline().add("Dense", "retriever", passages=passages("a", "b"))
    pipeline.add("Silent", "reranker", passages=passages("b"))
    pipeline.add("Ranker", "reranker", consumed=passages("b"), passages=passages("b"))

    assert pipeline.steps[1:] == [("Silent", "rerank", ["b"], ()), ("Ranker", "rerank", ["b"], ("Silent",))]
    assert [[each.id for each in context] for context in pipeline.trace.contexts()] == [["a", "b"], ["b"], ["b"]]


def test_a_tool_is_a_step_where_nothing_inside_it_is() -> None:
    pipeline = Pipeline().add("search", "tool", passages=[passage(None, "Found it.")])
    pipeline.add("engine", "tool", passages=[passage(None, "It said so.")])
    pipeline.add("Dense", "retriever", "engine", passages=passages("a"))
    pipeline.add("silent", "tool")

    assert [(id_, kind) for id_, kind, _, _ in pipeline.steps] == [("search", "tool"), ("Dense", "retrieve")]


def test_a_tool_that_failed_is_a_step_with_its_error() -> None:
    pipeline = Pipeline().add("search", "tool", error="TimeoutError: 30 s")

    (step,) = pipeline.trace.steps
    assert (step.id, step.kind, step.passages, step.error) == ("search", "tool", (), "TimeoutError: 30 s")


def test_a_tool_that_failed_after_it_retrieved_is_a_step_beside_what_it_retrieved() -> None:
    pipeline = Pipeline().add("search", "tool", error="TimeoutError: 30 s")
    pipeline.add("Dense", "retriever", "search", passages=passages("a"))

    assert pipeline.steps == [("Dense", "retrieve", ["a"], ()), ("search", "tool", [], ())]
    assert [step.error for step in pipeline.trace.steps] == [None, "TimeoutError: 30 s"]


def test_an_inner_question_that_failed_is_a_step_with_its_error() -> None:
    pipeline = Pipeline().add("Engine-2", "question", query="What does it cost?", error="ValueError: down")

    (step,) = pipeline.trace.steps
    assert (step.id, step.query, step.error) == ("Engine-2", "What does it cost?", "ValueError: down")


def test_what_went_wrong_inside_an_inner_question_is_said_once() -> None:
    pipeline = Pipeline().add("Engine-2", "question", error="ValueError: down")
    pipeline.add("Dense", "retriever", "Engine-2", error="ValueError: down")

    assert [(step.id, step.error) for step in pipeline.trace.steps] == [("Dense", "ValueError: down")]


def test_an_outermost_question_that_failed_is_no_step() -> None:
    pipeline = Pipeline(error="ValueError: down").add("Dense", "retriever", passages=passages("a"))

    assert [step.id for step in pipeline.trace.steps] == ["Dense"]


def test_an_outermost_retriever_is_its_own_step() -> None:
    pipeline = Pipeline(kind="retriever", passages=passages("a"))

    assert pipeline.steps == [("root", "retrieve", ["a"], ())]
    assert (pipeline.trace.answer, pipeline.prompt) == (None, None)


def test_the_prompt_is_what_the_synthesis_was_given() -> None:
    pipeline = Pipeline(answer="Air.").add("Dense", "retriever", passages=passages("a", "b"))
    pipeline.add("Compact", "synthesis", consumed=passages("b"), answer="Air.")

    assert pipeline.prompt == ["b"]


def test_the_prompt_of_a_routed_question_is_that_of_the_engine_that_answered() -> None:
    pipeline = Pipeline(answer="Air.").add("Chosen", "question", answer="Air.")
    pipeline.add("Dense", "retriever", "Chosen", passages=passages("a"))
    pipeline.add("Compact", "synthesis", "Chosen", consumed=passages("a"), answer="Air.")

    assert pipeline.prompt == ["a"]


def test_the_prompt_of_a_question_taken_apart_is_what_the_last_synthesis_was_given() -> None:
    pipeline = Pipeline(answer="Both.")
    for number in (1, 2):
        pipeline.add(f"Engine-{number}", "question", answer=f"Part {number}.")
        pipeline.add(f"Dense-{number}", "retriever", f"Engine-{number}", passages=passages(f"p{number}"))
        pipeline.add(f"Inner-{number}", "synthesis", f"Engine-{number}", consumed=passages(f"p{number}"), answer="Both.")
    pipeline.add("Outer", "synthesis", consumed=[passage("said", "Sub question: …")], answer="Both.")

    assert pipeline.prompt == ["said"]


def test_the_prompt_of_an_agent_is_what_its_tools_returned_where_one_retrieved() -> None:
    pipeline = Pipeline(answer="Final.").add("search", "tool", passages=[passage("t", "It said so.")])
    pipeline.add("Dense", "retriever", "search", passages=passages("a"))
    pipeline.add("other", "tool", passages=[passage("u", "More.")])

    assert pipeline.prompt == ["t", "u"]


@pytest.mark.parametrize("retrieved", [True, False])
def test_the_prompt_of_an_agent_is_unknown_where_a_tool_said_nothing_or_none_retrieved(retrieved: bool) -> None:  # noqa: FBT001  # a case
    pipeline = Pipeline(answer="Final.").add("search", "tool", passages=[] if retrieved else [passage("t", "Said.")])
    if retrieved:
        pipeline.add("Dense", "retriever", "search", passages=passages("a"))

    assert pipeline.prompt is None


def test_without_a_synthesis_the_prompt_is_unknown_and_not_empty() -> None:
    assert Pipeline(answer="Air.").add("Dense", "retriever", passages=passages("a")).prompt is None


KINDS: tuple[SpanKind, ...] = ("retriever", "reranker", "postprocessor", "tool", "llm", "question", "synthesis", "other")
IDS = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True)


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    pipeline = Pipeline()
    for number in range(draw(st.integers(0, 8))):
        under = draw(st.sampled_from([span.id for span in pipeline.spans]))
        texts = draw(st.sampled_from(["", "changed: "]))
        found = [passage(id_, f"{texts}{id_}") for id_ in draw(IDS)]
        given_ = [passage(id_, id_) for id_ in draw(IDS)]
        error = draw(st.sampled_from([None, "ValueError: down"]))
        pipeline.add(f"s{number}", draw(st.sampled_from(KINDS)), under, passages=found, consumed=given_, error=error)
    return pipeline


@given(pipelines())
def test_steps_are_named_once_after_their_inputs_and_their_passages_have_one_text_by_id(pipeline: Pipeline) -> None:
    (tree,) = trees(pipeline.spans)

    steps = steps_of(tree)

    ids = [step["id"] for step in steps]
    assert len(set(ids)) == len(ids)
    for position, step in enumerate(steps):
        assert set(step["input_ids"]) <= set(ids[:position])
        assert step["kind"] in ("filter", "fuse", "rerank") or not step["input_ids"]
    texts: dict[str, str] = {}
    for step in steps:
        for each in step["passages"]:
            assert texts.setdefault(each["id"], each["text"]) == each["text"]


@given(pipelines())
def test_any_pipeline_becomes_a_trace_that_can_be_written_and_read(pipeline: Pipeline) -> None:
    trace = pipeline.trace

    assert Trace.model_validate_json(trace.to_json()) == trace
    assert {step.error for step in trace.steps if step.error} <= {"ValueError: down"}
    failed = [span for span in pipeline.spans[1:] if span.error and span.kind in ("retriever", "tool", "question")]
    assert not failed or any(step.error for step in trace.steps)
