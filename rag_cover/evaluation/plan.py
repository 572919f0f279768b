"""The block function of an evaluation: what is measured by which models, in this process or in another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import CalibrationShift, Mode, calibration_shifts_of
from rag_cover.belief import UtilityMeasure
from rag_cover.cascade import CascadeJudge, CascadePlan
from rag_cover.engines import Block
from rag_cover.errors import EvaluationError
from rag_cover.evaluation.blocks import (
    LONGEST_TEXT,
    OnFailure,
    content_key,
    judge_among,
    measure_block,
    model_kinds,
    select_measures,
)
from rag_cover.forks import reset_after_fork
from rag_cover.known_measures import DEFAULT_MEASURES, own_measure_names
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, ResponseCache, bind_models
from rag_cover.llm.usage import UsageMeter
from rag_cover.measures import Measure, ModelKind, NotApplicable, TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.plugin_manager import plugins
from rag_cover.redaction import Redaction, redact_result, redact_trace, refuse_unmarked
from rag_cover.registry import Models
from rag_cover.traces import Trace

__all__ = ["EvaluationPlan"]

_REDACTED = "the trace's texts are redacted; measure the trace that it was made of"


@dataclass(frozen=True)
class EvaluationPlan:
    """Measures blocks of traces (`rag_cover.engines.BlockFunction`), with models opened when they are first asked for.

    ``without_gold`` are the measures of traces without gold answers; None: they have the same ones.

    Pickled, it is its measures and the names of its models: it opens them where it arrives, with a ledger of its own there
    and as much time as the run has left. With a redaction, no text leaves it.
    """

    measures: tuple[Measure, ...]
    chosen: Models
    run: LLMSession
    on_error: OnFailure = "record"
    redaction: Redaction | None = None
    without_gold: tuple[Measure, ...] | None = None
    longest_text: int = LONGEST_TEXT
    _opened: list[Mapping[ModelKind, Any]] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Open the models in a process that is forked off by a lock of its own: a thread of the parent may hold this one."""
        reset_after_fork(self._renew_lock)

    def _renew_lock(self) -> None:
        object.__setattr__(self, "_lock", threading.Lock())

    @classmethod
    def of(  # what is measured by whom: all but the first three by name
        cls,
        measures: Sequence[str | Measure] | None,
        models: Models,
        run: LLMSession,
        *,
        on_error: OnFailure = "record",
        redaction: Redaction | None = None,
        self_consistency: bool = False,
        longest_text: int = LONGEST_TEXT,
    ) -> EvaluationPlan:
        """Choose the measures, by name or as values.

        With ``self_consistency``, utility that is asked for by its name is told against the pipeline's own answer where a
        question has no gold answer: self-consistency, not correctness, and marked so in its results
        (`TraceUtility.references`).

        Raises:
            InvalidValueError: an unknown measure, none, one asked for twice, one whose results cannot be redacted, or a
                ``longest_text`` below 1.
            BackendNotFoundError, NotOfferedError: no backend answers to a model's name.
        """
        refuse_below(1, longest_text=longest_text)
        chosen = select_measures(measures)
        asked = DEFAULT_MEASURES if measures is None else measures
        without_gold = select_measures([_against_answer(each) for each in asked]) if self_consistency else None
        if redaction is not None:
            _refuse_unredactable(chosen)
        models.check(model_kinds(chosen))
        return cls(chosen, models, run, on_error, redaction, without_gold, longest_text)

    def open(self) -> None:
        """Open the models and load the plugins now, so that no trace has to wait for them.

        Raises:
            RagCoverError: what opening a model raises.
        """
        self.models  # noqa: B018  # opened when they are first asked for
        plugins()

    @property
    def models(self) -> Mapping[ModelKind, Any]:
        """Open the models that the measures ask, once for all threads.

        Raises:
            RagCoverError: what opening a model raises.
        """
        with self._lock:
            if not self._opened:
                self._opened.append(bind_models(self.chosen.open(model_kinds(self.measures)), self.run))
            return self._opened[0]

    @property
    def needs_budget_plan(self) -> bool:
        """Return whether its judge has a budget, and nobody has planned yet what that is spent on (`plan_budget`)."""
        judge = self.models.get("scorer")
        return isinstance(judge, CascadeJudge) and judge.needs_plan

    def with_budget_plan(self, budget: CascadePlan) -> EvaluationPlan:
        """Return the same plan, whose judge asks its model what a budget is spent on; models that are open stay open."""
        opened, judge = self.models, self.models["scorer"]
        planned = judge.with_plan(budget)
        chosen = self.chosen
        if isinstance(chosen.judge, str):
            chosen = replace(chosen, judge_options={**chosen.judge_options, "plan": budget})
        else:
            chosen = replace(chosen, judge=planned)
        plan = replace(self, chosen=chosen)
        models = {kind: planned if model is judge else model for kind, model in opened.items()}
        plan._opened.append(models)  # noqa: SLF001  # of its own kind
        return plan

    def __call__(self, traces: Block) -> list[TraceResult]:
        """Measure a block of traces; one whose texts are redacted already cannot be measured."""
        whole = [trace for trace in traces if Placeholder.read(trace.question.text) is None]
        measured = iter(self._measure(whole))
        return [self._skip_redacted(trace) if Placeholder.read(trace.question.text) else next(measured) for trace in traces]

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
    def judged_by(self) -> dict[str, Any]:
        """Return as JSON data which judge is used, and its calibration shifts on labelled sets, where known."""
        shifts = self.shifts
        return {"judge": self.judge} | ({"shifts": {mode: each.to_dict() for mode, each in shifts.items()}} if shifts else {})

    @property
    def shifts(self) -> Mapping[Mode, CalibrationShift]:
        """Return how far the scorer's probabilities lie off on labelled sets, by mode."""
        return calibration_shifts_of(self.models["scorer"]) if "scorer" in self.models else {}

    @property
    def key_of(self) -> Callable[[Trace], str]:
        """Return the function that names a trace's result by all that it depends on."""
        models, redaction = self.models, self.redaction
        with_gold = content_key(self.measures, models)
        without_gold = with_gold if self.without_gold is None else content_key(self.without_gold, models)

        def key(trace: Trace) -> str:
            named = with_gold(trace) if _has_gold(trace) else without_gold(trace)
            return named if redaction is None else redaction.content_key(named)

        return key

    def __reduce__(self) -> tuple[Callable[..., EvaluationPlan], tuple[object, ...]]:
        """Travel as what it was made from."""
        left_s = self.run.clock.remaining_s()
        plan = (self.measures, self.chosen, self.on_error, self.redaction, self.without_gold, self.longest_text)
        return _rebuild_plan, (*plan, self.run.cache, left_s)

    def _measure(self, traces: Block) -> list[TraceResult]:
        try:
            results = [result for group in self._groups(traces) for result in self._measure_together(*group)]
        except EvaluationError as failed:
            if self.redaction is None:
                raise
            message = f"A measure failed; what it says may quote a text, and is redacted: {self.redaction.text(str(failed))}"
            raise EvaluationError(message) from None
        return results if self.redaction is None else _without_texts(results, self.measures, self.redaction)

    def _groups(self, traces: Block) -> Iterator[tuple[tuple[Measure, ...], Block]]:
        """Cut a block where the measures change."""
        if self.without_gold is None:
            yield self.measures, traces
            return
        for has_gold, group in groupby(traces, key=_has_gold):
            yield self.measures if has_gold else self.without_gold, list(group)

    def _measure_together(self, measures: Sequence[Measure], traces: Block) -> list[TraceResult]:
        return measure_block(
            traces, measures=measures, models=self.models, on_error=self.on_error, longest_text=self.longest_text
        )

    def _skip_redacted(self, trace: Trace) -> TraceResult:
        kept = trace if self.redaction is None else redact_trace(trace, self.redaction)  # not all of it may be redacted
        return TraceResult(kept, dict.fromkeys(self.names, NotApplicable(_REDACTED)))


def _refuse_unredactable(measures: Sequence[Measure]) -> None:
    """Refuse measures whose results have texts that are not marked, before anything is measured."""
    for measure in measures:
        if measure.name not in own_measure_names():
            refuse_unmarked(measure.name, measure.result_type)


def _without_texts(results: Sequence[TraceResult], measures: Sequence[Measure], by: Redaction) -> list[TraceResult]:
    """Redact the results of measures, but for the reasons that our own measures give: they quote nothing.

    Raises:
        InvalidValueError: an outcome of a kind that may hold any text.
    """
    ours = [measure.name for measure in measures if measure.name in own_measure_names()]
    return [redact_result(result, by, plain_reasons=ours) for result in results]


def _has_gold(trace: Trace) -> bool:
    return bool(trace.question.references)


def _against_answer(measure: str | Measure) -> str | Measure:
    return UtilityMeasure(references="answer") if measure == "utility" else measure


def _rebuild_plan(  # what a plan is made of, as pickle hands it over
    measures: tuple[Measure, ...],
    models: Models,
    on_error: OnFailure,
    redaction: Redaction | None,
    without_gold: tuple[Measure, ...] | None,
    longest_text: int,
    cache: ResponseCache | None,
    deadline_s: float | None,
) -> EvaluationPlan:
    run = LLMSession(cache, clock=Deadline(deadline_s))
    return EvaluationPlan(measures, models, run, on_error, redaction, without_gold, longest_text)
