"""What LlamaIndex's evaluators ask about an answer is no question of a user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.evaluation import (
    BaseEvaluator,
    BatchEvalRunner,
    EvaluationResult,
    FaithfulnessEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.query_engine import RetryQueryEngine

from rag_cover.recording import Recording
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.recordings import ANSWER, HEAT, SKY, only, prompt, steps

JUDGE = ScriptedLLM(default="YES")


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """An event loop that is closed afterwards: LlamaIndex opens one where there is none, and leaves it open."""
    opened = asyncio.new_event_loop()
    asyncio.set_event_loop(opened)
    yield
    asyncio.set_event_loop(None)
    opened.close()


@pytest.mark.parametrize("evaluator", [FaithfulnessEvaluator, RelevancyEvaluator])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_evaluators_ask_about_an_answer_is_no_question(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, evaluator: Any, is_async: bool
) -> None:
    engine, judge = index.as_query_engine(llm=llm, similarity_top_k=2), evaluator(llm=JUDGE)

    response = engine.query(SKY)
    verdict = asyncio.run(judge.aevaluate_response(SKY, response)) if is_async else judge.evaluate_response(SKY, response)

    assert verdict.passing
    assert only(recording).question.text == SKY
    assert recording.counts.begun == 1


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # LlamaIndex's own
def test_a_batch_of_evaluations_records_the_questions_alone(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    runner = BatchEvalRunner({"faithful": FaithfulnessEvaluator(llm=JUDGE), "relevant": RelevancyEvaluator(llm=JUDGE)})

    asyncio.run(runner.aevaluate_queries(index.as_query_engine(llm=llm, similarity_top_k=1), [SKY, HEAT]))

    assert recording.flush(20)
    assert sorted(trace.question.text for trace in recording.traces) == sorted([SKY, HEAT])


def test_an_evaluator_that_asks_the_pipeline_itself_asks_a_question(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine = index.as_query_engine(llm=llm, similarity_top_k=1)

    class Asking(BaseEvaluator):
        async def aevaluate(self, query: str | None = None, *args: Any, **kwargs: Any) -> EvaluationResult:
            return EvaluationResult(response=str(await engine.aquery(query or "")))

        def _get_prompts(self) -> dict[str, Any]:
            return {}

        def _update_prompts(self, prompts: object) -> None: ...

    asyncio.run(Asking().aevaluate(SKY))

    assert only(recording).question.text == SKY


@pytest.mark.parametrize("is_async", [False, True])
def test_retries_belong_to_the_one_question(
    recording: Recording, index: VectorStoreIndex, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    feedback = "Here is a previous bad answer."
    llm = ScriptedLLM(script={feedback: ANSWER}, default="Perhaps.")
    monkeypatch.setattr(Settings, "_llm", llm)  # what the engine takes to write its next query with
    judge = RelevancyEvaluator(llm=ScriptedLLM(script={ANSWER: "YES"}, default="NO"))
    engine = RetryQueryEngine(index.as_query_engine(llm=llm, similarity_top_k=2), judge)

    response = asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, ANSWER, "RetryQueryEngine")
    assert [(kind, id_) for kind, id_, _ in steps(trace)] == [
        ("retrieve", "VectorIndexRetriever-1"),
        ("retrieve", "VectorIndexRetriever-2"),
    ]
    assert [feedback in step.query for step in trace.steps] == [False, True]
    assert prompt(trace) == [node.node_id for node in response.source_nodes]
