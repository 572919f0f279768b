"""Dates, numbers and places of two answers, compared as a question compares them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["is_less", "is_same"]

Value = tuple[float, int, int]
"""Year (or number), month and day; 0 where unknown."""

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH},? (?P<year>\d{{3,4}})\b",
        rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{3,4}})\b",
        rf"\b{_MONTH},? (?P<year>\d{{3,4}})\b",
        r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b",
        r"(?<![\d,.])(?P<year>\d{1,4}) ?(?P<era>BCE?)\b",
    )
)
_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:,\d{3})+|\d+)(?P<rest>\.\d+)?(?: (?P<scale>thousand|million|billion)\b)?", re.IGNORECASE
)
_SCALES: Mapping[str, float] = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_COUNTRIES: Mapping[str, str] = {
    "america": "united states",
    "american": "united states",
    "britain": "united kingdom",
    "british": "united kingdom",
    "danish": "denmark",
    "dutch": "netherlands",
    "english": "england",
    "filipino": "philippines",
    "finnish": "finland",
    "french": "france",
    "greek": "greece",
    "irish": "ireland",
    "norwegian": "norway",
    "polish": "poland",
    "scottish": "scotland",
    "soviet": "soviet union",
    "spanish": "spain",
    "swiss": "switzerland",
    "turkish": "turkey",
    "u.k.": "united kingdom",
    "u.s.": "united states",
    "uk": "united kingdom",
    "us": "united states",
    "usa": "united states",
    "ussr": "soviet union",
    "welsh": "wales",
}
_ENDINGS = frozenset(("", "a", "an", "e", "ean", "en", "ese", "i", "ia", "ian", "ic", "ish", "land", "n", "o", "y"))
_STEM = 4  # letters that a country and its people have in common


def is_less(one: str, other: str) -> bool | None:
    """Check whether one text's date, or else number, comes before another's; None where a text has none, or both are equal.

    Dates are compared as exactly as both are known.

    >>> is_less("10 August 1961", "Nov. 11, 1948"), is_less("1961", "10 August 1961"), is_less("950 m", "1,200 m")
    (False, None, True)
    """
    first, second = _value_in(one), _value_in(other)
    if first is None or second is None:
        return None
    for mine, theirs in zip(first, second, strict=True):
        if mine != theirs:
            return None if mine == 0 or theirs == 0 else mine < theirs
    return None


def _value_in(text: str) -> Value | None:
    for pattern in _DATES:
        if match := pattern.search(text):
            found = match.groupdict()
            month = found.get("month") or ""
            number = int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1 if month else 0
            return (-1 if found.get("era") else 1) * float(found["year"]), number, int(found.get("day") or 0)
    if match := _NUMBER.search(text):
        number_text = f"{match['number'].replace(',', '')}{match['rest'] or ''}"
        return float(number_text) * _SCALES.get((match["scale"] or "").lower(), 1.0), 0, 0
    return None


def is_same(one: str, other: str) -> bool:
    """Check whether two short answers name the same place, country, people or thing.

    >>> is_same("American", "the United States"), is_same("Rabor, Iran", "Iranian"), is_same("Austria", "Australia")
    (True, True, False)
    """
    first, second = _parts(one), _parts(other)
    return any(_alike(mine, theirs) for mine in first for theirs in second)


def _parts(text: str) -> set[str]:
    """Return what stands between commas, without articles, and the countries that words of it stand for."""
    plain = [re.sub(r"^(?:the|an?) ", "", part.strip().casefold()) for part in re.split(r"[,;()]", text)]
    words = {word for part in plain for word in part.split()}
    named = {part.rstrip(".") if part not in _COUNTRIES else _COUNTRIES[part] for part in plain if part}
    return named | {_COUNTRIES[word] for word in words if word in _COUNTRIES}


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if " " in one or " " in other:
        return False
    shared = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    return shared >= _STEM and {one[shared:], other[shared:]} <= _ENDINGS
