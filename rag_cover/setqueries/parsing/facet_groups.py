"""How the facets of one phrase fall into atoms: "1954 films about murderers" is films of 1954, and films about murderers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from rag_cover.setqueries.parsing.kinds import kind_of
from rag_cover.setqueries.parsing.naming import Atom
from rag_cover.setqueries.parsing.parallels import Phrase
from rag_cover.setqueries.parsing.phrases import Facet
from rag_cover.setqueries.parsing.shared_modifiers import Group

__all__ = ["partitions"]

_MOST_BLOCKS = 3  # QUEST's largest intersection


def partitions(phrase: Phrase, *, most_facets: int) -> Iterator[Group]:
    """List how facets fall into at most three atoms; where the kind of thing is unknown, only clauses stand alone.

    More than ``most_facets`` facets are joined until they are no more. A genre may belong to two atoms: "2010s German
    non-fiction books" are German non-fiction books, and non-fiction books of the 2010s.
    """
    if not phrase.domain:
        yield _by_links(phrase)
        return
    facets = _condense(phrase.facets, most_facets)
    for blocks in _set_partitions(len(facets)):
        groups = [[facets[place] for place in block] for block in blocks] or [[]]
        marks = _neighbours(phrase, facets, blocks)
        yield Group(_atoms(phrase, groups), marks)
        for both in _with_shared_genre(groups):
            yield Group(_atoms(phrase, both), ("both:genre", *marks))


def _atoms(phrase: Phrase, groups: Sequence[Sequence[Facet]]) -> tuple[Atom, ...]:
    return tuple(Atom(phrase.head, phrase.domain, tuple(group)) for group in groups)


def _with_shared_genre(groups: Sequence[Sequence[Facet]]) -> Iterator[list[list[Facet]]]:
    if len(groups) != 2:  # noqa: PLR2004  # three that share are too many
        return
    for giver, taker in ((0, 1), (1, 0)):
        for facet in groups[giver] if len(groups[giver]) > 1 else ():
            if facet.kind == "genre":
                both = [list(group) for group in groups]
                both[taker] = [facet, *both[taker]]
                yield both


def _neighbours(phrase: Phrase, facets: Sequence[Facet], blocks: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return which neighbours stay together."""
    block_of = {place: number for number, block in enumerate(blocks) for place in block}
    marks = []
    for place in range(len(facets) - 1):
        how = "joint" if block_of[place] == block_of[place + 1] else "cut"
        kinds = f"{kind_of(facets[place])},{kind_of(facets[place + 1])}"
        marks += [how, f"{how}:{kinds}", f"{how}:{phrase.domain}:{kinds}"]
    return tuple(marks)


def _condense(facets: Sequence[Facet], most: int) -> list[Facet]:
    """Join neighbours, those before the head first, until there are no more than can be told apart."""
    found = list(facets)
    while len(found) > most:
        pairs = [at for at in range(len(found) - 1) if not (found[at].marker or found[at + 1].marker)]
        at = pairs[0] if pairs else len(found) - 2
        left, right = found[at], found[at + 1]
        text = " ".join(part for part in (left.text, right.marker, right.text) if part)
        found[at : at + 2] = [Facet(left.kind, text, left.marker, left.link, left.object)]
    return found


def _by_links(phrase: Phrase) -> Group:
    """Let clauses stand alone where there are several, or one that "also" holds; else the phrase is one atom."""
    linked = [facet for facet in phrase.facets if facet.link]
    if len(linked) < 2 and not any(facet.link == "also" for facet in linked):  # noqa: PLR2004  # several
        return Group(_atoms(phrase, [phrase.facets]))
    direct = [facet for facet in phrase.facets if not facet.link]
    return Group(_atoms(phrase, [*([direct] if direct else []), *([facet] for facet in linked)]))


@cache
def _set_partitions(size: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the partitions of so many things into at most three blocks.

    >>> _set_partitions(2)
    (((0, 1),), ((0,), (1,)))
    """
    if not size:
        return ((),)
    found: list[tuple[tuple[int, ...], ...]] = []
    last = size - 1
    for blocks in _set_partitions(last):
        found += [(*blocks[:at], (*block, last), *blocks[at + 1 :]) for at, block in enumerate(blocks)]
        if len(blocks) < _MOST_BLOCKS:
            found.append((*blocks, (last,)))
    return tuple(found)
