"""Nodes are ordered by what they add, and dropped where they do harm, inside LlamaIndex's own pipelines."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.span_handlers import NullSpanHandler

from rag_cover.backends import ScoringItem
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordScorer, ScriptedEntailer, ScriptedReceiver, ScriptedScorer
from rag_cover_llama_index.postprocessing import ModelPostprocessor
from rag_cover_llama_index.reranking import CoverageRerank, UtilityFilter

if TYPE_CHECKING:
    from llama_index.core import VectorStoreIndex

    from tests.llama_index.loops import Gate
from tests.llama_index.loops import Gate
from tests.llama_index.parts import ScriptedLLM

BORN = "When was the director of film Jaws born?"
SAME = ScriptedEntailer({("Where? Paris", "Where? Paris"): 1.0})


class BrokenScorer:
    """Fails at every judgment."""

    threshold = 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        message = "the judge's server is down"
        raise ModelFailedError(message)


class Spans(NullSpanHandler):
    """Names the spans that begin."""

    begun: list[str] = []

    def span_enter(self, id_: str, *_: Any, **__: Any) -> None:
        self.begun.append(id_)


class GatedScorer:
    """Waits at a gate, and finds that nothing answers."""

    threshold = 0.5

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Wait, then judge."""
        self.gate.wait()
        return np.zeros(len(items), dtype=np.float32)


def node(name: str, text: str, score: float | None = None) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=name, text=text, metadata={"title": name.title()}), score=score)


def ids(nodes: Sequence[NodeWithScore]) -> list[str]:
    return [each.node.node_id for each in nodes]


def rome_and_paris() -> list[NodeWithScore]:
    return [node("seine", "Paris is on the Seine.", 0.9), node("tiber", "Rome is on the Tiber.", 0.8), node("rain", "", 0.7)]


def unsure() -> ScriptedReceiver:
    both = "Paris is on the Seine.\nRome is on the Tiber."
    answers = {both: ("Paris", "Paris", "Paris", "Rome"), "Seine": ("Paris",), "Tiber": ("Rome",)}
    return ScriptedReceiver(answers)


def filtering(**arguments: object) -> UtilityFilter:
    given: dict[str, object] = {"receiver": unsure(), "entailer": SAME, "decomposer": lambda _: (), "samples": 4}
    return UtilityFilter(**(given | arguments))  # type: ignore[arg-type]


class TestCoverageRerank:
    def test_both_hops_of_a_question_are_kept_with_their_metadata(self, index: VectorStoreIndex) -> None:
        nodes = index.as_retriever(similarity_top_k=8).retrieve(BORN)

        kept = CoverageRerank(top_n=2).postprocess_nodes(nodes, query_str=BORN)

        assert sorted(ids(kept)) == ["jaws", "spielberg"]
        assert all(each.node.metadata["source"] == "corpus" for each in kept)

    def test_scores_never_rise_and_what_the_retriever_returned_is_not_changed(self, index: VectorStoreIndex) -> None:
        nodes = index.as_retriever(similarity_top_k=8).retrieve(BORN)
        before = [(id(each.node), each.score, dict(each.node.metadata)) for each in nodes]

        kept = CoverageRerank(top_n=8).postprocess_nodes(nodes, query_str=BORN)

        scores = [each.score or 0.0 for each in kept]
        assert scores == sorted(scores, reverse=True)
        assert [(id(each.node), each.score, dict(each.node.metadata)) for each in nodes] == before
        assert {id(each.node) for each in kept} == {id(each.node) for each in nodes}

    def test_an_engine_answers_from_what_it_kept(self, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
        engine = RetrieverQueryEngine.from_args(
            index.as_retriever(similarity_top_k=8), llm=llm, node_postprocessors=[CoverageRerank(top_n=2)]
        )

        sync, in_a_loop = engine.query(BORN), asyncio.run(engine.aquery(BORN))

        assert sorted(ids(sync.source_nodes)) == ["jaws", "spielberg"]
        assert ids(sync.source_nodes) == ids(in_a_loop.source_nodes)

    def test_a_later_postprocessor_cuts_by_its_scores(self, index: VectorStoreIndex) -> None:
        nodes = index.as_retriever(similarity_top_k=8).retrieve(BORN)
        kept = CoverageRerank(top_n=8).postprocess_nodes(nodes, query_str=BORN)

        cut = SimilarityPostprocessor(similarity_cutoff=0.5).postprocess_nodes(kept)

        assert sorted(ids(cut)) == ["jaws", "spielberg"]

    def test_what_each_node_adds_is_explained_on_a_copy_that_no_model_is_shown(self) -> None:
        scorer = ScriptedScorer({("a?", "Seine\nParis."): 0.75})
        nodes = [node("tiber", "Rome.", 0.9), node("seine", "Paris.", 0.8)]
        reranker = CoverageRerank(judge=scorer, decomposer=lambda _: (), explain=True)

        first, _ = reranker.postprocess_nodes(nodes, query_str="a?")

        assert first.node.metadata["rag_cover"] == {"gain": 0.75, "covers": ["a?"], "retrieval_score": 0.8}
        assert "rag_cover" not in first.node.get_content(MetadataMode.LLM) + first.node.get_content(MetadataMode.EMBED)
        assert "rag_cover" not in nodes[1].node.metadata

    def test_of_nodes_with_one_id_the_first_counts(self) -> None:
        nodes = [node("a", "x", 0.9), node("b", "y", 0.8), node("a", "x", 0.7)]

        kept = CoverageRerank(judge=ScriptedScorer()).postprocess_nodes(nodes, query_str="Why?")

        assert ids(kept) == ["a", "b"]

    def test_without_nodes_there_is_nothing_to_order(self) -> None:
        assert CoverageRerank().postprocess_nodes([], query_str="Why?") == []

    def test_without_a_question_it_says_what_to_pass(self) -> None:
        with pytest.raises(InvalidValueError, match="CoverageRerank needs the question: pass query_str="):
            CoverageRerank().postprocess_nodes([node("a", "x")])

    def test_a_language_model_judges_and_reads_too(self, llm: ScriptedLLM) -> None:
        nodes = [node("a", "x"), node("b", "y")]

        kept = CoverageRerank(judge=llm, receiver=llm, on_error="keep").postprocess_nodes(nodes, query_str="Why?")

        assert ids(kept) == ["a", "b"]

    def test_one_call_is_one_span_whether_it_is_awaited_or_not(self, index: VectorStoreIndex) -> None:
        spans = Spans()
        dispatcher = get_dispatcher()
        dispatcher.add_span_handler(spans)
        nodes, reranker = [node("a", "x")], CoverageRerank(judge=ScriptedScorer())

        try:
            reranker.postprocess_nodes(nodes, query_str="Why?")
            asyncio.run(reranker.apostprocess_nodes(nodes, query_str="Why?"))
        finally:
            dispatcher.span_handlers.remove(spans)

        assert [span.rpartition("-")[0].split("-")[0] for span in spans.begun] == ["CoverageRerank._postprocess_nodes"] * 2

    def test_the_loop_stays_free_while_the_judge_thinks(self) -> None:
        gate = Gate()
        reranker = CoverageRerank(judge=GatedScorer(gate), receiver=None)

        assert ids(gate.run(reranker.apostprocess_nodes([node("a", "x")], query_str="Why?"))) == ["a"]

    def test_one_instance_in_32_threads_says_what_it_says_in_one(self, index: VectorStoreIndex) -> None:
        questions = [BORN, "Why is the sky blue and why is the ocean blue?", "What does a heat pump cost?"] * 11
        retriever, reranker = index.as_retriever(similarity_top_k=8), CoverageRerank(top_n=3)
        found = {question: retriever.retrieve(question) for question in questions}

        def run(question: str) -> list[tuple[str, float | None]]:
            kept = reranker.postprocess_nodes(list(found[question]), query_str=question)
            return [(each.node.node_id, each.score) for each in kept]

        with ThreadPoolExecutor(32) as pool:
            together = list(pool.map(run, questions))

        alone = CoverageRerank(top_n=3)
        assert together == [
            [(each.node.node_id, each.score) for each in alone.postprocess_nodes(list(found[question]), query_str=question)]
            for question in questions
        ]

    def test_a_judge_that_fails_costs_the_order_alone_and_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        nodes = [node("a", "x"), node("b", "y"), node("c", "z")]

        with caplog.at_level(logging.WARNING):
            kept = CoverageRerank(top_n=2, judge=BrokenScorer()).postprocess_nodes(nodes, query_str="Why?")

        assert kept == nodes[:2]
        assert "CoverageRerank left 3 nodes in the retriever's order" in caplog.text
        assert "the judge's server is down" in caplog.text

    def test_a_blank_question_leaves_the_order_and_is_logged_in_one_line(self, caplog: pytest.LogCaptureFixture) -> None:
        nodes = [node("a", "x"), node("b", "y")]

        kept = CoverageRerank(top_n=1, judge=KeywordScorer()).postprocess_nodes(nodes, query_str=" ")

        assert kept == nodes[:1]
        assert [text.endswith("InvalidValueError: the question is blank; ask something") for text in caplog.messages] == [True]

    def test_a_judge_that_fails_is_raised_where_that_is_asked_for(self) -> None:
        reranker = CoverageRerank(judge=BrokenScorer(), on_error="raise")

        with pytest.raises(ModelFailedError, match="server is down"):
            reranker.postprocess_nodes([node("a", "x")], query_str="Why?")

    def test_a_judge_that_does_not_exist_is_an_error_and_not_a_failure(self) -> None:
        with pytest.raises(BackendNotFoundError, match="embeded"):
            CoverageRerank(judge="embeded").postprocess_nodes([node("a", "x")], query_str="Why?")

    @pytest.mark.parametrize(
        "arguments",
        [
            {"top_n": 0},
            {"samples": 0},
            {"retrieval_weight": -0.1},
            {"seed": -1},
            {"retrieval_weight": float("nan")},
            {"retrieval_weight": float("inf")},
            {"top_n": "5"},
        ],
    )
    def test_numbers_out_of_range_are_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(InvalidValueError, match="at least"):
            CoverageRerank(**arguments)

    def test_an_object_that_cannot_judge_is_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="cannot serve as judge"):
            CoverageRerank(judge=object())  # type: ignore[arg-type]


class TestUtilityFilter:
    def test_a_node_that_shakes_the_answer_is_dropped_and_the_others_stay_as_they_are(self) -> None:
        nodes = rome_and_paris()

        kept = filtering().postprocess_nodes(nodes, query_str="Where?")

        assert ids(kept) == ["seine", "rain"]  # one without a text is left alone
        assert kept[0] is nodes[0]

    def test_some_are_kept_in_any_case(self) -> None:
        kept = filtering(min_utility=1.0, keep=2).postprocess_nodes(rome_and_paris()[:2], query_str="Where?")

        assert ids(kept) == ["seine", "tiber"]

    def test_where_the_receiver_has_no_answer_nothing_is_dropped(self) -> None:
        receiver = ScriptedReceiver({}, prior=("unknown",))

        kept = filtering(receiver=receiver, min_utility=1.0).postprocess_nodes(rome_and_paris(), query_str="Where?")

        assert ids(kept) == ["seine", "tiber", "rain"]

    def test_what_each_node_is_worth_is_explained(self) -> None:
        kept = filtering(min_utility=-1.0, explain=True).postprocess_nodes(rome_and_paris(), query_str="Where?")

        assert [each.node.metadata["rag_cover"]["utility"] for each in kept] == [0.75, -0.25, None]
        assert [each.score for each in kept] == [0.9, 0.8, 0.7]

    def test_by_themselves_nodes_that_say_nothing_to_the_matter_are_dropped(self, index: VectorStoreIndex) -> None:
        nodes = index.as_retriever(similarity_top_k=8).retrieve(BORN)

        kept = UtilityFilter(0.05, attribution="add-one-in").postprocess_nodes(nodes, query_str=BORN)

        assert {"jaws", "spielberg"} <= set(ids(kept))
        assert len(kept) < len(nodes)

    def test_it_stands_before_a_reranker_in_an_engine(self, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
        chain: list[BaseNodePostprocessor] = [UtilityFilter(), CoverageRerank(top_n=2)]
        engine = RetrieverQueryEngine.from_args(index.as_retriever(similarity_top_k=8), llm=llm, node_postprocessors=chain)

        response = asyncio.run(engine.aquery(BORN))

        assert sorted(ids(response.source_nodes)) == ["jaws", "spielberg"]

    def test_a_receiver_that_fails_drops_nothing_and_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        class Broken:
            def sample(self, *_: object, **__: object) -> object:
                message = "no such model"
                raise ConnectionError(message)

        nodes = rome_and_paris()

        kept = filtering(receiver=Broken()).postprocess_nodes(nodes, query_str="Where?")

        assert kept == nodes
        assert "UtilityFilter" in caplog.text
        assert "ConnectionError: no such model" in caplog.text

    @pytest.mark.parametrize("least", [1.5, float("nan")])
    def test_what_is_no_utility_is_refused(self, least: float) -> None:
        with pytest.raises(InvalidValueError, match="give a number from -1 to 1"):
            UtilityFilter(least)


@pytest.mark.parametrize("made", [CoverageRerank(top_n=3, receiver=None, explain=True), UtilityFilter(0.05, keep=2)])
def test_one_by_names_travels_as_json_and_as_a_pickle(made: ModelPostprocessor) -> None:
    saved = made.to_dict()

    assert type(made).from_dict(saved).to_dict() == saved
    assert type(made).from_json(made.to_json()).to_dict() == saved
    assert pickle.loads(pickle.dumps(made)).to_dict() == saved  # noqa: S301  # our own
    assert copy.deepcopy(made).to_dict() == made.model_copy(deep=True).to_dict() == saved
    assert saved["class_name"] == made.class_name() == type(made).__name__
    assert made.model_dump() == saved


def test_one_with_an_object_says_so_and_is_given_it_again() -> None:
    saved = CoverageRerank(judge=KeywordScorer()).to_dict()

    assert saved["judge"] == "object:rag_cover.testing.judges.KeywordScorer"
    assert CoverageRerank.from_dict(saved, judge=KeywordScorer()).to_dict() == saved
    with pytest.raises(InvalidValueError, match="from_dict\\(data, judge=…\\)"):
        CoverageRerank.from_dict(saved)


def test_a_pickle_and_a_copy_hold_the_objects() -> None:
    reranker = CoverageRerank(judge=ScriptedScorer({("Why?", "B\ny"): 0.5}), receiver=None)

    for again in (pickle.loads(pickle.dumps(reranker)), copy.copy(reranker)):  # noqa: S301  # our own
        kept = again.postprocess_nodes([node("a", "x"), node("b", "y")], query_bundle=QueryBundle("Why?"))
        assert ids(kept) == ["b", "a"]
