"""What a language model wrote when it was asked for sub-questions or for their types, read strictly.

Numbered lists, fenced and truncated JSON are read (`rag_cover.llm.json_replies`). What is no question is left out; a reply in
which nothing usable is left is a `MalformedReplyError`, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, field_validator

from rag_cover.english.clauses import asks
from rag_cover.english.lexicon import MARKS
from rag_cover.errors import MalformedReplyError
from rag_cover.llm.json_replies import parse_reply
from rag_cover.questions import Role

__all__ = ["SubQuestionsReply", "TypesReply", "roles_in", "sub_questions_in"]

_LONGEST = 500  # characters of what still passes for one question
_ROLES = {"core": Role.CORE, "background": Role.BACKGROUND, "followup": Role.FOLLOW_UP}
_ROLE = re.compile(r"\b(core|background|follow[\s-]?up)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^[^\w\n]*+(?:sub-?question\s*)?(\d{1,3})\W(.*)$", re.MULTILINE | re.IGNORECASE)
_MAPPED = re.compile(r'"(\d{1,3})"\s*:\s*"([^"]*)"')
_MARKUP = re.compile(r"^[\s#>*_`\"'“”-]*(?:\(?\d{1,3}[.):]\s+)?[\s*_`\"'“”]*")
_MARKUP_BEHIND = re.compile(r"(?<![\s*_`\"'“”,])[\s*_`\"'“”,]+$")


class _Reply(BaseModel):
    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time


class SubQuestionsReply(_Reply):
    """The reply asked for in the first step."""

    sub_questions: list[str]


class _Typed(_Reply):
    number: int
    type: str

    @field_validator("type")
    @classmethod
    def _check_role(cls, word: str) -> str:
        if _role_of(word) is None:
            msg = "a type is core, background or follow-up"
            raise ValueError(msg)
        return word


class TypesReply(_Reply):
    """The reply asked for in the second step; numbers tell whose type it is, so that a missing one moves no other."""

    types: list[_Typed]


class _Words(_Reply):
    types: list[str]


def sub_questions_in(reply: str) -> list[str]:
    r"""Read the sub-questions of a reply, in their order, each with a question mark at its end.

    >>> sub_questions_in("Sure!\n1. **What is a heat pump?**\n2. How does it heat\n3. Thanks for asking")
    ['What is a heat pump?', 'How does it heat?']

    Raises:
        MalformedReplyError: the reply holds no question.
    """
    found = list(_questions(parse_reply(reply, SubQuestionsReply).sub_questions))
    if not found:
        message = "the reply holds no question"
        raise MalformedReplyError(message, raw=reply)
    return found


def roles_in(reply: str, count: int) -> tuple[Role | None, ...]:
    r"""Read the types of ``count`` sub-questions; None for one whose type is missing, or given in two ways.

    >>> roles_in('{"types": [{"number": 2, "type": "Follow-up"}]}', 2)
    (None, <Role.FOLLOW_UP: 'follow-up'>)
    >>> roles_in("1. core\n2) background - helps to understand", 2)
    (<Role.CORE: 'core'>, <Role.BACKGROUND: 'background'>)

    Raises:
        MalformedReplyError: the reply types none of them.
    """
    said: dict[int, set[Role]] = {}
    for number, role in _read_types(reply, count):
        said.setdefault(number, set()).add(role)
    roles = tuple(next(iter(found)) if len(found := said.get(number, set())) == 1 else None for number in range(1, count + 1))
    if not any(roles):
        message = "the reply gives no sub-question a type of its own"
        raise MalformedReplyError(message, raw=reply)
    return roles


def _questions(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        bare = "".join(filter(str.isprintable, " ".join(_bare(text).split())))
        if len(bare) > _LONGEST or not any(map(str.isalpha, bare)):
            continue
        if bare[-1] in MARKS:
            yield bare
        elif asks(bare):
            yield f"{bare.rstrip(' .!,;:…')}?"


def _bare(text: str) -> str:
    return _MARKUP_BEHIND.sub("", _MARKUP.sub("", text, count=1))


def _read_types(reply: str, count: int) -> list[tuple[int, Role]]:
    try:
        typed = parse_reply(reply, TypesReply).types
    except MalformedReplyError:
        return list(_read_types_loosely(reply)) or _in_order(reply, count)
    return [(each.number, role) for each in typed if (role := _role_of(each.type))]


def _in_order(reply: str, count: int) -> list[tuple[int, Role]]:
    """Read a list of types without numbers, which must be as long as that of the sub-questions."""
    try:
        words = parse_reply(reply, _Words).types
    except MalformedReplyError:
        return []
    roles = [role for word in words if (role := _role_of(word))]
    return list(enumerate(roles, 1)) if len(roles) == len(words) == count else []


def _read_types_loosely(reply: str) -> Iterator[tuple[int, Role]]:
    """Read a map of numbers to types, else lines that begin with a number."""
    for number, rest in _MAPPED.findall(reply) or _NUMBERED.findall(reply):
        yield from ((int(number), role) for word in _ROLE.findall(rest) if (role := _role_of(word)))


def _role_of(word: str) -> Role | None:
    return _ROLES.get("".join(filter(str.isalpha, word.casefold())).removesuffix("question").removesuffix("sub"))
