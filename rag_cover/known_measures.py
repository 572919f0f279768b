"""The measures that can be asked for by name, and read from a store: the package's own and those of plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, cast

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.measures import Measure, ResultType
from rag_cover.plugin_manager import find_measures

__all__ = ["DEFAULT_MEASURES", "measure_named", "measure_names", "own_measure_names", "result_type_of", "result_types"]

_OWN: Mapping[str, str] = {
    "coverage": "rag_cover.coverage:CoverageMeasure",
    "groundedness": "rag_cover.grounding:GroundednessMeasure",
    "utility": "rag_cover.belief:UtilityMeasure",
    "complexity": "rag_cover.complexity:ComplexityMeasure",
    "answer_relevance": "rag_cover.answer_relevance:AnswerRelevanceMeasure",
    "context_relevance": "rag_cover.context_relevance:ContextRelevanceMeasure",
    "claims": "rag_cover.claims:ClaimsMeasure",
    "citations": "rag_cover.citations:CitationsMeasure",
}
"""The package's own measures: a line for each. They are imported when they are asked for."""

DEFAULT_MEASURES = ("coverage", "groundedness", "utility", "complexity")
"""What is measured where no measure is named."""


def measure_names() -> tuple[str, ...]:
    """Name every measure that can be asked for."""
    return (*_OWN, *(name for name in find_measures() if name not in _OWN))


def own_measure_names() -> tuple[str, ...]:
    """Name the package's own measures."""
    return tuple(_OWN)


def measure_named(name: str) -> Measure:
    """Return a measure with its default parameters.

    Raises:
        InvalidValueError: there is none of this name.
    """
    if name in _OWN:
        return cast("Measure", _own(name)())
    if (found := find_measures().get(name)) is not None:
        return found
    names = measure_names()
    if (owner := next((each for each in names if name in _metrics_of(each)), None)) is not None:
        message = f"No measure is called {name!r}: it is a metric of the measure {owner!r}, so name that one."
        raise InvalidValueError(message)
    message = f"No measure is called {name!r}.{nearest(name, names)} There are: {', '.join(names)}."
    raise InvalidValueError(message)


def _metrics_of(name: str) -> list[str]:
    return [metric.name for metric in measure_named(name).metrics]


def result_type_of(name: str) -> type[Any] | None:
    """Return the type of a measure's results, None where nobody here knows the measure."""
    if name in _OWN:
        return cast("type[Any]", _own(name).result_type)
    found = find_measures().get(name)
    return None if found is None else found.result_type


def result_types(measures: Iterable[Measure]) -> ResultType:
    """Return a function that knows the result types of these measures and of all installed ones."""
    given = {measure.name: measure.result_type for measure in measures}
    return lambda name: given.get(name) or result_type_of(name)


def _own(name: str) -> Any:
    module, _, attribute = _OWN[name].partition(":")
    return getattr(import_module(module), attribute)
