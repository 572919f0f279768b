"""What became of measuring a trace: a measure's own result, `NotApplicable`, or a `Failure`; to JSON and back without loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from rag_cover.backends import Failure
from rag_cover.results.complexity import Complexity
from rag_cover.results.coverage import CoverageResult
from rag_cover.results.grounding import GroundednessResult
from rag_cover.results.utilities import TraceUtility
from rag_cover.traces import Trace

__all__ = ["RESULT_SCHEMA", "NotApplicable", "Outcome", "TraceResult", "outcome_from_dict", "outcome_to_dict"]

RESULT_SCHEMA = 2
"""Part of every content key: results of another schema are measured again, never misread."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A measure that this trace cannot be measured with, and why: known before any model runs."""

    reason: str


Outcome = Complexity | CoverageResult | GroundednessResult | TraceUtility | NotApplicable | Failure

_KINDS: Mapping[str, type[Complexity | CoverageResult | GroundednessResult | TraceUtility]] = {
    "complexity": Complexity,
    "coverage": CoverageResult,
    "groundedness": GroundednessResult,
    "utility": TraceUtility,
}


def outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as JSON data that says which kind it is."""
    match outcome:
        case NotApplicable(reason):
            return {"not_applicable": reason}
        case Failure():
            return {"failure": asdict(outcome)}
        case _:
            return {"result": outcome.to_dict()}


def outcome_from_dict(measure: str, data: Mapping[str, Any]) -> Outcome:
    """Read back what `outcome_to_dict` wrote for a measure."""
    if "not_applicable" in data:
        return NotApplicable(data["not_applicable"])
    if "failure" in data:
        return Failure(**data["failure"])
    return _KINDS[measure].from_dict(data["result"])


@dataclass(frozen=True, slots=True)
class TraceResult:
    """All outcomes of one trace, by measure name, with the trace they are about."""

    trace: Trace
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    @property
    def coverage(self) -> CoverageResult | None:
        """Return the coverage result, None where there is none."""
        outcome = self.outcomes.get("coverage")
        return outcome if isinstance(outcome, CoverageResult) else None

    @property
    def groundedness(self) -> GroundednessResult | None:
        """Return the groundedness result, None where there is none."""
        outcome = self.outcomes.get("groundedness")
        return outcome if isinstance(outcome, GroundednessResult) else None

    @property
    def utility(self) -> TraceUtility | None:
        """Return what the retrieval steps were worth, None where there is none."""
        outcome = self.outcomes.get("utility")
        return outcome if isinstance(outcome, TraceUtility) else None

    @property
    def complexity(self) -> Complexity | None:
        """Return how complex the question is for its retrieved passages, None where that is not known."""
        outcome = self.outcomes.get("complexity")
        return outcome if isinstance(outcome, Complexity) else None

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the measures that failed, with why."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Failure)}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        outcomes = {name: outcome_to_dict(outcome) for name, outcome in self.outcomes.items()}
        return {"trace": self.trace.to_dict(), "outcomes": outcomes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        outcomes = {name: outcome_from_dict(name, outcome) for name, outcome in data["outcomes"].items()}
        return cls(Trace.model_validate(data["trace"]), outcomes)
