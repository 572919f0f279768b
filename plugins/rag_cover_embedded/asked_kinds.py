"""Short texts without the kind of thing that is asked for: no amount after "how many", no time after "when did".

Whoever asks for a number or a time is told one in digits or in a word for it. A text without either answers something else,
however surely the network takes a bare name or a bare noun ("Yellow.") for an answer. Many words can stand for either, and any
of them counts: of 10,686 texts that answer such a question, written for training and probes, 4 lack all of them, and of 4,766
natural ones 3 do (`benchmarks/judge/word_rules.py`).
"""

from __future__ import annotations

import re

from rag_cover_embedded.quantities.moments import MONTHS
from rag_cover_embedded.quantities.numerals import CARDINALS

__all__ = ["asks_for_kind", "lacks_asked_kind"]

_LEADING = r"\W*(?:(?:and|so|but|then|at|in|on|for|to|by|from|of|with|since|until|about|up\ to|roughly|approximately)\s+)*"
_AMOUNTS = (
    "year|age|percentage|per cent|percent|temperature|number|price|speed|height|weight|width|length|depth|population|distance"
    "|fee|cost|fine|deposit|salary|boiling point|melting point|atomic number"
)
_ASKS = re.compile(
    rf"{_LEADING}(?:how (?:many|much|old|tall|high|deep|heavy|far|wide|big|large|fast|hot|cold|long|often)"
    rf"|(?:what|which) (?:{_AMOUNTS})|what(?: is| was|['’]s) the (?:{_AMOUNTS})"
    r"|when (?:did|was|were|will)|(?:what|which) (?:time|day|date|month|season|weekday|decade|century))\b",
    re.IGNORECASE,
)
_ASKS_HOW_MANY = re.compile(rf"{_LEADING}how many\b", re.IGNORECASE)
_ITEM_END = re.compile(r"[,;\n]")
_LISTED = 2
"""Ends of items from which a text may list what is counted."""
_TELLING = (
    frozenset(CARDINALS)
    | frozenset(MONTHS)
    | frozenset(
        """hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens couple half
    halves quarter quarters third thirds fourth fourths fifth fifths tenth tenths once twice thrice first double
    triple single pair pairs a an another no not none never nothing nobody neither nor without hardly every each all
    both always ever only any some few fewer several many more most much less least little enough plenty lot lots full
    whole entire unlimited free gratis complimentary maximum than like too very quite halfway across same size rare
    uncommon unknown forever life lifelong lifetime night overnight midnight midday noon morning afternoon evening
    daily weekly monthly quarterly yearly week weeks month months year years decade decades until till jan feb mar apr
    jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun weekend weekends spring summer autumn
    winter fall season seasons dawn dusk sunrise sunset tonight now soon later ago since during before after
    afterwards while when whenever as already still last next early earlier late time times sometimes prior era age
    war reign easter christmas term terms holiday holidays end ends ended ending birth death then if upon on at in by
    from under with within between toward towards around circa about rarely often seldom long old young new modern
    ancient medieval score scores gross nil nought handful bit pinch ramadan eid passover diwali hanukkah halloween
    thanksgiving carnival lent advent pentecost whitsun midsummer midwinter solstice equinox renaissance antiquity
    premodern victorian tudor jurassic triassic cretaceous request needed good ad bc bce ce am pm corner door near
    nearby far close opposite adjacent throw distance inch inches foot feet yard mile miles acre acres pound pounds
    euro euros dollar dollars cent cents degree degrees percent litre litres gram grams kilo kilos metre metres ages
    up pace length height width depth weight speed fortune peanuts crumbs splash bedtime lunchtime stop stops walk
    ride
    """.split()  # noqa: SIM905  # lists of words, not of lines
    )
)
_TELLING_FORM = re.compile(
    r"""\d|[½¼¾⅓⅔%]|n['’]t\b|\w+-(?:deep|high|long|wide|sized)\b
    |\b(?:\w+teen|\w+fold|bi-?\w+ly|[ivxlcdm]{2,}|\w*days?|tomorrow)\b
    |\b(?:annual|beg[aiu]n|brief|centur|constant|equal|follow|fortnight|frequent|hour|immediate|includ|indefinite|instant|minut|moment|noon
        |normal|occasional|permanent|prehistor|quick|recent|regular|second|short|start|temporar|through|usual)""",
    re.IGNORECASE | re.VERBOSE,
)
_PERIOD = re.compile(r"\b[Tt]he [A-Z]")
"""How names of periods and events begin: "The Great Depression"."""
_WORD = re.compile(r"\w+")
_LONGEST = 300
"""Characters of the longest text that is looked at."""


def asks_for_kind(question: str, text: str) -> bool:
    """Return whether a question asks for an amount or for a time in the past or to come, and the text is short enough to tell.

    >>> asks_for_kind("How long is it?", "Two miles."), asks_for_kind("Who wrote it?", "Ada.")
    (True, False)
    """
    return len(text) <= _LONGEST and _ASKS.match(question) is not None


def lacks_asked_kind(question: str, text: str) -> bool:
    """Return whether a question asks for an amount or for a time in the past or to come, and a short text has neither.

    >>> lacks_asked_kind("What is the atomic number of gold?", "Yellow."), lacks_asked_kind("How many legs has a crab?", "Ten.")
    (True, False)
    >>> lacks_asked_kind("When was the bridge finished?", "Thomas Bouch."), lacks_asked_kind("When was it?", "Under Trajan.")
    (True, False)
    """
    if not asks_for_kind(question, text):
        return False
    if _ASKS_HOW_MANY.match(question) and len(_ITEM_END.findall(text)) >= _LISTED:
        return False
    if _TELLING_FORM.search(text) or _PERIOD.search(text):
        return False
    return _TELLING.isdisjoint(_WORD.findall(text.lower()))
