"""A language model's reply to a request to parse a question as set algebra, parsed strictly.

It lists the sets by letters, then combines the letters: flat data that any server's schema can hold it to, and whose last field
is missing where a reply breaks off, so that no half of a query passes for the whole. An expression that holds the descriptions
themselves, as `SetQuery.from_text` reads them, is as good. Whatever is left to guess is a `MalformedReplyError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from pydantic import BaseModel, ConfigDict, field_validator

from rag_cover.english.words import content_words, words_of
from rag_cover.errors import InvalidValueError, MalformedReplyError
from rag_cover.llm.json_replies import parse_reply
from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery
from rag_cover.setqueries.notation import letter_at

__all__ = ["SetQueryReply", "forms_in", "query_in", "rename_atoms"]

_LONGEST = 300  # characters of what still passes for one set's description
_LONGEST_EXPRESSION = 10_000
_DEEPEST = 6  # operators within operators: nobody asks so in words
_STEM = 4  # letters that words have in common which are forms of one, such as Peru and Peruvian
_SIGNS = {
    "-": r"\b(?:but |and )?(?:not|without|except)\b|\bminus\b|[-−\\∖¬!~]",
    "&": r"\band\b|\bintersection\b|∩",
    "|": r"\bor\b|\bunion\b|∪",
}
_READ = tuple((re.compile(pattern, re.IGNORECASE), f" {sign} ") for sign, pattern in _SIGNS.items())
_AND_NOT = re.compile(r"&\s+-")
_QUOTED = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'""")
_BRACKET = re.compile(r"\(([^()]*)\)")


class _Reply(BaseModel):
    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time


class _Set(_Reply):
    letter: str
    description: str


class SetQueryReply(_Reply):
    """The reply asked for: sets by letters, and how they are combined."""

    sets: list[_Set]
    expression: str

    @field_validator("sets", mode="before")
    @classmethod
    def _letter_descriptions(cls, sets: object) -> object:
        """Take descriptions in a list for those of A, B, …, and a map of letters for a list."""
        if isinstance(sets, Mapping):
            return [{"letter": letter, "description": text} for letter, text in sets.items()]
        if isinstance(sets, list):
            return [
                _Set(letter=letter_at(at), description=each) if isinstance(each, str) else each for at, each in enumerate(sets)
            ]
        return sets


def query_in(reply: str, question: str) -> SetQuery:
    r"""Read the set query of a reply to a question; one set alone is the question, as it was asked.

    >>> said = '{"sets": ["birds of Chile", "birds of Peru"], "expression": "A but not B"}'
    >>> print(query_in(said, "Which birds of Chile do not live in Peru?"))
    "birds of Chile" \ "birds of Peru"

    Raises:
        MalformedReplyError: the reply holds no set query, or one that the question does not speak of.
    """
    try:
        query = _as_asked(_query_of(parse_reply(reply, SetQueryReply)))
        _refuse_unusable(query)
    except InvalidValueError as unreadable:
        raise MalformedReplyError(str(unreadable), raw=reply) from unreadable
    if query.operator == "atom":
        return SetQuery.atom(question)
    if strange := [atom for atom in query.atoms if not _is_spoken_of(atom, question)]:
        message = f"the question does not speak of {' or '.join(map(repr, strange))}"
        raise MalformedReplyError(message, raw=reply)
    return query


def _query_of(reply: SetQueryReply) -> SetQuery:
    if len(reply.expression) > _LONGEST_EXPRESSION:
        message = f"the expression has {len(reply.expression):,} characters"
        raise InvalidValueError(message)
    _refuse_ambiguous(reply.expression)
    if not reply.sets:
        return rename_atoms(SetQuery.from_text(reply.expression), _description)
    sets = {_plain_letter(each.letter): _description(each.description) for each in reply.sets}
    if len(sets) < len(reply.sets):
        message = "two sets have one letter"
        raise InvalidValueError(message)
    query = rename_atoms(SetQuery.from_text(_plain(reply.expression)), partial(_of_letter, sets))
    if unused := [letter for letter, text in sets.items() if text not in query.atoms]:
        message = f"the expression leaves out {' and '.join(unused)}; use every set, or do not list it"
        raise InvalidValueError(message)
    return query


def _plain(expression: str) -> str:
    """Write words and signs for operators as `SetQuery.from_text` reads them.

    >>> _plain("A AND NOT B").split()
    ['A', '-', 'B']
    """
    for pattern, sign in _READ:
        expression = pattern.sub(sign, expression)
    return _AND_NOT.sub("-", expression)


def _refuse_ambiguous(expression: str) -> None:
    """Refuse "A or B but not C" without brackets: in words C is taken from both, by the signs' order from B alone."""
    for level in _levels(_plain(_QUOTED.sub("x", expression))):
        if "|" in level and ("&" in level or "-" in level):
            message = "the expression mixes | with other operators; put brackets around what is combined first"
            raise InvalidValueError(message)


def _levels(expression: str) -> Iterator[str]:
    """Yield what stands between each pair of brackets, and outside all, with x for what is in brackets within it."""
    while bracket := _BRACKET.search(expression):
        yield bracket[1]
        expression = f"{expression[: bracket.start()]}x{expression[bracket.end() :]}"
    yield expression


def _as_asked(query: SetQuery) -> SetQuery:
    r"""Take away at the end what is taken away within an intersection, as people ask: ``A ∩ (B \ C)`` is ``(A ∩ B) \ C``."""
    parts = [_as_asked(part) for part in query.parts]
    if query.operator != "intersection":
        return SetQuery(query.operator, query.text, tuple(parts))
    heads = [part.parts[0] if part.operator == "difference" else part for part in parts]
    taken = [each for part in parts if part.operator == "difference" for each in part.parts[1:]]
    return SetQuery.difference(SetQuery.intersection(*heads), *taken)


def rename_atoms(query: SetQuery, name: Callable[[str], str]) -> SetQuery:
    """Return the query with other atoms in the places of its own."""
    if query.text is not None:
        return SetQuery.atom(name(query.text))
    return SetQuery(query.operator, parts=tuple(rename_atoms(part, name) for part in query.parts))


def _of_letter(sets: Mapping[str, str], letter: str) -> str:
    if _plain_letter(letter) not in sets:
        message = f"the expression holds {letter[:_LONGEST]!r}, which is no set's letter"
        raise InvalidValueError(message)
    return sets[_plain_letter(letter)]


def _plain_letter(letter: str) -> str:
    return letter.strip(" .:()").upper()


def _description(text: str) -> str:
    """Write a description on one line, without marks around it or characters that nobody sees."""
    bare = "".join(filter(str.isprintable, " ".join(text.split()))).strip(' .?!;,"“”')
    if not any(map(str.isalnum, bare)):
        message = "a set has no description"
        raise InvalidValueError(message)
    return bare


def _refuse_unusable(query: SetQuery) -> None:
    if len(query.atoms) > MOST_ATOMS:
        message = f"there are {len(query.atoms)} sets; there may be at most {MOST_ATOMS}"
        raise InvalidValueError(message)
    if query.depth > _DEEPEST:
        message = f"the expression nests {query.depth} operators; it may nest at most {_DEEPEST}"
        raise InvalidValueError(message)
    if too_long := [atom for atom in query.atoms if len(atom) > _LONGEST]:
        message = f"a set's description has {len(too_long[0]):,} characters; it may have at most {_LONGEST}"
        raise InvalidValueError(message)


def _is_spoken_of(atom: str, question: str) -> bool:
    return bool(forms_in(atom) & forms_in(question))


def forms_in(text: str) -> frozenset[str]:
    """Collect the words that carry a text's content, all of them where none does, by what their forms have in common.

    >>> sorted(forms_in("Peruvian birds of Peru"))
    ['bird', 'peru']
    """
    return frozenset(word[:_STEM] for word in content_words(text) or words_of(text))
