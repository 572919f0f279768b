"""A passage as a model reads it: its title first, unless the text begins with it."""

from __future__ import annotations

__all__ = ["prepend_title"]


def prepend_title(title: str | None, text: str) -> str:
    r"""Put a title on a line before its text; a blank title, and one that the text begins with, is left out.

    The text stands at the end unchanged, after ``len(prepend_title(title, text)) - len(text)`` characters.

    >>> prepend_title("Rayleigh scattering", "It makes the sky blue.")
    'Rayleigh scattering\nIt makes the sky blue.'
    >>> prepend_title("Sky", "Sky: the space above the earth.")
    'Sky: the space above the earth.'
    """
    name = (title or "").strip()
    return f"{name}\n{text}" if name and not _begins_with(text, name) else text


def _begins_with(text: str, name: str) -> bool:
    start = text.lstrip()[: len(name) + 1]
    return start[: len(name)].casefold() == name.casefold() and not start[len(name) :].isalnum()
