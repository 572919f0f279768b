"""Completion of the items of a union: what an alternative leaves out is taken from its neighbours.

"Trees of Tabasco or Guadeloupe" is two phrases of trees; "Dutch crime comedy or romantic comedy films" two of films. Each item
becomes a phrase of its own; a relative clause belongs to the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_cover.setqueries.parsing.conjuncts import continue_phrase, first_phrase, own_phrase, whole_phrase
from rag_cover.setqueries.parsing.naming import normalise_facet
from rag_cover.setqueries.parsing.parallels import (
    TIMES,
    Phrase,
    as_object,
    clause_of,
    is_taxon,
    only_modifiers,
    parallel_to,
    same_verb,
)
from rag_cover.setqueries.parsing.phrases import Facet, PhraseFragment, fragment_of
from rag_cover.setqueries.parsing.splitting import Item

__all__ = ["complete_disjuncts"]


def complete_disjuncts(items: Sequence[Item]) -> list[Phrase]:
    """Complete the items of a union with the head noun and the modifiers that they share with neighbours."""
    fragments = [fragment_of(item.words) for item in items]
    heads = [place for place, fragment in enumerate(fragments) if fragment.head is not None]
    phrases: dict[int, Phrase | None] = {}
    last: Phrase | None = None
    for place, item in enumerate(items):
        fragment = fragments[place] = as_object(fragments[place], last, item)
        waits = (bool(heads) and heads[-1] > place) or _modifies(fragment, fragments[place + 1 :])
        if item.link == "rel" and last is not None and phrases[max(phrases)] is last:
            _attach(last, item, fragment)
        else:
            phrases[place] = _one(last, item, fragment, waits=waits)
            last = phrases[place] or last
    return _with_heads_to_come(phrases, fragments, items)


def _modifies(fragment: PhraseFragment, later: Sequence[PhraseFragment]) -> bool:
    """Check whether words modify a head to come that no list knows: "Italian or French restaurants"."""
    kind = fragment.before[-1].kind if fragment.before and only_modifiers(fragment) and not fragment.after else ""
    nouns = [each.before for each in later if len(each.before) > 1 and each.before[-1].kind in {"name", "other"}]
    return kind not in {"", "place"} and any(before[0].kind == kind for before in nouns)


def _one(last: Phrase | None, item: Item, fragment: PhraseFragment, *, waits: bool) -> Phrase | None:
    """Make a phrase of an item; None where its head is still to come."""
    if fragment.head is not None:
        return whole_phrase(fragment, item.link)
    if last is not None:
        return _alternative(last, item, fragment, waits=waits)
    if item.lead not in {"that", "do"} and (not fragment.before or waits):
        return None
    return first_phrase(fragment, item)


def _attach(last: Phrase, item: Item, fragment: PhraseFragment) -> None:
    """Add a relative clause to an alternative; a clause that names a kind takes the place of a bare head."""
    if fragment.head is not None and not last.facets:
        whole = whole_phrase(fragment, last.link)
        last.head, last.domain, last.facets = whole.head, whole.domain, whole.facets
    elif continue_phrase(last, fragment, item, "rel"):
        found = (*fragment.before, *fragment.after)
        last.facets += [normalise_facet(each, last.domain, last.head).with_link("rel") for each in found]


def _alternative(last: Phrase, item: Item, fragment: PhraseFragment, *, waits: bool) -> Phrase | None:
    """Read an alternative without a head after a phrase; None where its head is still to come."""
    bare, predicate = " ".join(item.words), item.lead in {"are", "can"}
    if not fragment.before:
        return _of_head(last, item, fragment.after, "head")
    if item.lead in {"do", "that"}:
        return _of_head(last, item, [clause_of(item, last)], "head")
    if not predicate and (facets := _beside(last, fragment, bare)):
        return _of_head(last, item, facets, "parallel")
    if waits and not is_taxon(bare):
        return None
    if only_modifiers(fragment) and not fragment.after and last.domain:
        kept = _facets_before_clause(last)
        return _of_head(last, item, [*kept, *fragment.before], "rel" if kept else "head")
    return own_phrase(fragment, item.link)


def _beside(last: Phrase, fragment: PhraseFragment, bare: str) -> list[Facet]:
    """Put words in the place of the last clause or object; nothing where they do not fit."""
    if clause := same_verb(last, bare):
        return [*last.facets[:-1], clause]
    if parallel := parallel_to(last, fragment, bare):
        replaced = _find_replaced(last, parallel)
        return [*(facet for facet in last.facets if facet is not replaced), parallel, *fragment.after]
    return []


def _of_head(last: Phrase, item: Item, facets: Sequence[Facet], borrowed: str) -> Phrase:
    return Phrase(
        last.head, last.domain, [normalise_facet(each, last.domain, last.head) for each in facets], borrowed, item.link
    )


def _facets_before_clause(last: Phrase) -> list[Facet]:
    """Keep the nationality that stands before a list of predicates: "Romanian films that are thrillers, or independent"."""
    if last.borrowed != "rel" and not any(facet.link == "rel" for facet in last.facets):
        return []
    return [facet for facet in last.facets if facet.link != "rel" and facet.kind == "nat"]


def _find_replaced(last: Phrase, parallel: Facet) -> Facet | None:
    """Find the facet whose place a parallel one takes: the last of its kind."""
    same = [each for each in last.facets if each.kind == parallel.kind]
    times = [each for each in last.facets if {each.kind, parallel.kind} <= TIMES]
    return next(reversed(same or times), None)


def _with_heads_to_come(
    phrases: Mapping[int, Phrase | None], fragments: Sequence[PhraseFragment], items: Sequence[Item]
) -> list[Phrase]:
    """Give the alternatives that wait for a head that of the next one which has it."""
    found: list[Phrase] = []
    following: Phrase | None = None
    for place in sorted(phrases, reverse=True):
        phrase, fragment = phrases[place], fragments[place]
        following = phrase or following
        if phrase is not None:
            found.append(phrase)
        elif following is not None and _is_kind(fragment, following):
            found.append(own_phrase(fragment, items[place].link))
        elif following is not None:
            facets = (*fragment.before, *fragment.after)
            found.append(_of_head(following, items[place], facets, "next"))
    return found[::-1] or [own_phrase(fragments[0], "")]


def _is_kind(fragment: PhraseFragment, following: Phrase) -> bool:
    """Check whether a name before kinds of living things is one of them: "puffins, or birds of …"."""
    return following.domain == "organisms" and bool(fragment.before) and fragment.before[-1].kind in {"name", "other"}
