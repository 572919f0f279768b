"""Dates, times of day, decades and centuries as English writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction

from rag_cover_embedded.quantities.values import Quantity, Value

__all__ = ["MONTHS", "blank", "find_moments"]

_BLANK = "\0"

MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = "|".join(name if len(name) <= 4 else rf"{name}|{name[:3]}\b\.?" for name in MONTHS) + r"|sept\b\.?"  # noqa: PLR2004
_SMALL = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_HOUR = "|".join(_SMALL) + r"|\d{1,2}"
_MINUTES = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
]
_HALF_DAY = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|in the (?:morning|afternoon|evening)|at night)"
_WRITTEN = re.compile(
    rf"\b(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)\b"
    rf"|\b(?P<one>\d{{1,2}})(?P<mark>[./-])(?P<two>\d{{1,2}})(?P=mark)(?P<y>\d{{4}})\b"
    rf"|\b(?:the\s+)?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_MONTH})(?:,?\s+(?P<y1>\d{{4}}))?\b"
    rf"|\b(?P<m2>{_MONTH})\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y2>\d{{4}}))?\b"
    rf"|\b(?P<m3>{_MONTH})\s+(?:of\s+)?(?P<y3>\d{{4}})\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"\b(?P<h1>\d{{1,2}})[:.](?P<min>[0-5]\d)(?:\s?{_HALF_DAY.replace('half', 'half1')})?(?![\d%:])"
    rf"|\b(?P<h2>{_HOUR})(?:\s+o['’]clock)?\s?{_HALF_DAY.replace('half', 'half2')}"
    rf"|\b(?P<h3>{_HOUR})\s+o['’]clock\b"
    rf"|\b(?P<part>{'|'.join(_MINUTES)})\s+(?P<side>past|to)\s+(?P<h4>{_HOUR})\b(?:\s+{_HALF_DAY.replace('half', 'half4')})?"
    rf"|\b(?P<named>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_AGES = re.compile(
    rf"\b(?:the\s+)?(?P<hundred>\d{{1,2}})00s\b|\b(?:the\s+)?(?P<ten>\d{{3}})0s\b"
    rf"|\b(?:the\s+)?(?:(?P<nth>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))[\s-]century\b",
    re.IGNORECASE,
)


def find_moments(text: str) -> list[Quantity]:
    """Find dates, times and centuries, none within another.

    >>> [sorted(each.values) for each in find_moments("22:30 on 20 July 1969")]
    [[('time', Fraction(1350, 1))], [('date', Fraction(19690720, 1))]]
    """
    found: list[Quantity] = []
    for find in (_dates, _times, _ages):
        found += (more := [quantity for quantity in find(text) if quantity.values])
        text = blank(text, more)
    return sorted(found, key=lambda each: each.start)


def blank(text: str, found: Iterable[Quantity]) -> str:
    """Overwrite quantities in a text, so that nothing else is read out of them."""
    letters = list(text)
    for each in found:
        letters[each.start : each.end] = _BLANK * (each.end - each.start)
    return "".join(letters)


def _dates(text: str) -> Iterator[Quantity]:
    for match in _WRITTEN.finditer(text):
        at = match.groupdict()
        if at["year"]:
            values = _date(at["year"], int(at["month"]), at["day"])
        elif at["one"]:  # 06/07/2020 is read both ways
            values = _date(at["y"], int(at["two"]), at["one"]) | _date(at["y"], int(at["one"]), at["two"])
        elif at["m3"]:
            values = frozenset({("month", Fraction(int(at["y3"]) * 100 + _month(at["m3"])))})
        else:
            values = _date(at["y1"] or at["y2"], _month(at["m1"] or at["m2"]), at["d1"] or at["d2"])
        yield Quantity(*match.span(), values)


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _date(year: str | None, month: int, day: str) -> frozenset[Value]:
    """Return a date, or a day of any year; nothing where the calendar has no such day."""
    try:
        date(int(year or 2000), month, int(day))  # 2000 was a leap year
    except ValueError:
        return frozenset()
    number = month * 100 + int(day)
    return frozenset({("date", Fraction(int(year) * 10_000 + number)) if year else ("day of the year", Fraction(number))})


def _times(text: str) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(text):
        at = match.groupdict()
        hour = next((at[key] for key in ("h1", "h2", "h3", "h4") if at[key]), "")
        half = next((at[key] for key in ("half1", "half2", "half4") if at[key]), "") or ""
        if at["named"]:
            minutes = {0 if at["named"].lower() == "midnight" else 720}
        elif at["part"]:
            offset = _MINUTES[" ".join(at["part"].lower().split())] * (1 if at["side"].lower() == "past" else -1)
            minutes = _of_day(hour, offset, half)
        else:
            minutes = _of_day(hour, int(at["min"] or 0), half, is_written=at["h1"] is not None)
        yield Quantity(*match.span(), frozenset(("time", Fraction(each)) for each in minutes))


def _of_day(hour: str, minutes: int, half: str, *, is_written: bool = False) -> set[int]:
    """Return the minutes since midnight that a time may mean.

    Two where the half of the day is not said; but what is written as 7:00 is in the morning, and 12:00 is noon.
    """
    number = _SMALL.index(hour.lower()) + 1 if hour.lower() in _SMALL else int(hour)
    if number > 24:  # noqa: PLR2004  # hours
        return set()
    said = half.lower().replace(".", "")
    if not said and (number > 12 or is_written):  # noqa: PLR2004  # hours
        hours = {number}
    elif said in {"am", "in the morning"}:
        hours = {number % 12}
    elif said == "at night":
        hours = {number % 12 + (12 if 6 <= number < 12 else 0)}  # noqa: PLR2004  # "two at night", "ten at night"
    elif said:
        hours = {number % 12 + 12}
    else:
        hours = {number % 12, number % 12 + 12}
    return {(60 * each + minutes) % 1440 for each in hours}


def _ages(text: str) -> Iterator[Quantity]:
    for match in _AGES.finditer(text):
        at = match.groupdict()
        if at["ten"]:
            value = ("decade", Fraction(int(at["ten"])))
        elif at["hundred"]:
            value = ("century", Fraction(int(at["hundred"]) + 1))
        else:
            value = ("century", Fraction(int(at["nth"] or _ORDINALS.index(at["word"].lower()) + 1)))
        yield Quantity(*match.span(), frozenset({value}))
