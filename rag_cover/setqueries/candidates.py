"""Candidates of a set query: what the searches for its atoms found, by entity, the most promising first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.questions import Passage
from rag_cover.setqueries.algebra import SetQuery

__all__ = ["DEPTH", "EntityOf", "Pooled", "depths_of", "entity_name", "pool_candidates"]

DEPTH = 100
"""How many passages the search for an atom asks for."""

_DEEPER = 2  # a member of an intersection may stand far down in each of its parts' rankings
_RANKS = 60.0  # the constant of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009)

EntityOf = Callable[[Passage], str | None]
"""Names the entity that a passage is about, None where it knows none: passages with one name are one candidate."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """An entity's passages, and its best rank, from 1, in the search for each atom that found it."""

    name: str
    passages: tuple[Passage, ...]
    ranks: Mapping[str, int]


def entity_name(passage: Passage) -> str:
    """Name a passage's entity by its title, else by its id, else by its text: pieces of one document have one title."""
    return (passage.title or "").strip() or passage.id or passage.text


def depths_of(query: SetQuery, depth: int) -> dict[str, int]:
    """Return how deep to search for each atom: twice as deep for one of an intersection."""
    depths = dict.fromkeys(query.atoms, depth)
    return depths | dict.fromkeys(_intersection_sources(query), depth * _DEEPER)


def pool_candidates(query: SetQuery, found: Mapping[str, Sequence[Passage]], entity_of: EntityOf = entity_name) -> list[Pooled]:
    """Pool what was found for atoms, the most promising entities first.

    Only an entity that some search for a source (`SetQuery.sources`) found is a candidate; what the other searches found tells
    more of the candidates. The order is that of reciprocal ranks, added up over intersections, the best one of a union's.
    """
    entities: dict[str, dict[str, Passage]] = {}
    ranks: dict[str, dict[str, int]] = {}
    for atom in query.atoms:
        for rank, passage in enumerate(found.get(atom, ()), 1):
            name = _name(passage, entity_of)
            entities.setdefault(name, {}).setdefault(passage.key, passage)
            ranks.setdefault(name, {}).setdefault(atom, rank)
    sources = frozenset(query.sources)
    known = [name for name in entities if sources & ranks[name].keys()]
    candidates = [Pooled(name, tuple(entities[name].values()), ranks[name]) for name in known]
    return sorted(candidates, key=lambda each: -_promise(query, each.ranks))


def _name(passage: Passage, entity_of: EntityOf) -> str:
    name = entity_of(passage)
    return (str(name).strip() if name is not None else "") or entity_name(passage).strip() or passage.key


def _intersection_sources(query: SetQuery) -> Iterable[str]:
    match query.operator:
        case "intersection":
            return query.sources
        case "difference":
            return _intersection_sources(query.parts[0])
        case _:
            return [atom for part in query.parts for atom in _intersection_sources(part)]


def _promise(query: SetQuery, ranks: Mapping[str, int]) -> float:
    match query.operator:
        case "atom":
            return 1 / (_RANKS + ranks[str(query.text)]) if query.text in ranks else 0.0
        case "union":
            return max(_promise(part, ranks) for part in query.parts)
        case "intersection":
            return sum(_promise(part, ranks) for part in query.parts)
        case "difference":
            return _promise(query.parts[0], ranks)
