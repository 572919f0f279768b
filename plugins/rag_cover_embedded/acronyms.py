"""Acronyms in answers, written out as the references write them.

Only this way round: of an acronym as reference any phrase with its initials would be a match ("Idle Talk" for "IT").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

__all__ = ["write_out_acronyms"]

_ACRONYM = re.compile(r"(?<![\w.])(?:[A-Z]{2,8}|(?:[A-Z]\.){2,8})(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 20_000
"""Characters of the longest text that is rewritten: an answer, not a book."""
_SKIPPED = frozenset({"of", "the", "and", "for", "in", "on", "de", "la", "et"})


def write_out_acronyms(text: str, references: Sequence[str], question: str = "") -> str:
    """Write acronyms of a text in full where a reference has a name with these initials.

    An acronym that the question names stays: it may be asked what that stands for. A text of more than 20,000 characters stays
    as it is.

    >>> write_out_acronyms("NASA did.", ["National Aeronautics and Space Administration"])
    'National Aeronautics and Space Administration did.'
    """
    if len(text) > _LONGEST or not _ACRONYM.search(text):
        return text
    asked = {_letters(found[0]) for found in _ACRONYM.finditer(question)}
    names: dict[str, str] = {}
    for reference in references:
        for letters, name in _names(reference):
            if letters not in asked:
                names.setdefault(letters, name)
    return _ACRONYM.sub(partial(_write_out, names), text)


def _write_out(names: Mapping[str, str], acronym: re.Match[str]) -> str:
    return names.get(_letters(acronym[0]), acronym[0])


def _letters(acronym: str) -> str:
    return acronym.replace(".", "")


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the longest runs of capitalised words, joined by small ones: their initials, and the run."""
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text), None]:
        capital = word is not None and word[0][0].isupper() and not word[0].isupper()
        if word is not None and run and text[run[-1].end() : word.start()].strip(" -"):
            yield from _close(text, run)
            run = []
        if word is not None and (capital or (run and word[0] in _SKIPPED)):
            run.append(word)
        else:
            yield from _close(text, run)
            run = []


def _close(text: str, run: list[re.Match[str]]) -> Iterator[tuple[str, str]]:
    while run and run[-1][0] in _SKIPPED:
        run = run[:-1]
    if run and run[0][0].lower() in _SKIPPED:
        run = run[1:]
    initials = "".join(word[0][0] for word in run if word[0] not in _SKIPPED)
    if len(initials) > 1:
        yield initials, text[run[0].start() : run[-1].end()]
