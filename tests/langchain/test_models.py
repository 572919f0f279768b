from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Passage, open_embedder
from rag_cover.backends import Embedder, Generator, Retriever, ScoringItem, fingerprint_of
from rag_cover.belief import GeneratorReceiver
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.judge import PromptedJudge
from rag_cover.testing import ScriptedRetriever
from rag_cover_langchain.embeddings import RagCoverEmbeddings
from rag_cover_langchain.generators import LangChainGenerator
from rag_cover_langchain.models import (
    LangChainEmbedder,
    embedder_of,
    generator_of,
    models_of,
    retriever_of,
)
from rag_cover_langchain.searches import DocumentSearch
from tests.langchain.parts import ScriptedChatModel, WordEmbeddings

YES = '{"verdicts": [{"question": 1, "answered": true, "probability": 0.9, "fragment": "scatters blue light"}]}'
SKY = "The sky is blue because air scatters blue light."
WHY = "Why is the sky blue?"


class ConstantEmbeddings(Embeddings):
    """Gives every text the same numbers."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[3.0, 4.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [3.0, 4.0]


class BrokenEmbeddings(ConstantEmbeddings):
    """Does not answer."""

    model = "broken-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        message = "connection reset"
        raise ConnectionError(message)


def test_an_embedding_model_is_an_embedder_of_unit_vectors() -> None:
    embedder = embedder_of(ConstantEmbeddings())

    vectors = embedder.embed(["one", "two"])

    assert isinstance(embedder, Embedder)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[np.float32(0.6), np.float32(0.8)]] * 2


def test_an_embedding_model_that_fails_is_told_by_name() -> None:
    with pytest.raises(ModelFailedError, match="'broken-1' failed: connection reset") as failed:
        embedder_of(BrokenEmbeddings()).embed(["sky"])

    assert failed.value.kind == "ConnectionError"


def test_rag_covers_own_embedding_is_its_embedder() -> None:
    assert embedder_of(RagCoverEmbeddings()) is open_embedder("embedded")


def test_an_embedders_fingerprint_is_its_class_and_name() -> None:
    assert fingerprint_of(LangChainEmbedder(BrokenEmbeddings())).endswith("BrokenEmbeddings:broken-1")
    assert fingerprint_of(LangChainEmbedder(WordEmbeddings())).endswith("parts.WordEmbeddings:WordEmbeddings")


def test_a_retriever_finds_its_first_k_documents_as_passages(store: InMemoryVectorStore) -> None:
    retriever = retriever_of(store.as_retriever(search_kwargs={"k": 5}))

    found = retriever.retrieve("Why is the sky blue?", k=2)

    assert isinstance(retriever, Retriever)
    assert found[0].id == "rayleigh"
    assert len(found) == 2
    assert found[0].title == "Rayleigh scattering"


def test_a_vector_store_is_a_retriever_and_so_is_a_runnable_from_a_text_to_documents(store: InMemoryVectorStore) -> None:
    def found(query: str) -> list[Document]:
        return store.similarity_search(query, k=5)

    expected = retriever_of(store.as_retriever()).retrieve(WHY, k=3)

    assert len(expected) == 3
    assert retriever_of(store).retrieve(WHY, k=3) == expected
    assert retriever_of(RunnableLambda(found)).retrieve(WHY, k=3) == expected


def test_what_finds_as_many_as_it_is_asked_for_is_asked_for_k(store: InMemoryVectorStore) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})

    assert len(retriever_of(retriever).retrieve(WHY, k=3)) == 3


class ForwardingRetriever(BaseRetriever):
    """Remembers what else it was asked for than a query, and finds three documents."""

    asked: list[dict[str, Any]] = []

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        self.asked.append(kwargs)
        return [Document(f"{query} {number}", id=str(number)) for number in range(3)]


class CountingRetriever(ForwardingRetriever):
    """Takes a number."""

    def _get_relevant_documents(  # type: ignore[override]  # which LangChain allows
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int = 3
    ) -> list[Document]:
        return super()._get_relevant_documents(query, run_manager=run_manager, k=k)[:k]


def test_what_may_pass_a_number_on_to_what_it_reranks_is_not_asked_for_one() -> None:
    forwarding, counting = ForwardingRetriever(asked=[]), CountingRetriever(asked=[])

    found = [retriever_of(each).retrieve("sky", k=2) for each in (forwarding, counting)]

    assert (forwarding.asked, counting.asked) == ([{}], [{"k": 2}])
    assert [[passage.id for passage in passages] for passages in found] == [["0", "1"]] * 2


def test_a_runnable_that_finds_no_list_is_refused_by_its_name() -> None:
    def described(query: str) -> str:
        return f"documents about {query}"

    with pytest.raises(InvalidValueError, match="'RunnableLambda' gave 'str' for a query; a retriever gives a list"):
        retriever_of(RunnableLambda(described)).retrieve("sky", k=2)


def test_a_search_keeps_the_documents_that_it_found(store: InMemoryVectorStore) -> None:
    search, red = DocumentSearch(store.as_retriever()), "Why is the sky red?"

    passages = [*search.retrieve(red, k=3), *search.retrieve(WHY, k=3)]

    documents = search.first_found([WHY, red])
    assert {passage.key for passage in passages} == set(documents)
    assert all(documents[passage.key].page_content == passage.text for passage in passages)


def test_a_document_found_twice_is_that_of_the_search_that_is_named_first() -> None:
    def scored(query: str) -> list[Document]:
        return [Document("Blue light scatters.", id="blue", metadata={"score": float(len(query))})]

    search = DocumentSearch(RunnableLambda(scored))
    for query in ("sky", "ocean"):
        search.retrieve(query, k=1)

    assert search.first_found(["ocean", "sky"])["id:blue"].metadata == {"score": 5.0}
    assert search.first_found(["sky", "ocean"])["id:blue"].metadata == {"score": 3.0}
    assert search.first_found(["rain"]) == {}


class RetrieverRuns(BaseCallbackHandler):
    """Keeps the parent of every retrieval, and the runs of every chain."""

    def __init__(self) -> None:
        self.parents: list[object] = []
        self.chains: list[object] = []

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **_: Any) -> None:
        self.chains.append(run_id)

    def on_retriever_start(self, serialized: Any, query: str, *, run_id: Any, parent_run_id: Any = None, **_: Any) -> None:
        self.parents.append(parent_run_id)


def test_searches_from_any_thread_are_found_under_the_run_that_they_were_made_in(store: InMemoryVectorStore) -> None:
    recorder = RetrieverRuns()

    def ask(_: str) -> list[list[Passage]]:
        search = DocumentSearch(store.as_retriever())
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda query: search.retrieve(query, k=1), ["a", "b", "c", "d"]))

    RunnableLambda(ask).invoke("go", {"callbacks": [recorder]})

    assert recorder.parents == recorder.chains * 4


def test_a_search_is_called_with_the_config_that_it_was_made_with(store: InMemoryVectorStore) -> None:
    recorder = RetrieverRuns()
    config: RunnableConfig = {"callbacks": [recorder]}

    DocumentSearch(store.as_retriever(), config).retrieve(WHY, k=1)

    assert recorder.parents == [None]


def test_a_language_model_judges_and_locates_what_it_has_scored() -> None:
    opened = models_of(judge=ScriptedChatModel(script={"sky": YES})).open(["scorer", "locator"])

    asked = [ScoringItem(WHY, SKY)]
    assert opened["locator"] is opened["scorer"]
    assert opened["scorer"].correctness(asked) == pytest.approx([0.9])
    (fragment,) = opened["locator"].locate(asked)
    assert fragment.of(SKY) == "scatters blue light"


def test_a_wrapped_language_model_is_one(model: ScriptedChatModel) -> None:
    for each in (model, model.with_retry(), model.bind(temperature=0.5), model.with_fallbacks([model])):
        generator = generator_of(each)

        assert isinstance(generator, Generator)
        assert generator.generate(["sky"])[0].samples[0].text == SKY


def test_a_retriever_of_rag_covers_stays_as_it_is() -> None:
    retriever = ScriptedRetriever()

    assert retriever_of(retriever) is retriever


def test_what_is_no_model_is_refused_with_what_would_be_one() -> None:
    nothing: Any = {}

    with pytest.raises(InvalidValueError, match="'dict' cannot serve as retriever: give a LangChain BaseRetriever"):
        retriever_of(nothing)
    with pytest.raises(InvalidValueError, match="'dict' cannot serve as generator: .*, or a chat model of LangChain"):
        generator_of(nothing)
    with pytest.raises(InvalidValueError, match="'dict' cannot serve as embedder: .*, or LangChain's Embeddings"):
        embedder_of(nothing)


def test_models_take_framework_objects_in_every_field() -> None:
    llm = ScriptedChatModel(script={"sky": YES})

    models = models_of(judge=llm, locator=llm, receiver=llm, generator=llm, decomposer=llm, embedder=WordEmbeddings())

    assert isinstance(models.judge, PromptedJudge)
    assert models.locator is models.judge
    assert isinstance(models.receiver, GeneratorReceiver)
    assert isinstance(models.generator, LangChainGenerator)
    assert models.decomposer is models.generator
    assert isinstance(models.embedder, LangChainEmbedder)
    opened = models.open(["scorer", "locator", "receiver", "generator", "decomposer", "embedder"])
    assert set(opened) == {"scorer", "locator", "receiver", "generator", "decomposer", "embedder"}


def test_one_retriever_serves_16_threads_at_once(store: InMemoryVectorStore) -> None:
    search, together = DocumentSearch(store.as_retriever()), threading.Barrier(16)

    def ask(_: int) -> list[Passage]:
        together.wait()
        return search.retrieve("Why is the sky blue?", k=2)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, range(16)))

    assert all(passages == found[0] for passages in found)
    assert len(search.first_found(["Why is the sky blue?"])) == 2


@pytest.mark.parametrize("place", ["judge", "locator", "relevance", "entailer", "receiver", "generator", "embedder"])
def test_an_object_in_a_place_that_it_cannot_fill_is_refused_by_the_name_of_the_place(
    place: str, store: InMemoryVectorStore
) -> None:
    retriever: Any = store.as_retriever()

    with pytest.raises(InvalidValueError, match=f"'VectorStoreRetriever' cannot serve as {place}: give the name of one"):
        models_of(**{place: retriever})


def test_what_does_not_split_questions_is_refused(store: InMemoryVectorStore) -> None:
    retriever: Any = store.as_retriever()

    with pytest.raises(InvalidValueError, match="decomposer is 'rules', a generator or its name, a Path"):
        models_of(decomposer=retriever)


def test_a_language_model_is_no_retriever(model: ScriptedChatModel) -> None:
    with pytest.raises(InvalidValueError, match=r"a LangChain BaseRetriever, such as store.as_retriever\(\)"):
        retriever_of(model)
