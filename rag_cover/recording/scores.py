"""The scores of one result, each with a label of few values and an explanation, as dashboards take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_cover.coverage.explanations import explain_coverage
from rag_cover.known_measures import measure_named, own_measure_names
from rag_cover.measures import MeasureResult, NumberResult, TraceResult

__all__ = ["Label", "NamedScore", "scores_of", "toward"]

_SHARES = ("core_coverage", "groundedness")

Label = Literal["all", "some", "none", "toward the gold answer", "toward its own answer", ""]


@dataclass(frozen=True, slots=True)
class NamedScore:
    """One number that is known of an answer.

    ``label`` tells of a share whether it is ``all``, ``some`` or ``none``, and of utility which answer it was measured toward;
    of other scores it is "".
    """

    name: str
    value: float
    label: Label = ""
    explanation: str = ""


def scores_of(result: TraceResult) -> Iterator[NamedScore]:
    """Yield what is known of an answer as a whole; what is undefined is left out.

    The explanation of ``core_coverage`` tells what was lost, and where. Nothing of redacted results quotes a text.
    """
    for measure, measured in result.measured.items():
        reason = _reason(measure, measured, result)
        for place, (key, value) in enumerate(measured.values.items()):
            if value is not None:
                name = measure if key == "value" else key
                yield NamedScore(name, value, _label(name, value, result), "" if place else reason)


def toward(result: TraceResult) -> Label:
    """Tell which answer a result's utility was measured toward; "" where it was not."""
    if result.utility is None:
        return ""
    return "toward the gold answer" if result.utility.references == "gold" else "toward its own answer"


def _reason(measure: str, measured: MeasureResult, result: TraceResult) -> str:
    """Return what a measure says of its first number."""
    if result.coverage is measured and result.coverage is not None:
        return explain_coverage(result.coverage, result.trace)
    if isinstance(measured, NumberResult):
        return measured.reason
    return measure_named(measure).score(measured).reason if measure in own_measure_names() else ""


def _label(name: str, value: float, result: TraceResult) -> Label:
    if name == "delta_seper":
        return toward(result)
    if name not in _SHARES:
        return ""
    return "all" if value >= 1 else "some" if value > 0 else "none"
