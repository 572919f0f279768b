"""How good a returned set is, by itself and over many queries: QUEST (Malaviya et al., ACL 2023), §4.

For a query with the gold set G and the returned set S, titles compared exactly:

- precision ``|G ∩ S| / |S|``, recall ``|G ∩ S| / |G|``, F1 ``2 |G ∩ S| / (|G| + |S|)``, all 0 without overlap, an empty S too
- Recall@k: the recall of the first k of a ranking. MRecall@k: 1 if every gold title is among them, else 0

A ranking is cut to its first k *before* titles that repeat are dropped, so a repeated title uses up ranks, and MRecall@k is 0
wherever ``|G| > k``. Averages weigh every query alike. A query without gold titles has no scores and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

from rag_cover.argument_checks import refuse_below
from rag_cover.errors import InvalidValueError

__all__ = [
    "GRID",
    "RANKS",
    "Averages",
    "Mean",
    "MeanScores",
    "MembershipThreshold",
    "SetScores",
    "average",
    "average_scores",
    "best_threshold",
    "candidates_above",
    "mrecall_at_k",
    "recall_at_k",
    "set_scores",
]

T = TypeVar("T")

RANKS = (20, 50, 100, 1000)
"""The ranks k that the paper reports Recall@k and MRecall@k at."""

GRID = tuple(step / 20 for step in range(20))
"""The thresholds that the paper's classifier chooses among: 0.00, 0.05, … 0.95."""

_DIGITS = 12  # mean F1s that differ by less are rounding


@dataclass(frozen=True, slots=True)
class SetScores:
    """How good one returned set is."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class MeanScores:
    """The means over ``n`` queries, of which there is at least one; ``f1`` is the mean of their F1s."""

    precision: float
    recall: float
    f1: float
    n: int


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of one number over ``n`` queries, of which there is at least one."""

    value: float
    n: int


@dataclass(frozen=True, slots=True)
class Averages(Generic[T]):
    """Means over all queries, and over those of each template.

    ``overall`` is None without queries. In ``by_template`` None stands for the queries whose template is not known; a template
    without queries is absent.
    """

    overall: T | None
    by_template: Mapping[str | None, T]


@dataclass(frozen=True, slots=True)
class MembershipThreshold:
    """The threshold with the best mean F1 on the queries it was chosen on, and what each one tried scores there."""

    threshold: float
    tried: Mapping[float, MeanScores]

    @property
    def scores(self) -> MeanScores:
        """Return what the threshold scores on the queries it was chosen on."""
        return self.tried[self.threshold]


def set_scores(gold: Collection[str], predicted: Collection[str]) -> SetScores:
    """Score one returned set; neither order nor repetition counts.

    >>> set_scores({"Kea", "Kaka"}, ["Kea", "Weka", "Pukeko"])
    SetScores(precision=0.3333333333333333, recall=0.5, f1=0.4)

    Raises:
        InvalidValueError: there is no gold title, or a string stands for a collection.
    """
    wanted, found = _gold(gold), _titles(predicted, "predicted")
    right = len(wanted & found)
    return SetScores(right / len(found) if found else 0.0, right / len(wanted), 2 * right / (len(wanted) + len(found)))


def recall_at_k(gold: Collection[str], ranked: Sequence[str], *, k: int) -> float:
    """Return the share of the gold titles among the first k of a ranking, best first.

    >>> recall_at_k({"Kea", "Kaka"}, ["Kea", "Kea", "Kaka"], k=2)
    0.5

    Raises:
        InvalidValueError: there is no gold title, a set stands for a ranking or a string for either, or k is below 1.
    """
    wanted = _gold(gold)
    return len(wanted & _first(ranked, k)) / len(wanted)


def mrecall_at_k(gold: Collection[str], ranked: Sequence[str], *, k: int) -> float:
    """Return 1.0 if every gold title is among the first k of a ranking, else 0.0.

    >>> mrecall_at_k({"Kea", "Kaka"}, ["Kea", "Weka", "Kaka"], k=3), mrecall_at_k({"Kea", "Kaka"}, ["Kea", "Weka"], k=2)
    (1.0, 0.0)

    Raises:
        InvalidValueError: as for `recall_at_k`.
    """
    return float(_gold(gold) <= _first(ranked, k))


def average_scores(scores: Sequence[SetScores], templates: Sequence[str | None] | None = None) -> Averages[MeanScores]:
    """Average precision, recall and F1, every query alike, overall and by template.

    Without ``templates`` there is nothing by template.

    >>> averages = average_scores([SetScores(1, 0.5, 2 / 3), SetScores(0, 0, 0)], ["A ∩ B", "A"])
    >>> averages.overall
    MeanScores(precision=0.5, recall=0.25, f1=0.3333333333333333, n=2)
    >>> averages.by_template["A"]
    MeanScores(precision=0.0, recall=0.0, f1=0.0, n=1)

    Raises:
        InvalidValueError: there are not as many templates as scores.
    """
    groups = _by_template(scores, templates)
    return Averages(_mean_scores(scores) if scores else None, {each: _mean_scores(group) for each, group in groups.items()})


def average(values: Sequence[float], templates: Sequence[str | None] | None = None) -> Averages[Mean]:
    """Average one number a query, such as its Recall@k, overall and by template.

    >>> average([1.0, 0.0, 0.5], ["A", "A", "A ∩ B"]).by_template
    {'A': Mean(value=0.5, n=2), 'A ∩ B': Mean(value=0.5, n=1)}
    >>> average([]).overall is None
    True

    Raises:
        InvalidValueError: there are not as many templates as values.
    """
    groups = _by_template(values, templates)
    return Averages(_mean(values) if values else None, {each: _mean(group) for each, group in groups.items()})


def candidates_above(candidates: Sequence[str], probabilities: Sequence[float], *, threshold: float) -> list[str]:
    """Return the candidates that are more probable than a threshold; what is exactly as probable is not kept.

    >>> candidates_above(["Kea", "Kaka", "Weka"], [0.9, 0.5, 0.2], threshold=0.5)
    ['Kea']

    Raises:
        InvalidValueError: there is not one probability for each candidate, or one or the threshold is outside [0, 1].
    """
    _refuse_string(candidates, "candidates")
    _demand_probabilities([threshold], "threshold")
    _demand_probabilities(probabilities, "probability")
    if len(candidates) != len(probabilities):
        message = f"there are {len(candidates)} candidates and {len(probabilities)} probabilities; pass one for each"
        raise InvalidValueError(message)
    return [each for each, probability in zip(candidates, probabilities, strict=True) if probability > threshold]


def best_threshold(
    gold: Sequence[Collection[str]],
    candidates: Sequence[Sequence[str]],
    probabilities: Sequence[Sequence[float]],
    *,
    grid: Sequence[float] = GRID,
) -> MembershipThreshold:
    """Choose the threshold with the best mean F1 on validation queries; of equally good ones the lowest, which keeps most.

    A query of which a threshold keeps nothing scores 0 there and counts like any other.

    >>> fit = best_threshold([{"Kea"}], [["Kea", "Weka"]], [[0.9, 0.3]])
    >>> fit.threshold, fit.scores.f1, round(fit.tried[0.0].f1, 3)
    (0.3, 1.0, 0.667)

    Args:
        gold: each query's gold titles.
        candidates: each query's candidates.
        probabilities: each candidate's probability of belonging to the query's set.
        grid: the thresholds to try, in [0, 1].

    Raises:
        InvalidValueError: there is no query, no threshold, a query without gold titles, or what does not lie side by side.
    """
    if not len(gold) == len(candidates) == len(probabilities) or not gold or not grid:
        message = (
            f"{len(gold)} gold sets, {len(candidates)} lists of candidates and {len(probabilities)} of probabilities fit no"
            f" threshold of {len(grid)}; pass one of each for every validation query, and at least one query and threshold"
        )
        raise InvalidValueError(message)
    tried = {float(threshold): _scores_above(gold, candidates, probabilities, threshold) for threshold in grid}
    return MembershipThreshold(max(tried, key=lambda threshold: (round(tried[threshold].f1, _DIGITS), -threshold)), tried)


def _scores_above(
    gold: Sequence[Collection[str]],
    candidates: Sequence[Sequence[str]],
    probabilities: Sequence[Sequence[float]],
    threshold: float,
) -> MeanScores:
    queries = zip(gold, candidates, probabilities, strict=True)
    return _mean_scores([set_scores(wanted, candidates_above(some, ps, threshold=threshold)) for wanted, some, ps in queries])


def _mean_scores(scores: Sequence[SetScores]) -> MeanScores:
    columns = zip(*((each.precision, each.recall, each.f1) for each in scores), strict=True)
    precision, recall, f1 = (fmean(column) for column in columns)
    return MeanScores(precision, recall, f1, len(scores))


def _mean(values: Sequence[float]) -> Mean:
    return Mean(fmean(values), len(values))


def _by_template(things: Sequence[T], templates: Sequence[str | None] | None) -> dict[str | None, list[T]]:
    if templates is None:
        return {}
    if isinstance(templates, str) or len(templates) != len(things):
        message = f"{len(things)} queries cannot have the templates {templates!r}; pass one for each query, None where unknown"
        raise InvalidValueError(message)
    groups: dict[str | None, list[T]] = {}
    for thing, template in zip(things, templates, strict=True):
        groups.setdefault(template, []).append(thing)
    return groups


def _gold(gold: Collection[str]) -> frozenset[str]:
    titles = _titles(gold, "gold")
    if not titles:
        message = "a query without gold titles has no scores; leave it out, or add what it should have found"
        raise InvalidValueError(message)
    return titles


def _first(ranked: Sequence[str], k: int) -> frozenset[str]:
    refuse_below(1, k=k)
    if not isinstance(ranked, Sequence):
        message = f"a {type(ranked).__name__} has no order to cut at k; pass a list of titles, best first"
        raise InvalidValueError(message)
    _refuse_string(ranked, "ranked")
    return frozenset(ranked[:k])


def _titles(titles: Collection[str], name: str) -> frozenset[str]:
    _refuse_string(titles, name)
    return frozenset(titles)


def _refuse_string(titles: Collection[str], name: str) -> None:
    if isinstance(titles, str):
        message = f"{name} is the string {titles!r}, whose letters are no titles; pass a collection, such as [{titles!r}]"
        raise InvalidValueError(message)


def _demand_probabilities(values: Sequence[float], name: str) -> None:
    wrong = next((value for value in values if not 0 <= value <= 1), None)
    if wrong is not None:
        message = f"a {name} is {wrong}; it lies in [0, 1], so pass exp() of a log-probability"
        raise InvalidValueError(message)
