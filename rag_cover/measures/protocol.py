"""The Measure Protocol: what can be measured of a trace, what it needs for that, and what its results mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.traces import Trace

__all__ = ["Measure", "MeasureResult", "ModelKind", "NotApplicable", "Outcome", "Score", "SummaryMetric", "Unit", "ratio"]

ModelKind = Literal[
    "scorer",
    "locator",
    "relevance",
    "entailer",
    "receiver",
    "generator",
    "embedder",
    "decomposer",
    "abstention",
    "nuggets",
    "corpus",
]
Floats = NDArray[np.float64]


@runtime_checkable
class MeasureResult(Protocol):
    """What a measure found out about one trace: a frozen dataclass that goes to JSON and back without loss."""

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        ...

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        ...

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return its numbers by name, None where one is undefined: for data frames, telemetry and evaluators."""
        ...


R = TypeVar("R", bound=MeasureResult)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A measure that this trace cannot be measured with, and why: known before any model runs."""

    reason: str


Outcome = MeasureResult | NotApplicable | Failure
"""What became of one measure of one trace."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One verdict behind a share: what was asked of the answer, and how probable a yes is, as if the cut were a half."""

    asked: str
    probability: float


@dataclass(frozen=True, slots=True)
class Score:
    """What an evaluator returns for one trace: a number, or None with the reason why it is undefined."""

    value: float | None
    reason: str = ""


def ratio(sums: Floats) -> Floats:
    """Divide the first column of sums (..., k) by the second: (...), NaN where the second is 0.

    >>> ratio(np.array([[1.0, 4.0], [1.0, 0.0]])).tolist()
    [0.25, nan]
    """
    found: Floats = np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] > 0)
    return found


@dataclass(frozen=True, slots=True)
class SummaryMetric(Generic[R]):
    """A number over all results of a measure: a statistic of sums over traces, with an interval over questions.

    Args:
        name: its stable name, as in ``--fail-under``; no two metrics of an evaluation share one.
        label: its name for people.
        explanation: its formula in words.
        sums: what one result adds to its question's row, (k,). A measure's metrics with one function share it.
        statistic: maps sums of rows (..., k) to values (...), NaN where undefined; by default the first sum over the second.
        units: the verdicts on answers behind a share, for intervals that hold the judge's errors; None: there are none.
        low: the lowest value it can have.
        high: the highest.
        higher_is_better: None where the number describes and does not judge.
        undefined_because: why it is undefined where results were measured and none of them counts in it.
        required_inputs: what a trace must have for it, in words; by default what its measure requires.
        plain_words: what it tells, in a sentence for people who do not know it; by default the explanation.
        known_as: the name by which other tools know about the same metric; the definitions differ in detail.
    """

    name: str
    label: str
    explanation: str
    sums: Callable[[R], Sequence[float] | Floats]
    statistic: Callable[[Floats], Floats] = ratio
    units: Callable[[R], Sequence[Unit]] | None = None
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True
    undefined_because: str = "none of the results that were measured counts in it"
    required_inputs: tuple[str, ...] = ()
    plain_words: str = ""
    known_as: str = ""

    @property
    def is_share(self) -> bool:
        """Return whether it is a share, in [0, 1]."""
        return (self.low, self.high) == (0.0, 1.0)


class Measure(Protocol):
    """What can be measured of a trace; a frozen dataclass whose parameters are its fields."""

    @property
    def name(self) -> str:
        """Return the measure's name: the key of its outcome."""
        ...

    @property
    def version(self) -> int:
        """Return a number that grows when the same parameters give other results: part of every content key."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        ...

    @property
    def required_inputs(self) -> tuple[str, ...]:
        """Name what a trace must carry, in words a user reads."""
        ...

    @property
    def required_models(self) -> tuple[ModelKind, ...]:
        """Name the models without which it measures nothing."""
        ...

    @property
    def optional_models(self) -> tuple[ModelKind, ...]:
        """Name the models that it asks where there is one, and does without."""
        ...

    @property
    def result_type(self) -> type[Any]:
        """Return the type of its results (`MeasureResult`), by which a store reads them."""
        ...

    @property
    def metrics(self) -> tuple[SummaryMetric[Any], ...]:
        """Return the numbers that a summary and a comparison make of its results."""
        ...

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, or None where it can; asks no model."""
        ...

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure traces to which it applies, all in as few model calls as possible; one outcome each, in order."""
        ...

    def score(self, result: Any) -> Score:
        """Return the number that stands for a result, and why: what every framework's evaluator returns."""
        ...
