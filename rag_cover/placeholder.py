"""Placeholders for redacted texts: ``[text redacted <hash>, <n> words, <n> characters]``, written and parsed.

Whoever counts words, or tells kinds of questions, reads them here where the text itself is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

__all__ = ["DIGITS", "Placeholder", "is_identifier"]

DIGITS = 24
"""How many hex digits of a hash are kept: 96 bits, by which a billion texts are told apart."""

_HASH = f"([0-9a-f]{{{DIGITS}}})"
_WRITTEN = re.compile(rf"\[text redacted {_HASH}, (\d+) words?, (\d+) characters?(?:, asked as {_HASH})?(?:; ([a-z+ -]+))?\]")
_IDENTIFIER = re.compile(f"redacted-{_HASH}")
_BETWEEN = " + "


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What is known of a redacted text.

    Of a question, ``asked_as`` is the hash of its text up to case, width and white space, and ``kinds`` are what its wording
    told.

    >>> str(Placeholder("0" * 24, words=2, characters=9))
    '[text redacted 000000000000000000000000, 2 words, 9 characters]'
    """

    digest: str
    words: int
    characters: int
    asked_as: str | None = None
    kinds: tuple[str, ...] = ()

    def __str__(self) -> str:
        words, characters = _format_count(self.words, "word"), _format_count(self.characters, "character")
        asked = f", asked as {self.asked_as}" if self.asked_as else ""
        kinds = f"; {_BETWEEN.join(self.kinds)}" if self.kinds else ""
        return f"[text redacted {self.digest}, {words}, {characters}{asked}{kinds}]"

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read what stands in place of a text; None for a text that is one.

        >>> Placeholder.read(str(Placeholder("0" * 24, words=2, characters=9))).words
        2
        """
        found = _WRITTEN.fullmatch(text) if text.startswith("[text redacted ") else None
        if found is None:
            return None
        digest, words, characters, asked_as, kinds = found.groups()
        return cls(digest, int(words), int(characters), asked_as, tuple(kinds.split(_BETWEEN)) if kinds else ())


def is_identifier(text: str) -> bool:
    """Return whether a text stands in place of an id or of a single word."""
    return _IDENTIFIER.fullmatch(text) is not None


def _format_count(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"
