r"""Set queries as text and as JSON data.

The text: atoms in double or single quotes, where ``\n``, ``\u00e9`` and the like mean what they mean in JSON, or bare where
they hold no sign; brackets; and signs:

- ``-`` binds closest, as in Python; it stands between spaces, since words have hyphens;
- ``&`` or ``∩``, and ``\`` or ``∖``, bind alike, from the left: ``A ∩ B \ C`` is ``(A ∩ B) \ C``, as QUEST writes it;
- ``|`` or ``∪`` binds least.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, Literal, Protocol, TypeVar, get_args

from rag_cover.errors import InvalidValueError

__all__ = [
    "DEEPEST",
    "LONGEST",
    "MOST_PARTS",
    "ExpressionTree",
    "Operator",
    "letter_at",
    "read",
    "read_data",
    "template_of",
    "text_of",
]

DEEPEST = 50
"""How deep operators may stand within operators."""

LONGEST = 1_000_000
"""Characters of the longest text that is read as a set query."""

MOST_PARTS = 20_000
"""Words, quoted atoms, signs and brackets of a text, and atoms of JSON data, that are read as one set query."""

Operator = Literal["union", "intersection", "difference"]
T = TypeVar("T")
Join = Callable[[Operator, Sequence[T]], T]
"""Makes a query of an operator and its parts."""

_SIGNS: Mapping[str, str] = {"union": " ∪ ", "intersection": " ∩ ", "difference": " \\ "}


def _token_where(quoted: str) -> re.Pattern[str]:
    return re.compile(
        rf"""(?P<quoted>{quoted})
           | (?P<open>\() | (?P<close>\))
           | (?P<union>[|∪]) | (?P<intersection>[&∩]) | (?P<without>[\\∖])
           | (?P<minus>(?:(?<=[\s()|&∪∩\\∖"'])|^)[-−](?=[\s("']|$))
           | (?P<bare>[^\s()|&∪∩\\∖"]+)""",
        re.VERBOSE | re.DOTALL,
    )


_DOUBLE_QUOTED, _SINGLE_QUOTED = r'"(?:[^"\\]|\\.)*"', r"'(?:[^'\\]|\\.)*'"
_ENDED = r"""(?=[\s()|&∪∩\\∖]|[-−][\s("']|$)"""
_TOKEN = _token_where(f"{_DOUBLE_QUOTED}|{_SINGLE_QUOTED}{_ENDED}")
_TOKEN_AMID_APOSTROPHES = _token_where(_DOUBLE_QUOTED)
_APOSTROPHE = re.compile(_SINGLE_QUOTED.removesuffix("'"), re.DOTALL)
_SPACES = re.compile(r"\s*")
_BINDING = {"open": 0, "union": 1, "intersection": 2, "without": 2, "minus": 3}
_OPERATORS: Mapping[str, Operator] = {
    "union": "union",
    "intersection": "intersection",
    "without": "difference",
    "minus": "difference",
}
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\(.)", re.DOTALL)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


class ExpressionTree(Protocol):
    """What is written: an atom's text, or an operator and its parts."""

    @property
    def operator(self) -> str:
        """Return the operator's name, or ``"atom"``."""

    @property
    def text(self) -> str | None:
        """Return an atom's text."""

    @property
    def parts(self) -> Sequence[ExpressionTree]:
        """Return what the operator joins."""


def text_of(query: ExpressionTree) -> str:
    """Write a query as `read` reads it: atoms in double quotes, operators within operators in brackets."""
    if query.text is not None:
        return json.dumps(query.text, ensure_ascii=False)
    return _SIGNS[query.operator].join(f"({text_of(part)})" if part.parts else text_of(part) for part in query.parts)


def template_of(query: ExpressionTree, atoms: Sequence[str]) -> str:
    """Write a query with letters for its atoms, by their order, and no more brackets than QUEST does."""
    if query.text is not None:
        return letter_at(atoms.index(query.text))
    plain = query.operator == "difference" and query.parts[0].operator == "intersection"  # QUEST writes A ∩ B \ C
    written = [template_of(part, atoms) for part in query.parts]
    bare = [not part.parts or (plain and not place) for place, part in enumerate(query.parts)]
    return _SIGNS[query.operator].join(each if free else f"({each})" for each, free in zip(written, bare, strict=True))


def letter_at(place: int) -> str:
    """Return the letter that stands for the atom at a place, as QUEST writes templates.

    >>> letter_at(1), letter_at(30)
    ('B', 'A30')
    """
    return chr(ord("A") + place) if place < 26 else f"A{place}"  # noqa: PLR2004  # letters


def read(text: str, atom: Callable[[str], T], join: Join[T]) -> T:
    """Read the text of a set query, and make each atom and each operator with its parts, the inner ones first.

    Raises:
        InvalidValueError: the text is none; says at which character, and what was expected.
    """
    if not isinstance(text, str):
        message = f"a set query is read from a text such as 'birds of Chile | birds of Peru', not from {type(text).__name__}"
        raise InvalidValueError(message)
    if len(text) > LONGEST:
        message = f"a set query has at most {LONGEST:,} characters; this text has {len(text):,}"
        raise InvalidValueError(message)
    reader = _Reader(atom, join)
    for number, token in enumerate(_tokens(text), start=1):
        if number > MOST_PARTS:
            message = f"a set query has at most {MOST_PARTS:,} words, signs and brackets; this text has more"
            raise InvalidValueError(message)
        reader.take(token)
    return reader.whole(_Token("end", "", len(text)))


def read_data(data: object, atom: Callable[[str], T], join: Join[T]) -> T:
    """Read the JSON data of a set query, a string, or one operator's name with its parts, and make it as `read` does.

    Raises:
        InvalidValueError: it is something else.
    """
    return _from_data(data, 0, _counting(atom), join)


def _counting(atom: Callable[[str], T]) -> Callable[[str], T]:
    """Make atoms until there are too many."""
    numbers = count(1)

    def make(text: str) -> T:
        if next(numbers) > MOST_PARTS:
            message = f"a set query has at most {MOST_PARTS:,} atoms; this data has more"
            raise InvalidValueError(message)
        return atom(text)

    return make


def _from_data(data: object, depth: int, atom: Callable[[str], T], join: Join[T]) -> T:
    if depth > 2 * DEEPEST:  # a difference and the intersection that it is taken from are one of the levels of a query
        message = f"a set query nests at most {DEEPEST} operators"
        raise InvalidValueError(message)
    match data:
        case str():
            return atom(data)
        case {"atom": str(text), **others} if not others:
            return atom(text)
        case Mapping() if len(data) == 1 and next(iter(data)) in get_args(Operator):
            ((operator, parts),) = data.items()
            if isinstance(parts, list | tuple) and parts:
                return join(operator, [_from_data(part, depth + 1, atom, join) for part in parts])
    message = f"{_abbreviate(data)} is no set query: write a text, "
    message += '{"atom": "…"}, or {"union": […]}, {"intersection": […]} or {"difference": […]}'
    raise InvalidValueError(message)


def _abbreviate(data: object) -> str:
    try:
        return reprlib.repr(data)[:80]
    except ValueError:  # a number of more digits than Python writes
        return type(data).__name__


class _Reader(Generic[T]):
    """Holds operands, and the signs and brackets that wait for what follows; so no depth of brackets is too deep to read."""

    def __init__(self, atom: Callable[[str], T], join: Join[T]) -> None:
        self._atom, self._join = atom, join
        self._operands: list[T] = []
        self._waiting: list[_Token] = []
        self._words: list[str] = []
        self._operand_is_next = True

    def take(self, token: _Token) -> None:
        """Take the next token."""
        if token.kind == "bare" and (self._words or self._operand_is_next):
            self._words.append(token.text)
            self._operand_is_next = False
            return
        self._close_words()
        if self._operand_is_next:
            self._begin(token)
        else:
            self._go_on(token)

    def whole(self, end: _Token) -> T:
        """Return the query, all of whose tokens were taken."""
        self._close_words()
        if self._operand_is_next:
            raise _syntax_error(end, "an atom")
        self._join_above(0)
        if self._waiting:
            raise self._error_after_operand(end)
        return self._operands[0]

    def _close_words(self) -> None:
        if self._words:
            self._operands.append(self._atom(" ".join(self._words)))
            self._words = []

    def _begin(self, token: _Token) -> None:
        match token.kind:
            case "open":
                self._waiting.append(token)
            case "quoted":
                self._operands.append(self._atom(_unquote(token.text)))
                self._operand_is_next = False
            case _:
                raise _syntax_error(token, "an atom")

    def _go_on(self, token: _Token) -> None:
        if token.kind in _OPERATORS:
            self._join_above(_BINDING[token.kind], but=token.kind)
            self._waiting.append(token)
            self._operand_is_next = True
            return
        self._join_above(0)
        if token.kind != "close" or not self._waiting:
            raise self._error_after_operand(token)
        self._waiting.pop()

    def _join_above(self, binding: int, *, but: str = "open") -> None:
        """Join what waiting signs bind that bind closer than what follows, or as close and are others."""
        while self._waiting and self._waiting[-1].kind != but and _BINDING[self._waiting[-1].kind] >= binding:
            kind, joined = self._waiting[-1].kind, 1
            while self._waiting and self._waiting[-1].kind == kind:
                self._waiting.pop()
                joined += 1
            self._operands[-joined:] = [self._join(_OPERATORS[kind], self._operands[-joined:])]

    def _error_after_operand(self, token: _Token) -> InvalidValueError:
        if not self._waiting:
            return _syntax_error(token, "an operator, or the end")
        return _syntax_error(token, f"the ')' of the bracket at character {self._waiting[-1].place + 1}")


def _tokens(text: str) -> Iterator[_Token]:
    unquoted = 0  # up to where no single quote opens, since the one that did so first is an apostrophe
    place = _after_spaces(text, 0)
    while place < len(text):
        found = (_TOKEN if place >= unquoted else _TOKEN_AMID_APOSTROPHES).match(text, place)
        if found is None:
            message = f'the quote at character {place + 1} of the set query is not closed; close it, or write \\" '
            raise InvalidValueError(message + "within an atom")
        kind = str(found.lastgroup)
        yield _Token(kind, found[kind], place)
        if kind == "bare" and place >= unquoted and (apostrophe := _APOSTROPHE.match(text, place)):
            unquoted = apostrophe.end()
        place = _after_spaces(text, found.end())


def _after_spaces(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return found.end() if found else place


def _unquote(text: str) -> str:
    return _ESCAPED.sub(_character, text[1:-1])


def _character(escaped: re.Match[str]) -> str:
    if escaped[1] is None:  # together, since characters beyond U+FFFF are written as two
        return str(json.loads(f'"{escaped[0]}"'))
    return _CONTROLS.get(escaped[1], escaped[1])


def _syntax_error(token: _Token, wanted: str) -> InvalidValueError:
    found = "it ends" if token.kind == "end" else f"there is {token.text[:40]!r}"
    return InvalidValueError(f"at character {token.place + 1} of the set query {found}; expected was {wanted}")
