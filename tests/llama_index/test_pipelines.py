"""One call over a dataset of LlamaIndex: engines, retrievers, agents, functions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import QueryEngineTool

from rag_cover import Evaluation
from rag_cover.errors import InvalidValueError
from rag_cover.evaluation.loop import Progress
from rag_cover.nuggets import Nugget
from rag_cover.testing import KeywordScorer
from rag_cover.testing.conformance import PipelineEvaluationTests
from rag_cover_llama_index import aevaluate_pipeline, evaluate_pipeline
from tests.llama_index.parts import ScriptedAgentLLM, ScriptedLLM
from tests.llama_index.recordings import ANSWER, HEAT, SKY, broken_engine

MODELS: dict[str, Any] = {"judge": KeywordScorer(), "receiver": None, "measures": ["coverage"], "progress": False}


class Answering(CustomQueryEngine):
    """Answers by a function."""

    answer: Callable[[str], str]

    def custom_query(self, query_str: str) -> str:
        return self.answer(query_str)

    async def acustom_query(self, query_str: str) -> str:
        return await asyncio.to_thread(self.answer, query_str)


class TestEngine(PipelineEvaluationTests):
    def make_pipeline(self, answer: Callable[[str], str]) -> Any:
        return Answering(answer=answer)

    def evaluate(self, pipeline: Any, questions: Any, **options: Any) -> Evaluation:
        return evaluate_pipeline(pipeline, questions, **options)

    def aevaluate(self, pipeline: Any, questions: Any, **options: Any) -> Awaitable[Evaluation]:
        return aevaluate_pipeline(pipeline, questions, **options)


def both(engine: Any, questions: list[Any], **options: Any) -> tuple[Evaluation, Evaluation]:
    """Evaluate by both interfaces."""
    chosen = {**MODELS, **options}
    return evaluate_pipeline(engine, questions, **chosen), asyncio.run(aevaluate_pipeline(engine, questions, **chosen))


def test_an_engine_is_measured_with_its_steps(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    for evaluation in both(index.as_query_engine(llm=llm), [SKY, HEAT]):
        sky, heat = evaluation.results
        assert [step.id for step in sky.trace.steps] == ["VectorIndexRetriever"]
        assert (sky.trace.answer, sky.trace.pipeline) == (ANSWER, "RetrieverQueryEngine")
        assert sky.coverage is not None
        assert sky.coverage.core_coverage == 1.0
        assert heat.coverage is not None
        assert heat.coverage.core_coverage == 0.0


def test_a_streamed_answer_is_read(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    for evaluation in both(index.as_query_engine(llm=llm, streaming=True), [SKY]):
        assert [result.trace.answer for result in evaluation.results] == [ANSWER]


def test_a_chat_engine_is_asked_each_question_without_the_others(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_chat_engine(llm=llm, chat_mode="condense_plus_context")  # type: ignore[arg-type]  # by its value

    for evaluation in both(engine, [SKY, HEAT]):
        sky, heat = (result.trace for result in evaluation.results)
        assert (sky.question.text, sky.answer) == (SKY, ANSWER)
        assert (heat.question.text, heat.answer) == (HEAT, "I do not know.")


def test_a_retriever_is_a_pipeline(index: VectorStoreIndex) -> None:
    for evaluation in both(index.as_retriever(), [SKY]):
        (result,) = evaluation.results
        assert result.trace.answer is None
        assert len(result.trace.chunks) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pydantic, by workflows
def test_an_agent_is_asked_by_a_message(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    tool = QueryEngineTool.from_defaults(index.as_query_engine(llm=llm), name="search", description="Searches.")
    agent = FunctionAgent(tools=[tool], llm=ScriptedAgentLLM(tool="search", answer=ANSWER))

    for evaluation in both(agent, [SKY, HEAT]):
        assert [result.trace.question.text for result in evaluation.results] == [SKY, HEAT]
        assert {result.trace.answer for result in evaluation.results} == {ANSWER}
        assert all(result.trace.chunks for result in evaluation.results)


def test_functions_are_pipelines(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_query_engine(llm=llm)

    async def ask(question: str) -> object:
        return await engine.aquery(question)

    for function in (engine.query, partial(engine.query), ask):
        for evaluation in both(function, [SKY, HEAT]):
            assert [result.trace.answer for result in evaluation.results] == [ANSWER, "I do not know."]
            assert all(result.trace.chunks for result in evaluation.results)


def test_a_function_gives_its_name_to_all_its_traces(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_query_engine(llm=llm)

    def assistant(question: str) -> object:
        if question == HEAT:
            message = "no key"
            raise ValueError(message)
        return engine.query(question)

    for evaluation in both(assistant, [SKY, HEAT]):
        assert {result.trace.pipeline for result in evaluation.results} == {"assistant"}
        assert "the pipeline failed (ValueError) and gave no answer: 1 of 2 traces" in evaluation.summary().notes
    (result,) = evaluate_pipeline(engine.query, [SKY], **MODELS).results
    assert result.trace.pipeline == type(engine).__name__


def test_a_progress_function_that_fails_costs_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    def fail(progress: Progress) -> None:
        raise ZeroDivisionError(progress.done)

    evaluation = evaluate_pipeline(Answering(answer=lambda _: ANSWER), [SKY, HEAT], **{**MODELS, "progress": fail})

    assert [result.trace.answer for result in evaluation.results] == [ANSWER, ANSWER]
    assert [each.message.count("progress failed, and is not called again") for each in caplog.records] == [1]


def test_gold_answers_are_found_by_another_spelling_of_the_question() -> None:
    answering = Answering(answer=lambda _: ANSWER)

    (result,) = evaluate_pipeline(answering, [SKY], references={SKY.rstrip("?").lower(): "scattering"}, **MODELS).results

    assert result.trace.question.references == ("scattering",)
    with pytest.raises(InvalidValueError, match="references has nothing of any of the questions"):
        evaluate_pipeline(answering, [SKY], references={HEAT: "scattering"}, **MODELS)


def test_answers_are_measured_on_nuggets_that_are_given() -> None:
    answering = Answering(answer=lambda _: "Air scatters blue light most.")
    nuggets = {SKY: [Nugget(each, importance="vital") for each in ("Air scatters blue light most.", "Violet is absorbed.")]}

    (result,) = evaluate_pipeline(answering, [SKY], nuggets=nuggets, **{**MODELS, "judge": "embedded"}).results

    assert result.coverage is not None
    assert [each.text for each in result.coverage.sub_questions] == [each.text for each in nuggets[SKY]]
    assert [each.text for each in result.coverage.unanswered] == ["Violet is absorbed."]


def test_what_a_function_calls_for_a_question_is_one_trace(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    retriever, synthesizer = index.as_retriever(similarity_top_k=2), get_response_synthesizer(llm=llm)

    def compose(question: str) -> str:
        return str(synthesizer.synthesize(question, retriever.retrieve(question)))

    async def compose_async(question: str) -> str:
        return str(await synthesizer.asynthesize(question, await retriever.aretrieve(question)))

    for function in (compose, compose_async):
        for evaluation in both(function, [SKY, HEAT]):
            traces = [result.trace for result in evaluation.results]
            assert [(trace.question.text, trace.answer) for trace in traces] == [(SKY, ANSWER), (HEAT, "I do not know.")]
            assert [[step.kind for step in trace.steps] for trace in traces] == [["retrieve"], ["retrieve"]]
            assert {trace.pipeline for trace in traces} == {function.__name__}
            assert all(trace.prompt for trace in traces)


def test_an_answer_that_no_part_of_llama_index_gave_is_recorded() -> None:
    for evaluation in both(lambda _: ANSWER, [SKY]):
        (result,) = evaluation.results
        assert (result.trace.answer, result.trace.steps) == (ANSWER, ())


def _call(function: Callable[[str], object], question: str) -> object:
    return function(question)


def test_a_function_that_returns_what_is_to_be_awaited_fails_with_a_remedy(caplog: pytest.LogCaptureFixture) -> None:
    async def ask(question: str) -> str:
        return question

    evaluate_pipeline(partial(_call, ask), [SKY], **MODELS)

    assert "give an async function that awaits it" in caplog.text


def test_a_failed_retrieval_is_in_the_trace(llm: ScriptedLLM) -> None:
    for evaluation in both(broken_engine(llm), [SKY]):
        (result,) = evaluation.results
        assert "the database is down" in str(result.trace.metadata["error"])


def test_what_others_ask_meanwhile_is_not_recorded(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_query_engine(llm=llm)

    def ask(question: str) -> object:
        other = threading.Thread(target=engine.query, args=("Who asks this?",))
        other.start()
        other.join()
        return engine.query(question)

    for evaluation in both(ask, [SKY, HEAT]):
        assert [result.trace.question.text for result in evaluation.results] == [SKY, HEAT]


def test_what_is_no_pipeline_is_refused() -> None:
    for wrong in (5, str, None):
        with pytest.raises(InvalidValueError, match="the pipeline is"):
            evaluate_pipeline(wrong, [SKY])  # type: ignore[arg-type]


NOTEBOOK = f"""
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode
from rag_cover.testing import KeywordScorer
from rag_cover_llama_index import aevaluate_pipeline, evaluate_pipeline

index = VectorStoreIndex([TextNode(text={ANSWER!r})], embed_model=MockEmbedding(8))
engine = index.as_query_engine(llm=MockLLM())
async def ask(question):
    return await engine.aquery(question)

models = dict(judge=KeywordScorer(), receiver=None, measures=["coverage"])
found = [
    evaluate_pipeline(engine, [{SKY!r}, {HEAT!r}], **models),
    evaluate_pipeline(ask, [{SKY!r}, {HEAT!r}], **models),
    await aevaluate_pipeline(engine, [{SKY!r}, {HEAT!r}], **models),
]
print([[result.trace.question.text for result in each.results if result.coverage] for each in found])
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the notebook's own machinery
def test_in_a_notebook() -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])

    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()

    outputs = notebook.cells[0].outputs
    printed = [output.text for output in outputs if output.get("name") == "stdout"]
    assert printed == [f"{[[SKY, HEAT]] * 3}\n"]
    assert any("2/2" in str(output) for output in outputs)
