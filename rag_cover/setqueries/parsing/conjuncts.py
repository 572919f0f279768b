"""Items of an intersection made whole: what each leaves unsaid is taken from the phrase before it.

An item is told by its form: with a head it is a phrase; what begins with a marker says more of the head before it; bare words
stand beside the last object ("of Peru and Chile"), before a head to come ("British and historical novels"), or are a kind of
their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_cover.setqueries.parsing.naming import normalise_facet, normalise_head
from rag_cover.setqueries.parsing.parallels import (
    Phrase,
    as_object,
    clause_of,
    is_own,
    is_taxon,
    only_modifiers,
    parallel_to,
    same_verb,
)
from rag_cover.setqueries.parsing.phrases import Facet, PhraseFragment, fragment_of, modifiers, object_kind
from rag_cover.setqueries.parsing.splitting import Item

__all__ = ["complete_conjuncts", "continue_phrase", "negatives", "own_phrase", "whole_phrase"]

_GENERIC = frozenset({"species", "works", "ones", "things", "kinds", "types"})
_APART = (
    "except",
    "but except",
    "excluding",
    "but excluding",
    "other than",
    "any other",
    "apart",
    "aside",
    "minus",
    "with the exception",
)
_EMPTY = frozenset({"have", "has", "also", "only", "take place", "are", "were"})


def complete_conjuncts(items: Sequence[Item]) -> list[Phrase]:
    """Make the items of an intersection whole: facets gather at their heads."""
    phrases: list[Phrase] = []
    waiting: list[Facet] = []
    for item in items:
        last = phrases[-1] if phrases else None
        fragment = as_object(fragment_of(item.words), last, item)
        link = "also" if item.also else {"first": "", "comma": "and"}.get(item.link, item.link)
        if fragment.head is not None and not (last and is_generic(fragment)):
            phrases.append(whole_phrase(fragment, link, waiting))
            waiting = []
        elif last is not None:
            phrases += continue_phrase(last, fragment, item, link)
        elif only_modifiers(fragment) and fragment.before and len(items) > 1 and not fragment.after:
            waiting += [facet.with_link("and") for facet in fragment.before]
        else:
            phrases.append(first_phrase(fragment, item))
    return phrases or [own_phrase(fragment_of([word for item in items for word in item.words]), "")]


def first_phrase(fragment: PhraseFragment, item: Item) -> Phrase:
    """Make a phrase of a first item without a head; "who likes …" has none."""
    if item.lead in {"that", "do"}:
        return Phrase("", "", [Facet("rel", " ".join(item.words), item.pronoun)], link=item.link)
    return own_phrase(fragment, item.link)


def is_generic(fragment: PhraseFragment) -> bool:
    """Check whether a head only stands for the one before: "animals that are species from Africa"."""
    return (fragment.head or "").lower() in _GENERIC and not any(each.kind in {"name", "other"} for each in fragment.before)


def whole_phrase(fragment: PhraseFragment, link: str, waiting: Iterable[Facet] = ()) -> Phrase:
    """Make a phrase of a fragment with a head, and of modifiers that waited for it."""
    head, extra = normalise_head(fragment.head or "")
    facets = (*waiting, *fragment.before, *extra, *fragment.after)
    return Phrase(head, fragment.domain, [normalise_facet(each, fragment.domain, head) for each in facets], link=link)


def own_phrase(fragment: PhraseFragment, link: str) -> Phrase:
    """Read bare words as a kind of their own: their last word is the head."""
    words = " ".join(facet.text for facet in fragment.before).split() or list(fragment.words)
    domain = "organisms" if is_taxon(words[-1]) else ""
    facets = (*modifiers(words[:-1]), *(fragment.after if fragment.before else ()))
    return Phrase(words[-1], domain, [normalise_facet(each, domain) for each in facets], "own", link)


def continue_phrase(last: Phrase, fragment: PhraseFragment, item: Item, link: str) -> list[Phrase]:
    """Read an item without a head after a phrase: add its facets to that phrase, or return a phrase of its own."""
    link, predicate = link or "rel", item.lead in {"are", "can"}
    facets = _read_facets(last, fragment, item, negated=link == "not")
    if facets is not None:
        return _add_facets(last, link, facets)
    if (is_own(fragment, last) and (last.domain or not predicate)) or not (last.domain or predicate):
        return [own_phrase(fragment, link)]
    if not last.domain:
        return _add_facets(last, link, [Facet("rel", " ".join(item.words), "that are")])
    return _add_facets(last, link, [*fragment.before, *fragment.after])


def _read_facets(last: Phrase, fragment: PhraseFragment, item: Item, *, negated: bool) -> list[Facet] | None:
    """Return what an item says of the phrase before it by its form; None where it takes its meaning from elsewhere."""
    bare, clausal = " ".join(item.words), item.lead in {"do", "that"}
    if item.lead == "with":
        return [Facet("other", bare, "with", "", "other")]
    if not fragment.before or (clausal and fragment.after and _says_nothing(fragment)):
        return list(fragment.after)
    if clausal:
        return [clause_of(item, last)]
    apart = item.cue.startswith(_APART) and not last.domain and object_kind(bare) != "place"
    if item.lead in {"are", "can"} or apart:
        return None
    beside = same_verb(last, bare) or parallel_to(last, fragment, bare, negated=negated)
    return [beside, *(fragment.after if beside.kind != "rel" else ())] if beside else None


def _add_facets(last: Phrase, link: str, facets: Iterable[Facet]) -> list[Phrase]:
    last.facets += [normalise_facet(each, last.domain, last.head).with_link(link) for each in facets]
    return []


def _says_nothing(fragment: PhraseFragment) -> bool:
    return all(facet.text.lower() in _EMPTY for facet in fragment.before)


def negatives(items: Iterable[Item], base: Phrase) -> list[Phrase]:
    """Make what is taken away whole by the phrase it is taken from."""
    return [phrase for item in items for phrase in _negative(item, base)]


def _negative(item: Item, base: Phrase) -> list[Phrase]:
    fragment = as_object(fragment_of(item.words), base, item)
    if fragment.head is not None and not is_generic(fragment):
        return [whole_phrase(fragment, "not")]
    trial = Phrase(base.head, base.domain, [] if item.prefixed else list(base.facets), "head", "not")
    had = len(trial.facets)
    if item.prefixed:
        _add_facets(trial, "", fragment.before)
    elif own := continue_phrase(trial, fragment, item, "not"):
        return [replace(phrase, link="not") for phrase in own]
    return [replace(trial, facets=[facet.with_link("") for facet in trial.facets[had:]])]
