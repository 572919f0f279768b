r"""Soft membership: how probable it is that something belongs to a set query, given how probable each atom is.

A conjunction T and its dual disjunction ``S(a, b) = 1 - T(1 - a, 1 - b)``; ``A \ B`` is ``T(a, 1 - b)``. All of them agree
with exact sets where every probability is 0 or 1, rise with atoms that add members and fall with those that take them away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery, known

__all__ = ["COMBINATIONS", "Combination", "contradictory", "equivalent", "membership"]

Floats = NDArray[np.float64]

Combination = Literal["product", "minimum", "geometric", "lukasiewicz"]
COMBINATIONS: Sequence[Combination] = get_args(Combination)
"""``product``: as of independent events; ``minimum``: as its weakest part; ``geometric``: the geometric mean, so that one
threshold means the same for few and for many parts; ``lukasiewicz``: what is missing adds up."""


def _product(parts: Floats) -> Floats:
    return np.asarray(parts.prod(axis=0))


def _minimum(parts: Floats) -> Floats:
    return np.asarray(parts.min(axis=0))


def _geometric(parts: Floats) -> Floats:
    return np.asarray(parts.prod(axis=0) ** (1 / len(parts)), dtype=np.float64)


def _lukasiewicz(parts: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1 - (1 - parts).sum(axis=0)))


_CONJUNCTIONS: Mapping[Combination, Callable[[Floats], Floats]] = {
    "product": _product,
    "minimum": _minimum,
    "geometric": _geometric,
    "lukasiewicz": _lukasiewicz,
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
    if combination not in _CONJUNCTIONS:
        message = f"no combination is called {combination!r}.{nearest(str(combination), COMBINATIONS)} There are: "
        raise InvalidValueError(message + ", ".join(COMBINATIONS))
    columns = {atom: _column(atom, known(atom, probabilities)) for atom in query.atoms}
    if len({column.shape for column in columns.values()}) > 1:
        message = "the atoms of a set query need probabilities for the same candidates; there are "
        raise InvalidValueError(message + ", ".join(f"{len(column)} for {atom!r}" for atom, column in columns.items()))
    return _combined(query, columns, _CONJUNCTIONS[combination])


def contradictory(query: SetQuery) -> bool:
    r"""Tell whether nothing can belong to a query, whatever its atoms are: ``A \ A`` say.

    Raises:
        InvalidValueError: it has more than 20 atoms.
    """
    return not membership(query, _truths(query.atoms), combination="minimum").any()


def equivalent(query: SetQuery, other: SetQuery) -> bool:
    """Tell whether two queries have the same members, whatever their atoms are.

    Raises:
        InvalidValueError: they have more than 20 atoms.
    """
    truths = _truths(tuple(dict.fromkeys((*query.atoms, *other.atoms))))
    one, two = (membership(each, truths, combination="minimum") for each in (query, other))
    return np.array_equal(one, two)


def _truths(atoms: Sequence[str]) -> dict[str, Floats]:
    """Write down every way in which something can belong to atoms: a column of zeros and ones for each."""
    if len(atoms) > MOST_ATOMS:
        message = f"the query has {len(atoms)} atoms; at most {MOST_ATOMS} can be compared"
        raise InvalidValueError(message)
    ways = np.arange(2 ** len(atoms), dtype=np.int64)
    return {atom: (ways >> place & 1).astype(np.float64) for place, atom in enumerate(atoms)}


def _combined(query: SetQuery, columns: Mapping[str, Floats], conjunction: Callable[[Floats], Floats]) -> Floats:
    if query.text is not None:
        return columns[query.text]
    parts = np.stack([_combined(part, columns, conjunction) for part in query.parts])
    match query.operator:
        case "union":
            return 1 - conjunction(1 - parts)
        case "intersection":
            return conjunction(parts)
        case _:
            return conjunction(np.concatenate([parts[:1], 1 - parts[1:]]))


def _column(atom: str, values: ArrayLike) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not ((column >= 0) & (column <= 1)).all():  # NaN is neither
        message = f"the probabilities of {atom!r} must be a list of numbers from 0 to 1"
        raise InvalidValueError(message)
    return column
