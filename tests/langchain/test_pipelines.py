"""One call over a dataset of LangChain: chains, agents, graphs, functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Evaluation
from rag_cover.errors import InvalidValueError
from rag_cover.testing import KeywordScorer
from rag_cover.testing.conformance import PipelineEvaluationTests
from rag_cover_langchain import aevaluate_pipeline, evaluate_pipeline
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedAgentModel, ScriptedChatModel
from tests.langchain.recordings import ANSWER, HEAT, SKY, rag

MODELS: dict[str, Any] = {"judge": KeywordScorer(), "receiver": None, "measures": ["coverage"], "progress": False}


class Evaluates(PipelineEvaluationTests):
    """By the functions of this adapter."""

    def evaluate(self, pipeline: Any, questions: Any, **options: Any) -> Evaluation:
        return evaluate_pipeline(pipeline, questions, **options)

    def aevaluate(self, pipeline: Any, questions: Any, **options: Any) -> Awaitable[Evaluation]:
        return aevaluate_pipeline(pipeline, questions, **options)


class TestChain(Evaluates):
    def make_pipeline(self, answer: Callable[[str], str]) -> Any:
        return RunnablePassthrough() | RunnableLambda(answer)


class TestAsynchronousFunction(Evaluates):
    def make_pipeline(self, answer: Callable[[str], str]) -> Any:
        async def pipeline(question: str) -> str:
            return await asyncio.to_thread(answer, question)

        return pipeline

    def test_an_interruption_keeps_what_was_answered(self, tmp_path: object) -> None:
        """An interruption is raised on the main thread alone: that of the functions called in threads is none."""


def test_a_chain_is_measured_with_its_steps(chain: Runnable[str, str]) -> None:
    evaluation = evaluate_pipeline(chain, [SKY, HEAT], **MODELS)

    sky, heat = evaluation.results
    assert [step.id for step in sky.trace.steps] == ["VectorStoreRetriever"]
    assert sky.trace.answer == ANSWER
    assert sky.coverage is not None
    assert sky.coverage.core_coverage == 1.0
    assert heat.coverage is not None
    assert heat.coverage.core_coverage == 0.0
    assert sky.trace.pipeline == heat.trace.pipeline


def test_a_chain_that_takes_a_mapping_is_asked_by_its_schema(model: ScriptedChatModel, store: InMemoryVectorStore) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 2})
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    chain = RunnablePassthrough.assign(context=lambda given: retriever.invoke(given["question"])) | prompt | model

    (result,) = evaluate_pipeline(chain, [SKY], make_input=lambda question: {"question": question}, **MODELS).results
    assert (result.trace.question.text, result.trace.answer) == (SKY, ANSWER)

    (result,) = evaluate_pipeline(prompt.partial(context="The sky.") | model, [SKY], **MODELS).results
    assert (result.trace.question.text, result.trace.answer) == (SKY, ANSWER)


def test_a_retriever_is_a_pipeline(store: InMemoryVectorStore) -> None:
    retriever: BaseRetriever = store.as_retriever(search_kwargs={"k": 2})

    (result,) = evaluate_pipeline(retriever, [SKY], **MODELS).results

    assert result.trace.answer is None
    assert len(result.trace.chunks) == 2


def test_an_agent_is_asked_by_a_message(store: InMemoryVectorStore) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs langchain")
    from langchain_core.tools import create_retriever_tool

    tool = create_retriever_tool(store.as_retriever(search_kwargs={"k": 2}), "search", "Searches.")
    agent = agents.create_agent(ScriptedAgentModel(tools=("search",), answer=ANSWER), [tool])

    for evaluation in (
        evaluate_pipeline(agent, [SKY, HEAT], **MODELS),
        asyncio.run(aevaluate_pipeline(agent, [SKY, HEAT], **MODELS)),
    ):
        assert [result.trace.question.text for result in evaluation.results] == [SKY, HEAT]
        assert {result.trace.answer for result in evaluation.results} == {ANSWER}
        assert all(result.trace.chunks for result in evaluation.results)


def test_each_question_to_a_graph_that_remembers_has_a_thread_of_its_own() -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs langchain")
    memory = pytest.importorskip("langgraph.checkpoint.memory", reason="needs langgraph")
    heard: list[int] = []

    class Hearing(ScriptedAgentModel):
        def _next(self, messages: Any) -> Any:
            heard.append(len(messages))
            return super()._next(messages)

    agent = agents.create_agent(Hearing(tools=(), answer=ANSWER), [], checkpointer=memory.InMemorySaver())

    evaluate_pipeline(agent, [SKY, HEAT, "Why?"], concurrency=1, **MODELS)

    assert heard == [1, 1, 1]


class State(TypedDict):
    question: str
    answer: str


def test_a_graph_is_asked_by_the_key_of_its_state() -> None:
    graphs = pytest.importorskip("langgraph.graph", reason="needs langgraph")
    graph = graphs.StateGraph(State)
    graph.add_node("answer", lambda state: {"answer": f"It is {state['question']}"})
    graph.set_entry_point("answer")
    graph.set_finish_point("answer")

    (result,) = evaluate_pipeline(graph.compile(), [SKY], **MODELS).results

    assert (result.trace.question.text, result.trace.answer) == (SKY, f"It is {SKY}")


def test_the_callers_configuration_is_kept(model: ScriptedChatModel, store: InMemoryVectorStore) -> None:
    chain = rag(store.as_retriever(), model)
    with RagCoverCallbackHandler(measures=()) as own:
        evaluation = evaluate_pipeline(chain, [SKY], config={"callbacks": [own], "run_name": "Guide"}, **MODELS)

    assert [trace.pipeline for trace in own.traces] == ["Guide"]
    assert [result.trace.pipeline for result in evaluation.results] == ["Guide"]


def test_another_pipeline_by_name_is_asked_anew(tmp_path: Any) -> None:
    kept = tmp_path / "results.sqlite"
    evaluate_pipeline(lambda _: "one", [SKY], store=kept, pipeline="first", **MODELS)

    evaluation = evaluate_pipeline(lambda _: "two", [SKY], store=kept, pipeline="second", resume=True, **MODELS)

    assert [result.trace.answer for result in evaluation.results] == ["one", "two"]


@pytest.mark.parametrize("option", ["sampling", "capacity", "keep", "measuring"])
def test_options_that_a_dataset_decides_are_refused_with_the_reason(option: str) -> None:
    with pytest.raises(InvalidValueError, match=f"a dataset takes no {option}: every question is asked"):
        evaluate_pipeline(lambda text: text, [SKY], **{option: 1})  # type: ignore[arg-type]


def test_what_is_no_pipeline_is_refused() -> None:
    for wrong in (5, str, None):
        with pytest.raises(InvalidValueError, match="the pipeline is"):
            evaluate_pipeline(wrong, [SKY])  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="make_input"):
        evaluate_pipeline(lambda text: text, [SKY], make_input="question")  # type: ignore[arg-type]
