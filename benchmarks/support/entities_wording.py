"""The words of the built corpus: kinds of things, their attributes, and how texts and questions say them.

They stand in ``entities_validation.toml`` and ``entities_test.toml``, which share no kind, no value and no wording.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

WorldName = Literal["validation", "test"]

_FOLDER = Path(__file__).parents[1] / "set_queries"


@dataclass(frozen=True, slots=True)
class Value:
    """What an attribute can be: its name, another form of it ('' for none), and cues that say it without its name."""

    name: str
    adjective: str
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """What can be said of one kind of thing, how texts say it, and how questions ask for it.

    Attributes:
        number: its place among the kind's attributes; words for a lower one stand nearer to the noun.
        values: what it can be.
        elsewhere: what it can be of entities that no question asks for.
        most: how many values an entity may have.
        asked: the values that questions ask for.
        opens: whether the sentence that says it is the text's first.
        says, hints, denies: sentences that name a value, give a cue of it, or mention one that the entity does not have.
        forms: how questions ask for it (`entities_phrases`).
    """

    name: str
    number: int
    values: tuple[Value, ...]
    elsewhere: tuple[Value, ...]
    most: int
    asked: frozenset[str]
    opens: bool
    says: tuple[str, ...]
    hints: tuple[str, ...]
    denies: tuple[str, ...]
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind of thing: what it is called, how its names are made, and what is said of any of its entities."""

    plural: str
    person: bool
    called: tuple[str, ...]
    names: tuple[str, ...]
    parts: Mapping[str, Sequence[str]]
    opens: tuple[str, ...]
    fillers: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """All words of one world."""

    kinds: tuple[Kind, ...]
    questions: Mapping[str, Sequence[str]]


def wording(name: WorldName) -> Wording:
    """Read the words of a world."""
    rows = tomllib.loads((_FOLDER / f"entities_{name}.toml").read_text(encoding="utf-8"))
    questions, lists = rows.pop("questions"), rows.pop("lists")
    return Wording(tuple(_kind(plural, row, lists) for plural, row in rows.items()), questions)


def _kind(plural: str, row: Mapping[str, Any], lists: Mapping[str, list[str]]) -> Kind:
    attributes = [_attribute(name, number, each, lists) for number, (name, each) in enumerate(row["attributes"].items())]
    return Kind(
        plural=row.get("plural", plural),
        person=row.get("person", False),
        called=tuple(row["kinds"]),
        names=tuple(row["names"]),
        parts={letter: row[letter] for letter in "wxyz"},
        opens=tuple(row.get("opens", ())),
        fillers=tuple(row["fillers"]),
        attributes=tuple(attributes),
    )


def _attribute(name: str, number: int, row: Mapping[str, Any], lists: Mapping[str, list[str]]) -> Attribute:
    values = _values(row["values"], lists)
    return Attribute(
        name=name,
        number=number,
        values=values,
        elsewhere=_values(row.get("elsewhere", []), lists),
        most=row.get("most", 1),
        asked=frozenset(row.get("asked", (value.name for value in values))),
        opens=row.get("opens", False),
        says=tuple(row["says"]),
        hints=tuple(row["hints"]),
        denies=tuple(row["denies"]),
        forms={form: row[form] for form in ("pre", "head", "post", "unpost", "rel", "unrel") if form in row},
    )


def _values(written: list[str] | str, lists: Mapping[str, list[str]]) -> tuple[Value, ...]:
    return tuple(_value(each) for each in (lists[written] if isinstance(written, str) else written))


def _value(written: str) -> Value:
    name, adjective, cues, *_ = (*(part.strip() for part in written.split("|")), "", "")
    return Value(name, adjective, tuple(cue.strip() for cue in cues.split(";") if cue.strip()))
