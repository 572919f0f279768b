"""How good an answer is, judged by what it covers, and how often such ratings agree with people.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §5: the rating is
``1·c_core + 0.5·c_background - 1·c_follow-up``, where ``c_t`` is the share of sub-questions of role t that the answer covers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from rag_cover.coverage.tables import CoverageTable
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Role

__all__ = ["RATING_WEIGHTS", "check_weights", "pairwise_accuracy", "rating", "win_rate"]

RATING_WEIGHTS: Mapping[Role, float] = MappingProxyType({Role.CORE: 1.0, Role.BACKGROUND: 0.5, Role.FOLLOW_UP: -1.0})
"""The paper's weights: what the rating gives for covering all sub-questions of a role."""


def rating(table: CoverageTable, *, weights: Mapping[Role, float] = RATING_WEIGHTS) -> float | None:
    """Rate one answer by the weighted coverage of its sub-questions, in [-1, 1.5] with the paper's weights.

    A role without judged sub-questions contributes nothing, and so does one that ``weights`` leaves out. None where no
    sub-question has both a role and a verdict.

    >>> from rag_cover.coverage.tables import CoverageRow
    >>> core = CoverageRow(Role.CORE, True, None), CoverageRow(Role.CORE, False, None)
    >>> rating(CoverageTable((*core, CoverageRow(Role.BACKGROUND, True, None))))
    1.0
    """
    shares = {role: share for role in Role if (share := _share_answered(table, role)) is not None}
    if not shares:
        return None
    return sum(weights.get(role, 0.0) * share for role, share in shares.items())


def check_weights(weights: Mapping[Role, float]) -> dict[Role, float]:
    """Return the weights of a rating by role, as numbers.

    Raises:
        InvalidValueError: a key that is no role, or a weight that is not finite.
    """
    if unknown := [role for role in weights if role not in set(Role)]:
        message = f"weights: {unknown[0]!r} is no role; roles are {', '.join(Role)}"
        raise InvalidValueError(message)
    if bad := [weight for weight in weights.values() if not math.isfinite(weight)]:
        message = f"weights: {bad[0]} is not a finite number"
        raise InvalidValueError(message)
    return {Role(role): float(weight) for role, weight in weights.items()}


def pairwise_accuracy(pairs: Sequence[tuple[float, float, Literal["A", "B"]]]) -> float | None:
    """Return how often the higher of two ratings belongs to the side that people preferred; equal ratings count half.

    Args:
        pairs: (rating of A, rating of B, the preferred side).

    Returns:
        The share in [0, 1], None without pairs.

    Raises:
        InvalidValueError: a preferred side that is neither A nor B, or a rating that is NaN.

    >>> pairwise_accuracy([(0.5, 0.2, "A"), (0.3, 0.3, "B")])
    0.75
    """
    return sum(map(_credit, pairs)) / len(pairs) if pairs else None


def win_rate(judgements: Sequence[Sequence[str]], *, side: str = "X") -> float | None:
    """Return how often one side wins, over comparisons judged several times (as a rule in both orders); a tie counts half.

    Each comparison is the mean of its judgements, and the win rate the mean of the comparisons; None without any.

    Raises:
        InvalidValueError: the judgements name more than one other side.

    >>> win_rate([["X", "X"], ["X", "Y"], ["tie", "X"]])
    0.75
    """
    others = {winner for votes in judgements for winner in votes} - {side, "tie"}
    if len(others) > 1:
        message = f"a judgement names {side!r}, the other side, or 'tie', not all of {', '.join(map(repr, sorted(others)))}"
        raise InvalidValueError(message)
    rates = [sum(_win_score(winner, side) for winner in votes) / len(votes) for votes in judgements if votes]
    return sum(rates) / len(rates) if rates else None


def _share_answered(table: CoverageTable, role: Role) -> float | None:
    answered = [row.answered for row in table.rows if row.role == role and row.answered is not None]
    return sum(answered) / len(answered) if answered else None


def _credit(pair: tuple[float, float, str]) -> float:
    a, b, preferred = pair
    if preferred not in ("A", "B") or a != a or b != b:  # noqa: PLR0124 - only NaN differs from itself
        message = f"{pair!r}: a pair is two ratings that are numbers, and the preferred side, 'A' or 'B'"
        raise InvalidValueError(message)
    if a == b:
        return 0.5
    return float((a > b) == (preferred == "A"))


def _win_score(winner: str, side: str) -> float:
    return 0.5 if winner == "tie" else float(winner == side)
