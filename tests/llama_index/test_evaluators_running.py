"""Where evaluators run: batches, threads, event loops of every kind and notebooks; one instance, no patching, nothing lost."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from rag_cover import Models, SubQuestion
from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover.integration import LazyModels
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_llama_index.evaluators import (
    GroundednessEvaluator,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
)
from rag_cover_llama_index.results import CoverageEvaluationResult
from tests.llama_index.parts import CORPUS, ScriptedLLM

QUESTION = "Why is the sky blue?"
ANSWER = "The sky is blue because air scatters blue light."
CORE = [SubQuestion(QUESTION, role="core")]
COUNT = 40
BAD = (3, 11, 12, 28, 39)

in_a_batch = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # of LlamaIndex, by its own runner


def evaluator(**options: Any) -> SubQuestionCoverageEvaluator:
    return SubQuestionCoverageEvaluator(judge=KeywordScorer(), **options)


def runner() -> BatchEvalRunner:
    grounded = GroundednessEvaluator(entailer=KeywordEntailer())
    return BatchEvalRunner({"coverage": evaluator(), "groundedness": grounded}, workers=16)


def item(number: int) -> tuple[str, str, list[str]]:
    return f"Why is sky {number} blue?", f"Sky {number} is blue because of air.", [f"Sky {number} is blue because of air."]


def batch() -> tuple[list[Any], list[Any], list[Any]]:
    """Forty items, of which five lack a query, a response or contexts."""
    queries, responses, contexts = (list(each) for each in zip(*map(item, range(COUNT)), strict=True))
    queries[BAD[0]], queries[BAD[1]], responses[BAD[2]], responses[BAD[3]], contexts[BAD[4]] = "", "  ", None, None, None
    return queries, responses, contexts


def sub_questions() -> list[list[SubQuestion]]:
    return [[SubQuestion(f"Is sky {number} blue?", role="core")] for number in range(COUNT)]


class TestBatches:
    @in_a_batch
    def test_bad_items_cost_no_other_item_its_result_and_all_come_back_in_order(self) -> None:
        queries, responses, contexts = batch()
        told: Any = {"coverage": {"sub_questions": sub_questions()}}

        found = asyncio.run(runner().aevaluate_response_strs(queries, responses, contexts, **told))

        coverage, grounded = found["coverage"], found["groundedness"]
        assert [len(each) for each in (coverage, grounded)] == [COUNT, COUNT]
        assert [number for number, result in enumerate(grounded) if result.invalid_result] == [*BAD]
        assert [number for number, result in enumerate(coverage) if result.invalid_result] == [*BAD[:4]]
        assert [str(grounded[number].invalid_reason).partition(";")[0] for number in BAD] == [
            *["the query is blank"] * 2,
            *["there is no response"] * 2,
            "there are no contexts",
        ]
        for number in set(range(COUNT)) - set(BAD):
            assert (coverage[number].score, grounded[number].score) == (1.0, 1.0)
            assert coverage[number].query == f"Why is sky {number} blue?"
            assert isinstance(coverage[number], CoverageEvaluationResult)

    @in_a_batch
    def test_responses_and_queries_and_the_runners_own_sync_methods(self, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
        numbers = range(8)
        texts = [item(number) for number in numbers]
        nodes = [[NodeWithScore(node=TextNode(text=contexts[0]))] for _, _, contexts in texts]
        responses: list[Any] = [Response(text, found) for (_, text, _), found in zip(texts, nodes, strict=True)]
        responses[5] = None
        engine = index.as_query_engine(llm=llm)

        async def asked_in_a_loop() -> list[dict[str, list[Any]]]:
            queries = [query for query, _, _ in texts]
            return [
                await runner().aevaluate_responses(queries, responses),
                runner().evaluate_responses(queries, responses),
                runner().evaluate_response_strs(queries, [text for _, text, _ in texts], [found for _, _, found in texts]),
                runner().evaluate_queries(engine, [QUESTION] * 8),
                await runner().aevaluate_queries(engine, [QUESTION] * 8),
            ]

        awaited, answered, written, asked, asked_too = asyncio.run(asked_in_a_loop())

        for found in (awaited, answered):
            assert [result.invalid_result for result in found["groundedness"]] == [number == 5 for number in numbers]
        assert [result.score for result in written["groundedness"]] == [1.0] * 8
        assert {result.response for result in asked["coverage"] + asked_too["coverage"]} == {ANSWER}
        assert {bool(result.contexts) for result in asked["coverage"]} == {True}

    @in_a_batch
    def test_a_single_evaluator_takes_its_arguments_as_lists(self) -> None:
        queries, responses, contexts = (list(each) for each in zip(*map(item, range(4)), strict=True))
        alone = BatchEvalRunner({"coverage": evaluator()}, workers=16)
        told: Any = {"sub_questions": sub_questions()[:4], "reference": ["air"] * 4}

        found = asyncio.run(alone.aevaluate_response_strs(queries, responses, contexts, **told))["coverage"]

        assert [result.score for result in found] == [1.0] * 4


class TestThreads:
    def test_one_instance_gives_equal_results_in_many_threads(self) -> None:
        shared = SubQuestionCoverageEvaluator()
        barrier = threading.Barrier(32)

        def evaluated(_: int) -> dict[str, Any]:
            barrier.wait()  # so that all of them meet models that are not open yet
            return shared.evaluate(QUESTION, ANSWER, list(CORPUS.values()), sub_questions=CORE).model_dump()

        with ThreadPoolExecutor(32) as pool:
            results = list(pool.map(evaluated, range(32)))

        assert results[0]["score"] == 1.0
        assert all(result == results[0] for result in results)

    def test_models_are_opened_once_however_many_threads_need_them(self) -> None:
        opened: list[Models] = []

        def noted(models: Models) -> Models:
            opened.append(models)
            return models

        lazy = LazyModels(Models(), ["scorer", "locator"], complete=noted)
        with ThreadPoolExecutor(32) as pool:
            got = list(pool.map(lambda _: lazy.get(), range(64)))

        assert len(opened) == 1
        assert all(models is got[0] for models in got)
        assert not isinstance(got[0].judge, str)

    def test_a_model_that_could_not_be_opened_is_tried_again(self) -> None:
        lazy = LazyModels(Models(judge="embedded:nobody"), ["scorer"])

        for _ in range(2):
            with pytest.raises(InvalidValueError):
                lazy.get()


class TestLoops:
    def check(self) -> None:
        """Evaluate in both ways within whatever loop runs."""

        async def evaluated() -> list[Any]:
            shared = evaluator()
            here = shared.evaluate(QUESTION, ANSWER, [ANSWER], sub_questions=CORE)
            several = [shared.aevaluate(QUESTION, ANSWER, [ANSWER], sub_questions=CORE) for _ in range(16)]
            return [here, *await asyncio.gather(*several)]

        assert [result.score for result in asyncio.run(evaluated())] == [1.0] * 17

    def test_in_a_running_loop_and_in_one_after_another(self) -> None:
        patched = asyncio.run.__module__

        self.check()
        self.check()

        assert patched == asyncio.run.__module__ == "asyncio.runners"

    def test_under_uvloop(self) -> None:
        uvloop = pytest.importorskip("uvloop", reason="needs uvloop")
        shared = evaluator()

        async def evaluated() -> tuple[Any, Any]:
            return shared.evaluate(QUESTION, ANSWER, sub_questions=CORE), await shared.aevaluate(
                QUESTION, ANSWER, sub_questions=CORE
            )

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            results = loop.run(evaluated())

        assert [result.score for result in results] == [1.0, 1.0]

    def test_the_loop_goes_on_while_a_judge_thinks(self) -> None:
        released = threading.Event()

        class Thinking(KeywordScorer):
            def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
                assert released.wait(10)
                return super().correctness(items)

        async def evaluated() -> CoverageEvaluationResult:
            slow = SubQuestionCoverageEvaluator(judge=Thinking())
            task = asyncio.create_task(slow.aevaluate(QUESTION, ANSWER, sub_questions=CORE))
            await asyncio.sleep(0.01)
            released.set()  # nobody could, were the loop blocked
            return await task

        assert asyncio.run(evaluated()).score == 1.0

    def test_models_are_asked_in_the_context_of_whoever_asks(self) -> None:
        whose: ContextVar[str] = ContextVar("whose", default="nobody's")
        seen: list[str] = []

        class Looking(KeywordScorer):
            def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
                seen.append(whose.get())
                return super().correctness(items)

        looking = SubQuestionCoverageEvaluator(judge=Looking())
        whose.set("mine")

        looking.evaluate(QUESTION, ANSWER, sub_questions=CORE)
        asyncio.run(looking.aevaluate(QUESTION, ANSWER, sub_questions=CORE))

        assert seen == ["mine", "mine"]


NOTEBOOK = f"""
from llama_index.core.base.response.schema import AsyncStreamingResponse
from llama_index.core.evaluation import BatchEvalRunner
from rag_cover import SubQuestion
from rag_cover_llama_index.evaluators import SubQuestionCoverageEvaluator

evaluator = SubQuestionCoverageEvaluator()
question, answer = {QUESTION!r}, {ANSWER!r}
core = [SubQuestion(question, role="core")]

async def tokens():
    yield answer

scores = [
    evaluator.evaluate(question, answer, [answer], sub_questions=core).score,
    (await evaluator.aevaluate(question, answer, [answer], sub_questions=core)).score,
    evaluator.evaluate_response(question, AsyncStreamingResponse(tokens()), sub_questions=core).score,
]
runner = BatchEvalRunner({{"coverage": evaluator}}, workers=16)
found = runner.evaluate_response_strs([question] * 4, [answer] * 4, [[answer]] * 4, sub_questions=[core] * 4)
scores += [result.score for result in found["coverage"]]
print(scores)
"""


@pytest.mark.filterwarnings("default")  # of the notebook's own machinery
@pytest.mark.slow
def test_in_a_notebook() -> None:
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        kernel = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        pytest.skip("needs a notebook kernel called python3")
    if kernel.argv[0] not in (sys.executable, "python", "python3"):
        pytest.skip("the notebook kernel python3 runs another Python")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])

    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()

    printed = [output.text for output in notebook.cells[0].outputs if output.get("name") == "stdout"]
    assert printed == [f"{[1.0] * 7}\n"]


def test_the_other_evaluators_share_an_instance_as_well() -> None:
    evaluators: list[Any] = [GroundednessEvaluator(), RetrievalUtilityEvaluator(), RetrievalComplexityEvaluator()]

    for shared in evaluators:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda _, e=shared: e.evaluate(QUESTION, ANSWER, [ANSWER]).model_dump(), range(8)))
        assert results[0]["score"] is not None
        assert all(result == results[0] for result in results)
