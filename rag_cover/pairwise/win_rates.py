"""How often one pipeline's answer is better than another's, and how much the order they are shown in decides.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025): each pair of answers is judged twice, in both orders; the win
rate is the mean over the questions of what a side is credited with, 1 for a verdict won, 1/2 for a tie, 0 for one lost. So
rate(a, b) + rate(b, a) = 1. Zheng et al., "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena" (NeurIPS 2023), on the bias
for a position: an even-handed judge gives the answer shown first half of the verdicts, since each answer is shown first once.

A pair of which either order has no verdict is unjudged: it counts in no rate, and is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_cover.coverage.ratings import pairwise_accuracy, win_rate
from rag_cover.stats.intervals import Interval, jackknife_share

__all__ = [
    "PairVerdict",
    "PositionBias",
    "UnjudgedPair",
    "WinRate",
    "Winner",
    "agreement_with_ratings",
    "overall_win_rate",
    "position_bias",
    "win_rates_of",
]

Winner = Literal["a", "b", "tie"]
Basis = Literal["asked", "rated", "identical"]
Floats = NDArray[np.float64]

_EVEN = 0.5
_OTHER: Mapping[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
_SHOWN: Mapping[Winner, str] = {"a": "first", "b": "second", "tie": "tie"}


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Which of two answers to a question is better, with a's shown first (``ab``), and with b's shown first (``ba``).

    ``basis`` tells whether a judge was asked, in an order then; ratings were compared; or the answers are the same, which is a
    tie that nobody need be asked about. ``reasons`` are the judge's own words, one for each order.
    """

    question: str
    a: str
    b: str
    ab: Winner
    ba: Winner
    basis: Basis = "asked"
    reasons: tuple[str, ...] = ()

    @property
    def credit(self) -> float:
        """Return what a is credited with: the mean of the two verdicts, a tie a half.

        >>> PairVerdict("Why?", "plain", "broad", ab="a", ba="tie").credit
        0.75
        """
        return win_rate([[self.ab, self.ba]], side="a") or 0.0


@dataclass(frozen=True, slots=True)
class UnjudgedPair:
    """Two answers without a verdict, and why; ``failed`` where a judge was asked and gave none in one order or in both."""

    question: str
    a: str
    b: str
    reason: str
    failed: bool


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often a's answer is better than b's; where ``rate`` is None, ``undefined_because`` says why.

    ``wins`` are pairs of which a is credited with more than a half, ``losses`` with less, ``ties`` with just a half: two ties,
    or two verdicts that contradict each other. Of the ties, ``identical`` are the same answer. ``failed`` were asked about in
    vain, ``unjudged`` could not be asked about.
    """

    a: str
    b: str
    rate: Interval | None
    undefined_because: str | None
    wins: int
    ties: int
    losses: int
    identical: int
    failed: int
    unjudged: int

    @property
    def judged(self) -> int:
        """Count the pairs that the rate rests on."""
        return self.wins + self.ties + self.losses

    def mirror(self) -> WinRate:
        """Return the same from b's side: one less the rate."""
        return WinRate(
            a=self.b,
            b=self.a,
            rate=_mirror_interval(self.rate),
            undefined_because=self.undefined_because,
            wins=self.losses,
            ties=self.ties,
            losses=self.wins,
            identical=self.identical,
            failed=self.failed,
            unjudged=self.unjudged,
        )


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How much the order decides, over the pairs that a judge saw in both; None with ``undefined_because`` without any.

    ``changed`` is the share of pairs of which the two orders have different verdicts; ``first_won`` the share of verdicts won
    by the answer shown first, a tie a half: 0.5 is no bias.
    """

    pairs: int
    changed: Interval | None
    first_won: Interval | None
    undefined_because: str | None


def win_rates_of(
    names: Sequence[str], verdicts: Sequence[PairVerdict], unjudged: Sequence[UnjudgedPair] = ()
) -> tuple[WinRate, ...]:
    """Sum up the verdicts on every two pipelines, the one that is named first as a.

    Intervals are clustered by question (`rag_cover.stats.intervals.jackknife_share`).

    >>> told = [PairVerdict("1", "x", "y", "a", "a"), PairVerdict("2", "y", "x", "a", "tie")]
    >>> (found,) = win_rates_of(["x", "y"], told)
    >>> found.rate.estimate, found.wins, found.losses
    (0.625, 1, 1)
    """
    return tuple(_win_rate(a, b, verdicts, unjudged) for a, b in combinations(names, 2))


def overall_win_rate(name: str, verdicts: Sequence[PairVerdict]) -> Interval | None:
    """Return how often a pipeline wins against all others, each pair weighted equally; None where it is in no pair."""
    return _mean_by_question((each.question, _credit_of(name, each)) for each in verdicts if name in (each.a, each.b))


def position_bias(verdicts: Sequence[PairVerdict]) -> PositionBias:
    """Return how much the order of the two answers decides.

    >>> told = [PairVerdict("1", "x", "y", "a", "b"), PairVerdict("2", "x", "y", "a", "a")]
    >>> bias = position_bias(told)
    >>> bias.changed.estimate, bias.first_won.estimate
    (0.5, 0.75)
    """
    seen = [each for each in verdicts if each.basis == "asked"]
    changed = _mean_by_question((each.question, float(each.ab != each.ba)) for each in seen)
    first = _mean_by_question((each.question, _first_won(each)) for each in seen)
    return PositionBias(len(seen), changed, first, None if seen else _why_no_order(verdicts))


def agreement_with_ratings(verdicts: Sequence[PairVerdict], ratings: Mapping[tuple[str, str], float]) -> Interval | None:
    """Return how often the answer that a judge prefers has the better rating, equal ratings counting half.

    Pairs that the judge sees no difference in are left out, and so are those without two ratings; None where none is left.

    Args:
        verdicts: the judge's.
        ratings: by question and pipeline.
    """
    return _mean_by_question(
        (each.question, agreed)
        for each in verdicts
        if each.credit != _EVEN and (agreed := _agreement_with_ratings(each, ratings)) is not None
    )


def _win_rate(a: str, b: str, verdicts: Sequence[PairVerdict], unjudged: Sequence[UnjudgedPair]) -> WinRate:
    own = [each for each in verdicts if {each.a, each.b} == {a, b}]
    lacking = [each for each in unjudged if {each.a, each.b} == {a, b}]
    shares = [_credit_of(a, each) for each in own]
    rate = _mean_by_question(zip((each.question for each in own), shares, strict=True))
    return WinRate(
        a=a,
        b=b,
        rate=rate,
        undefined_because=None if rate else _why_none(lacking),
        wins=sum(share > _EVEN for share in shares),
        ties=sum(share == _EVEN for share in shares),
        losses=sum(share < _EVEN for share in shares),
        identical=sum(each.basis == "identical" for each in own),
        failed=sum(each.failed for each in lacking),
        unjudged=sum(not each.failed for each in lacking),
    )


def _why_none(lacking: Collection[UnjudgedPair]) -> str:
    reasons = [each.reason for each in lacking]
    return max(reasons, key=reasons.count) if reasons else "there is no pair of their answers"


def _credit_of(name: str, verdict: PairVerdict) -> float:
    return verdict.credit if verdict.a == name else 1 - verdict.credit


def _why_no_order(verdicts: Sequence[PairVerdict]) -> str:
    if any(each.basis == "rated" for each in verdicts):
        return "not applicable: ratings do not see an order"
    return "no judge was asked about a pair in both orders"


def _first_won(verdict: PairVerdict) -> float:
    votes = _SHOWN[verdict.ab], _SHOWN[_OTHER[verdict.ba]]
    return win_rate([votes], side="first") or 0.0


def _agreement_with_ratings(verdict: PairVerdict, ratings: Mapping[tuple[str, str], float]) -> float | None:
    a, b = (ratings.get((verdict.question, name)) for name in (verdict.a, verdict.b))
    if a is None or b is None:
        return None
    return pairwise_accuracy([(a, b, "A" if verdict.credit > _EVEN else "B")])


def _mean_by_question(values: Iterable[tuple[str, float]]) -> Interval | None:
    """Take the mean of shares with its interval over questions."""
    rows: dict[str, Floats] = {}
    for question, value in values:
        rows[question] = rows.get(question, np.zeros(2)) + np.array([value, 1.0])
    return jackknife_share(list(rows.values()), _ratio)


def _ratio(sums: Floats) -> Floats:
    ratio: Floats = sums[..., 0] / sums[..., 1]
    return ratio


def _mirror_interval(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    lower = None if interval.upper is None else 1 - interval.upper
    upper = None if interval.lower is None else 1 - interval.lower
    return Interval(1 - interval.estimate, lower, upper, interval.n)
