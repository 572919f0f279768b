r"""Soft membership: how probable it is that something belongs to a set query, given how probable each atom is.

A conjunction T and its dual disjunction ``S(a, b) = 1 - T(1 - a, 1 - b)``; ``A \ B`` is ``T(a, 1 - b)``. All of them agree
with exact sets where every probability is 0 or 1, rise with atoms that add members and fall with those that take them away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery, value_for_atom

__all__ = ["COMBINATIONS", "Combination", "Interval", "contradictory", "equivalent", "highest_membership", "membership"]

Floats = NDArray[np.float64]

Interval = tuple[ArrayLike, ArrayLike]
"""The least and the highest probabilities of candidates, (n,) each."""

Combination = Literal["product", "minimum", "geometric", "lukasiewicz"]
COMBINATIONS: Sequence[Combination] = get_args(Combination)
"""``product``: as of independent events; ``minimum``: as its weakest part; ``geometric``: the geometric mean, so that one
threshold means the same for few and for many parts; ``lukasiewicz``: what is missing adds up."""


@dataclass(frozen=True, slots=True)
class _Norm:
    """A conjunction and its dual, over the rows of an array."""

    every: Callable[[Floats], Floats]
    some: Callable[[Floats], Floats]


def _product(parts: Floats) -> Floats:
    return np.asarray(parts.prod(axis=0))


def _probabilistic_sum(parts: Floats) -> Floats:
    """Add up as 1 - T(1 - a, 1 - b), yet without rounding where all but one are 0."""
    return reduce(lambda one, other: one + other * (1 - one), parts)


def _minimum(parts: Floats) -> Floats:
    return np.asarray(parts.min(axis=0))


def _maximum(parts: Floats) -> Floats:
    return np.asarray(parts.max(axis=0))


def _geometric(parts: Floats) -> Floats:
    return np.asarray(parts.prod(axis=0) ** (1 / len(parts)), dtype=np.float64)


def _dual_geometric(parts: Floats) -> Floats:
    return 1 - _geometric(1 - parts)


def _lukasiewicz(parts: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1 - (1 - parts).sum(axis=0)))


def _sum_within_1(parts: Floats) -> Floats:
    return np.asarray(np.minimum(1.0, parts.sum(axis=0)))


_NORMS: Mapping[Combination, _Norm] = {
    "product": _Norm(_product, _probabilistic_sum),
    "minimum": _Norm(_minimum, _maximum),
    "geometric": _Norm(_geometric, _dual_geometric),
    "lukasiewicz": _Norm(_lukasiewicz, _sum_within_1),
}


def membership(query: SetQuery, probabilities: Mapping[str, ArrayLike], *, combination: Combination = "product") -> Floats:
    """Return how probable it is that each candidate belongs to the query.

    >>> membership(SetQuery.atom("A") - "B", {"A": [0.9, 0.9], "B": [0.0, 0.9]}).round(2).tolist()
    [0.9, 0.09]

    Args:
        query: the query.
        probabilities: of each atom, (n,) in [0, 1]: P(candidate belongs to the atom).
        combination: how the parts' probabilities are combined.

    Returns:
        (n,) in [0, 1].

    Raises:
        InvalidValueError: an atom without probabilities, or of another number of candidates, a value outside [0, 1], or an
            unknown combination.
    """
    if combination not in _NORMS:
        message = f"no combination is called {combination!r}.{nearest(str(combination), COMBINATIONS)} There are: "
        raise InvalidValueError(message + ", ".join(COMBINATIONS))
    columns = {atom: _column(atom, value_for_atom(atom, probabilities)) for atom in query.atoms}
    if len({column.shape for column in columns.values()}) > 1:
        message = "the atoms of a set query need probabilities for the same candidates; there are "
        raise InvalidValueError(message + ", ".join(f"{len(column)} for {atom!r}" for atom, column in columns.items()))
    return _combine(query, columns, _NORMS[combination])


def highest_membership(query: SetQuery, intervals: Mapping[str, Interval], *, combination: Combination = "product") -> Floats:
    """Return upper bounds of candidates' memberships, (n,), whose atoms' probabilities lie in intervals.

    The bound is the highest membership itself where no atom both adds members and takes them away; it is `membership` where
    every probability is known.

    >>> highest_membership(SetQuery.atom("A") - "B", {"A": ([0.5], [0.5]), "B": ([0.0], [1.0])}).tolist()
    [0.5]
    """
    arrays = {
        atom: (np.asarray(low, dtype=np.float64), np.asarray(high, np.float64)) for atom, (low, high) in intervals.items()
    }
    return _bounds(query, arrays, _NORMS[combination])[1]


def contradictory(query: SetQuery) -> bool:
    r"""Check whether nothing can belong to a query, whatever its atoms are: ``A \ A`` say.

    Raises:
        InvalidValueError: it has more than 20 atoms.
    """
    return _ways(query, _truths(query.atoms)) == 0


def equivalent(query: SetQuery, other: SetQuery) -> bool:
    """Check whether two queries have the same members, whatever their atoms are.

    Raises:
        InvalidValueError: they have more than 20 atoms.
    """
    truths = _truths(tuple(dict.fromkeys((*query.atoms, *other.atoms))))
    return _ways(query, truths) == _ways(other, truths)


def _truths(atoms: Sequence[str]) -> dict[str, int]:
    """Number the ways in which something can belong to atoms, 0 to 2^n - 1; of each atom, set the bits of those it holds in."""
    if len(atoms) > MOST_ATOMS:
        message = f"the query has {len(atoms)} atoms; at most {MOST_ATOMS} can be compared"
        raise InvalidValueError(message)
    return {atom: _bits(place, 2 ** len(atoms)) for place, atom in enumerate(atoms)}


def _bits(place: int, ways: int) -> int:
    """Set the bits of those numbers below ``ways`` in which the bit of a place is set.

    >>> bin(_bits(0, 4)), bin(_bits(1, 4))
    ('0b1010', '0b1100')
    """
    width = 1 << place
    bits = ((1 << width) - 1) << width
    while (width := 2 * width) < ways:
        bits |= bits << width
    return bits


def _ways(query: SetQuery, truths: Mapping[str, int]) -> int:
    """Set the bits of the ways in which something belongs to a query."""
    if query.text is not None:
        return truths[query.text]
    first, *others = (_ways(part, truths) for part in query.parts)
    match query.operator:
        case "union":
            return reduce(lambda one, other: one | other, others, first)
        case "intersection":
            return reduce(lambda one, other: one & other, others, first)
        case _:
            return reduce(lambda one, other: one & ~other, others, first)


def _combine(query: SetQuery, columns: Mapping[str, Floats], norm: _Norm) -> Floats:
    if query.text is not None:
        return columns[query.text]
    parts = np.stack([_combine(part, columns, norm) for part in query.parts])
    match query.operator:
        case "union":
            return norm.some(parts)
        case "intersection":
            return norm.every(parts)
        case _:
            return norm.every(np.concatenate([parts[:1], 1 - parts[1:]]))


def _bounds(query: SetQuery, intervals: Mapping[str, tuple[Floats, Floats]], norm: _Norm) -> tuple[Floats, Floats]:
    """Return the bounds of memberships: every combination rises with each of its parts."""
    if query.text is not None:
        return intervals[query.text]
    first, *others = (_bounds(part, intervals, norm) for part in query.parts)
    if query.operator == "difference":
        others = [(1 - high, 1 - low) for low, high in others]
    join = norm.some if query.operator == "union" else norm.every
    return join(np.stack([first[0], *(low for low, _ in others)])), join(np.stack([first[1], *(high for _, high in others)]))


def _column(atom: str, values: ArrayLike) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not ((column >= 0) & (column <= 1)).all():  # NaN is neither
        message = f"the probabilities of {atom!r} must be a list of numbers from 0 to 1"
        raise InvalidValueError(message)
    return column
