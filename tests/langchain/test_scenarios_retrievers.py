"""Retrievers and chains of langchain-classic in their documented shapes: each recording tells what truly happened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_classic", reason="needs langchain-classic")

from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    ParentDocumentRetriever,
    RePhraseQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainExtractor, LLMChainFilter
from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import CommaSeparatedListOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter

from rag_cover.coverage import Loss
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import SKY, rag
from tests.langchain.scenarios import BAD, Parts, Row, Seen, differences, scenario

ROWS: list[Row] = []
row = partial(scenario, ROWS)

BOTH = "retrieve VectorStoreRetriever: rayleigh ocean"
PLAIN = Seen((BOTH,), "rayleigh ocean")


class Reversed(BaseDocumentCompressor):
    """Reranks: turns the order round, with scores."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        scored = enumerate(reversed(documents))
        return [each.model_copy(update={"metadata": {**each.metadata, "relevance_score": 1 - n / 9}}) for n, each in scored]


class SelfQuerying(BaseRetriever):
    """Asks a model for the query, and searches by it itself, as a self-querying retriever does."""

    store: InMemoryVectorStore
    constructor: Runnable[Any, Any]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        (structured,) = self.constructor.invoke({"query": query}, {"callbacks": run_manager.get_child()})
        return self.store.similarity_search(structured, k=2)


class Scored(BaseRetriever):
    """Keeps the scores of a vector store, as the documentation shows."""

    store: InMemoryVectorStore

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.store.similarity_search_with_score(query, k=2)
        return [each.model_copy(update={"metadata": {**each.metadata, "score": score}}) for each, score in found]


@row(Seen((BOTH,), None, None))
def a_bare_retriever(parts: Parts) -> object:
    return parts.retriever().invoke(SKY, parts.config())


@row(PLAIN)
def a_retriever_of_another_search_type(parts: Parts) -> object:
    found = parts.store.as_retriever(search_type="mmr", search_kwargs={"k": 2, "fetch_k": 2})
    return rag(found, parts.model).invoke(SKY, parts.config())


@row(Seen(("retrieve Scored: rayleigh ocean",), "rayleigh ocean"))
def a_retriever_that_keeps_scores(parts: Parts) -> object:
    return rag(Scored(store=parts.store), parts.model).invoke(SKY, parts.config())


@row(
    Seen(
        (
            "retrieve VectorStoreRetriever-1: rayleigh",
            "retrieve VectorStoreRetriever-2: ocean",
            "fuse MultiQueryRetriever: rayleigh ocean",
        ),
        "rayleigh ocean",
    )
)
def a_question_in_several_words(parts: Parts) -> object:
    words = ScriptedChatModel(default="Why is the sky blue, with air?\nWhy does the ocean look blue?")
    many = MultiQueryRetriever.from_llm(parts.retriever(1), words)
    return rag(many, parts.model).invoke(SKY, parts.config(max_concurrency=1))


@row(
    Seen(
        ("retrieve one: rayleigh", "retrieve two: rayleigh ocean", "fuse EnsembleRetriever: rayleigh ocean"),
        "rayleigh ocean",
    )
)
def an_ensemble(parts: Parts) -> object:
    one, two = parts.retriever(1).with_config(run_name="one"), parts.retriever(2).with_config(run_name="two")
    both = EnsembleRetriever(retrievers=[one, two], weights=[0.5, 0.5])
    return rag(both, parts.model).invoke(SKY, parts.config())


@row(
    Seen(
        (
            "retrieve VectorStoreRetriever-1: rayleigh",
            "retrieve VectorStoreRetriever-2: rayleigh ocean",
            "fuse MergerRetriever: rayleigh rayleigh ocean",
        ),
        "rayleigh ocean",
    )
)
def a_merger(parts: Parts) -> object:
    return rag(MergerRetriever(retrievers=[parts.retriever(1), parts.retriever(2)]), parts.model).invoke(SKY, parts.config())


@row(Seen((BOTH, "rerank ContextualCompressionRetriever: ocean rayleigh"), "ocean rayleigh"))
def a_reranker_within_a_compression_retriever(parts: Parts) -> object:
    reranking = ContextualCompressionRetriever(base_compressor=Reversed(), base_retriever=parts.retriever())
    return rag(reranking, parts.model).invoke(SKY, parts.config())


@row(
    Seen(
        ("retrieve VectorStoreRetriever: rayleigh ocean sunset", "filter ContextualCompressionRetriever: ocean"),
        "ocean",
        BAD,
        Loss.DROPPED,
    )
)
def a_filter_by_a_model(parts: Parts) -> object:
    judge = ScriptedChatModel(script={"The ocean": "YES"}, default="NO")
    filtering = ContextualCompressionRetriever(
        base_compressor=LLMChainFilter.from_llm(judge), base_retriever=parts.retriever(3)
    )
    return rag(filtering, parts.model).invoke(SKY, parts.config())


@row(Seen((BOTH, "filter ContextualCompressionRetriever: air-molecules-scatter"), "air-molecules-scatter"))
def an_extractor(parts: Parts) -> object:
    part = "air molecules scatter blue light more strongly"
    extract = LLMChainExtractor.from_llm(ScriptedChatModel(script={"air molecules": part}, default="NO_OUTPUT"))
    extracting = ContextualCompressionRetriever(base_compressor=extract, base_retriever=parts.retriever())
    return rag(extracting, parts.model).invoke(SKY, parts.config())


@row(Seen(("retrieve ParentDocumentRetriever: The-sky-is",), "The-sky-is"))
def parents_of_what_was_found(parts: Parts) -> object:
    parents = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(parts.store.embedding),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=". ", chunk_size=30, chunk_overlap=0),
        search_kwargs={"k": 1},
    )
    parents.add_documents([Document(each.page_content) for each in parts.store.get_by_ids(["rayleigh"])])
    return rag(parents, parts.model).invoke(SKY, parts.config())


@row(Seen(("retrieve SelfQuerying: rayleigh ocean",), "rayleigh ocean"))
def a_retriever_that_asks_a_model_for_its_query(parts: Parts) -> object:
    asked = ChatPromptTemplate.from_template("A filter for {query}") | ScriptedChatModel(default="why sky blue")
    constructor = asked | CommaSeparatedListOutputParser()
    return rag(SelfQuerying(store=parts.store, constructor=constructor), parts.model).invoke(SKY, parts.config())


@row(Seen((BOTH,), "rayleigh ocean"))
def a_retriever_that_rephrases(parts: Parts) -> object:
    rephrasing = RePhraseQueryRetriever.from_llm(parts.retriever(), ScriptedChatModel(default="sky blue why"))  # type: ignore[arg-type]  # it takes chat models, too
    return rag(rephrasing, parts.model).invoke(SKY, parts.config())


def _conversation(parts: Parts, retriever: Runnable[Any, Any]) -> Runnable[Any, Any]:
    history = MessagesPlaceholder("chat_history")
    prompt = ChatPromptTemplate.from_messages([("system", "Use {context}"), history, ("user", "{input}")])
    chain: Runnable[Any, Any] = create_retrieval_chain(retriever, create_stuff_documents_chain(parts.model, prompt))
    return chain


@row(PLAIN)
def a_retrieval_chain(parts: Parts) -> object:
    return _conversation(parts, parts.retriever()).invoke({"input": SKY, "chat_history": []}, parts.config())


@row(PLAIN)
def a_retrieval_chain_that_streams(parts: Parts) -> object:
    return list(_conversation(parts, parts.retriever()).stream({"input": SKY, "chat_history": []}, parts.config()))


def _aware(parts: Parts) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("user", "{input}"), ("user", "Alone.")])
    return _conversation(parts, create_history_aware_retriever(ScriptedChatModel(default=SKY), parts.retriever(), prompt))


@row(Seen((BOTH,), "rayleigh ocean", asked="And why?"))
def a_follow_up_that_a_retriever_knows_the_history_of(parts: Parts) -> object:
    history = [HumanMessage("What colour is the sky?"), AIMessage("Blue.")]
    return _aware(parts).invoke({"input": "And why?", "chat_history": history}, parts.config())


@row(PLAIN)
def a_first_question_without_a_history(parts: Parts) -> object:
    return _aware(parts).invoke({"input": SKY, "chat_history": []}, parts.config())


@row(Seen(("retrieve stuff_documents_chain/given: rayleigh ocean",), "rayleigh ocean", pipeline="stuff_documents_chain"))
def documents_that_are_given(parts: Parts) -> object:
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    chain = create_stuff_documents_chain(parts.model, prompt)
    given = {"context": parts.store.similarity_search(SKY, k=2), "question": SKY}
    return chain.invoke(given, parts.config())


@row(Seen((BOTH, "rerank prefer_last: ocean rayleigh"), "ocean rayleigh"))
def a_function_that_reorders(parts: Parts) -> object:
    def prefer_last(found: list[Document]) -> list[Document]:
        return found[::-1]

    return rag(parts.retriever() | RunnableLambda(prefer_last), parts.model).invoke(SKY, parts.config())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::langchain_core._api.LangChainDeprecationWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.run.__name__)
def test_what_happened_is_told(row: Row) -> None:
    found = differences(row)

    assert not found, "\n".join(found)
