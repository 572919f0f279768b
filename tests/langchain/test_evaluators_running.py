"""Where evaluators run: LangSmith's runners, callbacks, openevals, threads and event loops; nothing is lost, nothing sent."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.evaluation import EvaluatorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore
from langsmith import aevaluate, evaluate
from langsmith.evaluation import EvaluationResult
from langsmith.schemas import Run

from rag_cover.backends import ScoringItem
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_langchain.evaluators import (
    CoverageRatingEvaluator,
    GroundednessEvaluator,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
)
from rag_cover_langchain.trace_evaluators import TraceEvaluator
from tests.gates import Gate
from tests.langchain.langsmiths import OfflineSession, example, offline_client
from tests.langchain.parts import CORPUS, ScriptedChatModel

QUESTION = "Why is the sky blue?"
ANSWER = "The sky is blue because air scatters blue light."
KNOWN = {"answer": "Air scatters blue light.", "sub_questions": [QUESTION]}
COUNT = 40
BAD = (3, 11, 12, 28, 39)

by_langsmith = [
    pytest.mark.filterwarnings("ignore:'upload_results' parameter is in beta"),
    pytest.mark.filterwarnings("ignore:Creating feedback for a run without session_id"),  # LangChain's own handler does
]
pytestmark = by_langsmith

Scores = dict[str, list[EvaluationResult]]


def covering() -> SubQuestionCoverageEvaluator:
    return SubQuestionCoverageEvaluator(judge=KeywordScorer())


def grounding() -> GroundednessEvaluator:
    return GroundednessEvaluator(entailer=KeywordEntailer())


def chain_over(store: InMemoryVectorStore, model: ScriptedChatModel) -> Runnable[Any, Any]:
    """Return a pipeline as LangChain's users write it: what it retrieved is not in its output."""
    prompted: Runnable[Any, Any] = RunnableLambda(
        lambda state: f"{state['question']}\n" + "\n".join(each.page_content for each in state["context"])
    )
    retrieved = {"context": store.as_retriever(search_kwargs={"k": 2}), "question": RunnablePassthrough()}
    return RunnableLambda(lambda inputs: inputs["question"]) | retrieved | prompted | model


def numbered(number: int) -> dict[str, str]:
    return {"question": f"Why is sky {number} blue?"}


def answered(inputs: Mapping[str, str]) -> dict[str, Any]:
    """Answer a question about a sky; the third kind of question has no answer, and the fourth makes it fail."""
    if "?" not in inputs["question"]:
        return {"documents": []}
    if "fail" in inputs["question"]:
        message = "the sky fell"
        raise RuntimeError(message)
    text = inputs["question"].removeprefix("Why is ").replace("blue?", "is blue because of air.").capitalize()
    return {"answer": text, "documents": [Document(text)]}


def examples() -> list[Any]:
    """Forty examples, of which five have no question, or one that cannot be answered."""
    questions: dict[int, Mapping[str, Any]] = {
        3: {"question": " "},
        11: {"question": ""},
        12: {"question": "Sky"},
        28: {"question": "Why does it fail?"},
        39: {"question": "Sky 39"},
    }
    known = {"sub_questions": ["What is blue?"]}
    return [example(number, dict(questions.get(number, numbered(number))), known) for number in range(COUNT)]


def by_example(rows: Iterable[Any]) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    for row in rows:
        scores = found.setdefault(str(row["example"].id), {})
        for result in row["evaluation_results"]["results"]:
            scores.setdefault(result.key, []).append(result)
    return found


class TestLangSmith:
    def test_a_pipeline_is_evaluated_without_a_server(self, store: InMemoryVectorStore, model: ScriptedChatModel) -> None:
        session = OfflineSession()
        evaluators = [covering(), grounding(), RetrievalComplexityEvaluator(judge=KeywordScorer())]

        rows = evaluate(
            chain_over(store, model),
            data=[example(0, {"question": QUESTION}, KNOWN)],
            evaluators=evaluators,
            client=offline_client(session),
            upload_results=False,
            blocking=True,
        )

        (results,) = [row["evaluation_results"]["results"] for row in rows]
        assert [(result.key, result.score) for result in results][:2] == [("coverage", 1.0), ("groundedness", 1.0)]
        assert results[2].score is not None
        assert len((results[0].metadata or {})["result"]["chunk_keys"]) == 2  # told by the retriever's own run
        assert session.asked == []

    def test_a_pipeline_is_evaluated_on_an_event_loop(self, store: InMemoryVectorStore, model: ScriptedChatModel) -> None:
        session, chain = OfflineSession(), chain_over(store, model)
        evaluators: list[Any] = [covering(), covering().aevaluate]

        async def evaluated() -> list[Any]:
            rows = await aevaluate(
                chain.ainvoke,
                data=[example(0, {"question": QUESTION}, KNOWN)],
                evaluators=evaluators,
                client=offline_client(session),
                upload_results=False,
            )
            return [row async for row in rows]

        (row,) = asyncio.run(evaluated())

        assert [result.score for result in row["evaluation_results"]["results"]] == [1.0, 1.0]
        assert session.asked == []

    def test_bad_examples_cost_no_other_its_scores_and_all_come_back(self) -> None:
        session = OfflineSession()

        rows = evaluate(
            answered,
            data=examples(),
            evaluators=[covering(), grounding().__call__],
            client=offline_client(session),
            upload_results=False,
            max_concurrency=8,
        )

        found = by_example(rows)
        assert len(found) == COUNT
        for number, known in enumerate(examples()):
            (coverage,), (grounded,) = found[str(known.id)]["coverage"], found[str(known.id)]["groundedness"]
            assert (coverage.score is None) == (grounded.score is None) == (number in BAD)
            assert coverage.comment
        failed = found[str(examples()[28].id)]["coverage"][0].comment
        assert str(failed).startswith("there is no answer; give outputs=")
        assert str(failed).endswith("; the run failed: RuntimeError('the sky fell')")

    def test_a_score_that_is_missing_is_not_0_in_langsmiths_table(self) -> None:
        pandas = pytest.importorskip("pandas", reason="needs pandas")
        session = OfflineSession()

        rows = evaluate(
            answered,
            data=examples(),
            evaluators=[covering()],
            client=offline_client(session),
            upload_results=False,
            blocking=True,
        )

        column = rows.to_pandas()["feedback.coverage"]
        assert pandas.isna(column).sum() == len(BAD)
        assert column.mean() == 1.0

    def test_what_failed_shows_as_an_error_and_what_is_missing_does_not(self) -> None:
        class Gone(KeywordScorer):
            def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
                raise ZeroDivisionError

        session, evaluator = OfflineSession(), SubQuestionCoverageEvaluator(judge=Gone())

        rows = evaluate(
            answered,
            data=[example(0, numbered(0)), example(1, {"question": "Sky"})],
            evaluators=[evaluator],
            client=offline_client(session),
            upload_results=False,
        )

        extras = {str((row["example"].inputs or {})["question"]): row["evaluation_results"]["results"][0].extra for row in rows}
        assert extras == {"Why is sky 0 blue?": {"error": True}, "Sky": None}


class TestCallbacks:
    def test_the_callback_handler_of_langchain_scores_every_root_run(
        self, store: InMemoryVectorStore, model: ScriptedChatModel
    ) -> None:
        session = OfflineSession()
        handler = EvaluatorCallbackHandler([covering(), grounding()], client=offline_client(session), max_concurrency=0)

        answer = chain_over(store, model).invoke({"question": QUESTION}, {"callbacks": [handler]})

        ((_, results),) = handler.logged_eval_results.items()
        assert answer.text == ANSWER
        assert [(result.key, result.score) for result in results] == [("coverage", 1.0), ("groundedness", 1.0)]
        assert session.asked == []


class TestOpenevals:
    def test_simulations_of_openevals_take_them_for_evaluators_of_trajectories(self) -> None:
        simulators = pytest.importorskip("openevals.simulators", reason="needs openevals")

        def app(message: Mapping[str, Any], **_: object) -> dict[str, str]:
            assert message["content"] == QUESTION
            return {"role": "assistant", "content": ANSWER}

        told: dict[str, Any] = {"app": app, "user": [QUESTION], "max_turns": 1}
        here = simulators.run_multiturn_simulation(trajectory_evaluators=[covering()], **told)
        there = asyncio.run(simulators.run_multiturn_simulation_async(trajectory_evaluators=[covering().aevaluate], **told))

        for simulated in (here, there):
            assert [(each["key"], each["score"]) for each in simulated["evaluator_results"]] == [("coverage", 1.0)]

    def test_their_context_is_taken_in_every_form_that_openevals_takes(self) -> None:
        forms: list[Any] = [
            ANSWER,
            [ANSWER],
            {"documents": [ANSWER]},
            [Document(ANSWER)],
            [{"page_content": ANSWER, "metadata": {}}],
            {"context": {"documents": [{"text": ANSWER}]}},
            [(Document(ANSWER), 0.5)],
        ]

        scores = [grounding()(inputs=QUESTION, outputs=ANSWER, context=form)["score"] for form in forms]

        assert scores == [1.0] * len(forms)


class TestThreads:
    @pytest.mark.slow
    def test_one_instance_gives_equal_feedback_in_many_threads(self) -> None:
        shared, alone = SubQuestionCoverageEvaluator(), SubQuestionCoverageEvaluator()
        barrier = threading.Barrier(32)
        told: dict[str, Any] = {"inputs": QUESTION, "outputs": ANSWER, "context": list(CORPUS.values())}

        def evaluated(_: int) -> object:
            barrier.wait()  # so that all of them meet models that are not open yet
            return shared(**told, reference_outputs=KNOWN)

        with ThreadPoolExecutor(32) as pool:
            feedback = list(pool.map(evaluated, range(32)))

        assert alone(**told, reference_outputs=KNOWN)["score"] == 1.0
        assert all(each == alone(**told, reference_outputs=KNOWN) for each in feedback)

    def test_the_other_evaluators_share_an_instance_as_well(self) -> None:
        evaluators: list[TraceEvaluator] = [
            CoverageRatingEvaluator(),
            GroundednessEvaluator(),
            RetrievalUtilityEvaluator(),
            RetrievalComplexityEvaluator(),
        ]

        for shared in evaluators:
            with ThreadPoolExecutor(8) as pool:
                results = list(pool.map(lambda _, e=shared: e(inputs=QUESTION, outputs=ANSWER, context=[ANSWER]), range(8)))
            assert results[0]["score"] is not None
            assert all(result == results[0] for result in results)


class TestLoops:
    def test_the_loop_goes_on_while_a_judge_thinks(self) -> None:
        gate = Gate()

        class Thinking(KeywordScorer):
            def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
                gate.wait()
                return super().correctness(items)

        slow = SubQuestionCoverageEvaluator(judge=Thinking())

        feedback = gate.run(slow.aevaluate(inputs=QUESTION, outputs=AIMessage(ANSWER), reference_outputs=KNOWN))

        assert feedback["score"] == 1.0

    def test_the_loop_goes_on_while_a_run_is_evaluated(self) -> None:
        gate = Gate()

        class Thinking(KeywordScorer):
            def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
                gate.wait()
                return super().correctness(items)

        run = Run(
            id=uuid4(),
            trace_id=uuid4(),
            name="chain",
            run_type="chain",
            start_time=datetime.now(UTC),
            inputs={"question": QUESTION},
            outputs={"answer": ANSWER},
        )

        result = gate.run(SubQuestionCoverageEvaluator(judge=Thinking()).aevaluate_run(run, example(0, {}, KNOWN)))

        assert result.score == 1.0

    async def evaluated(self) -> list[float | None]:
        """Evaluate in both ways within whatever loop runs."""
        shared, told = covering(), {"inputs": QUESTION, "outputs": ANSWER}
        several = await asyncio.gather(*(shared.aevaluate(**told) for _ in range(8)))
        return [each["score"] for each in [shared(**told), *several]]

    def test_in_a_running_loop(self) -> None:
        assert asyncio.run(self.evaluated()) == [1.0] * 9

    def test_under_uvloop(self) -> None:
        uvloop = pytest.importorskip("uvloop", reason="needs uvloop")
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            assert loop.run(self.evaluated()) == [1.0] * 9


@pytest.mark.parametrize("evaluator", [covering(), grounding()])
def test_copies_and_pickles_say_the_same(evaluator: TraceEvaluator) -> None:
    given: dict[str, Any] = {"inputs": QUESTION, "outputs": {"answer": ANSWER, "context": [ANSWER]}}
    told = evaluator(**given)

    assert copy.deepcopy(evaluator)(**given) == told
    assert pickle.loads(pickle.dumps(evaluator))(**given) == told  # noqa: S301  # our own
