"""Short spellings of a chat in full: "whats ur wifi password" asks "what's your wifi password"."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import QUESTION_WORDS, YES_NO_OPENERS, one_of

__all__ = ["spell_out"]

_QUESTION = r"what|where|who|how|when|why"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(rf"(?:(?<=^)|(?<=[.!?,&] )|(?<=\band )|(?<=\bhey ))(?P<word>{_QUESTION})s\b(?=\ )", re.IGNORECASE),
        r"\g<word>'s",
    ),
    (re.compile(rf"(?<=\s)&(?=\s(?:{one_of(QUESTION_WORDS | YES_NO_OPENERS)})\b)"), "and"),
    (re.compile(rf"\b(?P<word>{_QUESTION}) r\b(?=\ [a-z])", re.IGNORECASE), r"\g<word> are"),
    (re.compile(r"(?<=[a-z] )r(?= (?:u|you|they|we|there)\b)|^r(?= u\b)"), "are"),
    (re.compile(r"(?<=[a-z] )u(?= (?!s\b)[a-z])|(?<=[a-z] )u(?=[?!]|$)"), "you"),
    (re.compile(r"(?<=[a-z] )ur(?= [a-z])"), "your"),
    (re.compile(r"\b(?:pls|plz)\b"), "please"),
)
_SPACES = re.compile(r"[ \t]{2,}")


def spell_out(text: str) -> str:
    """Write the short spellings of a chat in full, and one space for several.

    A name such as "R", "U-Bahn" or "Callow & Finch" stays as it is.

    >>> spell_out("whats the wifi password & how do u connect"), spell_out("How do I plot in R?")
    ("what's the wifi password and how do you connect", 'How do I plot in R?')
    """
    text = _SPACES.sub(" ", text)
    for form, spelt in _FORMS:
        text = form.sub(spelt, text)
    return text
