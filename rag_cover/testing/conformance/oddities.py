"""Texts as the world writes them: blank, odd, very long. Values that nobody meant."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["BLANK_TEXTS", "LONG", "ODD_TEXTS", "ODD_VALUES", "UNENCODABLE", "long_text"]

LONG = 20_000
"""Characters of a very long text: more than any encoder reads at once."""

_FILLER = "Bread is baked from flour, water and yeast, and it is best on the day on which it was made. "


def long_text(ending: str = "") -> str:
    """Return sentences about bread of `LONG` characters or a few more, and what it ends with."""
    return (_FILLER * (LONG // len(_FILLER) + 1) + ending).strip()


BLANK_TEXTS: Mapping[str, str] = {"an empty text": "", "white space": " \n\t\u00a0\u2003"}

UNENCODABLE: Mapping[str, str] = {"a lone surrogate": "half of \ud83d an emoji"}
"""What JSON may hold and UTF-8 may not; values that are checked when they are made refuse it."""

ODD_TEXTS: Mapping[str, str] = {
    **BLANK_TEXTS,
    "NUL and other control characters": "\x00\x07\x1b[31m\x7f\u0085\u2028\ufeff",
    "emoji": "\U0001f4a9\U0001f44d\U0001f3fe \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "right to left": "\u202e\u0645\u0631\u062d\u0628\u0627\u202c \u05e9\u05dc\u05d5\u05dd",
    "combining marks": "z" + "\u0301" * 200,
    "no spaces": "\u5b57" * 500,
    "templates and special tokens": "{question} {0} %s {{x}} [SEP] [MASK] </s> <|im_end|> \\",
    "one endless word": "x" * LONG,
    "20,000 characters": long_text(),
}
"""By what they are."""

ODD_VALUES: tuple[object, ...] = (
    *(None, "", "  ", {}, [], (), 0, 1.5, True, math.nan, b"bytes", object(), [None], ["a", 1], [[1], [2]], {1: {2: [3]}}),
    *({"input": ""}, {"question": None}, {"question": ""}, {"question": ["a", 1]}, {"question": {"text": 1}}),
    *({"answer": None}, {"answer": {"nested": [None]}}, {"answer": {"a": object()}}, {"unknown": object()}),
    *({"documents": [None, 1, {}]}, {"context": 7}, {"context": object()}),
    *({"messages": []}, {"messages": [{}]}, {"messages": [None, ("human", "Why?")]}),
)
"""What stands where a text, a mapping or messages are expected."""
