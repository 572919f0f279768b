"""What kind of thing a word of a category's name is: a nationality, a place, a year, a genre and so on.

A small gazetteer (``gazetteer.toml``), and the shapes of years and of names where it says nothing. The longest known run of
words wins, so that "science fiction" is one genre and "Northern Ireland" one place.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_cover.english.lexicon import NAME_PARTICLES

__all__ = ["Gazetteer", "is_name", "load_gazetteer", "time_of", "word_list"]

GAZETTEER = Path(__file__).with_name("gazetteer.toml")

_YEAR = re.compile(r"(?:1[0-9]{3}|20[0-9]{2})")
_DECADE = re.compile(r"((?:1[0-9]|20)[0-9]0)['’]?s")
_SHORT_DECADE = re.compile(r"['’]?([2-9]0)['’]?s")
_CENTURY = re.compile(r"(?:\d{1,2}(?:st|nd|rd|th)[ -](?:century|centuries|millennium))", re.IGNORECASE)
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_LONGEST = 5  # words of a known name
_SMALL = NAME_PARTICLES | {"in", "les", "&"}  # those inside titles and names of places
_KINDS = {
    "places": "place",
    "genres": "genre",
    "languages": "language",
    "statuses": "status",
    "imprints": "publisher",
    "events": "event",
}


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Known words: ``kinds`` of lower-case runs of words, how places and genres are written, domains of heads."""

    kinds: Mapping[str, str]
    places: Mapping[str, str]
    spelt: Mapping[str, str]
    heads: Mapping[str, str]

    def kind(self, low: str) -> str | None:
        """Return the kind of a lower-case run of words; None where nothing is known."""
        if low[:1].isdigit() or low[:1] in "'’":
            return time_of(low)[0]
        return self.kinds.get(low)

    def adjectives(self) -> Iterator[tuple[str, str]]:
        """Pair each adjective of a place, in lower case, with the place."""
        return ((low, self.places[low]) for low, kind in self.kinds.items() if kind == "nat" and low in self.places)

    def place(self, text: str) -> str | None:
        """Return the name of a place, of a country also by its adjective; None where none is known."""
        low = text.lower().removeprefix("the ").replace("’", "'")
        known = self.places.get(low) or self.places.get(low.removesuffix("'s"))
        if known:
            return known
        first, _, rest = low.partition(" ")
        if first in word_list("directions") and rest and self.place(rest):
            return text.removeprefix("the ").removeprefix("The ")
        last = low.rsplit(" ", 1)[-1]
        return text.removeprefix("the ").removeprefix("The ") if last in word_list("land_forms") and " " in low else None

    def runs(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Cut words into the longest known runs: (kind, text) of each; unknown words stand alone, of kind ``other``."""
        found: list[tuple[str, str]] = []
        at, lows = 0, [word.lower() for word in words]
        while at < len(words):
            for size in range(min(_LONGEST, len(words) - at), 0, -1):
                kind = self.kind(" ".join(lows[at : at + size]))
                if kind or size == 1:
                    found.append((kind or "other", " ".join(words[at : at + size])))
                    at += size
                    break
        return found


def time_of(low: str) -> tuple[str | None, str]:
    """Return the kind of a time, and write it as categories do.

    >>> time_of("1930's")
    ('decade', '1930s')
    """
    if _YEAR.fullmatch(low):
        return "year", low
    if match := _DECADE.fullmatch(low):
        return "decade", match[1] + "s"
    if match := _SHORT_DECADE.fullmatch(low):
        return "decade", f"19{match[1]}s"
    if _CENTURY.fullmatch(low):
        return "century", low.replace(" ", "-").replace("centuries", "century")
    return None, low


def is_name(text: str) -> bool:
    """Check whether words are written as a name: a capital in every word but the smallest."""
    words = [word for word in text.split() if word.lower() not in _SMALL]
    return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words)


@cache
def _lists() -> dict[str, list[str]]:
    raw = tomllib.loads(GAZETTEER.read_text(encoding="utf-8"))
    return {name: [item.strip() for item in text.replace("\n", " ").split(",") if item.strip()] for name, text in raw.items()}


@cache
def word_list(name: str) -> frozenset[str]:
    """Return one of the gazetteer's lists, in lower case.

    >>> "accept" in word_list("verbs")
    True
    """
    return frozenset(item.lower() for item in _lists()[name])


@cache
def load_gazetteer() -> Gazetteer:
    """Read the gazetteer once."""
    lists = _lists()
    demonyms = {a.strip(): b.strip() for a, b in (item.split("=") for item in lists["demonyms"])}
    kinds: dict[str, str] = {}
    for name, kind in _KINDS.items():
        kinds |= {item.lower().replace("&", "and"): kind for item in lists[name]} | {item.lower(): kind for item in lists[name]}
    kinds |= {item.lower(): "place" for item in demonyms.values()}
    kinds |= {item.lower(): "nat" for item in demonyms} | {item.lower(): "period" for item in lists["periods"]}
    places = {item.lower().removeprefix("the "): item for item in (*lists["places"], *demonyms.values())}
    return Gazetteer(
        kinds=kinds,
        places={low.lower(): place for low, place in demonyms.items()} | places,
        spelt={item.lower(): item for item in lists["genres"]},
        heads={word: name for name in ("films", "books", "organisms") for word in lists[name]},
    )
