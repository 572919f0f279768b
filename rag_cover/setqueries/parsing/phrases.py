"""A description taken apart: its head noun, and what is said of it before and after."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_cover.english.lexicon import ARTICLES, DEMONSTRATIVES
from rag_cover.setqueries.parsing.gazetteer import is_name, load_gazetteer, time_of, word_list

__all__ = ["Facet", "PhraseFragment", "fragment_of", "modifiers", "object_kind", "postmodifiers"]

_MARKERS = re.compile(
    r"""(?:(?P<shot>(?:shot|filmed)(?:\s(?:on\slocation|primarily|mostly|partly))?(?:\s(?:in|on|at|around))?)
      | (?P<set>(?:set|taking\splace|takes?\splace|took\splace|that\soccur)\s(?:in|during|on|at|within|around))
      | (?P<based>(?:based|adapted)\s(?:on|upon|off\sof|off|from))
      | (?P<described>(?:as\s|first\s|originally\s|formally\s)?(?:described|discovered|identified|spotted)\sin)
      | (?P<originating>(?:that\s)?originat(?:e|es|ed|ing)\s(?:from|in))
      | (?P<found>(?:can\sbe\s|be\s|also\s)*
          (?:found|lives?|living|native|located|grown|grows?|growing|occurs?|occurring|indigenous|present|seen
          |inhabit|inhabits|inhabiting|exist|exists|residing|reside|common|also)
          \s(?:only\s|also\s|naturally\s|exclusively\s)*(?:in|to|of|from|on|throughout|at|within|across|around))
      | (?P<about>about|regarding|concerning|(?:dealing|deals?|that\sdeal)\swith|on\sthe\s(?:subject|topic|theme)\sof
          |focus(?:ed|ing|es)?\son|with\sthemes?\sof|relat(?:ing|ed)\sto|discuss(?:es|ing)?|involv(?:e|es|ed|ing)
          |depict(?:s|ing)?|have\sto\sdo\swith|centered\s(?:on|around))
      | (?P<by>(?:that\swere\s|was\s|were\s)?(?:written|authored|penned)\sby|by)
      | (?P<participle>(?!coming|following|during|according|(?:feed|breed|need|seed)\s
     |(?:released|published|produced|issued|printed)\sin\b)
          (?:(?:[a-z]{2,}(?:ed|ing)|made|remade|shown|known|drawn|given|driven|taken|spoken|sung|held|built|told|sold|won)
             \s(?:by|in|into|on|for|from|to|with|at|of|as|using)
          |set\sto|featur(?:ing|e|es)|starring|using))
      | (?P<from>from(?:\sthe\syears?)?|(?:released|published|made|produced|written|issued|printed)\sin|out\sof|dating\sfrom)
      | (?P<of>of) | (?P<in>in|within|throughout|inside) | (?P<on>on)
      | (?P<other>for|with|during|to|under|over|against|at|around|near|without)
      )(?=\s|$)""",
    re.VERBOSE,
)
_VAGUE = frozenset({"its", "their", "some", "any", "all", "other", "various", "many", "which", "are", "is", "as"})
_SKIPPED = ARTICLES | (DEMONSTRATIVES - {"this", "that"}) | _VAGUE
"""Words in front of a head that say nothing of a set of things; "this" and "that" point to one."""
_GERUND = re.compile(r"(?P<participle>[a-z]{3,}ing)$")
_SPAN = 4  # words of the longest marker
_UNKNOWN = frozenset({"name", "other"})
_TIME_WORDS = re.compile(
    r"""\b(?:century|millennium|period|era|ages?|dynasty|wars?|1?\d{3}s?|antiquity|future|past|revolution|renaissance|victorian
        |medieval|prehistory|day|year|night|christmas|winter|summer)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_PERIOD = re.compile(r"\s*\b(?:period|epoch|era|age)$", re.IGNORECASE)
_NESTED = frozenset({"about", "based", "by", "participle", "on", "other"})
_HEAD_PAIRS = frozenset(
    {
        "plant life",
        "animal life",
        "bird life",
        "plant species",
        "animal species",
        "bird species",
        "fish species",
        "tree species",
    }
)
_LEAST_POSSESSIVE = 4  # letters: "'s" alone possesses nothing


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing that is said of a head.

    Attributes:
        kind: what kind of thing: ``year``, ``nat``, ``genre``, ``about``, ``set``, …
        text: its words, without the marker.
        marker: what it begins with after the head ("set in"); blank before the head.
        link: how it is attached: directly (blank), by ``rel``, ``and``, ``also``, ``non``.
        object: the kind of what follows the marker.
    """

    kind: str
    text: str
    marker: str = ""
    link: str = ""
    object: str = ""

    def with_link(self, link: str) -> Facet:
        """Attach it in another way."""
        return replace(self, link=link)


@dataclass(frozen=True, slots=True)
class PhraseFragment:
    """An item taken apart: what stands before the head, the head (None where there is none), what stands after."""

    before: tuple[Facet, ...]
    head: str | None
    domain: str
    after: tuple[Facet, ...]
    words: tuple[str, ...] = ()


def fragment_of(words: Sequence[str]) -> PhraseFragment:
    """Take the words of an item apart.

    >>> fragment = fragment_of("Dutch crime comedy films set in Lisbon".split())
    >>> fragment.head, [facet.text for facet in fragment.before], [facet.text for facet in fragment.after]
    ('films', ['Dutch', 'crime comedy'], ['Lisbon'])
    """
    at = next((place for place in range(len(words)) if marker_at(words, place)), len(words))
    noun, after = _without_articles(words[:at]), postmodifiers(words, at)
    if len(noun) > 1 and noun[-1].lower() in {"genre", "genres"}:
        noun = noun[:-1]
    head, domain, size = _head(noun)
    before = noun[: len(noun) - size] if size else noun
    if head and "based" in before[1:]:
        place = before.index("based", 1)
        after, before = [_basis(before[:place]), *after], before[place + 1 :]
    return PhraseFragment(tuple(_read_premodifiers(before, head)), head, domain, tuple(after), tuple(words))


def _basis(words: Sequence[str]) -> Facet:
    """Read "Knut Hamsun based" and "Cuban novel based"."""
    text = " ".join(words)
    if is_name(text):
        return Facet("based", f"works by {text}", "based on", "", "name")
    return Facet("based", text if text.endswith("s") else f"{text}s", "based on", "", "other")


def _read_premodifiers(words: Sequence[str], head: str | None) -> list[Facet]:
    """Read the words before a head; the "Books" of a publisher are not only the head."""
    found = modifiers(words)
    if (
        head == "Books"
        and found
        and found[-1].kind == "publisher"
        and not found[-1].text.endswith(("Books", "Library", "Press"))
    ):
        found[-1] = replace(found[-1], text=f"{found[-1].text} Books")
    return found


def marker_at(words: Sequence[str], at: int) -> re.Match[str] | None:
    """Find the marker of a postmodifier that begins at a word."""
    if words[at][0] in '"“«':
        return None
    gerund = _GERUND.match(words[at]) if at and words[at - 1].endswith("s") and at + 1 < len(words) else None
    return gerund or _MARKERS.match(" ".join(words[at : at + _SPAN]).lower())


def _without_articles(words: Sequence[str]) -> list[str]:
    start = 0
    while start < len(words) - 1 and words[start].lower() in _SKIPPED:
        start += 1
    return list(words[start:])


def _head(noun: Sequence[str]) -> tuple[str | None, str, int]:
    """Find the head at the end of a noun phrase: its words, its domain, of how many words it is."""
    if not noun:
        return None, "", 0
    pair = " ".join(noun[-2:]).lower()
    if pair in _HEAD_PAIRS:
        return pair, "organisms", 2
    low = noun[-1].lower()
    if low in {"fiction", "nonfiction"} and len(load_gazetteer().runs(noun)[-1][1].split()) > 1:
        return None, "", 0
    if low in load_gazetteer().heads and not (
        len(noun) == 1 and low in {"non-fiction", "nonfiction", "fiction", "short", "shorts"}
    ):
        return noun[-1], load_gazetteer().heads[low], 1
    return None, "", 0


def modifiers(words: Sequence[str]) -> list[Facet]:
    """Group the words before a head into facets: known runs, then runs of unknown words."""
    found: list[Facet] = []
    runs = load_gazetteer().runs([_strip_possessive(word) for word in words])
    for kind, text in runs:
        if len(runs) > 1 and text.lower() in _SKIPPED and not (text.lower() == "the" and found and found[-1].kind == "name"):
            continue
        facet = Facet("name", text) if text.lower() == "the" else _modifier(kind, text)
        if found and facet.kind in _UNKNOWN and found[-1].kind in _UNKNOWN:
            both = "name" if found[-1].kind == facet.kind == "name" else "other"
            facet = Facet(both, f"{found.pop().text} {text}")
        found.append(facet)
    return [_classify_name(facet) for facet in found]


def _modifier(kind: str, text: str) -> Facet:
    """Write a modifier as categories do, and tell unknown ones apart by their capitals."""
    low = text.lower()
    if kind in {"year", "decade", "century"}:
        return Facet(kind, time_of(low)[1])
    if kind == "genre":
        return Facet(kind, text if text.isupper() else load_gazetteer().spelt.get(low, low))
    if kind == "other" and "-" in text and (place := load_gazetteer().place(text.replace("-", " "))):
        return Facet("place", place)
    return Facet(("name" if is_name(text) else "other") if kind == "other" else kind, text)


def _strip_possessive(word: str) -> str:
    """Take the possessive ending off what is not a genre of its own ("children's")."""
    low = word.lower().replace("’", "'")
    possesses = low.endswith("'s") and len(low) >= _LEAST_POSSESSIVE and not low[0].isdigit()
    return word[:-2] if possesses and load_gazetteer().kind(low) is None else word


def _classify_name(facet: Facet) -> Facet:
    """Mark a name that ends as publishers' names do as a publisher."""
    if facet.kind == "name" and facet.text.split()[-1].lower() in word_list("publishers"):
        return replace(facet, kind="publisher")
    return facet


def postmodifiers(words: Sequence[str], at: int = 0) -> list[Facet]:
    """Cut what follows a head into facets, each from its marker to the next."""
    found: list[tuple[str, str, list[str]]] = []
    while at < len(words):
        match = marker_at(words, at)
        if match and not _is_nested(found, match, words, at):
            found.append((match.lastgroup or "", match.group(), []))
            at += len(match.group().split())
            continue
        if found:
            found[-1][2].append(words[at])
        at += 1
    return [_facet(kind, marker, objects) for kind, marker, objects in found if objects]


def _is_nested(found: Sequence[tuple[str, str, list[str]]], match: re.Match[str], words: Sequence[str], at: int) -> bool:
    """Check whether a preposition belongs to the object before it: "about the history of Spain"."""
    if not found:
        return False
    before, _, objects = found[-1]
    match match.lastgroup:
        case _ if not objects:
            return True
        case "of" | "on" | "other":
            return True
        case "in":
            return before in _NESTED
        case "from":
            return before in _NESTED and object_kind(" ".join(words[at + 1 : at + 4])) == "other"
        case _:
            return False


def _facet(kind: str, marker: str, objects: Sequence[str]) -> Facet:
    text = " ".join(objects)
    what = object_kind(text)
    if kind in {"from", "of", "in", "found"} and what == "period":
        return Facet("period", _PERIOD.sub("", text.removeprefix("the ").removeprefix("The ")), "", "", "period")
    return Facet(kind, text, marker, "", what)


def object_kind(text: str) -> str:
    """Return the kind of an object: a year, a decade, a century, a period, a place, another time, a name, or something else."""
    bare = re.sub(r"^(?:the|a|an)\s", "", text, flags=re.IGNORECASE)
    low = bare.lower()
    kind = load_gazetteer().kind(low) or load_gazetteer().kind(_PERIOD.sub("", low))
    if kind in {"year", "decade", "century", "period"}:
        return kind
    if load_gazetteer().place(bare):
        return "place"
    if _TIME_WORDS.search(low):
        return "time"
    return "name" if is_name(bare) else "other"
