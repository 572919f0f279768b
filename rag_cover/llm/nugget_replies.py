"""What a language model wrote when it was asked for nuggets, for their importance, or for their assignments, read strictly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from rag_cover.errors import MalformedReplyError
from rag_cover.llm.json_replies import parse_reply
from rag_cover.nuggets import Assignment, Importance

__all__ = [
    "AssignmentsReply",
    "ImportanceReply",
    "NuggetsReply",
    "WrittenAssignment",
    "WrittenNugget",
    "assignments_in",
    "importance_in",
    "nuggets_in",
]

L = TypeVar("L")

_LONGEST = 500  # characters of what still passes for one nugget
_IMPORTANCE = {"vital": Importance.VITAL, "okay": Importance.OKAY, "ok": Importance.OKAY}
_ASSIGNMENTS = {
    **dict.fromkeys(("support", "supported", "fullsupport", "fullysupported"), Assignment.SUPPORT),
    **dict.fromkeys(("partialsupport", "partial", "partially", "partiallysupported"), Assignment.PARTIAL_SUPPORT),
    **dict.fromkeys(("notsupport", "notsupported", "nosupport", "none", "unsupported"), Assignment.NOT_SUPPORT),
}


class _Reply(BaseModel):
    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time


class WrittenNugget(_Reply):
    """A nugget, and the numbers of the passages that state it."""

    text: str
    passages: list[int] = []  # pydantic copies it

    @model_validator(mode="before")
    @classmethod
    def _from_plain_string(cls, data: object) -> object:
        return {"text": data} if isinstance(data, str) else data


class NuggetsReply(_Reply):
    """The reply asked for when nuggets are made."""

    nuggets: list[WrittenNugget]


class _WrittenImportance(_Reply):
    number: int
    importance: str


class ImportanceReply(_Reply):
    """The reply asked for when nuggets are weighed; numbers tell whose label it is, so that a missing one moves no other."""

    importance: list[_WrittenImportance]


class WrittenAssignment(_Reply):
    """The label of one nugget, and the words of the text that state it."""

    number: int
    assignment: str
    fragment: str | None = None

    @property
    def label(self) -> Assignment | None:
        """Return the label, None where it is none of the three."""
        return _ASSIGNMENTS.get(_letters(self.assignment))


class AssignmentsReply(_Reply):
    """The reply asked for when nuggets are assigned."""

    assignments: list[WrittenAssignment]


def nuggets_in(reply: str, *, most: int, before: Sequence[str] = ()) -> tuple[WrittenNugget, ...]:
    """Read a list of nuggets: at most ``most`` different ones, blank and overlong ones left out.

    >>> [each.text for each in nuggets_in('{"nuggets": [{"text": "It is blue."}, {"text": "it is blue"}]}', most=5)]
    ['It is blue.']

    Raises:
        MalformedReplyError: the reply is no list, or empties the list that was there ``before``.
    """
    found: dict[str, WrittenNugget] = {}
    for each in parse_reply(reply, NuggetsReply).nuggets:
        text = " ".join(each.text.split())
        if text and len(text) <= _LONGEST:
            found.setdefault(text.casefold().rstrip(" ."), WrittenNugget(text=text, passages=each.passages))
    if before and not found:
        message = f"it drops all of the {len(before)} nuggets on the list"
        raise MalformedReplyError(message, raw=reply)
    return tuple(found.values())[:most]


def importance_in(reply: str, count: int) -> tuple[Importance | None, ...]:
    """Read the importance of ``count`` nuggets; None for one whose label is missing, none, or given in two ways.

    Raises:
        MalformedReplyError: the reply labels none of them.
    """
    labels = parse_reply(reply, ImportanceReply).importance
    return _by_number(((each.number, _IMPORTANCE.get(_letters(each.importance))) for each in labels), count, reply)


def assignments_in(reply: str, count: int) -> tuple[WrittenAssignment | None, ...]:
    """Read the assignments of ``count`` nuggets; None for one whose label is missing, none, or given in two ways.

    Raises:
        MalformedReplyError: the reply labels none of them.
    """
    labels = parse_reply(reply, AssignmentsReply).assignments
    usable = ((each.number, each if each.label else None) for each in labels)
    return _by_number(usable, count, reply, alike=lambda each: each.label)


def _by_number(
    labelled: Iterable[tuple[int, L | None]], count: int, reply: str, *, alike: Callable[[L], object] = lambda label: label
) -> tuple[L | None, ...]:
    given: dict[int, list[L]] = {}
    for number, label in labelled:
        given.setdefault(number, []).extend([] if label is None else [label])
    found = tuple(_only(given, number, alike) for number in range(1, count + 1))
    if count and not any(found):
        message = "the reply gives no nugget a label of its own"
        raise MalformedReplyError(message, raw=reply)
    return found


def _only(given: Mapping[int, Sequence[L]], number: int, alike: Callable[[L], object]) -> L | None:
    labels = given.get(number, [])
    return labels[0] if len({alike(label) for label in labels}) == 1 else None


def _letters(word: str) -> str:
    return "".join(filter(str.isalpha, word.casefold()))
