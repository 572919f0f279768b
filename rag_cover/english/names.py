"""Names in running text, by their capitals."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import NAME_PARTICLES, one_of
from rag_cover.texts import sentences

__all__ = ["names_in"]

_CAPITALISED = r"[A-ZÀ-ÖØ-ÞČĆĐĞİŁŃŌŐŒŘŚŞŠŤŮŰŹŻŽ][\w'’.-]*"
_NAME = re.compile(rf"\b{_CAPITALISED}(?: (?:{one_of(NAME_PARTICLES)} )*{_CAPITALISED})*")


def names_in(text: str) -> list[str]:
    """List the names in a text in their order, each once.

    What stands first in a sentence is left out: its capital says nothing, and it is most often what the text is about.

    >>> names_in("The film was shot by Ludvík Šváb in Prague. Prague is the capital of the Czech Republic.")
    ['Ludvík Šváb', 'Prague', 'Czech Republic']
    """
    inside = (match for span in sentences(text) for match in _NAME.finditer(span.of(text)) if match.start() > 0)
    return list(dict.fromkeys(match.group().rstrip(".'’-") for match in inside))
