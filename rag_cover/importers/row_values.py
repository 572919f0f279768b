"""Values of a row read as what a trace needs: text, lists of texts, passages, JSON; errors name the column."""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.records import Row
from rag_cover.questions import json_value
from rag_cover.stores.validation import describe_value, json_path

__all__ = [
    "identifier_in",
    "items_in",
    "list_of_cell",
    "metadata_of",
    "present",
    "row_question",
    "row_texts",
    "tags_in",
    "text_in",
]


def present(row: Row, names: Iterable[str]) -> str | None:
    """Name the first of the columns that has a value; null and NaN are none."""
    return next((name for name in names if not _is_missing(row.get(name))), None)


def row_question(row: Row, names: Sequence[str]) -> str:
    """Return the row's question.

    Raises:
        InputError: it has none, or a blank one.
    """
    name = present(row, names)
    if name is None:
        asked = " or ".join(repr(name) for name in names[:3])
        has = ", ".join(repr(str(name)) for name in list(row)[:12]) or "nothing"
        problem = f"there is no question here: {asked} is missing or empty; it has {has}"
        raise InputError(problem, field="$" + json_path([names[0]]))
    text = _text(row[name], name)
    if not text.strip():
        problem = "the question is blank"
        raise InputError(problem, field="$" + json_path([name]))
    return text


def text_in(row: Row, names: Iterable[str]) -> str | None:
    """Return the text of the first column that has one; numbers are written out."""
    name = present(row, names)
    return None if name is None else _text(row[name], name)


identifier_in = text_in


def row_texts(row: Row, names: Iterable[str]) -> tuple[str, ...] | None:
    """Return the texts of the first column that has any: a list, or one text."""
    name = present(row, names)
    if name is None:
        return None
    return tuple(_text(item, name, index) for index, item in enumerate(list_of_cell(row[name], name)) if not _is_missing(item))


def tags_in(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    """Return the words of the first column that has any, without blank ones."""
    return tuple(text for text in row_texts(row, names) or () if text.strip())


def items_in(row: Row, names: Iterable[str]) -> list[Any] | None:
    """Return the items of the first column that has any, as they are."""
    name = present(row, names)
    return None if name is None else list_of_cell(row[name], name)


def metadata_of(row: Row, used: Iterable[str]) -> dict[str, Any]:
    """Return what is left of a row as JSON data; missing values are left out."""
    known = set(used)
    return {str(name): json_value(value) for name, value in row.items() if name not in known and not _is_missing(value)}


def list_of_cell(value: Any, name: str) -> list[Any]:
    """Read a cell as a list: one already, one written as JSON or as a Python literal, or a single item.

    >>> list_of_cell('["a", "b"]', "contexts"), list_of_cell("['a', 'b']", "contexts")
    (['a', 'b'], ['a', 'b'])
    >>> list_of_cell("[1] is a footnote", "contexts")
    ['[1] is a footnote']
    """
    match value:
        case str() if value.lstrip().startswith("[") and value.rstrip().endswith("]"):
            return _parse_list(value.strip(), name)
        case list() | tuple():
            return list(value)
        case _:
            return [value]


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: object, name: str, *index: int) -> str:
    match value:
        case str():
            return value
        case bool() | int() | float() | Decimal() | date():
            return str(value)
        case _:
            problem = f"expected text, got {describe_value(value)}"
            raise InputError(problem, field="$" + json_path([name, *index]))


def _parse_list(text: str, name: str) -> list[Any]:
    for read in (json.loads, _literal):
        try:
            found = read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError):
            continue
        if isinstance(found, list):
            return found
    if text[1:].lstrip().startswith(("'", '"')):
        problem = (
            "this looks like a list and is neither JSON nor a Python literal; write lists as JSON (from pandas: json.dumps)"
        )
        raise InputError(problem, field="$" + json_path([name]))
    return [text]


def _literal(text: str) -> Any:
    """Read a Python literal, but not a printed numpy array: its items have no commas and would silently become one."""
    tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.NL]
    if any(pair == (tokenize.STRING, tokenize.STRING) for pair in pairwise(tokens)):
        message = "strings without a comma between them"
        raise ValueError(message)
    return ast.literal_eval(text)
