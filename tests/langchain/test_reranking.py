"""Documents are ordered by what they add, and dropped where they do harm, inside LangChain's own chains."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.backends import ScoringItem
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordScorer, ScriptedEntailer, ScriptedReceiver, ScriptedScorer
from rag_cover_langchain.postprocessing import ModelCompressor
from rag_cover_langchain.reranking import CoverageCompressor, UtilityFilter
from tests.gates import Gate
from tests.langchain.parts import ScriptedChatModel, corpus_documents
from tests.langchain.trees import RunTree

BORN = "When was the director of film Jaws born?"
SAME = ScriptedEntailer({("Where? Paris", "Where? Paris"): 1.0})


class BrokenScorer:
    """Fails at every judgment."""

    threshold = 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        message = "the judge's server is down"
        raise ModelFailedError(message)


class GatedScorer:
    """Waits at a gate, and finds that nothing answers."""

    threshold = 0.5

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Wait, then judge."""
        self.gate.wait()
        return np.zeros(len(items), dtype=np.float32)


def document(name: str, text: str, score: float | None = None) -> Document:
    scored = {} if score is None else {"relevance_score": score}
    return Document(text, id=name, metadata={"title": name.title(), **scored})


def ids(documents: Sequence[Document]) -> list[str]:
    return [str(each.id) for each in documents]


def rome_and_paris() -> list[Document]:
    return [document("seine", "Paris is on the Seine."), document("tiber", "Rome is on the Tiber."), document("rain", "")]


def unsure() -> ScriptedReceiver:
    both = "Paris is on the Seine.\nRome is on the Tiber."
    answers = {both: ("Paris", "Paris", "Paris", "Rome"), "Seine": ("Paris",), "Tiber": ("Rome",)}
    return ScriptedReceiver(answers)


def filtering(**arguments: object) -> UtilityFilter:
    given: dict[str, Any] = {"receiver": unsure(), "entailer": SAME, "decomposer": lambda _: (), "samples": 4}
    return UtilityFilter(**(given | arguments))


class TestCoverageCompressor:
    def test_both_hops_of_a_question_are_kept_with_their_metadata(self, store: InMemoryVectorStore) -> None:
        documents = store.similarity_search(BORN, k=8)

        kept = CoverageCompressor(top_n=2).compress_documents(documents, BORN)

        assert sorted(ids(kept)) == ["jaws", "spielberg"]
        assert all(each.metadata["source"] == "corpus" for each in kept)

    def test_scores_never_rise_and_what_was_retrieved_is_not_changed(self, store: InMemoryVectorStore) -> None:
        documents = store.similarity_search(BORN, k=8)
        before = copy.deepcopy(documents)

        kept = CoverageCompressor(top_n=8).compress_documents(documents, BORN)

        scores = [each.metadata["relevance_score"] for each in kept]
        assert scores == sorted(scores, reverse=True)
        assert documents == before
        assert sorted(ids(kept)) == sorted(ids(documents))

    @given(st.permutations(corpus_documents()), st.integers(1, 9))
    def test_whatever_is_given_so_many_at_most_are_kept_of_it(self, documents: list[Document], top_n: int) -> None:
        kept = CoverageCompressor(top_n, judge=KeywordScorer(), receiver=None).compress_documents(documents, BORN)

        assert len(kept) == len(set(ids(kept))) == min(top_n, len(documents))
        assert {each.page_content for each in kept} <= {each.page_content for each in documents}

    def test_a_compression_retriever_returns_what_it_kept(self, store: InMemoryVectorStore) -> None:
        classic: Any = pytest.importorskip("langchain_classic.retrievers", reason="needs langchain-classic")
        retriever = classic.ContextualCompressionRetriever(
            base_compressor=CoverageCompressor(top_n=2), base_retriever=store.as_retriever(search_kwargs={"k": 8})
        )

        sync, in_a_loop = retriever.invoke(BORN), asyncio.run(retriever.ainvoke(BORN))

        assert sorted(ids(sync)) == sorted(ids(in_a_loop)) == ["jaws", "spielberg"]

    def test_what_each_document_adds_is_explained(self) -> None:
        scorer = ScriptedScorer({("a?", "Seine\nParis."): 0.75})
        documents = [document("tiber", "Rome.", 0.9), document("seine", "Paris.", 0.8)]
        compressor = CoverageCompressor(judge=scorer, decomposer=lambda _: (), explain=True)

        first, _ = compressor.compress_documents(documents, "a?")

        assert first.metadata["rag_cover"] == {"gain": 0.75, "covers": ["a?"], "retrieval_score": 0.8}
        assert first.metadata["relevance_score"] == pytest.approx(0.75 + 0.3 / 2)  # it stood second
        assert "rag_cover" not in documents[1].metadata

    def test_of_documents_with_one_id_the_first_counts(self) -> None:
        documents = [document("a", "x"), document("b", "y"), document("a", "x")]

        kept = CoverageCompressor(judge=ScriptedScorer()).compress_documents(documents, "Why?")

        assert ids(kept) == ["a", "b"]

    def test_without_documents_there_is_nothing_to_order(self) -> None:
        assert CoverageCompressor(judge="embedded:nobody").compress_documents([], "Why?") == []

    def test_a_model_that_nobody_offers_is_refused_at_once(self) -> None:
        with pytest.raises(BackendNotFoundError, match="No backend is called 'opnai'. Did you mean 'openai'?"):
            CoverageCompressor(judge="opnai:small")

    @pytest.mark.parametrize(
        ("settings", "problem"), [({"top_n": 2.5}, "a whole number"), ({"on_error": "ignore"}, "'keep' or 'raise'")]
    )
    def test_settings_of_the_wrong_kind_are_refused_with_a_typed_error(self, settings: dict[str, Any], problem: str) -> None:
        with pytest.raises(InvalidValueError, match=problem):
            CoverageCompressor(**settings)

    def test_a_chat_model_judges_within_the_run_that_asked(self, model: ScriptedChatModel) -> None:
        tree = RunTree()
        keep = CoverageCompressor(judge=model, receiver=None).as_runnable()

        kept = keep.invoke(([document("a", "x"), document("b", "y")], "Why?"), {"callbacks": [tree]})

        assert ids(kept) == ["a", "b"]
        assert set(tree.of("ScriptedChatModel")) == {"CoverageCompressor"}

    def test_the_loop_stays_free_while_the_judge_thinks(self) -> None:
        gate, again = Gate(), Gate()
        one = [document("a", "x")]

        alone = CoverageCompressor(judge=GatedScorer(gate), receiver=None).acompress_documents(one, "Why?")
        step = CoverageCompressor(judge=GatedScorer(again), receiver=None).as_runnable().ainvoke((one, "Why?"))

        assert ids(gate.run(alone)) == ids(again.run(step)) == ["a"]

    def test_one_instance_in_32_threads_says_what_it_says_in_one(self, store: InMemoryVectorStore) -> None:
        questions = [BORN, "Why is the sky blue and why is the ocean blue?", "What does a heat pump cost?"] * 11
        compressor = CoverageCompressor(top_n=3)
        found = {question: store.similarity_search(question, k=8) for question in questions}

        with ThreadPoolExecutor(32) as pool:
            together = list(pool.map(lambda question: compressor.compress_documents(found[question], question), questions))

        alone = CoverageCompressor(top_n=3)
        assert together == [alone.compress_documents(found[question], question) for question in questions]

    def test_a_judge_that_fails_costs_the_order_alone_and_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        documents = [document("a", "x"), document("b", "y"), document("c", "z")]

        with caplog.at_level(logging.WARNING):
            kept = CoverageCompressor(top_n=2, judge=BrokenScorer()).compress_documents(documents, "Why?")

        assert kept == documents[:2]
        assert "CoverageCompressor left 3 documents in the retriever's order" in caplog.text
        assert "the judge's server is down" in caplog.text

    def test_a_blank_question_leaves_the_order_and_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        documents = [document("a", "x"), document("b", "y")]

        kept = CoverageCompressor(top_n=1, judge=KeywordScorer()).compress_documents(documents, " ")

        assert kept == documents[:1]
        assert [text.endswith("InvalidValueError: the question is blank; ask something") for text in caplog.messages] == [True]

    def test_a_judge_that_fails_is_raised_where_that_is_asked_for(self) -> None:
        compressor = CoverageCompressor(judge=BrokenScorer(), on_error="raise")

        with pytest.raises(ModelFailedError, match="server is down"):
            compressor.compress_documents([document("a", "x")], "Why?")

    def test_a_judge_that_does_not_exist_is_an_error_and_not_a_failure(self) -> None:
        with pytest.raises(BackendNotFoundError, match="embeded"):
            CoverageCompressor(judge="embeded").compress_documents([document("a", "x")], "Why?")

    @pytest.mark.parametrize(
        "arguments",
        [{"top_n": 0}, {"samples": 0}, {"retrieval_weight": -0.1}, {"seed": -1}, {"retrieval_weight": float("nan")}],
    )
    def test_numbers_out_of_range_are_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(InvalidValueError, match="at least"):
            CoverageCompressor(**arguments)

    def test_an_object_that_cannot_judge_is_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="cannot serve as judge"):
            CoverageCompressor(judge=object())  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="'keep' or 'raise'"):
            CoverageCompressor(on_error="ignore")  # type: ignore[arg-type]


class TestAsRunnable:
    def test_a_chain_keeps_the_question_and_what_was_kept_for_it(self, store: InMemoryVectorStore) -> None:
        retriever, tree = store.as_retriever(search_kwargs={"k": 8}), RunTree()
        find = RunnablePassthrough.assign(context=itemgetter("question") | retriever)
        chain = find | RunnablePassthrough.assign(context=CoverageCompressor(top_n=2).as_runnable())

        sync = chain.invoke({"question": BORN}, {"callbacks": [tree]})
        in_a_loop = asyncio.run(chain.ainvoke({"question": BORN}))

        assert sync == in_a_loop
        assert sync["question"] == BORN
        assert sorted(ids(sync["context"])) == ["jaws", "spielberg"]
        assert tree.of("CoverageCompressor") == ["RunnableParallel<context>"]

    @pytest.mark.parametrize(
        "given",
        [
            (corpus_documents(), BORN),
            {"documents": corpus_documents(), "query": BORN},
            {"context": corpus_documents(), "input": BORN},
            {"context": corpus_documents(), "messages": [("user", BORN)]},
        ],
    )
    def test_documents_and_question_are_found_where_chains_keep_them(self, given: Any) -> None:
        kept = CoverageCompressor(top_n=2).as_runnable().invoke(given)

        assert sorted(ids(kept)) == ["jaws", "spielberg"]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"documents": corpus_documents()}, "there is no question beside the documents"),
            ({"question": BORN}, "there are no documents in what was given, which has 'question'"),
            ({"question": BORN, "context": "Jaws is a film."}, "there are no documents in what was given"),
            (
                {"question": BORN, "context": [*corpus_documents(), "Jaws is a film."]},
                "'context' holds a 'str' and no document",
            ),
            ({"question": BORN, "documents": None}, "'documents' holds a 'NoneType' and no document"),
            ((["Jaws is a film."], BORN), "'documents' holds a 'str' and no document"),
            ((corpus_documents(),), "a 'tuple' is no documents with their question; give a mapping"),
            (None, "a 'NoneType' is no documents with their question; give a mapping"),
        ],
    )
    def test_what_is_missing_is_named(self, given: Any, message: str) -> None:
        with pytest.raises(InvalidValueError, match=message):
            CoverageCompressor().as_runnable().invoke(given)

    def test_no_document_of_very_many_is_lost_on_the_way(self) -> None:
        many = [Document(f"Bread number {number}.") for number in range(1_200)]

        kept = UtilityFilter(receiver=ScriptedReceiver({}), entailer=ScriptedEntailer({})).as_runnable().invoke((many, BORN))

        assert kept == many

    def test_chains_that_it_is_a_step_of_can_be_drawn_and_described(self, store: InMemoryVectorStore) -> None:
        find = RunnablePassthrough.assign(context=itemgetter("question") | store.as_retriever())

        chain = find | RunnablePassthrough.assign(context=CoverageCompressor().as_runnable())

        assert "question" in chain.get_input_jsonschema()["properties"]
        assert "context" in chain.get_output_jsonschema()["properties"]
        assert "VectorStoreRetriever" in chain.get_graph().draw_mermaid()

    def test_it_is_a_step_behind_a_retriever_of_a_question(self, store: InMemoryVectorStore) -> None:
        find = RunnableParallel(context=store.as_retriever(search_kwargs={"k": 8}), question=RunnablePassthrough())

        chain = find | UtilityFilter(0.05, attribution="add-one-in").as_runnable()

        once, twice = chain.invoke(BORN), chain.batch([BORN, BORN])
        assert {"jaws", "spielberg"} <= set(ids(once))
        assert twice == [once, once]


class TestUtilityFilter:
    def test_a_document_that_shakes_the_answer_is_dropped_and_the_others_stay_as_they_are(self) -> None:
        documents = rome_and_paris()

        kept = filtering().compress_documents(documents, "Where?")

        assert ids(kept) == ["seine", "rain"]  # one without a text is left alone
        assert kept[0] is documents[0]

    def test_some_are_kept_in_any_case(self) -> None:
        kept = filtering(min_utility=1.0, keep=2).compress_documents(rome_and_paris()[:2], "Where?")

        assert ids(kept) == ["seine", "tiber"]

    def test_where_the_receiver_has_no_answer_nothing_is_dropped(self) -> None:
        receiver = ScriptedReceiver({}, prior=("unknown",))

        kept = filtering(receiver=receiver, min_utility=1.0).compress_documents(rome_and_paris(), "Where?")

        assert ids(kept) == ["seine", "tiber", "rain"]

    def test_what_each_document_is_worth_is_explained_on_copies(self) -> None:
        documents = rome_and_paris()

        kept = filtering(min_utility=-1.0, explain=True).compress_documents(documents, "Where?")

        assert [each.metadata["rag_cover"]["utility"] for each in kept] == [0.75, -0.25, None]
        assert all("rag_cover" not in each.metadata for each in documents)

    def test_a_receiver_that_fails_drops_nothing_and_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        class Broken:
            def sample(self, *_: object, **__: object) -> object:
                message = "no such model"
                raise ConnectionError(message)

        documents = rome_and_paris()

        kept = filtering(receiver=Broken()).compress_documents(documents, "Where?")

        assert kept == documents
        assert "UtilityFilter left 3 documents" in caplog.text
        assert "ConnectionError: no such model" in caplog.text

    @pytest.mark.parametrize("least", [1.5, float("nan")])
    def test_what_is_no_utility_is_refused(self, least: float) -> None:
        with pytest.raises(InvalidValueError, match="give a number from -1 to 1"):
            UtilityFilter(least)


@pytest.mark.parametrize("made", [CoverageCompressor(top_n=3, receiver=None, explain=True), UtilityFilter(0.05, keep=2)])
def test_one_by_names_travels_as_data_and_as_a_pickle(made: ModelCompressor) -> None:
    saved = made.model_dump()

    assert type(made)(**saved).model_dump() == saved
    assert type(made).model_validate_json(made.model_dump_json()).model_dump() == saved
    assert pickle.loads(pickle.dumps(made)).model_dump() == saved  # noqa: S301  # our own
    assert copy.deepcopy(made).model_dump() == made.model_copy(deep=True).model_dump() == saved


def test_a_copy_asks_the_same_judge() -> None:
    judge = KeywordScorer()

    copied = copy.deepcopy(CoverageCompressor(judge=judge, top_n=1))

    assert copied.judge is judge
    assert len(copied.compress_documents(corpus_documents(), BORN)) == 1
