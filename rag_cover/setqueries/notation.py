r"""Set queries as text and as JSON data.

The text: atoms in double or single quotes, or bare where they hold no sign; ``∪`` or ``|``, ``∩`` or ``&``, ``\`` or ``-``
(between spaces), brackets. ``-`` binds closest, then ``&``, then ``|``, as in Python; equal ones from the left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rag_cover.errors import InvalidValueError

__all__ = ["DEEPEST", "Operator", "Written", "quoted", "read", "read_data"]

DEEPEST = 50
"""How deep operators may stand within operators."""

Operator = Literal["union", "intersection", "difference"]
Written = str | tuple[Operator, tuple["Written", ...]]
"""An atom's text, or an operator with its parts, as they are written."""

_TOKEN = re.compile(
    r"""\s*(?: (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'(?=[\s()|&∪∩]|$))
             | (?P<open>\() | (?P<close>\))
             | (?P<union>[|∪]) | (?P<intersection>[&∩])
             | (?P<difference>(?:(?<=[\s()|&∪∩"'])|^)[-−\\∖](?=[\s("']|$))
             | (?P<bare>[^\s()|&∪∩"]+) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_OPERATORS: tuple[Operator, ...] = ("union", "intersection", "difference")  # the last binds closest


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def quoted(atom: str) -> str:
    """Write an atom's text in double quotes, so that `read` finds it again."""
    return json.dumps(atom, ensure_ascii=False)


def read(text: str) -> Written:
    """Read the text of a set query.

    Raises:
        InvalidValueError: the text is none; says at which character, and what was expected.
    """
    tokens = [*_tokens(text), _Token("end", "", len(text))]
    query, rest = _joined(tokens, 0, 0, 0)
    if tokens[rest].kind != "end":
        raise _unexpected(tokens[rest], "an operator, or the end")
    return query


def read_data(data: object) -> Written:
    """Read the JSON data of a set query: a string, or one operator's name with its parts.

    Raises:
        InvalidValueError: it is something else.
    """
    return _from_data(data, 0)


def _from_data(data: object, depth: int) -> Written:
    if isinstance(data, str):
        return data
    if depth > DEEPEST:
        message = f"a set query nests at most {DEEPEST} operators"
        raise InvalidValueError(message)
    match data:
        case {"atom": str(text), **others} if not others:
            return text
        case Mapping() if len(data) == 1 and next(iter(data)) in _OPERATORS:
            ((operator, parts),) = data.items()
            if isinstance(parts, list | tuple) and parts:
                return operator, tuple(_from_data(part, depth + 1) for part in parts)
    message = f"{json.dumps(data, default=repr)[:80]} is no set query: write a text, "
    message += '{"atom": "…"}, or {"union": […]}, {"intersection": […]} or {"difference": […]}'
    raise InvalidValueError(message)


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            message = f'the quote at character {_next(text, place) + 1} of the set query is not closed; close it, or write \\" '
            raise InvalidValueError(message + "within an atom")
        kind = str(found.lastgroup)
        yield _Token(kind, found[kind], found.start(kind))
        place = found.end()


def _next(text: str, place: int) -> int:
    return place + len(text[place:]) - len(text[place:].lstrip())


def _joined(tokens: list[_Token], place: int, level: int, depth: int) -> tuple[Written, int]:
    """Read parts joined by one level's operator; deeper levels bind closer."""
    if level == len(_OPERATORS):
        return _operand(tokens, place, depth)
    part, place = _joined(tokens, place, level + 1, depth)
    parts = [part]
    while tokens[place].kind == _OPERATORS[level]:
        part, place = _joined(tokens, place + 1, level + 1, depth)
        parts.append(part)
    return (part if len(parts) == 1 else (_OPERATORS[level], tuple(parts))), place


def _operand(tokens: list[_Token], place: int, depth: int) -> tuple[Written, int]:
    token = tokens[place]
    if token.kind == "open":
        if depth >= DEEPEST:
            message = f"a set query nests at most {DEEPEST} brackets; there are more at character {token.place + 1}"
            raise InvalidValueError(message)
        query, place = _joined(tokens, place + 1, 0, depth + 1)
        if tokens[place].kind != "close":
            raise _unexpected(tokens[place], f"the ')' of the bracket at character {token.place + 1}")
        return query, place + 1
    if token.kind == "quoted":
        return _unquoted(token.text), place + 1
    words = list[str]()
    while tokens[place].kind == "bare":
        words.append(tokens[place].text)
        place += 1
    if not words:
        raise _unexpected(token, "an atom")
    return " ".join(words), place


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:  # written by hand, with line breaks or other escapes
            pass
    return _ESCAPED.sub(lambda found: found[1], text[1:-1])


def _unexpected(token: _Token, wanted: str) -> InvalidValueError:
    found = "it ends" if token.kind == "end" else f"there is {token.text[:40]!r}"
    return InvalidValueError(f"at character {token.place + 1} of the set query {found}; expected was {wanted}")
