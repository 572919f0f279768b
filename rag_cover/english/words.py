"""Splitting a text into words, and picking those that carry its content."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import FUNCTION_WORDS

__all__ = ["content_words", "words_of"]

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+(?:['’]\w+)*")  # in scripts without spaces, a character is a word


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


def _stem(word: str) -> str:
    word = word.replace("’", "'").removesuffix("'s")
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "dies" keeps its stem
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004 - "gas"
