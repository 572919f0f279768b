"""What bare words mean beside a phrase: a second object of its last facet, another clause, or a kind of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag_cover.setqueries.parsing.gazetteer import load_gazetteer, time_of, word_list
from rag_cover.setqueries.parsing.naming import normalise_facet
from rag_cover.setqueries.parsing.phrases import Facet, PhraseFragment, object_kind
from rag_cover.setqueries.parsing.splitting import Item

__all__ = ["Phrase", "as_object", "clause_of", "is_own", "is_taxon", "only_modifiers", "parallel_to", "same_verb"]

TIMES = frozenset({"year", "decade", "century", "period", "time"})

_TAXON = re.compile(r".*(?:idae|inae|formes|ales|aceae|optera|oidea|morpha|phyta|mycetes)", re.IGNORECASE)
_PARALLEL = frozenset(
    {"of", "in", "from", "found", "set", "shot", "about", "based", "by", "described", "originating", "on", "participle"}
)
_MODIFIERS = frozenset({"nat", "genre", "year", "decade", "century", "period", "status", "language", "publisher"})
_HAVE = re.compile(r"have (?P<what>.+?)(?: in (?:them|it))?", re.IGNORECASE)


@dataclass(slots=True)
class Phrase:
    """A head and its facets.

    Attributes:
        borrowed: what was taken from a neighbour: ``head``, ``next`` (the head of a later one), ``parallel`` (all but the last
            object), ``rel``; ``own`` of bare words that are their own head; blank of a whole phrase.
        link: the connective before it.
    """

    head: str
    domain: str
    facets: list[Facet]
    borrowed: str = ""
    link: str = ""


def is_taxon(text: str) -> bool:
    """Check whether a name is scientific, by its ending.

    >>> is_taxon("Apodidae"), is_taxon("Portugal")
    (True, False)
    """
    return bool(_TAXON.fullmatch(text.rsplit(maxsplit=1)[-1]))


def is_verbal(bare: str) -> bool:
    """Check whether words begin with a common verb."""
    return bare.split(" ", 1)[0].lower() in word_list("verbs")


def only_modifiers(fragment: PhraseFragment) -> bool:
    """Check whether all words before where a head would be are known modifiers."""
    return all(facet.kind in _MODIFIERS | {"place"} for facet in fragment.before)


def as_object(fragment: PhraseFragment, last: Phrase | None, item: Item) -> PhraseFragment:
    """Read a kind as what a clause or the last facet is about: "hotels that allow dogs", "films about cats or dogs"."""
    if fragment.head is None or last is None:
        return fragment
    words = " ".join(item.words)
    beside = bool(last.facets) and last.facets[-1].kind == "rel" and is_verbal(words)
    verb_first = bool(fragment.before) and fragment.before[0].kind == "other" and item.words[0].islower()
    if beside or (item.lead == "that" and verb_first):
        return PhraseFragment((Facet("other", words),), None, "", ())
    if not last.facets:
        return fragment
    lone = not fragment.before and not fragment.after and fragment.head.islower() and item.lead != "are"
    if lone and last.domain != fragment.domain and any(facet.kind in {"about", "rel"} for facet in last.facets):
        return replace(fragment, head=None, domain="", before=(Facet("other", fragment.head),))
    return fragment


def is_own(fragment: PhraseFragment, last: Phrase) -> bool:
    """Check whether bare words name a kind of their own."""
    final = fragment.before[-1]
    if final.kind not in {"name", "other"}:
        return False
    several = len(final.text.split()) > 1 and final.text.endswith("s") and not last.domain
    return is_taxon(final.text) or bool(fragment.after) or last.domain == "organisms" or several


def clause_of(item: Item, last: Phrase) -> Facet:
    """Read what follows "that" or "that don't" as something the head does."""
    bare = " ".join(item.words)
    if (match := _HAVE.fullmatch(bare)) and last.domain in {"films", "books"}:
        return Facet("about", match["what"], "about", "", object_kind(match["what"]))
    return Facet("rel", bare, item.pronoun)


def same_verb(last: Phrase, bare: str) -> Facet | None:
    """Read what stands beside a clause: another clause, or another object of its verb ("speak German but not French")."""
    if not last.facets or last.facets[-1].kind != "rel":
        return None
    clause = last.facets[-1]
    if is_verbal(bare):
        return replace(clause, text=bare, marker=clause.marker.removesuffix(" are"))
    if clause.marker.endswith("are"):
        return replace(clause, text=bare)
    verb, _, what = clause.text.partition(" ")
    return replace(clause, text=f"{verb} {bare}") if what else None


def parallel_to(last: Phrase, fragment: PhraseFragment, bare: str, *, negated: bool = False) -> Facet | None:
    """Read bare words as a second object beside the last one ("of Tabasco or Guadeloupe"); None where they do not fit."""
    before = next((facet for facet in reversed(last.facets) if facet.marker or facet.kind in TIMES | {"nat"}), None)
    if before is None:
        return None
    text = " ".join(facet.text for facet in fragment.before) if fragment.after else bare
    if before.kind in TIMES | {"nat"}:
        return _beside_modifier(text, last)
    what = object_kind(text)
    if before.kind in {"about", "based"} and what == "other" and negated and only_modifiers(fragment):
        return None
    if before.kind not in _PARALLEL and before.object != "place":
        loose = before.kind in {"participle", "other", "rel"} and not last.domain
        return replace(before, text=text, object=what) if loose else None
    return _beside_object(before, text, what, last)


def _beside_modifier(text: str, last: Phrase) -> Facet | None:
    """Read a time or a place beside another that stands before the head."""
    what = object_kind(text)
    if what in TIMES - {"time"}:
        return Facet(what, time_of(text.lower())[1])
    if what == "place" and load_gazetteer().kinds.get(text.lower()) != "nat":
        return normalise_facet(Facet("from", text, "from", "", what), last.domain)
    return None


def _beside_object(before: Facet, text: str, what: str, last: Phrase) -> Facet | None:
    """Read an object beside another of the same marker, where they are of one kind."""
    kind_of_its_own = last.domain == "organisms" and _is_plural(text) and what != "place"
    if is_taxon(text) or kind_of_its_own:
        return None
    if before.kind == "about":
        return replace(before, text=text, object=what)
    alike = {"place", "name", "other"} if before.kind in {"based", "participle"} else {"place", "name"}
    fits = what == before.object or {what, before.object} <= TIMES or {what, before.object} <= alike
    if not fits:
        return None
    placed = normalise_facet(Facet("of", text, "of", "", what), last.domain).text if before.kind == "of" else text
    return replace(before, text=placed, object=what)


def _is_plural(text: str) -> bool:
    """Check whether a single word looks like a kind: "puffins"."""
    return " " not in text and text.endswith("s") and not text.endswith(("us", "is", "ss"))
