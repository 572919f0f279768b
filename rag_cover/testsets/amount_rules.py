"""Questions for amounts, times, places and ways, and whether something is allowed.

"A wash costs 1.20." answers "How much does a wash cost?".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_cover.english.lexicon import one_of
from rag_cover.english.noun_phrases import is_plural
from rag_cover.testsets.named_things import NOUN_PHRASE, PARTICIPLE, names_something

__all__ = ["AMOUNT_RULES", "MONTHS", "PEOPLE", "begins_with_amount"]

_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen",
]  # fmt: skip
_NUMBER = rf"(?:\d[\d.,]*|{one_of([*_WORDS, 'eighteen', 'nineteen'])}|{one_of(_TENS)}(?:-\w+)?)"
_BOUNDS = [
    "at least", "at most", "up to", "no more than", "not more than", "more than", "less than", "fewer than",
    "a maximum of",
]  # fmt: skip
_NEAR = [
    "about", "around", "some", "roughly", "nearly", "almost", "exactly", "just", "only", "under", "over", "between",
    "from",
]  # fmt: skip
_ROUGHLY = rf"(?:(?:{'|'.join([*_BOUNDS, *_NEAR])}) )*"
_UNIT_OF_TIME = r"(?:(?:working|business|calendar|school) )?(?:second|minute|hour|day|night|week|month|year|decade)s?"
_SPAN = (
    rf"{_ROUGHLY}(?:{_NUMBER}|an?|one|half an?|a few|several)(?: (?:to|or|and) {_NUMBER})?(?: and a half)?[ -]{_UNIT_OF_TIME}"
)
"""A length of time: "about two to three weeks"."""
_CURRENCY = [
    "euros?", "dollars?", "pounds?", "cents?", "pence", "francs?", "crowns?", "kronor", "kroner", "yen", "rupees?",
    "EUR", "USD", "GBP", "CHF",
]  # fmt: skip
_MONEY = rf"{_ROUGHLY}(?:[£$€] ?\d[\d.,]*|(?:EUR|USD|GBP|CHF) \d[\d.,]*|{_NUMBER} (?:{'|'.join(_CURRENCY)}))"
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip
_DAYS = ["Mondays?", "Tuesdays?", "Wednesdays?", "Thursdays?", "Fridays?", "Saturdays?", "Sundays?", "weekdays", "weekends"]
_DATE = rf"(?:\d{{1,2}} (?:{'|'.join(MONTHS)})|(?:1\d|20)\d\d|{'|'.join([*_DAYS, *MONTHS])})"
_HOUR = r"(?:\d{1,2}(?::\d\d| ?(?:am|pm|a\.m\.|p\.m\.|o['’]clock))|noon|midnight)"
_CLOCK = rf"(?:\d|noon|midnight|dawn|dusk|sunrise|sunset|half past|{_NUMBER} (?:o['’]clock|am|pm|in the))"
_SEASON = rf"(?:early |late |mid-)?(?:{'|'.join(MONTHS)}|spring|summer|autumn|winter|(?:1\d|20)\d\d)"
_MOMENT = rf"(?:at (?:about )?{_CLOCK}|on (?:the )?(?:first|last|{_DATE})|in {_SEASON})"
_BY_THEN = (
    rf"(?:(?P<within>within) {_SPAN}|(?:by|before|no later than|(?P<until>until)) (?:the (?:end|first|last)|{_HOUR}|{_DATE}))"
)
_TIMES = rf"(?:every (?:\w+ )?{_UNIT_OF_TIME}|once|twice|three times|daily|weekly|monthly|yearly)"
_COUNTED = {
    "has": "have", "have": "have", "holds": "hold", "seats": "seat", "contains": "contain", "includes": "include",
    "offers": "offer", "comprises": "comprise", "serves": "serve", "employs": "employ", "needs": "need",
    "requires": "require", "receives": "receive", "gets": "get", "earns": "earn", "accommodates": "accommodate",
    "sleeps": "sleep", "stores": "store", "owns": "own", "uses": "use", "covers": "cover",
}  # fmt: skip
"""Verbs of which rules ask "how many … does it", and their base forms."""
_HELD = {"had": "have", "held": "hold", "seated": "seat", "employed": "employ", "served": "serve", "owned": "own"}
_BASES = _COUNTED | {base: base for base in _COUNTED.values()} | _HELD
_THINGS = r"(?P<things>(?:[a-z][\w-]*[ ]){0,2}?(?:[a-z][\w-]*s|people|children|men|women))"
_MEASURES = [
    "weight", "height", "width", "length", "depth", "temperature", "output", "limit", "speed", "age", "capacity",
    "range", "distance", "size", "pressure", "rate", "allowance", "period", "deadline", "maximum", "minimum",
    "duration", "frequency", "voltage", "power", "area", "volume", "population", "threshold", "timeout", "interval",
    "term", "quota",
]  # fmt: skip
_UNITS = [
    "%", "percent", "°C", "°F", "°", "degrees", "W", "kW", "MW", "kWh", "KB", "MB", "GB", "TB", "mm", "cm", "km", "m",
    "kg", "g", "litres", "metres", "miles", "feet", "tonnes", "bar", "volts",
]  # fmt: skip
_UNIT = rf"(?:{'|'.join(map(re.escape, _UNITS))}|per cent|[a-z]+s)"
_COMPARED = {
    "longer": "long", "higher": "high", "taller": "tall", "wider": "wide", "deeper": "deep", "thicker": "thick",
    "older": "old", "heavier": "heavy", "larger": "large", "bigger": "big",
}  # fmt: skip
_DIMENSIONS = ["long", "high", "tall", "wide", "deep", "thick", "old", "heavy"]
_PLACED = [
    "kept", "stored", "located", "found", "situated", "placed", "mounted", "displayed", "held", "sold", "parked",
    "printed", "served", "collected", "bought", "returned", "shown", "registered", "stamped", "left", "posted",
]  # fmt: skip
_KEPT = rf"(?P<done>{one_of([*_PLACED, 'picked up', 'handed in'])})"
_ORDINAL = rf"(?:first|second|third|fourth|last|{'|'.join(_DAYS)})"
_PLACE = (
    rf"(?:in|at|on|from|under|behind|beneath|beside|near|next to|inside|outside) "
    rf"(?!(?:the )?{_ORDINAL}\b)(?:the|an?|your|[A-Z])"
)
_STANDS = {"stands": "stand", "hangs": "hang", "lies": "lie", "lives": "live", "meets": "meet", "starts": "start"}
_MODAL = r"(?P<modal>can|may|must|should|have to|has to|need to|needs to)"
_DONE = rf"(?P<done>(?:\w+ly )?{PARTICIPLE})"
PEOPLE = [
    "you", "members", "visitors", "guests", "tenants", "students", "employees", "staff", "residents", "customers",
    "passengers", "readers", "children", "adults", "patients", "parents", "drivers", "users", "volunteers",
]  # fmt: skip
_EACH = r"(?P<rest>(?: (?:at once|at a time|at the same time|(?:a|per) (?:day|week|month|year)))?)"
_AMOUNT = re.compile(rf"(?:{_SPAN}|{_MONEY}|{_ROUGHLY}{_NUMBER}\b)")
_COST = re.compile(rf"{NOUN_PHRASE} (?P<verb>costs?) (?:you )?(?:{_MONEY}|{_ROUGHLY}\d[\d.,]*|nothing)\b.*")
_PRICE = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are|was|were) {_MONEY}\b.*")
_TAKES = re.compile(rf"{NOUN_PHRASE} (?:(?:usually|normally|often) )?(?P<verb>takes?|took|lasts?|lasted) (?:for )?{_SPAN}\b.*")
_STATE = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are|was|were) (?P<state>valid|open|closed|free|{_DONE}) for {_SPAN}\b.*")
_LEND = re.compile(rf"{NOUN_PHRASE} {_MODAL} be {_DONE} for {_SPAN}\b.*")
_SOON = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are) {_DONE} within {_SPAN}\b.*")
_WHEN = re.compile(
    rf"{NOUN_PHRASE} (?P<verb>open|close|start|begin|end|leave|arrive|expire|depart)s? (?:{_MOMENT}|after {_SPAN})\b.*"
)
_OPEN = re.compile(
    rf"{NOUN_PHRASE} (?P<be>is|are) (?P<state>open|closed|shut|free) (?:daily )?(?:from|until|between|{_MOMENT})\b.*"
)
_FROM_TO = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are) {_DONE} (?:daily )?from {_HOUR}.*")
_OFTEN = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are|{_MODAL} be) {_DONE} {_TIMES}\b.*")
_COUNT = re.compile(rf"{NOUN_PHRASE} (?P<verb>{one_of(_BASES)}) {_ROUGHLY}{_NUMBER} {_THINGS}\b(?! (?:for every|per)\b).*")
_MAY = re.compile(rf"(?P<np>{one_of(PEOPLE)}) {_MODAL} (?P<do>[a-z]+) {_ROUGHLY}{_NUMBER} {_THINGS}\b{_EACH}.*")
_THERE = re.compile(
    rf"there (?P<be>are|were) {_ROUGHLY}{_NUMBER} {_THINGS} "
    rf"(?P<where>(?:in|at|on|behind|under|near|inside) [^,;:]{{3,40}})(?:[,;:].*)?"
)
_VALUE = re.compile(
    rf"(?P<np>(?:[\w-]+ ){{0,4}}?(?:{one_of(_MEASURES)})(?: (?:of|for|in) [\w -]{{2,40}}?)?) "
    rf"(?P<be>is|are|was|were) {_ROUGHLY}{_NUMBER} ?{_UNIT}(?!\w).*"
)
_NUMBERED = ["port", "number", "code", "extension", "default", "minimum", "maximum", "limit"]
_SET_TO = re.compile(rf"(?P<np>(?:[\w-]+ ){{1,4}}?(?:{one_of(_NUMBERED)})) (?P<be>is|are) (?:set to )?{_NUMBER}")
_DIMENSION = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are|was|were) {_ROUGHLY}{_NUMBER} \w+ (?P<how>{one_of(_DIMENSIONS)})\b.*")
_AT_MOST = re.compile(rf"{NOUN_PHRASE} (?:must|may|should) not be (?P<how>{one_of(_COMPARED)}) than {_NUMBER}\b.*")
_WEIGHS = re.compile(rf"{NOUN_PHRASE} (?P<verb>weighs?|weighed) {_ROUGHLY}{_NUMBER}\b.*")
_OLD = re.compile(rf"{NOUN_PHRASE} {_MODAL} be {_ROUGHLY}{_NUMBER}(?: years old| or over| or older)\b.*")
_DUE = re.compile(rf"{NOUN_PHRASE} {_MODAL} be {_DONE}(?P<rest>(?: (?:in|to|at|up)(?: [\w ]{{1,30}}?)?)?) {_BY_THEN}.*")
_WHERE = re.compile(rf"{NOUN_PHRASE} (?P<be>is|are|was|were|{_MODAL} be) {_KEPT} {_PLACE}.*")
_STAND = re.compile(
    rf"{NOUN_PHRASE} (?:{_MODAL} )?(?P<verb>{one_of([*_STANDS, *_STANDS.values()])}) (?:only )?(?!from){_PLACE}.*"
)
_ONLY = re.compile(rf"{NOUN_PHRASE} {_MODAL} be {_DONE} only {_PLACE}.*")
_ALLOWED = re.compile(
    rf"{NOUN_PHRASE} (?P<modal>can|may|must|should) ?not "
    r"(?P<do>(?!only\b|be\b|exist|need|want|know)[a-z]+(?: (?!only\b|yet\b)[^\s,;:]+){1,9})"
    r"(?:[,;:].*)?"
)
_WAY = re.compile(rf"{NOUN_PHRASE} {_MODAL} (?P<do>(?!be\b|not\b)[a-z]+ [^,:;]{{3,80}}?) by (?:\w+ly )?[a-z]+ing\b.*")

_Asked = tuple[str, str | None] | None


def begins_with_amount(text: str) -> bool:
    """Return whether a text begins with a number or a length of time.

    >>> begins_with_amount("about an hour and a half"), begins_with_amount("no preparation")
    (True, False)
    """
    return _AMOUNT.match(text) is not None


def _cost(text: str) -> _Asked:
    if match := _COST.fullmatch(text):
        did = match["verb"] == "cost" and not is_plural(match["np"])
        return _about(match, f"how much {'did' if did else _do(match)} {match['np']} cost?")
    return _about(match, f"how much {match['be']} {match['np']}?") if (match := _PRICE.fullmatch(text)) else None


def _duration(text: str) -> _Asked:
    if match := _TAKES.fullmatch(text):
        do = "did" if match["verb"] in {"took", "lasted"} else _do(match)
        return _about(match, f"how long {do} {match['np']} {'take' if match['verb'].startswith('t') else 'last'}?")
    if match := _STATE.fullmatch(text):
        return _about(match, f"how long {match['be']} {match['np']} {match['state']}?")
    if match := _LEND.fullmatch(text):
        return _about(match, f"how long {_ask(match)}be {match['done']}?")
    return (
        _about(match, f"how quickly {match['be']} {match['np']} {match['done']}?") if (match := _SOON.fullmatch(text)) else None
    )


def _when(text: str) -> _Asked:
    if match := _WHEN.fullmatch(text):
        return _about(match, f"when {_do(match)} {match['np']} {match['verb']}?")
    if match := _OPEN.fullmatch(text):
        return _about(match, f"when {match['be']} {match['np']} {match['state']}?")
    if match := _FROM_TO.fullmatch(text):
        return _about(match, f"when {match['be']} {match['np']} {match['done']}?")
    if match := _DUE.fullmatch(text):
        asked = "how soon" if match["within"] else "until when" if match["until"] else "by when"
        return _about(match, f"{asked} {_ask(match)}be {match['done']}{match['rest']}?")
    return None


def _frequency(text: str) -> _Asked:
    match = _OFTEN.fullmatch(text)
    return match and _about(match, f"how often {_ask_be(match)} {match['done']}?")


def _count(text: str) -> _Asked:
    if match := _THERE.fullmatch(text):
        place = match["where"].split(" ", 1)[1]
        return (f"how many {match['things']} {match['be']} {match['where']}?", place) if names_something(place) else None
    if match := _MAY.fullmatch(text):
        return f"how many {match['things']} {_ask(match)}{match['do']}{match['rest']}?", None
    if match := _COUNT.fullmatch(text):
        do = "did" if match["verb"] in _HELD else _do(match)
        return _about(match, f"how many {match['things']} {do} {match['np']} {_BASES[match['verb']]}?")
    return None


def _size(text: str) -> _Asked:
    if match := _OLD.fullmatch(text):
        return _about(match, f"how old {_ask(match)}be?")
    if match := _AT_MOST.fullmatch(text):
        return _about(match, f"how {_COMPARED[match['how']]} may {match['np']} be?")
    if match := _DIMENSION.fullmatch(text):
        return _about(match, f"how {match['how']} {match['be']} {match['np']}?")
    if match := _WEIGHS.fullmatch(text):
        return _about(match, f"how much {'did' if match['verb'] == 'weighed' else _do(match)} {match['np']} weigh?")
    if match := _VALUE.fullmatch(text) or _SET_TO.fullmatch(text):
        bare = match["be"] == "is" and not re.match(r"(?:the|an?|your)\b|\S+[A-Z]", match["np"])
        return _about(match, f"what {match['be']} {'the ' if bare else ''}{match['np']}?")
    return None


def _where(text: str) -> _Asked:
    if match := _WHERE.fullmatch(text):
        return _about(match, f"where {_ask_be(match)} {match['done']}?")
    if match := _ONLY.fullmatch(text):
        return _about(match, f"where {_ask(match)}be {match['done']}?")
    if match := _STAND.fullmatch(text):
        if match["modal"]:
            return _about(match, f"where {_ask(match)}{match['verb']}?")
        return _about(match, f"where {_do(match)} {match['np']} {_STANDS.get(match['verb'], match['verb'])}?")
    return None


def _way(text: str) -> _Asked:
    match = _WAY.fullmatch(text)
    if match is None:
        return None
    asked = f"how {_ask(match)}{match['do']}?"
    return (asked, None) if match["np"] == "you" else _about(match, asked)


def _allowed(text: str) -> _Asked:
    match = _ALLOWED.fullmatch(text)
    if match is None:
        return None
    return _about(match, f"{'may' if match['modal'] == 'must' else match['modal']} {match['np']} {match['do']}?")


def _about(match: re.Match[str], question: str) -> _Asked:
    return (question, match["np"]) if names_something(match["np"]) else None


def _do(match: re.Match[str]) -> str:
    return "do" if is_plural(match["np"]) else "does"


def _ask(match: re.Match[str]) -> str:
    """Write the modal verb before what it is said of: "must the key ", and of "has to" "does the key have to "."""
    modal, to, _ = match["modal"].partition(" to")
    if not to:
        return f"{modal} {match['np']} "
    base = "have" if modal.startswith("ha") else "need"
    return f"{'do' if modal in {'have', 'need'} else 'does'} {match['np']} {base} to "


def _ask_be(match: re.Match[str]) -> str:
    """Write "is the key" or "must the key be"."""
    return f"{match['be']} {match['np']}" if match["modal"] is None else f"{_ask(match)}be"


AMOUNT_RULES: dict[str, Callable[[str], _Asked]] = {
    "cost": _cost,
    "duration": _duration,
    "when": _when,
    "how often": _frequency,
    "how many": _count,
    "size": _size,
    "where": _where,
    "way": _way,
    "allowed": _allowed,
}
"""Rules as `rag_cover.testsets.question_rules.RULES`, of which the answer is a number, a time, a place, a way or a no."""
