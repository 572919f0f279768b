"""Which runs are recorded: those that retrieve, unless all are asked for, and those that pass the filter."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.errors import InvalidValueError
from rag_cover_langchain.attachment import attach
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.run_filters import RunFilter
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import (
    ANSWER,
    HEAT,
    SKY,
    BrokenRetriever,
    answering,
    config,
    is_empty,
    only,
    prompt,
    rag,
    recorder,
    told,
)


def asking(model: BaseChatModel) -> Runnable[Any, Any]:
    return ChatPromptTemplate.from_template("Say it in German: {text}") | model


def test_of_what_a_process_runs_only_what_retrieves_is_recorded(chain: Runnable[str, str], model: BaseChatModel) -> None:
    with attach(measures=()) as handler:
        asking(model).invoke({"text": SKY})
        asking(model).invoke("Thanks!")
        RunnableLambda(lambda text: text.upper()).invoke("bare")
        list(asking(model).stream({"text": SKY}))
        chain.invoke(SKY)

        trace = only(handler)

    assert (trace.question.text, trace.answer) == (SKY, ANSWER)
    assert (handler.counts.begun, handler.counts.skipped, handler.counts.recorded, handler.counts.lost) == (5, 4, 1, 0)


def test_all_runs_are_recorded_where_somebody_asks_for_it(model: BaseChatModel) -> None:
    with attach(measures=(), only_retrieval=False) as handler:
        asking(model).invoke({"text": SKY})

        assert only(handler).question.text == SKY


def test_a_handler_that_is_passed_to_a_run_records_it_whether_it_retrieves_or_not(model: BaseChatModel) -> None:
    with recorder() as every, recorder(only_retrieval=True) as retrieving:
        asking(model).invoke({"text": SKY}, config(every, retrieving))

        assert (len(told(every)), len(told(retrieving)), retrieving.counts.skipped) == (1, 0, 1)


@pytest.mark.parametrize("context", ["Air scatters.", ["Air scatters."], [Document("Air scatters.")]])
def test_a_run_that_is_given_a_context_is_a_question(model: BaseChatModel, context: Any) -> None:
    with attach(measures=()) as handler:
        answering(model).invoke({"question": SKY, "context": context})

        trace = only(handler)

    assert [passage.text for passage in trace.prompt or ()] == ["Air scatters."]


def test_a_run_whose_function_brings_a_text_as_context_is_a_question(model: BaseChatModel) -> None:
    chain = {"context": lambda _: "Air scatters.", "question": RunnablePassthrough()} | answering(model)

    with attach(measures=()) as handler:
        chain.invoke(SKY)

        assert only(handler).answer == ANSWER


def test_a_retrieval_that_finds_nothing_or_fails_is_a_question(store: InMemoryVectorStore, model: BaseChatModel) -> None:
    empty = InMemoryVectorStore(store.embedding)

    with attach(measures=()) as handler:
        rag(empty.as_retriever(), model).invoke(SKY)
        with pytest.raises(ValueError, match="the database is down"):
            rag(BrokenRetriever(store=store), model).invoke(HEAT)

        assert [trace.question.text for trace in told(handler)] == [SKY, HEAT]


def test_small_talk_after_a_question_of_the_same_conversation_is_none(store: InMemoryVectorStore, model: BaseChatModel) -> None:
    pytest.importorskip("langgraph", reason="needs langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        question: str
        documents: list[Document]
        answer: str

    def retrieve(state: State) -> State:
        return {"documents": store.similarity_search(state["question"], k=2)}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("reply", lambda state: {"answer": model.invoke(state["question"]).text})
    graph.add_conditional_edges(START, lambda state: "reply" if state["question"] == "Thanks!" else "retrieve")
    graph.add_edge("retrieve", "reply")
    graph.add_edge("reply", END)
    talk = graph.compile(checkpointer=InMemorySaver())

    with attach(measures=()) as handler:
        for said in (SKY, "Thanks!"):
            talk.invoke({"question": said}, {"configurable": {"thread_id": "1"}})

        assert only(handler).question.text == SKY
        assert handler.counts.skipped == 1


@pytest.mark.parametrize(
    "run_filter",
    [
        RunFilter(include_names=["docs"]),
        RunFilter(include_tags=["rag", "other"]),
        RunFilter(include_metadata={"app": "docs"}),
        RunFilter(exclude_names=["chat"]),
        RunFilter(exclude_tags=["small talk"]),
        RunFilter(exclude_metadata={"app": "chat", "kind": 1}),
        RunFilter(include_tags=["rag", "small talk"], exclude_names=["chat"]),
    ],
)
def test_runs_are_chosen_by_name_tag_and_metadata(chain: Runnable[str, str], run_filter: RunFilter) -> None:
    with recorder(run_filter=run_filter) as handler:
        chain.invoke(SKY, config(handler, run_name="docs", tags=["rag"], metadata={"app": "docs", "kind": 1}))
        chain.invoke(HEAT, config(handler, run_name="chat", tags=["small talk"], metadata={"app": "chat", "kind": 1}))

        trace = only(handler)

    assert (trace.question.text, prompt(trace)) == (SKY, ["rayleigh", "ocean"])


def test_a_run_that_is_included_is_found_inside_others(chain: Runnable[str, str]) -> None:
    inner = chain.with_config(run_name="docs")
    outer = RunnableLambda(inner.invoke).with_config(run_name="app")

    with recorder(run_filter=RunFilter(include_names=["docs"])) as handler:
        outer.invoke(SKY, config(handler))

        trace = only(handler)

    assert (trace.pipeline, trace.question.text, prompt(trace)) == ("docs", SKY, ["rayleigh", "ocean"])


def test_what_runs_inside_a_run_that_is_left_out_is_left_out_too(chain: Runnable[str, str]) -> None:
    inner = chain.with_config(tags=["guard"])

    with recorder(run_filter=RunFilter(exclude_tags=["guard"])) as handler:
        RunnableLambda(inner.invoke).invoke(SKY, config(handler))
        inner.invoke(SKY, config(handler))

        assert only(handler).steps == ()
        assert is_empty(handler)


def test_a_filter_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="include_tags is 'str'; give a list of texts"):
        RunFilter(include_tags="rag")
    with pytest.raises(InvalidValueError, match="exclude_metadata is"):
        RunFilter(exclude_metadata=["app"])  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="give a RunFilter, such as"):
        RagCoverCallbackHandler(run_filter="rag")  # type: ignore[arg-type]


def test_a_handler_has_its_filter_already() -> None:
    with recorder() as handler, pytest.raises(InvalidValueError, match="give only_retrieval to RagCoverCallbackHandler"):
        attach(handler, only_retrieval=True)


def test_a_conversation_of_a_model_alone_is_no_question(model: ScriptedChatModel) -> None:
    with attach(measures=()) as handler:
        model.invoke(SKY)

        assert (told(handler), handler.counts.begun) == ((), 0)


def test_whoever_judges_an_answer_asks_no_question(model: BaseChatModel) -> None:
    judging = ChatPromptTemplate.from_template("Is it grounded in {context}? {input} {prediction}") | model

    with attach(measures=()) as handler:
        judging.invoke({"input": SKY, "context": "Air scatters.", "prediction": ANSWER})

        assert (told(handler), handler.counts.skipped) == ((), 1)


def test_attaching_twice_is_one_recording(chain: Runnable[str, str]) -> None:
    with attach(measures=(), run_filter=RunFilter(exclude_tags=["guard"])) as handler:
        again = attach(measures=(), run_filter=RunFilter(exclude_tags=["guard"]))
        chain.invoke(SKY)

        assert again is handler
        assert only(handler).answer == ANSWER


def test_attaching_with_other_options_or_after_closing_is_another_recording() -> None:
    with attach(measures=()) as one, attach(measures=(), keep=5) as other:
        assert one is not other
    with attach(measures=()) as later:
        assert later is not one
