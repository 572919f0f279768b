"""Passages of a file, JSONL with one passage a line or one JSON array, or of Python values: the corpus that is searched."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rag_cover.errors import InputError, InvalidValueError, nearest
from rag_cover.questions import Passage
from rag_cover.stores.files import open_input, read_whole_file, require_file
from rag_cover.stores.jsonl import json_of, number_lines
from rag_cover.stores.validation import describe_value, passage_from

__all__ = ["convert_passages", "read_passages"]

_NAMES = {"_id": "id", "idx": "id", "doc_id": "id", "docid": "id", "contents": "text"}
"""Names that published corpora give to fields of a passage: BEIR, HippoRAG, Pyserini."""

_FIELDS = ("text", "title", "id", "score", "metadata")

_Placed = tuple[object, int | None, str]
"""JSON data, its line where the file has lines, its JSON path."""


def read_passages(path: Path | str, *, columns: Mapping[str, str] | None = None) -> Iterator[Passage]:
    """Read a corpus (``.gz`` too) passage by passage; what is wrong is an InputError with file, line and JSON path.

    A line is ``{"text": "…", "title": "…", "id": "…"}``, of which the text is enough, or a plain string. Fields may have the
    names of published corpora (``_id``, ``idx``, ``doc_id``, ``docid``, ``contents``), or those that ``columns`` gives by the
    passage's own, such as ``{"text": "body"}``. A text may be a list of sentences. A passage without an id that repeats an
    earlier one word for word is left out: it would be found twice.

    Raises:
        InputError: the file cannot be read, holds no passages or holds two with one id.
        InvalidValueError: ``columns`` names a field that passages do not have.
    """
    for name in columns or ():
        if name not in _FIELDS:
            message = f"a passage has no field {name!r}.{nearest(name, _FIELDS)} It has: {', '.join(_FIELDS)}."
            raise InvalidValueError(message)
    require_file(Path(path))
    return _distinct(Path(path), _NAMES | {column: name for name, column in (columns or {}).items()})


def convert_passages(given: Iterable[Passage | str | Mapping[str, object]]) -> Iterator[Passage]:
    """Take passages as Python code gives them: as they are, as texts, or as dicts with the fields of a line of a file.

    >>> [passage.id for passage in convert_passages([Passage("Salt.", id="a"), "Butter.", {"contents": "Water.", "_id": 3}])]
    ['a', None, '3']

    Raises:
        InvalidValueError: what is given is no list or other iterable of passages.
        InputError: something in it is no passage; the error says at which place.
    """
    if isinstance(given, str | bytes | Mapping | Passage) or not isinstance(given, Iterable) or hasattr(given, "columns"):
        message = (
            f"passages are given as a list, not as one {type(given).__name__!r}; its members are Passages, texts, or dicts "
            'such as {"text": "…", "title": "…", "id": "…"}'
        )
        raise InvalidValueError(message)
    return (each if isinstance(each, Passage) else _passage_at(place, each) for place, each in enumerate(given))


def _passage_at(place: int, given: object) -> Passage:
    try:
        return _passage(given, _NAMES)
    except InputError as bad:
        raise InputError(bad.problem, field=f"[{place}]{(bad.field or '').removeprefix('$')}") from bad


def _distinct(path: Path, names: Mapping[str, str]) -> Iterator[Passage]:
    places: dict[str, str] = {}
    for value, line, at in _values(path):
        place = f"line {line}" if line else at
        try:
            passage = _passage(value, names)
            _refuse_a_taken_id(passage, places)
        except InputError as bad:
            raise InputError(bad.problem, file=path, line=line, field=at + (bad.field or "").removeprefix("$")) from bad
        if places.setdefault(passage.key, place) == place:
            yield passage
    if not places:
        problem = 'the file holds no passages; a line such as {"text": "…", "title": "…"} is one'
        raise InputError(problem, file=path)


def _refuse_a_taken_id(passage: Passage, places: Mapping[str, str]) -> None:
    if passage.id is not None and passage.key in places:
        problem = f"passage id {passage.id!r} was given at {places[passage.key]} already; ids must be unique, or left out"
        raise InputError(problem, field="$.id")


def _values(path: Path) -> Iterator[_Placed]:
    """Read one value a line; a file whose first line opens a JSON array is that array."""
    first = next((line for _, line in number_lines(path)), b"")
    if first.lstrip().startswith(b"["):
        yield from _array(path)
        return
    for number, line in number_lines(path):
        yield json_of(line, file=path, number=number), number, "$"


def _array(path: Path) -> Iterator[_Placed]:
    with open_input(path) as file:
        content = read_whole_file(file, path).removeprefix(codecs.BOM_UTF8)
    values = json_of(content, file=path)
    if isinstance(values, list):
        yield from ((value, None, f"$[{index}]") for index, value in enumerate(values))


def _passage(value: object, names: Mapping[str, str]) -> Passage:
    match value:
        case str():
            return passage_from({"text": value})
        case Mapping():
            return passage_from(_name(value, names))
        case _:
            problem = f"expected a passage, which is an object with a text, got {describe_value(value)}"
            raise InputError(problem, field="$")


def _name(row: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Give fields the names and forms of a passage's own; those that nobody knows stay, to be refused by name."""
    fields: dict[str, object] = {}
    for column, value in row.items():
        name = names.get(column, column)
        if name in fields:
            problem = f"two fields hold the {name} of this passage; leave one of them out"
            raise InputError(problem, field=f"$.{column}")
        fields |= _form(name, value)
    return fields


def _form(name: str, value: object) -> dict[str, object]:
    match name, value:
        case ("id", int()) if not isinstance(value, bool):
            return {name: str(value)}
        case ("text", list()) if all(isinstance(part, str) for part in value):
            return {name: "".join(value)}
        case ("title", "") | ("id" | "title" | "score" | "metadata", None):
            return {}
    return {name: value}
