"""What questions are filed under (a subject, a tag, a collection), as columns beside their other features.

With p_k the share of subject k among the questions that it was learnt from, a question of subject k' has w ([k = k'] - p_k) in
column k. A question of no subject, or of one that was not there, has zeros, which is the average of all subjects: a model then
predicts it by its words alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Subjects", "agreed_subjects"]

Floats = NDArray[np.float64]

_WEIGHT = 1.0  # beside an embedding of length 1
_LEAST = 10  # questions of a subject that is told from the others


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects that a skill model tells apart, and (k,) their shares of the questions; none where there is one at most."""

    names: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()

    @classmethod
    def from_questions(cls, subjects: Iterable[str | None], *, least: int = _LEAST) -> Self:
        """Take the subjects that so many questions have, in the order of their names.

        >>> Subjects.from_questions(["law", "law", "maths", "maths", None, "art"], least=2)
        Subjects(names=('law', 'maths'), shares=(0.5, 0.5))
        """
        counts = Counter(subject for subject in subjects if subject is not None)
        kept = {name: counts[name] for name in sorted(counts) if counts[name] >= least}
        if len(kept) < 2:  # noqa: PLR2004 - one alone tells nothing apart
            return cls()
        total = sum(kept.values())
        return cls(tuple(kept), tuple(count / total for count in kept.values()))

    def columns(self, subjects: Sequence[str | None]) -> Floats:
        """Return (n, k) columns for questions of these subjects.

        >>> Subjects(("law", "maths"), (0.5, 0.5)).columns(["law", "cooking", None]).tolist()
        [[0.5, -0.5], [0.0, 0.0], [0.0, 0.0]]
        """
        places = {name: place for place, name in enumerate(self.names)}
        found = np.zeros((len(subjects), len(self.names)))
        for row, subject in enumerate(subjects):
            if subject in places:
                found[row] = -np.array(self.shares)
                found[row, places[subject]] += 1.0
        return _WEIGHT * found

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {"names": list(self.names), "shares": list(self.shares)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(tuple(map(str, data["names"])), tuple(map(float, data["shares"])))


def agreed_subjects(named: Iterable[tuple[str, str | None]], keys: Sequence[str]) -> tuple[str | None, ...]:
    """Return the subject of each key (a question); None where nobody names one, or not all name the same.

    Args:
        named: key and subject, as each trace or row has them.
        keys: in the order wanted.

    >>> agreed_subjects([("a", "law"), ("a", None), ("b", "law"), ("b", "art")], ["a", "b"])
    ('law', None)
    """
    found: dict[str, set[str]] = {}
    for key, subject in named:
        if subject is not None:
            found.setdefault(key, set()).add(subject)
    return tuple(next(iter(found[key])) if len(found.get(key, ())) == 1 else None for key in keys)
