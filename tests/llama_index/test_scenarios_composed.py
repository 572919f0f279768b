"""Pipelines that are composed by hand, evaluators, and many questions at once, each with what its recording says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator, RelevancyEvaluator, RetrieverEvaluator
from llama_index.core.postprocessor import LongContextReorder
from llama_index_instrumentation import get_dispatcher

from rag_cover.coverage import Loss
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.recordings import HEAT, SKY
from tests.llama_index.scenarios import BOTH, LOST, SEARCH, Outcome, Parts, Scenario, Table, check
from tests.llama_index.test_scenarios_engines import DropFirst

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # LlamaIndex's own
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # of what others left open, collected here
]

TABLE = Table()
dispatcher = get_dispatcher(__name__)
DROPPED = ("filter", "DropFirst", ("ocean",))


def compose(parts: Parts, question: str, llm: Any) -> str:
    """Retrieve, filter and synthesize."""
    nodes = parts.retriever().retrieve(question)
    nodes = DropFirst().postprocess_nodes(nodes, query_str=question)
    return str(get_response_synthesizer(llm=llm).synthesize(question, nodes=nodes))


GIVEN = ("retrieve", "CompactAndRefine/given", ("ocean",))


@TABLE.row(
    Outcome(prompt=None, answer=None),
    Outcome(steps=[("retrieve", "DropFirst/given", BOTH), DROPPED], prompt=None, answer=None),
    Outcome(steps=[GIVEN], prompt=["ocean"], answer=LOST, loss=Loss.NOT_RETRIEVED),
)
def parts_that_nothing_holds_together(parts: Parts) -> object:
    return compose(parts, SKY, parts.lost)


@TABLE.row(Outcome(steps=[SEARCH, DROPPED], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def parts_of_one_block(parts: Parts) -> None:
    with parts.recording.trace(SKY) as trace:
        trace.answer(compose(parts, SKY, parts.lost))


@TABLE.row(Outcome(steps=[SEARCH, DROPPED], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def parts_of_one_block_without_a_word_on_the_answer(parts: Parts) -> None:
    with parts.recording.trace(SKY):
        compose(parts, SKY, parts.lost)


@TABLE.row(Outcome(steps=[SEARCH, DROPPED], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def parts_of_one_block_whose_model_is_asked_by_hand(parts: Parts) -> None:
    with parts.recording.trace(SKY) as trace:
        nodes = DropFirst().postprocess_nodes(parts.retriever().retrieve(SKY), query_str=SKY)
        trace.answer(parts.lost.complete(f"{nodes[0].text} {SKY}").text)


@TABLE.row(Outcome(steps=[SEARCH, DROPPED], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def parts_of_one_decorated_function(parts: Parts) -> object:
    @dispatcher.span
    def answer(question: str) -> str:
        return compose(parts, question, parts.lost)

    return answer(SKY)


@TABLE.row(Outcome())
async def parts_of_one_awaited_decorated_function(parts: Parts) -> object:
    @dispatcher.span
    async def answer(question: str) -> str:
        nodes = await parts.retriever().aretrieve(question)
        return str(await get_response_synthesizer(llm=parts.knows).asynthesize(question, nodes))

    return await answer(SKY)


@TABLE.row(Outcome())
def a_decorated_function_that_returns_its_sources_too(parts: Parts) -> object:
    @dispatcher.span
    def answer(question: str) -> tuple[str, list[Any]]:
        nodes = parts.retriever().retrieve(question)
        return parts.knows.complete("\n".join(node.text for node in nodes)).text, nodes

    return answer(SKY)


@TABLE.row(Outcome())
def a_decorated_method_that_prints_its_answer(parts: Parts) -> object:
    class Service:
        @dispatcher.span
        def answer(self, question: str) -> None:
            nodes = parts.retriever().retrieve(question)
            str(get_response_synthesizer(llm=parts.knows).synthesize(question, nodes))

    return Service().answer(SKY)


@TABLE.row(Outcome())
def a_decorated_function_that_streams(parts: Parts) -> object:
    @dispatcher.span
    def answer(question: str) -> Any:
        nodes = parts.retriever().retrieve(question)
        return get_response_synthesizer(llm=parts.knows, streaming=True).synthesize(question, nodes)

    return list(answer(SKY).response_gen)


@TABLE.row(
    Outcome(),
    Outcome(
        HEAT, [("retrieve", "VectorIndexRetriever", ("heat", "insulation"))], ["heat", "insulation"], LOST, Loss.NOT_RETRIEVED
    ),
)
def a_decorated_function_that_asks_several_questions(parts: Parts) -> object:
    @dispatcher.span
    def main() -> None:
        parts.engine().query(SKY)
        parts.engine(parts.lost).query(HEAT)

    return main()


@TABLE.row()
def a_decorated_function_that_asks_nothing(parts: Parts) -> object:
    @dispatcher.span
    def translate(text: str) -> str:
        return parts.knows.complete(text).text

    return translate(SKY)


@TABLE.row(Outcome(prompt=None, answer=None))
def a_bare_retrieval(parts: Parts) -> object:
    return parts.retriever().retrieve(SKY)


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever", (*BOTH, "sunset")),
            ("rerank", "LongContextReorder", ("rayleigh", "sunset", "ocean")),
        ],
        prompt=["rayleigh", "sunset", "ocean"],
    )
)
async def awaited_parts_of_one_block(parts: Parts) -> None:
    with parts.recording.trace(SKY) as trace:
        nodes = await parts.retriever(3).aretrieve(SKY)
        nodes = await LongContextReorder().apostprocess_nodes(nodes, query_str=SKY)
        response = await get_response_synthesizer(llm=parts.knows).asynthesize(SKY, nodes)
        trace.answer(str(response))


@TABLE.row(Outcome())
def an_answer_that_is_evaluated(parts: Parts) -> object:
    response = parts.engine().query(SKY)
    judge = ScriptedLLM(default="YES")
    FaithfulnessEvaluator(llm=judge).evaluate_response(SKY, response)
    return RelevancyEvaluator(llm=judge).evaluate_response(SKY, response)


@TABLE.row(Outcome())
async def a_batch_of_evaluations(parts: Parts) -> object:
    judge = ScriptedLLM(default="YES")
    runner = BatchEvalRunner({"faithful": FaithfulnessEvaluator(llm=judge), "relevant": RelevancyEvaluator(llm=judge)})
    return await runner.aevaluate_queries(parts.engine(), [SKY])


@TABLE.row(Outcome(prompt=None, answer=None))
async def an_evaluation_of_a_retriever(parts: Parts) -> object:
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=parts.retriever())
    return await evaluator.aevaluate(SKY, expected_ids=["rayleigh"])


@TABLE.row(Outcome(), Outcome(), Outcome())
async def three_questions_at_once(parts: Parts) -> object:
    return await asyncio.gather(*(parts.engine().aquery(SKY) for _ in range(3)))


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """An event loop that is closed afterwards: LlamaIndex opens one where there is none, and leaves it open."""
    opened = asyncio.new_event_loop()
    asyncio.set_event_loop(opened)
    yield
    asyncio.set_event_loop(None)
    opened.close()


@pytest.mark.parametrize("scenario", TABLE, ids=lambda scenario: scenario.name)
def test_a_pipeline_of_ones_own_is_recorded_as_it_was(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM())
    with attach(measures=()) as recording:
        check(scenario, recording)
