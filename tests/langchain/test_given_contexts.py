"""Passages that are seen in a model's prompt alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from rag_cover_langchain.callbacks import RagCoverCallbackHandler

FOUND = "Power tools need a deposit of 50 euros."
ASKED = "What is the deposit for power tools?"
HUB = "Use the retrieved context; if you do not know, say so.\nQuestion: {question}\nContext: {c}\nAnswer:"


def model() -> FakeListChatModel:
    return FakeListChatModel(responses=["50 euros."])


def chain_of_mappings() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("Answer by this.\n{context}\n{question}")
    return {"context": RunnableLambda(lambda _: FOUND), "question": RunnablePassthrough()} | prompt | model()


def function_with_a_template() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    return RunnableLambda(lambda question: model().invoke(prompt.invoke({"context": FOUND, "question": question})))


def function_with_a_text() -> Runnable[Any, Any]:
    return RunnableLambda(lambda question: model().invoke(HUB.format(question=question, c=FOUND)))


def system_prompt_on_one_line() -> Runnable[Any, Any]:
    return RunnableLambda(lambda question: model().invoke([("system", f"Context: {FOUND}"), ("human", question)]))


@pytest.mark.parametrize("make", [chain_of_mappings, function_with_a_template, function_with_a_text, system_prompt_on_one_line])
def test_the_context_of_a_prompt_is_what_the_model_was_given(make: Callable[[], Runnable[Any, Any]]) -> None:
    with RagCoverCallbackHandler(measures=[]) as handler:
        make().invoke(ASKED, config={"callbacks": [handler]})

    (trace,) = handler.traces
    assert [passage.text for passage in trace.prompt or ()] == [FOUND]


def test_the_words_of_a_question_are_no_context_of_it() -> None:
    chain: Runnable[Any, Any] = RunnableLambda(lambda text: model().invoke(text))
    with RagCoverCallbackHandler(measures=[]) as handler:
        chain.invoke("Documents: passport and visa. Which do I need?", config={"callbacks": [handler]})

    assert handler.traces[0].prompt is None


def test_a_prompt_without_context_gives_none() -> None:
    talk: Runnable[Any, Any] = RunnableLambda(lambda text: model().invoke([("system", "Be brief."), ("human", text)]))
    with RagCoverCallbackHandler(measures=[]) as handler:
        talk.invoke(ASKED, config={"callbacks": [handler]})

    assert handler.traces[0].prompt is None


def test_a_closed_handler_says_once_that_it_records_nothing(caplog: pytest.LogCaptureFixture) -> None:
    config: Mapping[str, Any]
    with RagCoverCallbackHandler(measures=[]) as handler:
        config = {"callbacks": [handler]}
        chain_of_mappings().invoke(ASKED, config=config)  # type: ignore[arg-type]  # a mapping
    caplog.clear()

    for _ in range(2):
        chain_of_mappings().invoke(ASKED, config=config)  # type: ignore[arg-type]  # a mapping

    assert [each.message for each in caplog.records] == [
        "this RagCoverCallbackHandler is closed: what runs with it is not recorded; make a new one"
    ]
