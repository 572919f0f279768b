"""The base class of the evaluators: makes a trace of LangChain's values or runs and returns feedback, never an exception.

One object is all that hosts take for an evaluator: a callable with openevals' parameters, and a `RunEvaluator` of LangSmith.
An evaluator keeps nothing of an evaluation but the models it opened: one instance serves any number of threads. LangSmith
makes one empty result for an evaluator that raises: what cannot be scored is feedback without a score, which says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from langsmith.evaluation import EvaluationResult, RunEvaluator
from langsmith.schemas import Example, Run

from rag_cover.integration import LazyModels, Scored, Scoring, score_trace
from rag_cover_langchain.results import evaluation_result_of, feedback_of
from rag_cover_langchain.run_traces import TracedRun, first_line
from rag_cover_langchain.traces import TERMS, trace_of, trace_of_traced

__all__ = ["TraceEvaluator"]


class TraceEvaluator(RunEvaluator):
    """Evaluates by a measure of rag_cover.

    Every kind takes ``inputs`` (the question), ``outputs`` (the answer, and what was retrieved) and ``reference_outputs`` (gold
    answers, sub-questions), each a text, messages, a mapping of either or the state of a graph, and by name: ``context``
    (texts or documents), ``sub_questions`` (`rag_cover.SubQuestion`, or texts, which count as core ones), ``reference`` or
    ``references`` (gold answers), ``steps`` (`rag_cover.RetrievalStep`) and ``trace`` (`rag_cover.Trace`); others are left to
    the evaluators they are meant for. What an agent's tools brought are retrieval steps.
    """

    key: str
    """What LangSmith files the feedback under."""

    def __init__(self, scoring: Scoring[Any], models: LazyModels) -> None:
        self._scoring, self._models = scoring, models

    def __call__(
        self, *, inputs: object = None, outputs: object = None, reference_outputs: object = None, **kwargs: object
    ) -> dict[str, Any]:
        """Evaluate values, here and now: in a script, in a running loop, in a notebook, in any thread.

        Returns:
            ``key``, ``score`` (None where there is none), ``comment``, and ``metadata``: JSON data with the whole result.
        """
        return feedback_of(self.key, self._score(inputs, outputs, reference_outputs, kwargs))

    async def aevaluate(
        self, *, inputs: object = None, outputs: object = None, reference_outputs: object = None, **kwargs: object
    ) -> dict[str, Any]:
        """Evaluate values in a worker thread; the loop goes on. This method is what takes an asynchronous evaluator's place."""
        found = await asyncio.to_thread(self._score, inputs, outputs, reference_outputs, kwargs)
        return feedback_of(self.key, found)

    def evaluate_run(self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None) -> EvaluationResult:
        """Evaluate a traced run with the runs inside it; an example's outputs are the references."""
        del evaluator_run_id
        return evaluation_result_of(self.key, self._score_run(run, example), run.id)

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResult:
        """Evaluate a traced run in a worker thread; the loop goes on."""
        return await asyncio.to_thread(self.evaluate_run, run, example, evaluator_run_id)

    @property
    def feedback_keys(self) -> list[str]:
        """Return the key of the only feedback there is."""
        return [self.key]

    def _score(self, inputs: object, outputs: object, reference_outputs: object, further: Mapping[str, object]) -> Scored:
        return score_trace(
            lambda: trace_of(inputs, outputs, reference_outputs, further), by=self._scoring, models=self._models, terms=TERMS
        )

    def _score_run(self, run: TracedRun, example: Example | None) -> Scored:
        found = score_trace(lambda: trace_of_traced(run, example), by=self._scoring, models=self._models, terms=TERMS)
        if found.invalid_reason is None or not run.error:
            return found
        return replace(found, invalid_reason=f"{found.invalid_reason}; the run failed: {first_line(run.error)}")
