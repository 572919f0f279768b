"""What became of measuring a trace: a measure's own result, `NotApplicable`, or a `Failure`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from rag_cover.backends import Failure
from rag_cover.measures.protocol import MeasureResult
from rag_cover.results.complexity import Complexity
from rag_cover.results.coverage import CoverageResult
from rag_cover.results.grounding import GroundednessResult
from rag_cover.results.utilities import TraceUtility
from rag_cover.traces import Trace

__all__ = ["RESULT_SCHEMA", "NotApplicable", "Outcome", "TraceResult", "UnknownResult"]

R = TypeVar("R", bound=MeasureResult)

RESULT_SCHEMA = 2
"""Part of every content key: results of another schema are measured again, never misread."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A measure that this trace cannot be measured with, and why: known before any model runs."""

    reason: str


@dataclass(frozen=True, slots=True)
class UnknownResult:
    """The result of a measure that is not installed here, as JSON data: kept as it is, and written back so.

    ``problem`` says why it could not be read where its measure is known.
    """

    data: Mapping[str, Any]
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return dict(self.data)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Keep JSON data."""
        return cls(data)

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return nothing: what its numbers mean is not known."""
        return {}


Outcome = MeasureResult | NotApplicable | Failure
"""What a trace's result holds for each measure."""


@dataclass(frozen=True, slots=True)
class TraceResult:
    """All outcomes of one trace, by measure name, with the trace they are about."""

    trace: Trace
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    def __getitem__(self, measure: str) -> Any:
        """Return the result of a measure.

        Raises:
            KeyError: it was not measured; the error says why.
        """
        outcome = self.outcomes.get(measure)
        match outcome:
            case None:
                reason = f"{measure!r} was not measured; there are: {', '.join(self.outcomes) or 'no results'}"
            case NotApplicable(said):
                reason = f"{measure!r} is not applicable: {said}"
            case Failure(kind, said):
                reason = f"{measure!r} failed: {said} ({kind})"
            case _:
                return outcome
        raise KeyError(reason)

    @property
    def coverage(self) -> CoverageResult | None:
        """Return the coverage result, None where there is none."""
        return self._measured("coverage", CoverageResult)

    @property
    def groundedness(self) -> GroundednessResult | None:
        """Return the groundedness result, None where there is none."""
        return self._measured("groundedness", GroundednessResult)

    @property
    def utility(self) -> TraceUtility | None:
        """Return what the retrieval steps were worth, None where there is none."""
        return self._measured("utility", TraceUtility)

    @property
    def complexity(self) -> Complexity | None:
        """Return how complex the question is for its retrieved passages, None where that is not known."""
        return self._measured("complexity", Complexity)

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the measures that failed, with why."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Failure)}

    @property
    def measured(self) -> Mapping[str, MeasureResult]:
        """Return the results by measure, without what is not applicable or failed."""
        return {name: each for name, each in self.outcomes.items() if not isinstance(each, NotApplicable | Failure)}

    def _measured(self, name: str, kind: type[R]) -> R | None:
        outcome = self.outcomes.get(name)
        return outcome if isinstance(outcome, kind) else None
