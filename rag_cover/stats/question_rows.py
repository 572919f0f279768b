"""Rows of numbers by question, side by side in memory: there may be millions of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["QuestionRows"]

Floats = NDArray[np.float64]

_TOGETHER = 1024


class QuestionRows(Mapping[str, Floats]):
    """A row of numbers for each question, to which further ones are added; in the order in which questions came.

    Rows of several quantities may share the ``places`` of their questions, so that each question is remembered once.

    >>> rows = QuestionRows(2)
    >>> rows.add("q1", [1, 0]), rows.add("q2", [0, 1]), rows.add("q1", [2, 0])
    (None, None, None)
    >>> rows["q1"].tolist(), rows.matrix().tolist()
    ([3.0, 0.0], [[3.0, 0.0], [0.0, 1.0]])
    """

    def __init__(self, columns: int, *, places: dict[str, int] | None = None) -> None:
        self._columns = columns
        self.places: dict[str, int] = {} if places is None else places
        self._blocks: list[Floats] = []

    def add(self, question: str, row: ArrayLike) -> None:
        """Add numbers to a question's row."""
        block, at = self._at(self.places.setdefault(question, len(self.places)))
        block[at] += row

    def matrix(self) -> Floats:
        """Return the rows of all questions."""
        self._at(len(self.places))
        return np.concatenate(self._blocks)[: len(self.places)]

    def sums_of(self, questions: Iterable[str]) -> list[float]:
        """Add up the rows of some questions."""
        return [float(total) for total in sum((self[question] for question in questions), np.zeros(self._columns))]

    def _at(self, place: int) -> tuple[Floats, int]:
        number, at = divmod(place, _TOGETHER)
        while len(self._blocks) <= number:
            self._blocks.append(np.zeros((_TOGETHER, self._columns)))
        return self._blocks[number], at

    def __getitem__(self, question: str) -> Floats:
        block, at = self._at(self.places[question])
        row: Floats = block[at].copy()
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)
