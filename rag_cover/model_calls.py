"""Models asked for probabilities and fragments: each question once, each answer checked before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_outside
from rag_cover.backends import (
    Abstention,
    AbstentionDetector,
    Entailer,
    Failure,
    Locator,
    Scorer,
    ScoringItem,
    Span,
    fingerprint_of,
)
from rag_cover.errors import ModelFailedError

__all__ = ["abstentions", "ask_probabilities", "ask_relations", "bisect_failures", "fragments", "threshold_in_range"]

T = TypeVar("T")
V = TypeVar("V")

_FEWEST_PROBES = 8
_GOLDEN = (5**0.5 - 1) / 2
_ROUNDING = 1e-5  # a softmax in single precision may add up to a hair above 1


def threshold_in_range(threshold: float) -> float:
    """Return a threshold that is a probability, and refuse any other."""
    refuse_outside(0, 1, threshold=threshold)
    return float(threshold)


def ask_probabilities(scorer: Scorer, items: Iterable[ScoringItem]) -> Mapping[ScoringItem, float]:
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


def ask_relations(entailer: Entailer, pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], tuple[float, float, float]]:
    """Ask an entailer for P(entailment), P(neutral) and P(contradiction) of every distinct (premise, hypothesis), in one call.

    Without pairs it is not asked.

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


def abstentions(detector: AbstentionDetector, items: Iterable[ScoringItem]) -> Mapping[ScoringItem, Abstention]:
    """Ask a detector about every distinct item, in one call; without items it is not asked.

    Raises:
        ModelFailedError: it returned another number of verdicts, or a word that is none.
    """
    distinct = tuple(dict.fromkeys(items))
    if not distinct:
        return {}
    verdicts = detector.abstains(distinct)
    if len(verdicts) != len(distinct) or not set(verdicts) <= set(get_args(Abstention)):
        message = (
            f"{_name(detector)}: abstains returned {len(verdicts)} verdicts {sorted(set(map(str, verdicts)))} for "
            f"{len(distinct)} texts; it must return one of {', '.join(get_args(Abstention))} each"
        )
        raise ModelFailedError(message)
    return dict(zip(distinct, verdicts, strict=True))


def bisect_failures(things: Sequence[T], ask: Callable[[Sequence[T]], Sequence[V]]) -> dict[T, V | Failure]:
    """Ask about all things at once; where that fails, about each half of them, so that one costs no other its verdict.

    One bad thing among n costs about 2·log2(n) calls. Where both halves fail, some of the things are asked about one by one,
    until one has a verdict. If log2(n) of them, and at least 8, have none, all for a reason of one kind, whoever is asked is
    taken to be down: the others are given that failure, too, and are not asked about.
    """
    said = _ask_or_failure(things, ask) if things else {}
    if isinstance(said, Failure):
        return _apart(things, ask, said, probes=max(_FEWEST_PROBES, len(things).bit_length()))
    return {**said}


def _ask_or_failure(things: Sequence[T], ask: Callable[[Sequence[T]], Sequence[V]]) -> dict[T, V] | Failure:
    try:
        return dict(zip(things, ask(things), strict=True))
    except ModelFailedError as error:
        return Failure.of(error)


def _apart(
    things: Sequence[T], ask: Callable[[Sequence[T]], Sequence[V]], failure: Failure, *, probes: int
) -> dict[T, V | Failure]:
    """Ask about each half of what failed together."""
    if len(things) == 1:
        return {things[0]: failure}
    middle = len(things) // 2
    halves = [(half, _ask_or_failure(half, ask)) for half in (things[:middle], things[middle:])]
    both = all(isinstance(said, Failure) for _, said in halves)
    if both and len(things) > probes and (down := _outage(things, ask, probes)):
        return dict.fromkeys(things, down)
    found: dict[T, V | Failure] = {}
    for half, said in halves:
        found |= _apart(half, ask, said, probes=probes) if isinstance(said, Failure) else said
    return found


def _outage(things: Sequence[T], ask: Callable[[Sequence[T]], Sequence[V]], probes: int) -> Failure | None:
    """Return the failure that single things have in common, if none of them has a verdict."""
    failures = list[Failure]()
    for number in range(probes):
        one = things[int(number * _GOLDEN % 1 * len(things))]  # spread, yet not evenly: every third may be of one kind
        said = _ask_or_failure([one], ask)
        if not isinstance(said, Failure) or any(said.kind != other.kind for other in failures):
            return None
        failures.append(said)
    return failures[0]


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
