"""The readings that a description allows: how its facets fall into atoms, what its alternatives share, what is taken away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.parsing.conjuncts import complete_conjuncts, negatives
from rag_cover.setqueries.parsing.disjuncts import complete_disjuncts
from rag_cover.setqueries.parsing.facet_groups import partitions
from rag_cover.setqueries.parsing.naming import Atom, category_name
from rag_cover.setqueries.parsing.parallels import Phrase
from rag_cover.setqueries.parsing.phrases import fragment_of
from rag_cover.setqueries.parsing.shared_modifiers import Group, sharings
from rag_cover.setqueries.parsing.splitting import Cut, Item, sides_of

__all__ = ["Parse", "query_of_reading", "readings_of"]

_MOST_READINGS = 300
_MOST_FACETS = (6, 4, 3)  # of each phrase, where there is one, two, three: what is more is not taken apart
_MOST_ATOMS = 3
_SHARED = frozenset({"nat", "genre", "year", "decade", "century", "status", "period", "language"})


@dataclass(frozen=True, slots=True)
class Parse:
    """One way to read a description: atoms joined by an operator, and atoms taken away; ``marks`` tell how it was made."""

    operator: str
    atoms: tuple[Atom, ...]
    without: tuple[Atom, ...]
    marks: tuple[str, ...] = ()


def query_of_reading(reading: Parse) -> SetQuery:
    """Write a reading as a set query; an atom that recurs counts once."""
    atoms = list(dict.fromkeys(category_name(atom) for atom in reading.atoms))
    joined = SetQuery.union(*atoms) if reading.operator == "union" else SetQuery.intersection(*atoms)
    return SetQuery.difference(joined, *dict.fromkeys(category_name(atom) for atom in reading.without))


def readings_of(cut: Cut) -> list[Parse]:
    """List the readings of a cut description; a list of whole phrases between commas alone is a union."""
    positive, negative = sides_of(cut.items)
    links = {item.link for item in positive}
    listed = "comma" in links and not links & {"or", "and"} and any(map(_has_head, positive))
    whole = listed and _has_head(positive[-1])
    found: list[Parse] = []
    if "or" in links or listed:
        marks = (f"commas:{'full' if whole else 'bare'}",) if listed else ()
        found += islice(_unions(positive, negative, marks), _MOST_READINGS)
    if "or" not in links and not whole:
        found += islice(_intersections(positive, negative, both="both" in cut.said), _MOST_READINGS)
    return list(dict.fromkeys(found))


def _unions(positive: Sequence[Item], negative: Sequence[Item], marks: tuple[str, ...]) -> Iterator[Parse]:
    phrases = complete_disjuncts(positive)
    for group in sharings(phrases):
        for taken in _takings(negative, phrases[-1]):
            yield Parse("union", group.atoms, taken.atoms, (*marks, *group.marks, *taken.marks))


def _intersections(positive: Sequence[Item], negative: Sequence[Item], *, both: bool) -> Iterator[Parse]:
    for items, marks in _ands(positive, both=both):
        phrases = complete_conjuncts(items)
        clauses = sum(bool(facet.link) for phrase in phrases for facet in phrase.facets if not phrase.domain)
        takings = list(_takings(negative, _base_of(phrases)))
        for group in _combine_groups(phrases, most=max(_MOST_ATOMS, len(phrases) + clauses)):
            for taken in takings:
                yield Parse("intersection", group.atoms, taken.atoms, (*marks, *group.marks, *taken.marks))


def _combine_groups(phrases: Sequence[Phrase], *, most: int) -> Iterator[Group]:
    """List the atoms of phrases together, at most so many."""
    facets = _MOST_FACETS[len(phrases) - 1] if len(phrases) <= len(_MOST_FACETS) else 1
    for chosen in product(*(list(partitions(phrase, most_facets=facets)) for phrase in phrases)):
        atoms = tuple(atom for group in chosen for atom in group.atoms)
        if len(atoms) <= most:
            marks = tuple(mark for group in chosen for mark in group.marks)
            yield Group(atoms, (*marks, f"phrases:{len(phrases)}:{len(atoms)}"))


def _base_of(phrases: Sequence[Phrase]) -> Phrase:
    """Choose what something is taken from: the last phrase with a head of its own."""
    return phrases[-1] if not phrases[-1].borrowed else next((phrase for phrase in phrases if phrase.domain), phrases[0])


def _takings(negative: Sequence[Item], base: Phrase) -> Iterator[Group]:
    """List what may be taken away: as it stands, or with a facet of what it is taken from."""
    phrases = negatives(negative, base)
    yield Group(tuple(_atom(phrase) for phrase in phrases), ("taken:plain",) if phrases else ())
    if not base.domain or not any(phrase.borrowed for phrase in phrases):
        return
    first = phrases[0].facets[0].kind if phrases[0].facets else ""
    for facet in base.facets:
        if facet.kind in _SHARED and not any(facet in phrase.facets for phrase in phrases):
            atoms = (_atom(replace(p, facets=[facet, *p.facets]) if p.borrowed else p) for p in phrases)
            yield Group(tuple(atoms), (f"taken:{facet.kind}", f"taken:{first}+{facet.kind}"))


def _atom(phrase: Phrase) -> Atom:
    return Atom(phrase.head, phrase.domain, tuple(phrase.facets))


def _ands(positive: Sequence[Item], *, both: bool) -> Iterator[tuple[list[Item], tuple[str, ...]]]:
    """List the ways to take each "and": as joining sets, or as part of a phrase; where no kind is known, as the latter."""
    if not any(map(_has_head, positive)):
        yield list(positive) if both else _phrasal(positive), ()
        return
    yield list(positive), ()
    commas = sum(item.link == "comma" for item in positive)
    for place, item in enumerate(positive):
        lone = item.link == "and" or (item.link == "comma" and commas == 1)
        if place and lone and fragment_of(item.words).before and not (item.lead or item.also or _has_head(item)):
            before = positive[place - 1]
            case = "lower" if item.words[0][0].islower() and before.words[-1][0].islower() else "capital"
            yield [*positive[: place - 1], _merge_items(before, item), *positive[place + 1 :]], (f"merged:{item.link}:{case}",)


def _phrasal(positive: Sequence[Item]) -> list[Item]:
    """Take every "and" but those that were said to join, or that join clauses, as part of a phrase."""
    found: list[Item] = []
    for item in positive:
        joins = item.lead or item.also or item.link not in {"and", "comma"}
        if found and not joins and found[-1].lead not in {"do", "that", "are"}:
            found[-1] = _merge_items(found[-1], item)
        else:
            found.append(item)
    return found


def _merge_items(before: Item, item: Item) -> Item:
    return replace(before, words=[*before.words, "," if item.link == "comma" else "and", *item.words])


def _has_head(item: Item) -> bool:
    return fragment_of(item.words).head is not None
