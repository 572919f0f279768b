r"""Modifiers that may be one set or several: "Spanish war films", or Spanish films that are also war films.

Every query has two extreme readings of its modifiers. In the *split* one each modifier has an atom of its own, which repeats
the head; in the *joined* one all modifiers of one head within an intersection are one atom. Both ask for the same entities
wherever modifiers intersect, as most do; they differ in what is searched for and judged. Left whole are

- quoted atoms, which are one set since the user says so, and atoms that join or deny something within
- "endemic", "native" and the like with the place that they speak of, and what stands after "about", "of", "on" or "between"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, get_args

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.parsing.choice import refuse_too_many
from rag_cover.setqueries.parsing.clauses import PRONOUNS, Chunk, begins_post
from rag_cover.setqueries.parsing.conjuncts import whole_phrase
from rag_cover.setqueries.parsing.kinds import kind_of
from rag_cover.setqueries.parsing.naming import Atom, category_name, user_wording
from rag_cover.setqueries.parsing.parsed import ParsedQuery
from rag_cover.setqueries.parsing.phrases import Facet, fragment_of
from rag_cover.setqueries.parsing.postmodifier_attachment import head_of
from rag_cover.setqueries.parsing.tokens import join_tokens, tokens_of

__all__ = ["MODIFIERS", "Modifiers", "demand_modifiers", "join_modifiers", "modifiers_note", "regroup", "split_modifiers"]

Modifiers = Literal["read", "split", "joined"]
MODIFIERS: Sequence[Modifiers] = get_args(Modifiers)
"""``read``: as the parser takes them; ``split``: an atom for each; ``joined``: one atom for all of one head."""

_NOTES = {
    "split": "each modifier is a set of its own, as asked (modifiers: split); the question reads as {}",
    "joined": "the modifiers of one head are one set, as asked (modifiers: joined); the question reads as {}",
}
_QUOTES = ('"', "“", "«", "'")
_JOINS = frozenset("and or not nor neither either both but except excluding without".split())  # noqa: SIM905  # one line
_ASKING = PRONOUNS | {"what", "whom", "how", "when", "why"}
_HOLDS = frozenset({"about", "of", "on", "between", "by", "than"})
"""What begins a modifier that what follows may belong to: "about the war in Spain"."""

Words = MutableMapping[str, str]
"""The user's wording of atoms that were renamed."""


def split_modifiers(query: SetQuery) -> SetQuery:
    """Return the reading in which every modifier has an atom of its own.

    >>> print(split_modifiers(SetQuery.atom("Spanish war films")))
    "Spanish films" ∩ "War films"
    >>> print(split_modifiers(SetQuery.atom("museums in Oslo with a garden")))
    "museums in Oslo" ∩ "museums with a garden"
    """
    return _Regrouping().split(query)


def join_modifiers(query: SetQuery) -> SetQuery:
    r"""Return the reading in which the modifiers of one head within an intersection are one atom.

    >>> print(join_modifiers((SetQuery.atom("Spanish films") & "War films") - "Comedy films"))
    "Spanish war films" \ "Comedy films"
    """
    return _Regrouping().join(query)


def regroup(parsed: ParsedQuery, modifiers: Modifiers) -> ParsedQuery:
    """Read a question's modifiers in one way; readings that come to the same add up their probabilities.

    What was given as set algebra stays as it is given.

    Raises:
        InvalidValueError: there is no such way, or the query comes to have more than 20 atoms.
    """
    demand_modifiers(modifiers)
    if modifiers == "read" or parsed.source == "given":
        return parsed
    regrouping = _Regrouping(dict(parsed.words))
    change = regrouping.split if modifiers == "split" else regrouping.join
    query, *others = map(change, (parsed.query, *(each for each, _ in parsed.alternatives)))
    refuse_too_many(query)
    shares = {query: parsed.confidence}
    for other, (_, probability) in zip(others, parsed.alternatives, strict=True):
        shares[other] = shares.get(other, 0.0) + probability
    rest = [(other, share) for other, share in shares.items() if other != query]
    notes = (*parsed.notes, *([_NOTES[modifiers].format(parsed.query)] if query != parsed.query else []))
    known = {atom: said for atom, said in regrouping.words.items() if atom in query.atoms}
    return replace(parsed, query=query, confidence=min(1.0, shares[query]), alternatives=tuple(rest), notes=notes, words=known)


def modifiers_note(parsed: ParsedQuery) -> tuple[str, ...]:
    """Note which modifiers were read as one set though each may be a set of its own, and how to have it so."""
    split = split_modifiers(parsed.query)
    if parsed.source == "given" or split.normal_form() == parsed.query.normal_form():
        return ()
    whole = " and ".join(repr(atom) for atom in parsed.atoms if atom not in split.atoms)
    return (f"the modifiers of {whole} were read as one set; with modifiers set to split the question is read as {split}",)


def demand_modifiers(modifiers: str) -> None:
    """Demand one of the ways to take modifiers.

    Raises:
        InvalidValueError: there is no such way.
    """
    if modifiers not in MODIFIERS:
        message = f"modifiers cannot be {modifiers!r}.{nearest(str(modifiers), MODIFIERS)} They are: {', '.join(MODIFIERS)}"
        raise InvalidValueError(message)


@dataclass(frozen=True, slots=True)
class _Regrouping:
    """Splits and joins atoms, and keeps the user's wording of those that it makes."""

    words: Words = field(default_factory=dict)

    def split(self, query: SetQuery) -> SetQuery:
        if query.text is None:
            return SetQuery(query.operator, parts=tuple(map(self.split, query.parts)))
        atom = _atom_of(self._wording_of(query))
        groups = list(_groups_of(atom)) if atom else []
        if atom is None or len(groups) < 2:  # noqa: PLR2004  # one modifier is one set
            return query
        return SetQuery.intersection(*(self._query_of(replace(atom, facets=group)) for group in groups))

    def join(self, query: SetQuery) -> SetQuery:
        if query.text is not None:
            return query
        parts = tuple(map(self.join, query.parts))
        return SetQuery.intersection(*self._joined(parts)) if query.operator == "intersection" else replace(query, parts=parts)

    def _joined(self, parts: Iterable[SetQuery]) -> list[SetQuery]:
        """Join what has a head in common, each in the place of the first of them."""
        groups: dict[object, list[tuple[SetQuery, Atom | None]]] = {}
        for part in parts:
            atom = _atom_of(self._wording_of(part)) if part.text is not None else None
            key = (atom.head.lower(), atom.domain) if atom is not None and atom.facets else part
            groups.setdefault(key, []).append((part, atom))
        return [self._join_group(group) for group in groups.values()]

    def _join_group(self, group: Sequence[tuple[SetQuery, Atom | None]]) -> SetQuery:
        atoms = [atom for _, atom in group if atom is not None]
        if len({part for part, _ in group}) == 1:
            return group[0][0]
        facets = dict.fromkeys(facet for atom in atoms for facet in atom.facets)
        return self._query_of(replace(atoms[0], facets=tuple(sorted(facets, key=_is_clause))))

    def _wording_of(self, query: SetQuery) -> str:
        text = str(query.text)
        return self.words.get(text, text)

    def _query_of(self, atom: Atom) -> SetQuery:
        name, said = category_name(atom), user_wording(atom)
        if said != name:
            self.words[name] = said
        return SetQuery.atom(name)


def _is_clause(facet: Facet) -> bool:
    """Check whether a modifier is a clause, which what follows would belong to: it is written last."""
    return facet.marker.lower() in PRONOUNS


def _groups_of(atom: Atom) -> Iterator[tuple[Facet, ...]]:
    """Yield the modifiers that stand alone, in their order; a status goes with every place."""
    status = tuple(facet for facet in atom.facets if kind_of(facet) == "endemic")
    places = tuple(facet for facet in atom.facets if status and facet.object == "place")
    if status:
        yield (*status, *places)
    yield from ((facet,) for facet in atom.facets if facet not in status and facet not in places)


def _atom_of(text: str) -> Atom | None:
    """Take a phrase apart; None where it is quoted, asks in words, has no head that asks for many, or joins something."""
    tokens = _without_joints(tokens_of(text)[0])
    asks = bool(tokens) and (text.endswith("?") or tokens[0].lower() in _ASKING)
    if not tokens or asks or text.startswith(_QUOTES) or any(token.lower() in _JOINS for token in tokens):
        return None
    fragment = fragment_of(tokens)
    if fragment.head is not None and fragment.domain:
        phrase = whole_phrase(fragment, "")
        return Atom(phrase.head, phrase.domain, tuple(phrase.facets))
    return _general_atom(tokens)


def _without_joints(tokens: Sequence[str]) -> list[str]:
    """Leave out each "and" between two modifiers of a head: "published in 1990 and set in Prague"."""
    joints = {at for at in range(1, len(tokens) - 1) if tokens[at].lower() == "and" and _begins(tokens, at + 1)}
    return [token for at, token in enumerate(tokens) if at not in joints]


def _general_atom(tokens: Sequence[str]) -> Atom | None:
    """Take apart a phrase about things of which no category names are known."""
    starts = [at for at in range(1, len(tokens)) if _begins(tokens, at)]
    head = head_of(Chunk("first", words=list(tokens[: starts[0] if starts else len(tokens)])))
    if head is None:
        return None
    after = [Facet("post", join_tokens(post[1:]), post[0]) for post in _cut(tokens, starts)]
    noun = fragment_of(head.words)
    if noun.head is not None and noun.domain:
        phrase = whole_phrase(noun, "")
        return Atom(phrase.head, phrase.domain, (*phrase.facets, *after))
    before = [Facet("modifier", head.modifier)] if head.modifier else []
    return Atom(join_tokens(head.bare), "", (*before, *after))


def _begins(tokens: Sequence[str], at: int) -> bool:
    return begins_post(tokens, at) or (tokens[at] in PRONOUNS and at + 1 < len(tokens))


def _cut(tokens: Sequence[str], starts: Sequence[int]) -> list[Sequence[str]]:
    """Cut what follows a head where another modifier of the head begins."""
    found = list(starts[:1])
    for start in starts[1:]:
        if _is_apart(tokens, found[-1], start):
            found.append(start)
    return [tokens[start:stop] for start, stop in pairwise([*found, len(tokens)])]


def _is_apart(tokens: Sequence[str], begun: int, at: int) -> bool:
    """Check whether a modifier that began has its object, and what begins now cannot belong to that."""
    between = tokens[begun:at]
    if tokens[at] in PRONOUNS:
        return len(between) > 1
    held = any(word.lower() in _HOLDS or word in PRONOUNS for word in between) or tokens[at].lower() == "of"
    return len(between) > 1 and not held and not begins_post(tokens, at - 1)
