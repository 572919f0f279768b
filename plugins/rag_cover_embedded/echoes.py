"""Texts that say nothing but what is asked, such as "The ferry leaves at the time when it leaves".

Whoever asks who, what, when, where, why or how wants to hear something that the question does not say. A text that restates the
question in the question's own words cannot answer it, however much it looks like an answer.
"""

from __future__ import annotations

import re
from functools import cache

from rag_cover_embedded.relevance import find_content_words

__all__ = ["only_repeats"]

_OPEN = re.compile(
    r"\W*(?:(?:and|so|but|at|in|on|for|to|by|from|of|with|since|until)\s+)*(?:who|whose|whom|what|when|where|why|how|which)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_EMPTY = frozenset(
    """amount answer ask case cause certain concern date depend fact following given kind know like look matter mean moment name
    namely number one people person place point question reason respective same say something somebody someone somewhere sort
    subject tell thing time want way whether wish wonder would""".split()  # noqa: SIM905  # a list of words, not of lines
)
"""Words that a restatement puts in the place of the answer, and those that lead into it."""
_TELLING = frozenset(
    {"no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "yes", "always", "all", "any", "both"}
)
"""Function words that may be an answer."""
_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile("['’]s$")
_ENDINGS = re.compile(r"(?:ing|ed|en|er|est|es|ly|e)$")
_SHORTEST = 3
_LONGEST = 500
"""Characters of the longest text that is looked at."""
_RESTATED = 0.6
"""The share of the question's content words from which a text restates it."""


def only_repeats(question: str, text: str, user_question: str = "") -> bool:
    """Return whether a text restates an open question and has no content word besides the question's.

    >>> only_repeats("When does the ferry leave Skarn?", "The ferry leaves Skarn at the time when the Skarn ferry is leaving.")
    True
    >>> only_repeats("When does the ferry leave Skarn?", "The ferry never leaves Skarn.")
    False
    """
    if len(text) > _LONGEST or not _OPEN.match(question) or _CHOICE.search(question):
        return False
    asked = _stems(question)
    if not asked or not _TELLING.isdisjoint(_WORD.findall(text.lower())):
        return False
    said = _stems(text)
    return len(asked & said) >= _RESTATED * len(asked) and said <= asked | _stems(user_question) | _empty_stems()


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word.of(text).lower()) for word in find_content_words(text))


@cache
def _empty_stems() -> frozenset[str]:
    return frozenset(map(_stem, _EMPTY))


def _stem(word: str) -> str:
    """Take off an ending of inflection, and what it doubles: "leaving", "leaves" and "leave" have one stem.

    >>> _stem("planned"), _stem("leaving"), _stem("leave")
    ('plan', 'leav', 'leav')
    """
    if word[:1].isdigit():
        return word
    word = _POSSESSIVE.sub("", word)
    word = word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") if not word.endswith("ss") else word
    stem = _ENDINGS.sub("", word)
    if len(stem) < _SHORTEST:
        return word
    return stem[:-1] if len(stem) > _SHORTEST and stem[-1] == stem[-2] and stem[-1] not in "ls" and stem != word else stem
