"""The retrievers and chains that moved to langchain-classic are recorded: what they fuse, compress, rewrite and join."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_classic", reason="needs langchain-classic")

from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever, MultiQueryRetriever
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import ANSWER, HEAT, SKY, config, ids, only, prompt, rag, steps

HISTORY = [HumanMessage(SKY), AIMessage("Because of the air.")]
REWRITTEN = "Why is the sky blue at noon?"


class LastTwo(BaseDocumentCompressor):
    """Keeps the last two, turned round."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        return list(documents)[::-1][:2]


@pytest.fixture
def conversation(store: InMemoryVectorStore, model: BaseChatModel) -> Runnable[Any, Any]:
    """A chain that asks in other words what is asked within a conversation."""
    asked = ("user", "{input}")
    rewriting = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), asked, ("user", "Rewrite.")])
    retriever = store.as_retriever(search_kwargs={"k": 2})
    aware = create_history_aware_retriever(ScriptedChatModel(default=REWRITTEN), retriever, rewriting)
    answering = ChatPromptTemplate.from_messages([("system", "Use {context}"), MessagesPlaceholder("chat_history"), asked])
    chain: Runnable[Any, Any] = create_retrieval_chain(aware, create_stuff_documents_chain(model, answering))
    return chain


@pytest.mark.parametrize("is_async", [False, True])
def test_an_ensemble_joins_what_its_retrievers_found(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, is_async: bool
) -> None:
    both = EnsembleRetriever(retrievers=[store.as_retriever(search_kwargs={"k": k}) for k in (2, 3)], weights=[0.5, 0.5])
    chain = rag(both, model)

    asyncio.run(chain.ainvoke(SKY, config(handler))) if is_async else chain.invoke(SKY, config(handler))

    trace = only(handler)
    names = ("VectorStoreRetriever-1", "VectorStoreRetriever-2")
    assert [(step.kind, step.input_ids) for step in trace.steps] == [("retrieve", ()), ("retrieve", ()), ("fuse", names)]
    assert [step.parent_id for step in trace.steps] == ["EnsembleRetriever", "EnsembleRetriever", None]
    assert prompt(trace) == ids(trace) == ["rayleigh", "ocean", "sunset"]


def test_a_question_in_several_words_is_a_step_for_each(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    wording = ScriptedChatModel(default=f"{SKY}\n{HEAT}")
    several = MultiQueryRetriever.from_llm(store.as_retriever(search_kwargs={"k": 1}), wording)

    rag(several, model).invoke(SKY, config(handler))

    trace = only(handler)
    assert [(step.kind, step.query) for step in trace.steps] == [("retrieve", SKY), ("retrieve", HEAT), ("fuse", SKY)]
    assert (trace.answer, prompt(trace)) == (ANSWER, ["rayleigh", "heat"])


def test_a_compressor_is_a_step_after_what_it_was_given(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 3})
    compressed = ContextualCompressionRetriever(base_compressor=LastTwo(), base_retriever=retriever)

    rag(compressed, model).invoke(SKY, config(handler))

    trace = only(handler)
    assert steps(trace) == [
        ("retrieve", "VectorStoreRetriever", ["rayleigh", "ocean", "sunset"]),
        ("rerank", "ContextualCompressionRetriever", ["sunset", "ocean"]),
    ]
    assert prompt(trace) == ["sunset", "ocean"]


def test_what_a_model_extracts_is_chosen_from_what_was_found(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    extracting = LLMChainExtractor.from_llm(ScriptedChatModel(default="blue"))
    retriever = store.as_retriever(search_kwargs={"k": 2})

    ContextualCompressionRetriever(base_compressor=extracting, base_retriever=retriever).invoke(SKY, config(handler))

    trace = only(handler)
    assert [(step.kind, step.id) for step in trace.steps] == [
        ("retrieve", "VectorStoreRetriever"),
        ("filter", "ContextualCompressionRetriever"),
    ]
    assert [passage.text for passage in trace.steps[-1].passages] == ["blue", "blue"]


@pytest.mark.parametrize("history", [[], HISTORY])
def test_a_retrieval_chain_is_recorded_with_the_words_it_searched_by(
    handler: RagCoverCallbackHandler, conversation: Runnable[Any, Any], history: list[object]
) -> None:
    output = conversation.invoke({"input": SKY, "chat_history": history}, config(handler))

    trace = only(handler)
    asked = (REWRITTEN, SKY) if history else (SKY, None)
    assert (trace.question.text, trace.metadata.get("asked")) == asked
    assert (trace.answer, trace.pipeline) == (output["answer"], "retrieval_chain")
    assert [step.query for step in trace.steps] == [REWRITTEN if history else SKY]
    assert prompt(trace) == ids(trace) == ["rayleigh", "sunset" if history else "ocean"]


def test_a_retrieval_chain_that_is_left_while_it_streams_has_no_answer(
    handler: RagCoverCallbackHandler, conversation: Runnable[Any, Any]
) -> None:
    parts = conversation.stream({"input": SKY, "chat_history": HISTORY}, config(handler))
    read = [next(parts) for _ in range(5)]
    parts.close()  # type: ignore[attr-defined]  # it is a generator

    trace = only(handler)
    assert any("answer" in part for part in read)
    assert (trace.answer, trace.steps[0].query) == (None, REWRITTEN)
    assert ANSWER.startswith(trace.metadata["unfinished_answer"])
