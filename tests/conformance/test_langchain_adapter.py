"""The LangChain adapter passes the suite of adapters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langgraph", reason="needs langgraph")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from pydantic import Field

from rag_cover.testing.conformance import AdapterTests
from rag_cover_langchain import RagCoverCallbackHandler, attach
from tests.langchain.recordings import FailingModel

PROMPT = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")


class Finding(BaseRetriever):
    """Finds what it was told to, by question or for all."""

    found: tuple[str, ...] = ()
    by_question: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        return [Document(text) for text in self.by_question.get(query, self.found)]


def _writing(*replies: str) -> BaseChatModel:
    return FakeListChatModel(responses=list(replies))


def _joined(documents: Sequence[Document]) -> str:
    return "\n\n".join(each.page_content for each in documents)


def _rag(context: Runnable[Any, Any], model: BaseChatModel) -> Runnable[Any, str]:
    return {"context": context | _joined, "question": RunnablePassthrough()} | PROMPT | model | StrOutputParser()


class TestLangChainAdapter(AdapterTests):
    @pytest.fixture
    def recording(self) -> Iterator[RagCoverCallbackHandler]:
        with attach(measures=()) as attached:
            yield attached

    def attach_again(self, recording: Any) -> Any:
        del recording
        return attach(measures=())

    def ask(self, question: str, found: Sequence[str], shown: Sequence[str], answer: str, **said: str) -> None:
        context = Finding(found=tuple(found)) | (lambda documents: "\n".join(shown) if documents else "")
        chain = {"context": context, "question": RunnablePassthrough()} | PROMPT | _writing(answer) | StrOutputParser()
        chain.invoke(question, {"metadata": said})

    def ask_follow_up(self, said: str, standalone: str, found: Sequence[str], answer: str) -> None:
        condense = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("user", "{question}")])
        question = condense | _writing(standalone) | StrOutputParser()
        asked = RunnablePassthrough.assign(context=question | Finding(found=tuple(found)) | _joined)
        chain = asked | PROMPT | _writing(answer) | StrOutputParser()
        chain.invoke({"question": said, "chat_history": [("user", "A heat pump?"), ("ai", "It heats.")]})

    def ask_two_retrievers(self, question: str, one: Sequence[str], other: Sequence[str], answer: str) -> None:
        both = RunnableParallel(one=Finding(found=tuple(one)), other=Finding(found=tuple(other)))
        fused = both | RunnableLambda(lambda found: [*found["one"], *found["other"]])
        _rag(fused, _writing(answer)).invoke(question)

    def ask_refining(self, question: str, found: Sequence[str], drafts: Sequence[str]) -> None:
        write = ChatPromptTemplate.from_template("{draft}\n{passage}\n{question}") | _writing(*drafts) | StrOutputParser()

        def refine(asked: str) -> str:
            draft = ""
            for document in Finding(found=tuple(found)).invoke(asked):
                draft = write.invoke({"draft": draft, "passage": document.page_content, "question": asked})
            return draft

        RunnableLambda(refine).invoke(question)

    def ask_with_fallback(self, question: str, failed: Sequence[str], found: Sequence[str], answer: str) -> None:
        sound = _rag(Finding(found=tuple(found)), _writing(answer))
        _rag(Finding(found=tuple(failed)), FailingModel()).with_fallbacks([sound]).invoke(question)

    def ask_several(self, asked: Sequence[tuple[str, Sequence[str], str]]) -> None:
        retriever = Finding(by_question={question: tuple(found) for question, found, _ in asked})
        chain = _rag(retriever, _writing(*(answer for _, _, answer in asked)))
        ask: Any = RunnableLambda(lambda questions: [chain.invoke(question) for question in questions])
        ask.invoke([each[0] for each in asked])

    def interrupt_and_resume(self, question: str, found: Sequence[str], answer: str, thread_id: str) -> None:
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import START, StateGraph
        from langgraph.types import Command, interrupt

        chain = PROMPT | _writing(answer) | StrOutputParser()
        graph: Any = StateGraph(dict)
        graph.add_node("search", lambda state: state | {"documents": Finding(found=tuple(found)).invoke(state["question"])})
        graph.add_node("wait", lambda state: state | {"said": interrupt("Go on?")})
        graph.add_node(
            "write",
            lambda state: {"answer": chain.invoke({"question": state["question"], "context": _joined(state["documents"])})},
        )
        graph.add_edge(START, "search")
        graph.add_edge("search", "wait")
        graph.add_edge("wait", "write")
        app: Any = graph.compile(checkpointer=InMemorySaver())
        given: Any
        for given in ({"question": question}, Command(resume="Yes.")):
            app.invoke(given, {"configurable": {"thread_id": thread_id}})

    def write(self, text: str) -> None:
        (ChatPromptTemplate.from_template("{text}") | _writing("Guten Morgen")).invoke({"text": text})

    def judge(self, question: str, passages: Sequence[str], answer: str) -> None:
        judging = ChatPromptTemplate.from_template("Grounded? {context} {question} {answer}") | _writing("yes")
        judging.invoke({"question": question, "context": "\n".join(passages), "answer": answer})
