"""Brackets that group: "(A or B) and not C", and the comma that does so in "A and B, or C"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.setqueries.parsing.phrases import fragment_of
from rag_cover.setqueries.parsing.splitting import Item, cut_at_connectives

__all__ = ["Operand", "drop_brackets", "operands_of"]

_PLACE = "\u27e6{}\u27e7"  # stands for a group while what is around it is cut

_SHORT = 2  # words of a bare operand: "A and B, or C"


@dataclass(frozen=True, slots=True)
class Operand:
    """A group or what stands beside one, as words, and how it is joined: ``or``, ``and`` or ``not``."""

    words: tuple[str, ...]
    joined: str


def drop_brackets(tokens: Sequence[str]) -> list[str]:
    """Drop the brackets."""
    return [token for token in tokens if token not in {"(", ")"}]


def operands_of(tokens: Sequence[str]) -> list[Operand]:
    """Return the operands that brackets or a comma set apart; none where nothing does, or where a group is part of a phrase.

    >>> [(each.joined, " ".join(each.words)) for each in operands_of("( tea or coffee ) and not cocoa".split())]
    [('and', 'tea or coffee'), ('not', 'cocoa')]
    """
    groups, outside = _groups(tokens)
    if not groups:
        return _by_comma(tokens)
    items = cut_at_connectives(outside).items
    whole = sum(len(item.words) == 1 and item.words[0] in groups for item in items)
    if whole < len(groups) or len(items) < 2:  # noqa: PLR2004 - an operator joins
        return []
    return [Operand(tuple(groups.get(item.words[0], item.words)), _joiner_of(item)) for item in items]


def _joiner_of(item: Item) -> str:
    return "not" if item.negated % 2 else "or" if item.link == "or" else "and"


def _groups(tokens: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Put a sign in the place of every outermost group."""
    groups: dict[str, list[str]] = {}
    outside: list[str] = []
    inside: list[str] | None = None
    for word in tokens:
        if word == "(" and inside is None:
            inside = []
        elif word == ")" and inside is not None:
            outside.append(_PLACE.format(len(groups)))
            groups[outside[-1]] = inside
            inside = None
        elif word not in {"(", ")"}:
            (outside if inside is None else inside).append(word)
    return groups, outside + (inside or [])


def _by_comma(tokens: Sequence[str]) -> list[Operand]:
    lows = [token.lower() for token in tokens]
    if lows.count(",") != 1 or (at := lows.index(",")) + 2 >= len(lows) or lows[at + 1] != "or":
        return []
    left, right = tokens[:at], tokens[at + 2 :]
    if "or" in lows[:at] or "and" not in lows[:at] or "or" in lows[at + 2 :]:
        return []
    heads = [fragment_of(words).head is not None for words in (*(item.words for item in cut_at_connectives(left).items), right)]
    bare = not any(heads) and max(len(item.words) for item in cut_at_connectives(left).items) <= _SHORT
    if not (all(heads) or bare):
        return []
    return [Operand(("both", *left) if bare else tuple(left), "and"), Operand(tuple(right), "or")]
