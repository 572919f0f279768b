"""Models asked for probabilities and fragments: each question once, each answer checked before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Entailer, Failure, Locator, Scorer, ScoringItem, Span, fingerprint_of
from rag_cover.errors import InvalidValueError, ModelFailedError

__all__ = ["each_or_failure", "entailments", "fragments", "probabilities", "relations", "threshold_in_range"]

T = TypeVar("T")
V = TypeVar("V")

_ROUNDING = 1e-5  # a softmax in single precision may add up to a hair above 1


def threshold_in_range(threshold: float) -> float:
    """Return a threshold that is a probability, and refuse any other."""
    if not 0 <= threshold <= 1:
        message = f"threshold is {threshold}; a threshold is a probability, in [0, 1]"
        raise InvalidValueError(message)
    return float(threshold)


def probabilities(scorer: Scorer, items: Iterable[ScoringItem]) -> Mapping[ScoringItem, float]:
    """Ask a scorer about every distinct item, in one call; without items it is not asked.

    Raises:
        ModelFailedError: it returned another number of values, or one that is no probability.
    """
    distinct = tuple(dict.fromkeys(items))
    if not distinct:
        return {}
    values = np.asarray(scorer.correctness(distinct))
    _refuse_unless_probabilities(scorer, "correctness", values, (len(distinct),))
    return dict(zip(distinct, _shortest(values), strict=True))


def entailments(entailer: Entailer, pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], float]:
    """Ask an entailer for P(entailment) of every distinct (premise, hypothesis), in one call; without pairs it is not asked.

    Raises:
        ModelFailedError: it returned another shape, or a value that is no probability.
    """
    return {pair: classes[0] for pair, classes in relations(entailer, pairs).items()}


def relations(entailer: Entailer, pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], tuple[float, float, float]]:
    """Ask an entailer as `entailments` does, for P(entailment), P(neutral) and P(contradiction).

    Raises:
        ModelFailedError: it returned another shape, or a value that is no probability.
    """
    distinct = tuple(dict.fromkeys(pairs))
    if not distinct:
        return {}
    values = np.asarray(entailer.entail(distinct))
    _refuse_unless_probabilities(entailer, "entail", values, (len(distinct), 3))
    return dict(zip(distinct, zip(*map(_shortest, values.T), strict=True), strict=True))


def fragments(locator: Locator, items: Iterable[ScoringItem]) -> Mapping[ScoringItem, Span | None]:
    """Ask a locator about every distinct item, in one call; without items it is not asked. An empty fragment is None.

    Raises:
        ModelFailedError: it returned another number of fragments, or one outside its text.
    """
    distinct = tuple(dict.fromkeys(items))
    if not distinct:
        return {}
    spans = locator.locate(distinct)
    if len(spans) != len(distinct):
        message = f"{_name(locator)}: locate returned {len(spans)} fragments for {len(distinct)} texts; it must return one each"
        raise ModelFailedError(message)
    return {item: _inside(locator, item, span) for item, span in zip(distinct, spans, strict=True)}


def each_or_failure(things: Sequence[T], ask: Callable[[Sequence[T]], Sequence[V]]) -> dict[T, V | Failure]:
    """Ask about all things at once; where that fails, about each half of them, so that one costs no other its verdict."""
    if not things:
        return {}
    try:
        return dict(zip(things, ask(things), strict=True))
    except ModelFailedError as error:
        if len(things) == 1:
            return {things[0]: Failure.of(error)}
        middle = len(things) // 2
        return each_or_failure(things[:middle], ask) | each_or_failure(things[middle:], ask)


def _inside(locator: Locator, item: ScoringItem, span: Span | None) -> Span | None:
    if span is None or span.start == span.end:
        return None
    if not 0 <= span.start < span.end <= len(item.text):
        message = f"{_name(locator)}: locate returned {span} for a text of {len(item.text)} characters"
        raise ModelFailedError(message)
    return span


def _refuse_unless_probabilities(model: object, method: str, values: NDArray[np.floating], shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        message = f"{_name(model)}: {method} returned shape {values.shape} where {shape} was asked for"
        raise ModelFailedError(message)
    bad = values[~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))]
    if bad.size:
        message = f"{_name(model)}: {method} returned {bad[0]}, which is no probability in [0, 1] ({bad.size} such values)"
        raise ModelFailedError(message)


def _shortest(values: NDArray[np.floating]) -> Sequence[float]:
    """Read 0.7 in single precision as 0.7, so that it reaches a threshold of 0.7."""
    return [min(1.0, max(0.0, float(str(value)))) for value in values]


def _name(model: object) -> str:
    return f"{type(model).__name__} ({fingerprint_of(model)})"
