"""Sub-questions that build on each other: ``#1`` stands for the answer to the first.

The notation of MuSiQue (Trivedi et al., TACL 2022) and of BREAK's question meanings (Wolfson et al., TACL 2020). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

__all__ = ["fill_slots", "slots_in", "without_slots"]

_SLOT = re.compile(r"(?<![\w#])#(\d{1,3})\b")
_POSSESSED = re.compile(rf"{_SLOT.pattern}(?:\s*['’]s\b)?")
_DANGLING = re.compile(r"\s+(?=[?.,;:!](?:\s|$))")


def slots_in(text: str, *, position: int) -> tuple[int, ...]:
    """Name the earlier sub-questions whose answers a text needs, from 1, where it is the ``position``-th itself.

    What points at no earlier one is no slot.

    >>> slots_in("Where was #1 born?", position=2), slots_in("What was the #1 song of 1999?", position=1)
    ((1,), ())
    """
    found = dict.fromkeys(int(match[1]) for match in _SLOT.finditer(text))
    return tuple(number for number in found if 0 < number < position)


def fill_slots(text: str, answers: Mapping[int, str]) -> str:
    """Put answers in the place of their slots; a slot without one stays.

    >>> fill_slots("Where was #1 born, and #2?", {1: "Jane Austen"})
    'Where was Jane Austen born, and #2?'
    """
    return _SLOT.sub(lambda match: answers.get(int(match[1]), match[0]), text)


def without_slots(text: str, *, position: int, keep: Collection[int] = ()) -> str:
    """Delete the slots of a text but some, and the white space that they leave behind.

    >>> without_slots("When did #1 's mayor leave #2?", position=3)
    'When did mayor leave?'
    """
    slots = set(slots_in(text, position=position)).difference(keep)
    if not slots:
        return text
    bare = _POSSESSED.sub(lambda match: "" if int(match[1]) in slots else match[0], text)
    return " ".join(_DANGLING.sub("", bare).split())
