"""The plain case of a measure: a function from a trace to a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError
from rag_cover.measures.numbers import NumberResult, number_metric
from rag_cover.measures.protocol import Measure, ModelKind, NotApplicable, Outcome, Score, SummaryMetric
from rag_cover.traces import Trace

__all__ = ["FunctionMeasure", "measure_of"]


Measured = NumberResult | NotApplicable | Failure | float | None


def measure_of(
    function: Callable[[Trace], Measured],
    *,
    name: str,
    version: int = 1,
    low: float = -math.inf,
    high: float = math.inf,
    higher_is_better: bool | None = None,
) -> Measure:
    """Make a measure of a function from a trace to a number.

    >>> from rag_cover import Trace
    >>> def answer_length(trace: Trace) -> NumberResult:
    ...     return NumberResult(len((trace.answer or "").split()), "words of the answer")
    >>> measure_of(answer_length, name="answer_length").name
    'answer_length'

    Args:
        function: is called once for each trace. It returns a `NumberResult` or a number, None where that is undefined,
            `NotApplicable` where the trace has not what it needs. What it raises is recorded as the trace's `Failure`.
        name: of the measure, of its metric and of its column.
        version: raise it when the function changes: what a store holds of another version is measured again.
        low: the lowest value it can return.
        high: the highest. Values in [0, 1] get intervals that stay there.
        higher_is_better: None where the number describes and does not judge.

    Raises:
        InvalidValueError: ``name`` is not an identifier, ``function`` cannot be called, ``low`` is not below ``high``, or
            ``version`` is no whole number from 1.
    """
    problem = ""
    if not (isinstance(name, str) and name.isidentifier()):
        problem = f"its name is {name!r}; give it a name of letters, digits and underscores, such as 'answer_length'"
    elif not callable(function):
        problem = f"{function!r} is no function"
    elif not all(isinstance(bound, int | float) for bound in (low, high)) or not low < high:
        problem = f"low is {low!r} and high is {high!r}; low is a number below high"
    elif not isinstance(version, int) or version < 1:
        problem = f"version is {version!r}; versions are whole numbers from 1"
    if problem:
        message = f"This makes no measure: {problem}."
        raise InvalidValueError(message)
    return FunctionMeasure(function, name, version, low, high, higher_is_better)


@dataclass(frozen=True)
class FunctionMeasure:
    """A measure made of a function (`measure_of`)."""

    function: Callable[[Trace], Measured]
    name: str
    version: int = 1
    low: float = -math.inf
    high: float = math.inf
    higher_is_better: bool | None = None

    required_inputs: ClassVar[tuple[str, ...]] = ()
    required_models: ClassVar[tuple[ModelKind, ...]] = ()
    optional_models: ClassVar[tuple[ModelKind, ...]] = ()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the name of the function: its version says which."""
        return {"function": getattr(self.function, "__qualname__", type(self.function).__qualname__)}

    @property
    def result_type(self) -> type[NumberResult]:
        """Return the type of its results."""
        return NumberResult

    @property
    def metrics(self) -> tuple[SummaryMetric[NumberResult], ...]:
        """Return the mean over traces."""
        return (number_metric(self.name, low=self.low, high=self.high, higher_is_better=self.higher_is_better),)

    def not_applicable_reason(self, trace: Trace) -> str | None:  # noqa: ARG002  # the function says so itself
        """Return None: the function is asked of every trace."""
        return None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> list[Outcome]:  # noqa: ARG002  # asks none
        """Call the function for each trace."""
        return [self._result(trace) for trace in traces]

    def score(self, result: NumberResult) -> Score:
        """Return the number."""
        return Score(result.value, result.reason)

    def _result(self, trace: Trace) -> NumberResult | NotApplicable | Failure:
        try:
            found = self.function(trace)
            if isinstance(found, NotApplicable | Failure):
                return found
            return self._in_range(found if isinstance(found, NumberResult) else NumberResult(found))
        except Exception as error:  # noqa: BLE001  # the user's function, per trace: recorded as its failure
            return Failure(type(error).__name__, str(error))

    def _in_range(self, found: NumberResult) -> NumberResult:
        if found.value is not None and not self.low <= found.value <= self.high:
            message = f"{self.name} is {found.value:g}, and its values lie in [{self.low:g}, {self.high:g}]"
            raise InvalidValueError(message)
        return found
