"""What coverage is counted over: one row per sub-question, one table per question, and where an answer addresses it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Role

__all__ = ["CoverageRow", "CoverageTable", "addressing_position"]


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One sub-question, as judged.

    ``answered`` is None where there is no answer to judge, ``chunks`` (one verdict per retrieved chunk) is None where nothing
    is known of the retrieval, and such a row counts only in what it does know; ``chunks=()`` is a retrieval that found
    nothing. ``position`` is where in the answer, in [0, 1] of its words, the sub-question is addressed. A row without a role
    counts in no role.
    """

    role: Role | None
    answered: bool | None
    chunks: tuple[bool, ...] | None
    position: float | None = None

    def __post_init__(self) -> None:
        """Refuse a position outside the answer."""
        if self.position is not None and not 0 <= self.position <= 1:
            message = f"position is {self.position}; it is a share of the answer's words, in [0, 1], or None"
            raise InvalidValueError(message)

    @property
    def retrieved(self) -> bool | None:
        """Check whether some chunk covers the sub-question; None where nothing is known of the retrieval."""
        return None if self.chunks is None else any(self.chunks)


@dataclass(frozen=True, slots=True)
class CoverageTable:
    """The rows of one question."""

    rows: tuple[CoverageRow, ...] = ()


def addressing_position(answer: str, fragment: str) -> float | None:
    """Return how far into the answer a fragment begins: (1-based index of its first word) / (number of words).

    The first exact occurrence counts, else the first one that differs in case only; a hit inside a word counts as that word.
    None for a blank fragment and for one that the answer does not contain.

    >>> addressing_position("The sky is blue.", "blue")
    1.0
    >>> addressing_position("The sky is blue.", "SKY is")
    0.5
    >>> addressing_position("The sky is blue.", "green") is None
    True
    """
    wanted = fragment.strip()
    if not wanted:
        return None
    start = answer.find(wanted)
    if start < 0:
        hit = re.search(re.escape(wanted), answer, re.IGNORECASE)
        if hit is None:
            return None
        start = hit.start()
    return len(answer[: start + 1].split()) / len(answer.split())
