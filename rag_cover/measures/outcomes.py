"""All that was measured of one trace, and how it goes to JSON and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from rag_cover.backends import Failure
from rag_cover.measures.numbers import NumberResult
from rag_cover.measures.protocol import MeasureResult, NotApplicable, Outcome
from rag_cover.notebook_views import show_in_notebook
from rag_cover.short_forms import quote, shorten
from rag_cover.traces import Trace

if TYPE_CHECKING:  # a measure depends on this file, not this file on measures
    from rag_cover.belief.result import TraceUtility
    from rag_cover.complexity.result import Complexity
    from rag_cover.coverage.result import CoverageResult
    from rag_cover.grounding.result import GroundednessResult

__all__ = ["RESULT_SCHEMA", "ResultType", "TraceResult", "UnknownResult"]

RESULT_SCHEMA = 2
"""Written with every result, and part of every content key: results of another schema are measured again, never misread."""


@dataclass(frozen=True, slots=True)
class UnknownResult:
    """The result of a measure that is not installed here, as JSON data: kept as it is, and written back so.

    ``made_by`` names the type that it was, as ``module:Type``.
    """

    data: Mapping[str, Any]
    made_by: str = ""

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


ResultType = Callable[[str], type[Any] | None]
"""Returns the type of a measure's results, None where the measure is not known."""


@dataclass(frozen=True, slots=True)
class TraceResult:
    """All outcomes of one trace, by measure name, with the trace they are about."""

    trace: Trace
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return a short form: the question, and how each measure ended."""
        ended = ", ".join(f"{name}: {_ended(outcome)}" for name, outcome in self.outcomes.items())
        return f"TraceResult({quote(self.trace.question.text)}, {shorten(ended) or 'not measured'})"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

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
        return cast("CoverageResult | None", self._result_of("coverage"))

    @property
    def groundedness(self) -> GroundednessResult | None:
        """Return the groundedness result, None where there is none."""
        return cast("GroundednessResult | None", self._result_of("groundedness"))

    @property
    def utility(self) -> TraceUtility | None:
        """Return what the retrieval steps were worth, None where there is none."""
        return cast("TraceUtility | None", self._result_of("utility"))

    @property
    def complexity(self) -> Complexity | None:
        """Return how complex the question is for its retrieved passages, None where that is not known."""
        return cast("Complexity | None", self._result_of("complexity"))

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the measures that failed, with why."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Failure)}

    @property
    def is_to_repeat(self) -> bool:
        """Return whether a resumed run measures it again: a measure failed, or the model that a cascade of judges asked did."""
        coverage = self.coverage
        return bool(self.failures) or (coverage is not None and coverage.cascade is not None and coverage.cascade.failed > 0)

    @property
    def measured(self) -> Mapping[str, MeasureResult]:
        """Return the results by measure, without what is not applicable or failed."""
        return {name: each for name, each in self.outcomes.items() if not isinstance(each, NotApplicable | Failure)}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        outcomes = {name: _outcome_to_dict(outcome) for name, outcome in self.outcomes.items()}
        return {"schema": RESULT_SCHEMA, "trace": self.trace.to_dict(), "outcomes": outcomes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], result_type: ResultType) -> Self:
        """Read back what `to_dict` wrote; the result of a measure without a type becomes an `UnknownResult`."""
        outcomes = {name: _outcome_from_dict(name, outcome, result_type) for name, outcome in data["outcomes"].items()}
        return cls(Trace.model_validate(data["trace"]), outcomes)

    def _result_of(self, name: str) -> MeasureResult | None:
        outcome = self.outcomes.get(name)
        return None if isinstance(outcome, NotApplicable | Failure | UnknownResult) else outcome


_NUMBER = "number"
"""How a stored outcome says that it is a `NumberResult`, which is read whoever measured it.

Results of other types that are not the package's own name their type, so that a missing plugin can be named.
"""


def _outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case NotApplicable(reason):
            return {"not_applicable": reason}
        case Failure():
            return {"failure": asdict(outcome)}
        case NumberResult():
            return {"result": outcome.to_dict(), "type": _NUMBER}
        case UnknownResult(data, made_by):
            return {"result": dict(data), "type": made_by}
        case _:
            kind = type(outcome)
            ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
            return {"result": outcome.to_dict()} | ({} if ours else {"type": f"{kind.__module__}:{kind.__qualname__}"})


def _outcome_from_dict(measure: str, data: Mapping[str, Any], result_type: ResultType) -> Outcome:
    if "not_applicable" in data:
        return NotApplicable(data["not_applicable"])
    if "failure" in data:
        return Failure(**data["failure"])
    known = NumberResult if data.get("type") == _NUMBER else result_type(measure)
    if known is None:
        return UnknownResult(data["result"], data.get("type", ""))
    found: MeasureResult = known.from_dict(data["result"])
    return found


def _ended(outcome: Outcome) -> str:
    match outcome:
        case NotApplicable():
            return "not applicable"
        case Failure():
            return "failed"
        case NumberResult():
            return f"{outcome.value:.3g}"
    return "measured"
