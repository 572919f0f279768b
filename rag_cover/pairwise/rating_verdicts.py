"""Pairs judged by the coverage rating: the higher one wins, equal ones are a tie, and no order can matter."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag_cover.pairwise.answers import AnswerPair
from rag_cover.pairwise.win_rates import PairVerdict, UnjudgedPair, Winner

__all__ = ["by_rating", "ratings_of"]

_SAME = 1e-9  # ratings that differ by less differ in rounding


def by_rating(pairs: Sequence[AnswerPair]) -> list[PairVerdict | UnjudgedPair]:
    """Judge every pair by the ratings of its answers; a pair with an answer that has none stays unjudged, with why."""
    return [_judge_by_ratings(pair) for pair in pairs]


def ratings_of(pairs: Sequence[AnswerPair]) -> dict[tuple[str, str], float]:
    """Return the ratings of answers by question and pipeline; what has none is absent."""
    sides = [(pair.question, pair.a, pair.answer_a) for pair in pairs] + [
        (pair.question, pair.b, pair.answer_b) for pair in pairs
    ]
    return {(question, name): answer.rating for question, name, answer in sides if answer.rating is not None}


def _judge_by_ratings(pair: AnswerPair) -> PairVerdict | UnjudgedPair:
    a, b = pair.answer_a.rating, pair.answer_b.rating
    if a is None or b is None:
        name, answer = (pair.a, pair.answer_a) if a is None else (pair.b, pair.answer_b)
        return pair.leave_unjudged(f"{name} has no rating: {answer.unrated_because}", failed=answer.rating_failed)
    winner: Winner = "tie" if math.isclose(a, b, rel_tol=0, abs_tol=_SAME) else "a" if a > b else "b"
    return PairVerdict(pair.question, pair.a, pair.b, winner, winner, basis="rated")
