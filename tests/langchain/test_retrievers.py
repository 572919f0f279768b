"""Retrieval driven by sub-questions, and the hybrid retriever, as LangChain's own retrievers."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Question, SubQuestion, open_receiver, open_scorer
from rag_cover.backends import ScoringItem
from rag_cover.coverage import augment
from rag_cover.errors import InvalidValueError, ModelFailedError, StoreError
from rag_cover.testing import KeywordScorer, ScriptedGenerator, ScriptedReceiver
from rag_cover_langchain.models import retriever_of
from rag_cover_langchain.retrievers import RagCoverRetriever, SubQuestionRetriever
from tests.gates import Gate
from tests.langchain.parts import CORPUS, ScriptedChatModel, WordEmbeddings, corpus_documents
from tests.langchain.trees import RunTree

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

TWO = "Why is the sky blue and how much does a heat pump cost?"
HOPS = "When was the director of Jaws born?"
DISTRACTING = {
    "jaws": "The director of Jaws is Steven Spielberg.",
    "spielberg": "Steven Spielberg was born on 18 December 1946 in Cincinnati, Ohio, to Leah and Arnold.",
    "zoo": "When was the zoo born? It was born of the lion.",
    "bank": "The bank was born when the mint of the king was born.",
    "park": "When was the park born? The park was born of the war.",
}


def ids(documents: Sequence[Document]) -> list[str | None]:
    return [document.id for document in documents]


class WatchedRetriever(BaseRetriever):
    """Finds what another finds, unless a word is asked for."""

    inner: Runnable[str, list[Document]]
    word: str = "never"
    asked: list[str] = []

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.asked.append(query)
        if self.word in query:
            message = "shard is down"
            raise ConnectionError(message)
        return self.inner.invoke(query, {"callbacks": run_manager.get_child()})


def watched(store: InMemoryVectorStore, word: str = "never", k: int = 3) -> WatchedRetriever:
    return WatchedRetriever(inner=store.as_retriever(search_kwargs={"k": k}), word=word, asked=[])


class EmptyRetriever(BaseRetriever):
    """Finds nothing."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return []


class _TellingNames(BaseRetriever):
    """Finds a passage with a name in it."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document("It was made by Jo Smith on a Wednesday, or on Mondays.")]


class DownScorer(KeywordScorer):
    """A judge whose server is down."""

    def correctness(self, items: Sequence[ScoringItem]) -> NoReturn:
        message = "the judge's server is down"
        raise ModelFailedError(message)


def two(_question: Question) -> list[SubQuestion]:
    return [SubQuestion("Why is the sky blue?"), SubQuestion("How much does a heat pump cost?")]


def test_what_sub_questions_find_is_kept_where_the_question_alone_misses_it() -> None:
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents([Document(text, id=name) for name, text in DISTRACTING.items()])

    alone = store.as_retriever(search_kwargs={"k": 3}).invoke(HOPS)
    driven = SubQuestionRetriever(store, k=3).invoke(HOPS)

    assert "spielberg" not in ids(alone)
    assert {"jaws", "spielberg"} <= set(ids(driven))
    assert len(driven) == 3


def test_the_same_is_kept_as_without_the_framework(store: InMemoryVectorStore) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 4})
    plainly = augment(
        TWO, retriever_of(retriever), scorer=open_scorer("embedded"), receiver=open_receiver("embedded"), k=3, depth=4
    )

    kept = SubQuestionRetriever(retriever, k=3, depth=4).invoke(TWO)

    assert ids(kept) == [passage.id for passage in plainly.passages]


NUMBERS: SearchStrategy[int] = st.integers(1, 9)


@given(k=NUMBERS, depth=st.none() | NUMBERS, mode=st.sampled_from(["retrieval", "auto"]), asked=st.none() | NUMBERS)
def test_no_document_is_kept_twice_and_none_that_no_search_found(
    k: int, depth: int | None, mode: Any, asked: int | None
) -> None:
    everything: Runnable[str, list[Document]] = RunnableLambda(lambda _: corpus_documents())
    retriever = SubQuestionRetriever(everything, judge=KeywordScorer(), k=k, depth=depth, mode=mode)

    found = ids(retriever.invoke(TWO, k=asked))

    wanted = asked or k
    assert len(found) == len(set(found)) == min(wanted, depth or wanted, len(CORPUS))
    assert set(found) <= set(ids(corpus_documents()))


def test_a_vector_store_is_searched_as_deep_as_is_asked(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, k=5, decomposer=lambda _: [])

    assert len(retriever.invoke(TWO)) == 5
    assert len(retriever.invoke(TWO, k=7)) == 7
    assert len(asyncio.run(retriever.ainvoke(TWO, k=2))) == 2
    with pytest.raises(InvalidValueError, match="k is 0; give a whole number of at least 1"):
        retriever.invoke(TWO, k=0)


def test_a_number_that_is_set_later_counts(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, decomposer=lambda _: [])

    retriever.k = 2

    assert len(retriever.invoke(TWO)) == 2


def test_what_else_it_is_called_with_goes_to_each_search(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, decomposer=two)

    found = retriever.invoke(TWO, filter=lambda document: document.id == "heat")

    assert ids(found) == ["heat"]


def test_a_number_can_be_left_to_the_configuration(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, decomposer=two).configurable_fields(k=ConfigurableField(id="how_many"))

    assert len(retriever.invoke(TWO, {"configurable": {"how_many": 2}})) == 2


def test_documents_are_the_inner_retrievers_own() -> None:
    document = Document("The sky is blue because air scatters blue light.", id="sky", metadata={"page": {7}})
    inner: Runnable[str, list[Document]] = RunnableLambda(lambda _: [document])

    (driven,) = SubQuestionRetriever(inner).invoke(TWO)

    assert driven is document
    assert driven.metadata == {"page": {7}}


def test_an_explained_document_names_its_searches_on_a_copy(store: InMemoryVectorStore) -> None:
    given = corpus_documents()
    inner: Runnable[str, list[Document]] = RunnableLambda(lambda query: store.as_retriever().invoke(query) and given)

    explained = {document.id: document for document in SubQuestionRetriever(inner, k=8, explain=True).invoke(TWO)}

    assert explained["heat"].metadata["found_for"][0] == TWO
    assert "How much does a heat pump cost?" in explained["heat"].metadata["found_for"]
    assert explained["heat"].metadata["source"] == "corpus"
    assert all("found_for" not in document.metadata for document in given)


def test_auto_searches_only_for_what_is_not_covered(store: InMemoryVectorStore) -> None:
    all_of_them, where_it_pays = watched(store), watched(store)

    SubQuestionRetriever(all_of_them, decomposer=two).invoke(TWO)
    SubQuestionRetriever(where_it_pays, decomposer=two, mode="auto").invoke(TWO)

    assert len(all_of_them.asked) == 3
    assert where_it_pays.asked == [TWO]


def test_without_feedback_a_question_that_was_not_taken_apart_is_searched_for_once() -> None:
    told, plain = (WatchedRetriever(inner=_TellingNames(), asked=[]) for _ in range(2))

    SubQuestionRetriever(told, judge=KeywordScorer(), receiver=None).invoke("Who made it?")
    SubQuestionRetriever(plain, judge=KeywordScorer(), receiver=None, feedback=0).invoke("Who made it?")

    assert told.asked == ["Who made it?", "Who made it? Jo Smith"]
    assert plain.asked == ["Who made it?"]


def test_a_search_that_fails_costs_that_search(store: InMemoryVectorStore) -> None:
    inner = watched(store, "Why is the sky blue?")

    found = SubQuestionRetriever(inner, k=3, decomposer=two).invoke(TWO)

    assert "Why is the sky blue?" in inner.asked
    assert "heat" in ids(found)


def test_when_all_searches_fail_there_is_an_error(store: InMemoryVectorStore) -> None:
    inner = watched(store, "")

    with pytest.raises(ModelFailedError, match="failed on every search, 3 of 3.*ConnectionError: shard is down"):
        SubQuestionRetriever(inner, decomposer=two, on_error="raise").invoke(TWO)
    with pytest.raises(ConnectionError, match="shard is down"):  # the retriever's own, as without augmentation
        SubQuestionRetriever(inner, decomposer=two).invoke(TWO)


def test_where_the_judge_fails_the_retrievers_own_documents_are_returned_and_that_is_logged(
    store: InMemoryVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = SubQuestionRetriever(store, judge=DownScorer(), decomposer=two, k=2)

    assert ids(retriever.invoke(TWO)) == ids(store.as_retriever(search_kwargs={"k": 2}).invoke(TWO))
    assert "is searched for as it is: the judge's server is down" in caplog.text


def test_where_the_judge_fails_there_is_an_error_if_that_is_wanted(store: InMemoryVectorStore) -> None:
    with pytest.raises(ModelFailedError, match="server is down"):
        SubQuestionRetriever(store, judge=DownScorer(), decomposer=two, on_error="raise").invoke(TWO)
    with pytest.raises(InvalidValueError, match="on_error is 'ignore'; give 'keep' or 'raise'"):
        SubQuestionRetriever(store, on_error="ignore")  # type: ignore[arg-type]  # that is the test


def test_no_more_searches_are_made_than_allowed(store: InMemoryVectorStore) -> None:
    inner = watched(store)

    SubQuestionRetriever(inner, decomposer=two, max_calls=2).invoke(TWO)

    assert len(inner.asked) == 2


def test_a_blank_question_is_searched_for_as_it_is() -> None:
    inner = WatchedRetriever(inner=RunnableLambda(lambda _: corpus_documents()), asked=[])

    found = SubQuestionRetriever(inner, k=2).invoke("  ")

    assert inner.asked == ["  "]
    assert len(found) == 2


def test_a_generator_splits_and_reads_and_writes_no_answer(store: InMemoryVectorStore) -> None:
    split = '{"sub_questions": ["Who directed Jaws?", "When was #1 born?"]}'
    typed = '{"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "core"}]}'
    generator = ScriptedGenerator(
        {"purpose: decompose": split, "purpose: type": typed, "purpose: sub-answer": "Steven Spielberg", "purpose: answer": "!"}
    )
    inner = watched(store)

    SubQuestionRetriever(inner, generator=generator, receiver=None).invoke(HOPS)

    assert "When was Steven Spielberg born?" in inner.asked
    assert generator.asked.items == 3  # split, typed, one sub-answer


def test_a_receiver_of_rag_covers_reads_what_later_sub_questions_need(store: InMemoryVectorStore) -> None:
    inner = watched(store)
    receiver = ScriptedReceiver({"Jaws is a 1975 film": ("Steven Spielberg",)})

    SubQuestionRetriever(inner, receiver=receiver).invoke(HOPS)

    assert "When was Steven Spielberg born?" in inner.asked


def test_a_chat_model_judges_and_its_runs_belong_to_the_retrieval(store: InMemoryVectorStore) -> None:
    verdict = '{"verdicts": [{"question": 1, "answered": false, "probability": 0.0, "fragment": null}]}'
    tree = RunTree()
    retriever = SubQuestionRetriever(store, judge=ScriptedChatModel(default=verdict), k=3, decomposer=two)

    found = retriever.invoke(TWO, {"callbacks": [tree]})

    assert len(found) == 3
    assert set(tree.of("ScriptedChatModel")) == {"SubQuestionRetriever"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "end-to-end"}, r"other modes write the answer's prompt, too: rag_cover.coverage.augment\(…, mode=…\)"),
        ({"k": 0}, "k is 0; give a whole number of at least 1"),
        ({"k": "5"}, "k is '5'; give a whole number of at least 1"),
        ({"threshold": 2.0}, "threshold is 2.0"),
        ({"judge": object()}, "'object' cannot serve as judge"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(
    store: InMemoryVectorStore, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        SubQuestionRetriever(store, **settings)


def test_what_finds_no_documents_is_refused() -> None:
    words: Any = RunnableLambda(str.split)

    with pytest.raises(InvalidValueError, match="'str' finds no documents: give a LangChain retriever or vector store"):
        SubQuestionRetriever("embedded")  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InvalidValueError, match="the class 'InMemoryVectorStore' itself finds no documents: give"):
        SubQuestionRetriever(InMemoryVectorStore)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(ModelFailedError, match="'RunnableLambda' gave 'list' of 'str' for a query; a retriever gives a list"):
        SubQuestionRetriever(words, on_error="raise").invoke("Why is the sky blue?")


def test_every_search_is_a_run_under_the_retrieval_that_made_it(store: InMemoryVectorStore) -> None:
    tree, later = RunTree(), RunTree()
    chain: Runnable[str, list[Document]] = RunnableLambda(lambda text: text) | SubQuestionRetriever(
        watched(store), decomposer=two, tags=["driven"]
    )

    chain.invoke(TWO, {"callbacks": [tree], "tags": ["mine"], "metadata": {"qid": 7}})
    asyncio.run(chain.ainvoke(TWO, {"callbacks": [later]}))

    for runs in (tree, later):
        assert runs.of("VectorStoreRetriever") == ["WatchedRetriever"] * 3
        assert runs.of("WatchedRetriever") == ["SubQuestionRetriever"] * 3
        assert runs.of("SubQuestionRetriever") == ["RunnableSequence"]
    assert all("mine" in tags for tags in tree.tags("VectorStoreRetriever"))
    assert "driven" in tree.tags("SubQuestionRetriever")[0]
    assert tree.metadata("VectorStoreRetriever", "qid") == [7, 7, 7]


def test_a_retrieval_does_not_block_the_loop(store: InMemoryVectorStore) -> None:
    gate = Gate()

    def find(query: str) -> list[Document]:
        gate.wait()
        return store.as_retriever().invoke(query)

    inner: Runnable[str, list[Document]] = RunnableLambda(find)

    assert gate.run(SubQuestionRetriever(inner).ainvoke(TWO))


def test_async_and_sync_and_batches_find_the_same(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, k=4)

    alone = [ids(retriever.invoke(question)) for question in (TWO, HOPS)]

    assert [ids(found) for found in retriever.batch([TWO, HOPS])] == alone
    assert [ids(found) for found in asyncio.run(retriever.abatch([TWO, HOPS]))] == alone


def test_one_retriever_serves_16_threads_at_once(store: InMemoryVectorStore) -> None:
    retriever, together = SubQuestionRetriever(store, k=3), threading.Barrier(16)
    questions = [TWO, HOPS] * 8
    alone = {question: ids(retriever.invoke(question)) for question in (TWO, HOPS)}

    def ask(question: str) -> list[str | None]:
        together.wait()
        return ids(retriever.invoke(question))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, questions))

    assert found == [alone[question] for question in questions]


def test_a_copy_asks_the_same_retriever(store: InMemoryVectorStore) -> None:
    retriever = SubQuestionRetriever(store, k=3, decomposer="rules", tags=["mine"])

    for copied in (copy.copy(retriever), copy.deepcopy(retriever), retriever.model_copy(deep=True)):
        assert copied.retriever is store
        assert copied.tags == ["mine"]
        assert ids(copied.invoke(TWO)) == ids(retriever.invoke(TWO))


def test_a_pickle_is_made_with_the_same_settings() -> None:
    retriever = SubQuestionRetriever(EmptyRetriever(), k=3, mode="auto")

    again = pickle.loads(pickle.dumps(retriever))  # noqa: S301  # our own

    assert (again.k, again.mode) == (3, "auto")
    assert again.invoke(TWO) == []


def test_the_hybrid_retriever_finds_documents_as_they_were_given() -> None:
    documents = corpus_documents()

    found = RagCoverRetriever.from_documents(documents, k=2).invoke("What does a heat pump cost?")

    assert found[0] == documents[3]
    assert len(found) == 2
    found[0].metadata["seen"] = True
    assert "seen" not in documents[3].metadata


def test_documents_without_ids_are_told_apart_by_their_content() -> None:
    documents = [Document(text) for text in CORPUS.values()]

    found = RagCoverRetriever.from_documents([*documents, documents[0]], k=9).invoke("Why is the sky blue?")

    assert sorted(document.page_content for document in found) == sorted(CORPUS.values())


def test_an_index_is_kept_and_found_again(tmp_path: Path) -> None:
    made = RagCoverRetriever.from_documents(corpus_documents(), k=3, index=tmp_path / "index")
    found = RagCoverRetriever.from_documents(corpus_documents(), k=3, index=tmp_path / "index")

    assert ids(made.invoke(TWO)) == ids(found.invoke(TWO))
    with pytest.raises(StoreError, match="another corpus"):
        RagCoverRetriever.from_documents([Document("Of something else.")], index=tmp_path / "index")
    assert len(RagCoverRetriever.from_documents(corpus_documents()[:2], k=9, index=tmp_path / "index").invoke(TWO)) == 2


@pytest.mark.parametrize("asked", [{"question": TWO}, [("user", TWO)], None])
def test_what_should_have_been_a_question_is_refused_in_a_sentence(store: InMemoryVectorStore, asked: Any) -> None:
    given = type(asked).__name__

    for retriever in (SubQuestionRetriever(store), RagCoverRetriever.from_documents(corpus_documents())):
        with pytest.raises(InvalidValueError, match=f"asked by a text, not by '{given}'; .* such as by itemgetter"):
            retriever.invoke(asked)
        with pytest.raises(InvalidValueError, match="k is '5'; give a whole number of at least 1"):
            retriever.invoke(TWO, k="5")


def test_it_writes_itself_without_its_documents() -> None:
    made = RagCoverRetriever.from_documents([Document("A long text. " * 1_000)])

    assert "A long text." not in repr(made)
    assert "A long text." not in dumps(made)


def test_nothing_to_find_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        RagCoverRetriever.from_documents([])
    with pytest.raises(InvalidValueError, match="k is 0; give a whole number of at least 1"):
        RagCoverRetriever.from_documents(corpus_documents(), k=0)
    with pytest.raises(InvalidValueError, match="k is -1; give a whole number of at least 1"):
        RagCoverRetriever.from_documents(corpus_documents()).invoke(TWO, k=-1)


def test_the_hybrid_retriever_can_be_driven_and_is_asked_as_deep() -> None:
    hybrid = RagCoverRetriever.from_documents(corpus_documents(), k=1)

    found = SubQuestionRetriever(hybrid, k=4).invoke(TWO)

    assert len(found) == 4
    assert {"rayleigh", "heat"} <= set(ids(found))
