"""What the alternatives of a union share, where only one of them says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rag_cover.setqueries.parsing.naming import Atom
from rag_cover.setqueries.parsing.parallels import Phrase
from rag_cover.setqueries.parsing.phrases import Facet

__all__ = ["Group", "sharings"]

_DISTINCT = frozenset({"nat", "year", "decade", "century", "language"})
_TIMES = frozenset({"year", "decade", "century"})


@dataclass(frozen=True, slots=True)
class Group:
    """Atoms that belong together in a reading; ``marks`` tell how they were made."""

    atoms: tuple[Atom, ...]
    marks: tuple[str, ...] = ()


def sharings(phrases: Sequence[Phrase]) -> Iterator[Group]:
    """List the atoms of a union: as they stand, and with what they may share.

    Shared may be what follows the last one ("fauna or endemic fish of France"), what precedes its head ("2017 or LGBT Irish
    novels"), or the nationality that the first begins with ("Dutch crime comedy or romantic comedy films"). A mark tells
    whether a choice is the usual one.
    """
    last, others = phrases[-1], phrases[:-1]
    options = {"after": _afters(last, others), "before": _befores(last, others), "lead": _leads(phrases)}
    usual = {"after": _usual_after(last, others), "before": _usual_before(last, others), "lead": options["lead"][-1]}
    for choice in product(*options.values()):
        after, before, lead = choice
        atoms = [_share_modifiers(phrase, last, before, after) for phrase in others]
        rest = [*atoms, Atom(last.head, last.domain, tuple(last.facets))]
        rest[1:] = [replace(atom, facets=(*lead, *atom.facets)) for atom in rest[1:]]
        chosen = zip(options, choice, strict=True)
        marks = [_marks(name, facets, usual[name]) for name, facets in chosen if len(options[name]) > 1]
        yield Group(tuple(rest), tuple(mark for some in marks for mark in some))


def _marks(name: str, chosen: list[Facet], usual: list[Facet]) -> tuple[str, str]:
    return f"usual:{chosen == usual}", f"{name}:{chosen == usual}:{'+'.join(facet.kind for facet in chosen)}"


def _afters(last: Phrase, others: Sequence[Phrase]) -> list[list[Facet]]:
    """List what may be shared of that which follows the last head: nothing, its clauses, or all of it."""
    clauses = [facet for facet in last.facets if facet.link == "rel"]
    after = [facet for facet in last.facets if facet.marker or facet.link == "rel"]
    found: list[list[Facet]] = [[]]
    if clauses and not any(facet.link == "rel" for phrase in others for facet in phrase.facets):
        found.append(clauses)
    if after and after != clauses and any(map(_takes_after, others)):
        found.append(after)
    return found


def _usual_after(last: Phrase, others: Sequence[Phrase]) -> list[Facet]:
    """Share clauses; where all wait for the last head, what follows it; of living things, a place that every other lacks."""
    options = _afters(last, others)
    after = options[-1]
    if last.domain != "organisms" or all(facet.link == "rel" for facet in after):
        clauses = [option for option in options[1:] if all(facet.link == "rel" for facet in option)]
        waiting = all(phrase.borrowed == "next" for phrase in others)
        return clauses[0] if clauses else after if waiting else []
    fits = all(_takes_after(phrase) and phrase.borrowed != "own" for phrase in others)
    return after if fits and all(facet.kind == "of" for facet in after if facet.marker) else []


def _befores(last: Phrase, others: Sequence[Phrase]) -> list[list[Facet]]:
    """List what may be shared of what precedes the last head: nothing, the usual part, or all, if no other has the like."""
    usual, before = _usual_before(last, others), _before(last)
    kinds = _waiting_kinds(others)
    everything = bool(kinds) and not kinds & {facet.kind for facet in before} and before != usual
    return [[], *([usual] if usual else []), *([before] if before and everything else [])]


def _usual_before(last: Phrase, others: Sequence[Phrase]) -> list[Facet]:
    """Share what stands between the last phrase's first modifier, which is the alternative, and its head."""
    kinds = _waiting_kinds(others)
    return [facet for facet in _before(last)[1:] if facet.kind not in kinds | _TIMES] if kinds else []


def _waiting_kinds(others: Sequence[Phrase]) -> set[str]:
    return {facet.kind for phrase in others if phrase.borrowed == "next" for facet in phrase.facets}


def _before(last: Phrase) -> list[Facet]:
    return [facet for facet in last.facets if not facet.marker and facet.link != "rel"]


def _leads(phrases: Sequence[Phrase]) -> list[list[Facet]]:
    """List what may be shared of the first phrase's beginning: a nationality, where the others have none and no time."""
    first = phrases[0]
    free = not any(facet.kind in _DISTINCT for phrase in phrases[1:] for facet in phrase.facets)
    if first.borrowed == "next" and len(first.facets) > 1 and first.facets[0].kind == "nat" and free:
        return [[], first.facets[:1]]
    return [[]]


def _share_modifiers(phrase: Phrase, last: Phrase, before: Sequence[Facet], after: Sequence[Facet]) -> Atom:
    """Give a phrase what it shares with the last one."""
    facets = list(phrase.facets)
    if phrase.borrowed == "next":
        facets += [facet for facet in before if facet not in facets]
    if phrase.borrowed != "own" or phrase.head == last.head:
        facets += [facet for facet in after if facet.link == "rel" or _takes_after(phrase)]
    return Atom(phrase.head, phrase.domain, tuple(facets))


def _takes_after(phrase: Phrase) -> bool:
    return not any(facet.marker for facet in phrase.facets)
