"""The name of a cascade, as it is given after ``cascade:``: the names of its two judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rag_cover.errors import InvalidValueError

__all__ = ["SCHEME", "JudgeNames"]

SCHEME = "cascade"


@dataclass(frozen=True, slots=True)
class JudgeNames:
    """The names of the judge that judges everything and of the model that is asked about what it is unsure of."""

    first: str
    second: str

    @classmethod
    def read(cls, name: str) -> Self:
        """Read ``first+second``; the first ``+`` divides them, so that the second name may hold others.

        >>> JudgeNames.read("embedded+openai:gpt-4.1-mini")
        JudgeNames(first='embedded', second='openai:gpt-4.1-mini')

        Raises:
            InvalidValueError: it does not name two judges, or names a cascade within a cascade.
        """
        first, _, second = (part.strip() for part in name.partition("+"))
        if not first or not second:
            missing = "names no judge" if not first and not second else "names one judge"
            message = (
                f"'{SCHEME}:{name}' {missing}; a cascade has two, the one that judges everything and the model that is asked "
                f"about what it is unsure of, such as {SCHEME}:embedded+openai:gpt-4.1-mini"
            )
            raise InvalidValueError(message)
        if SCHEME in (first.partition(":")[0], second.partition(":")[0]):
            message = f"'{SCHEME}:{name}' names a cascade within a cascade; name two judges"
            raise InvalidValueError(message)
        return cls(first, second)
