"""Retrieved text made safe to look at: what would move a cursor, hide or reorder text is shown as a symbol instead.

Escaping for HTML or for terminals is the renderer's matter; this is about characters that survive any escaping.
"""

from __future__ import annotations

import re

__all__ = ["clip", "one_line", "visible"]

_NAMES = {
    "\u061c": "ALM", "\u200b": "ZWSP", "\u200e": "LRM", "\u200f": "RLM",
    "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
    "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
}  # fmt: skip
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(text: str) -> str:
    r"""Replace control, reordering and undecodable characters by symbols; tabs and line ends stay.

    >>> visible("safe\x1b[31m\u202egnp.exe")
    'safe␛[31m⟦RLO⟧gnp.exe'
    """
    return _UNSEEN.sub(_symbol, text.replace("\r\n", "\n"))


def one_line(text: str, *, limit: int = 300) -> str:
    r"""Join the lines of a text and clip it, for headings and cells.

    >>> one_line("two\nlines ")
    'two lines'
    """
    return clip(" ".join(visible(text[: 4 * limit]).split()), limit, total=len(text))


def clip(text: str, limit: int, *, total: int | None = None) -> str:
    """Cut a text to a number of characters, and say that it was.

    >>> clip("abcdef", 3)
    'abc… (6 characters)'
    """
    whole = max(len(text), total or 0)
    return text if len(text) <= limit else f"{text[:limit]}… ({whole:,} characters)"


def _symbol(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if code < 0x20:  # noqa: PLR2004 - C0 controls have their pictures at U+2400
        return chr(0x2400 + code)
    if code == 0x7F:  # noqa: PLR2004 - DEL
        return "␡"
    return f"⟦{_NAMES.get(character) or f'U+{code:04X}'}⟧"
