"""Splitting a text into words, and picking those that carry its content."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import FUNCTION_WORDS

__all__ = ["ROOT", "content_words", "same_root", "words_of"]

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+(?:['’]\w+)*")  # in scripts without spaces, a character is a word

_ENDINGS = frozenset("s es ed d ing er e y ies ied ly a ia n an ian ean vian i ic ish ese ey o".split()) | {""}  # noqa: SIM905
"""What sets apart the forms of a word, or a place's name from its adjective."""
ROOT = 4
"""Letters that two words share at least where they have one root."""


def words_of(text: str) -> list[str]:
    """List the words of a text in lower case, without punctuation.

    >>> words_of("What's Mr. Holmes's first name?")
    ["what's", 'mr', "holmes's", 'first', 'name']
    """
    return _WORD.findall(text.lower())


def content_words(text: str) -> frozenset[str]:
    """Collect the words that are not function words, plural and possessive endings dropped.

    >>> sorted(content_words("Why are the skies of Mars red?"))
    ['mar', 'red', 'sky']
    """
    return frozenset(_stem(word) for word in words_of(text) if word.replace("’", "'") not in FUNCTION_WORDS)


def same_root(first: str, second: str) -> bool:
    """Return whether two words in lower case are one but for their endings: forms of a word, or a name and its adjective.

    >>> same_root("allowed", "allows"), same_root("turkey", "turkish"), same_root("austria", "australia")
    (True, True, False)
    """
    shorter = min(len(first), len(second))
    root = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    return first == second or (root >= ROOT and first[root:] in _ENDINGS and second[root:] in _ENDINGS)


def _stem(word: str) -> str:
    word = word.replace("’", "'").removesuffix("'s")
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "dies" keeps its stem
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004 - "gas"
