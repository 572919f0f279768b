"""The block function of an evaluation: what is measured by which models, in this process or in another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rag_cover.engines import Block
from rag_cover.errors import EvaluationError
from rag_cover.evaluation.blocks import OnFailure, chosen_measures, content_key, judge_among, measure_block, model_kinds
from rag_cover.known_measures import own_measure_names
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, ResponseCache, bind_models
from rag_cover.llm.usage import UsageMeter
from rag_cover.measures import Measure, ModelKind, NotApplicable, TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.redaction import Redaction, redacted_result, redacted_trace, refuse_unmarked
from rag_cover.registry import Models
from rag_cover.traces import Trace

__all__ = ["EvaluationPlan", "without_texts"]

_REDACTED = "the trace's texts are redacted; measure the trace that it was made of"


@dataclass(frozen=True)
class EvaluationPlan:
    """Measures blocks of traces (`rag_cover.engines.BlockFunction`), with models opened when they are first asked for.

    Pickled, it is its measures and the names of its models: it opens them where it arrives, with a ledger of its own there
    and as much time as the run has left. With a redaction, no text leaves it.
    """

    measures: tuple[Measure, ...]
    chosen: Models
    run: LLMSession
    on_error: OnFailure = "record"
    redaction: Redaction | None = None

    @classmethod
    def of(
        cls,
        measures: Sequence[str | Measure] | None,
        models: Models,
        run: LLMSession,
        *,
        on_error: OnFailure,
        redaction: Redaction | None = None,
    ) -> EvaluationPlan:
        """Choose the measures, by name or as values."""
        chosen = chosen_measures(measures)
        if redaction is not None:
            _refuse_unredactable(chosen)
        return cls(chosen, models, run, on_error, redaction)

    @cached_property
    def models(self) -> Mapping[ModelKind, Any]:
        """Open the models that the measures ask.

        Raises:
            RagCoverError: what opening a model raises.
        """
        return bind_models(self.chosen.open(model_kinds(self.measures)), self.run)

    def __call__(self, traces: Block) -> list[TraceResult]:
        """Measure a block of traces; one whose texts are redacted already cannot be measured."""
        whole = [trace for trace in traces if Placeholder.read(trace.question.text) is None]
        measured = iter(self._measured(whole))
        return [self._unmeasured(trace) if Placeholder.read(trace.question.text) else next(measured) for trace in traces]

    @property
    def ledger(self) -> UsageMeter:
        """Return what its remote models were asked, in this process."""
        return self.run.ledger

    @property
    def names(self) -> tuple[str, ...]:
        """Name the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def judge(self) -> str:
        """Name who judges, by its fingerprint."""
        return judge_among(self.models)

    @property
    def key_of(self) -> Callable[[Trace], str]:
        """Return the function that names a trace's result by all that it depends on."""
        named = content_key(self.measures, self.models)
        redaction = self.redaction
        return named if redaction is None else lambda trace: redaction.content_key(named(trace))

    def __reduce__(self) -> tuple[Callable[..., EvaluationPlan], tuple[object, ...]]:
        """Travel as what it was made from."""
        left_s = self.run.clock.remaining_s()
        return _opened, (self.measures, self.chosen, self.on_error, self.redaction, self.run.cache, left_s)

    def _measured(self, traces: Block) -> list[TraceResult]:
        try:
            results = measure_block(
                traces,
                measures=self.measures,
                models=self.models,
                on_error=self.on_error,
            )
        except EvaluationError as failed:
            if self.redaction is None:
                raise
            message = f"A measure failed; what it says may quote a text, and is redacted: {self.redaction.text(str(failed))}"
            raise EvaluationError(message) from None
        return results if self.redaction is None else without_texts(results, self.measures, self.redaction)

    def _unmeasured(self, trace: Trace) -> TraceResult:
        kept = trace if self.redaction is None else redacted_trace(trace, self.redaction)  # not all of it may be redacted
        return TraceResult(kept, dict.fromkeys(self.names, NotApplicable(_REDACTED)))


def _refuse_unredactable(measures: Sequence[Measure]) -> None:
    """Refuse measures whose results have texts that are not marked, before anything is measured."""
    for measure in measures:
        if measure.name not in own_measure_names():
            refuse_unmarked(measure.name, measure.result_type)


def without_texts(results: Sequence[TraceResult], measures: Sequence[Measure], by: Redaction) -> list[TraceResult]:
    """Redact the results of measures, but for the reasons that our own measures give: they quote nothing.

    Raises:
        InvalidValueError: an outcome of a kind that may hold any text.
    """
    ours = [measure.name for measure in measures if measure.name in own_measure_names()]
    return [redacted_result(result, by, plain_reasons=ours) for result in results]


def _opened(
    measures: tuple[Measure, ...],
    models: Models,
    on_error: OnFailure,
    redaction: Redaction | None,
    cache: ResponseCache | None,
    deadline_s: float | None,
) -> EvaluationPlan:
    return EvaluationPlan(measures, models, LLMSession(cache, clock=Deadline(deadline_s)), on_error, redaction)
