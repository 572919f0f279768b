"""Utility as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from rag_cover.backends import AbstentionDetector, ScoringItem
from rag_cover.belief.result import TraceUtility
from rag_cover.belief.sampling import unfit_because
from rag_cover.belief.settings import UtilitySettings
from rag_cover.belief.utility import utilities_of
from rag_cover.measures import ModelKind, NotApplicable, Outcome, Score, SummaryMetric
from rag_cover.model_calls import abstentions
from rag_cover.traces import Trace

__all__ = ["UtilityMeasure"]

_NO_STEPS = "the traces that were measured have no steps"
_DECLINES = NotApplicable("the answer, which stands in for references, declines to answer")


def _total_and_count(result: TraceUtility) -> tuple[float, float]:
    return result.total.value, 1.0


def _hurting_steps(result: TraceUtility) -> tuple[float, float]:
    return sum(step.marginal.value < 0 for step in result.steps), len(result.steps)


@dataclass(frozen=True, slots=True)
class UtilityMeasure(UtilitySettings):
    """Measure what each retrieval step of a trace was worth (`rag_cover.belief.step_utilities`, which explains the fields).

    A trace that carries samples needs no receiver.
    """

    name: ClassVar[str] = "utility"
    required_inputs: ClassVar[tuple[str, ...]] = ("references", "retrieval steps")
    required_models: ClassVar[tuple[ModelKind, ...]] = ("receiver", "entailer")
    version: ClassVar[int] = 1
    result_type: ClassVar[type[TraceUtility]] = TraceUtility
    metrics: ClassVar[tuple[SummaryMetric[TraceUtility], ...]] = (
        SummaryMetric(
            "utility",
            "utility of retrieval (ΔSePer)",
            "belief in the references with the last context - belief without passages, mean over traces",
            _total_and_count,
            low=-1.0,
            undefined_because=_NO_STEPS,
            plain_words="How far the passages moved the receiver’s belief toward the right answer: from \N{MINUS SIGN}1 to 1.",
            known_as="\N{GREEK CAPITAL LETTER DELTA}SePer",
        ),
        SummaryMetric(
            "hurting_steps",
            "steps that hurt",
            "steps after which belief in the references is lower than before / steps",
            _hurting_steps,
            higher_is_better=False,
            undefined_because=_NO_STEPS,
            plain_words="How many steps moved it away from the right answer.",
        ),
    )

    @property
    def optional_models(self) -> tuple[ModelKind, ...]:
        """Return the detector of abstentions where answers stand in for references."""
        return ("abstention",) if self.references == "answer" else ()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        return asdict(self) | {"approximations": list(self.approximations)}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can."""
        return unfit_because(trace, self.references)

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure all the traces together, in as few calls to the receiver and the entailer as can be.

        An answer that declines to answer is no reference: belief in it would credit a step that lost everything.
        """
        declining = self._declining(traces, models.get("abstention"))
        able = [trace for index, trace in enumerate(traces) if index not in declining]
        found = iter(utilities_of(able, entailer=models["entailer"], receiver=models.get("receiver"), procedure=self))
        return [_DECLINES if index in declining else next(found) for index in range(len(traces))]

    def _declining(self, traces: Sequence[Trace], detector: AbstentionDetector | None) -> set[int]:
        if detector is None or self.references != "answer":
            return set()
        items = [ScoringItem(text := trace.question.text, trace.answer or "", user_question=text) for trace in traces]
        found = abstentions(detector, items)
        return {index for index, item in enumerate(items) if found[item] == "wholly"}

    def score(self, result: TraceUtility) -> Score:
        """Return what all steps together were worth, in [-1, 1] (ΔSePer)."""
        total = result.total
        return Score(total.value, f"belief {total.prior.score:.2f} before retrieval, {total.posterior.score:.2f} after it")
