"""Atoms written as categories are named: "1959 books", "Flora of Haiti", "Novels by Colette", "Dutch crime comedy films".

Only what does no harm elsewhere is renamed: the order of modifiers, movie = film, plants and animals of a place = its flora and
fauna. Where the kind of thing is unknown, the user's words stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rag_cover.setqueries.parsing.gazetteer import is_name, load_gazetteer, time_of, word_list
from rag_cover.setqueries.parsing.phrases import Facet

__all__ = ["Atom", "category_name", "normalise_facet", "normalise_head", "user_wording"]

TIMES = frozenset({"year", "decade", "century"})
_ORDER = {"year": 0, "decade": 0, "century": 0, "status": 1, "period": 2, "language": 3, "nat": 4}
_HEADS = {
    "film": "films", "movie": "films", "movies": "films", "flicks": "films", "novel": "novels", "book": "books",
    "plant": "plants", "animal": "animals", "faunas": "fauna", "plant life": "plants", "plant species": "plants",
    "animal life": "animals", "animal species": "animals", "wildlife": "fauna", "bird life": "birds", "bird species": "birds",
    "fish species": "fish", "tree species": "trees", "genus": "genera", "family": "families",
}  # fmt: skip
_GENRE_HEADS = {
    "documentaries": ("documentary", "films"), "documentary": ("documentary", "films"), "dramas": ("drama", "films"),
    "comedies": ("comedy", "films"), "thrillers": ("thriller", "films"), "westerns": ("western", "films"),
    "musicals": ("musical", "films"), "shorts": ("short", "films"), "romances": ("romance", "films"),
    "fiction": ("fiction", "books"), "non-fiction": ("non-fiction", "books"), "nonfiction": ("non-fiction", "books"),
    "debuts": ("debut", "novels"),
}  # fmt: skip
_SPELT = {
    "sci-fi": "science fiction", "scifi": "science fiction", "childrens": "children's", "nonfiction": "non-fiction",
    "non-fictions": "non-fiction", "biography": "biographical", "historic": "historical",
}  # fmt: skip
_MARKERS = {"about": "about", "by": "by", "shot": "shot in", "based": "based on"}
_PLURAL_PLACES = (
    "islands", "antilles", "states", "kingdom", "republic", "ocean", "sea", "desert", "deserts", "archipelago", "peninsula",
    "mountains", "region", "gulf", "empire", "territory", "alps", "andes", "coast", "realm", "lakes", "plains",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Atom:
    """A head with some of what is said of it, as one category."""

    head: str
    domain: str
    facets: tuple[Facet, ...]


@cache
def _adjectives() -> dict[str, str]:
    """Return the first adjective of each place."""
    found: dict[str, str] = {}
    for adjective, place in load_gazetteer().adjectives():
        found.setdefault(place.lower(), adjective)
    return found


def adjective_of(place: str) -> str | None:
    """Return the adjective of a place: French of France.

    >>> adjective_of("the Netherlands")
    'Dutch'
    """
    adjective = _adjectives().get((load_gazetteer().place(place) or place).lower())
    return " ".join(word[:1].upper() + word[1:] for word in adjective.split()) if adjective else None


def with_article(place: str) -> str:
    """Write a place's name with the article that it takes.

    >>> with_article("Marshall Islands"), with_article("Peru")
    ('the Marshall Islands', 'Peru')
    """
    low = place.lower()
    if low.startswith("the "):
        return "the " + place[4:]
    takes = (
        low in word_list("with_article")
        or low.startswith("democratic republic")
        or (low.endswith(_PLURAL_PLACES) and " " in low)
    )
    return f"the {place}" if takes and low in load_gazetteer().places else place


def normalise_head(head: str) -> tuple[str, tuple[Facet, ...]]:
    """Write a head in the plural that categories use; what it says beyond that becomes a facet.

    >>> normalise_head("documentaries")[0], normalise_head("documentaries")[1][0].text
    ('films', 'documentary')
    """
    low = head.lower()
    if low in _GENRE_HEADS:
        genre, plural = _GENRE_HEADS[low]
        return plural, (Facet("genre", genre),)
    return _HEADS.get(low, low if low in load_gazetteer().heads else head), ()


def normalise_facet(facet: Facet, domain: str, head: str = "") -> Facet:
    """Write a facet as the names of categories do: "from France" of films is French, "Cuban" of trees is "of Cuba"."""
    if domain in {"films", "books"}:
        return _normalise_work_facet(facet, domain, head)
    if domain == "organisms":
        return _normalise_organism_facet(facet)
    return facet


def _normalise_work_facet(facet: Facet, domain: str, head: str) -> Facet:
    """Write it for films and books: times and nationalities stand before the head, what they are about after it."""
    kind, what, low = facet.kind, facet.object, facet.text.lower()
    if kind in {"from", "of", "in", "found", "described"} and what in TIMES:
        return Facet(what, time_of(_bare(low))[1], "", facet.link, what)
    if (kind in {"from", "place", "found"} or (kind == "of" and what == "place")) and (adjective := adjective_of(facet.text)):
        return Facet("nat", adjective, "", facet.link, "place")
    if kind == "on" and (domain == "books" or what != "place"):
        return replace(facet, kind="about", marker="about")
    if kind == "name" and head in {"novels", "novellas"} and _is_person(facet.text):
        return Facet("by", facet.text, "by", facet.link, "name")
    return _normalise_wording(facet)


def _normalise_wording(facet: Facet) -> Facet:
    """Write markers, times and spellings in one way."""
    low, text = facet.text.lower(), facet.text
    if facet.marker and facet.object in {"year", "decade"}:
        text = ("the " if facet.object == "decade" else "") + time_of(_bare(low))[1]
    marker = f"set {facet.marker.split()[-1]}" if facet.kind == "set" else _MARKERS.get(facet.kind, facet.marker)
    return replace(facet, text=text if facet.marker else _SPELT.get(low, text), marker=marker)


def _normalise_organism_facet(facet: Facet) -> Facet:
    kind, what = facet.kind, facet.object
    if kind in {"nat", "place"}:
        place = load_gazetteer().place(facet.text) or facet.text
        return Facet("of", with_article(place), "of", facet.link, "place")
    if kind in {"found", "from", "in", "of", "on"}:
        known = load_gazetteer().place(facet.text)
        article = "the " if facet.text.lower().startswith("the ") else ""
        return Facet("of", with_article(article + known) if known else facet.text, "of", facet.link, what)
    if kind == "described":
        return replace(facet, marker="described in")
    if kind == "originating":
        return replace(facet, marker="originating from")
    return facet


def _bare(low: str) -> str:
    return low.removeprefix("the ")


def _is_person(text: str) -> bool:
    words = text.split()
    return len(words) in {2, 3} and is_name(text) and all(word[0].isalpha() for word in words) and "Doctor" not in words


def category_name(atom: Atom) -> str:
    """Write an atom as a category's name.

    >>> category_name(Atom("films", "films", (Facet("genre", "romantic comedy"), Facet("nat", "Dutch"))))
    'Dutch romantic comedy films'
    """
    before = [facet for facet in atom.facets if not facet.marker]
    after = [facet for facet in atom.facets if facet.marker]
    if any(facet.text == "documentary" for facet in before):
        after = [*(replace(f, marker="about") for f in before if f.kind == "event"), *after]
        before = [facet for facet in before if facet.kind != "event"]
    if atom.domain:
        before.sort(key=lambda facet: _ORDER.get(facet.kind, 5))
    text = " ".join([*(facet.text for facet in before), _head_of(atom, before, after), *map(_write_facet, after)]).strip()
    return text[:1].upper() + text[1:] if atom.domain else text


def _write_facet(facet: Facet) -> str:
    return f"{facet.marker} {facet.text}"


def _head_of(atom: Atom, before: Sequence[Facet], after: Sequence[Facet]) -> str:
    """Choose the head's name: what lives in a place is its flora or fauna."""
    if atom.domain == "organisms":
        only_place = bool(after) and all(facet.kind == "of" for facet in after)
        plain = all(facet.text.lower() == "endemic" for facet in before)
        if atom.head == "genera" and only_place and not before:
            return "flora"
        if plain and (only_place or before):
            return {"plants": "flora", "animals": "fauna"}.get(atom.head, atom.head)
    kinds = {facet.kind for facet in atom.facets}
    if atom.head in {"novels", "books"} and "set" in kinds:
        return "novels"
    if atom.head == "novels" and any(facet.text.lower() == "fiction" for facet in before):
        return "books"
    if atom.head == "novels" and len(kinds) == 1 and kinds <= {"publisher", "century"}:
        return "books"
    return "books books" if atom.head == "books" and before and _is_imprint(before) else atom.head


def _is_imprint(before: Iterable[Facet]) -> bool:
    return any(facet.kind == "publisher" and facet.text == "Books" for facet in before)


def user_wording(atom: Atom) -> str:
    """Write an atom in the user's order of words."""
    return " ".join(
        [*(f.text for f in atom.facets if not f.marker), atom.head, *(_write_facet(f) for f in atom.facets if f.marker)]
    ).strip()
