"""What two things are compared by, as a question about one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag_cover.decomposition.multihop.words import indefinite, is_person, singular
from rag_cover.english.lexicon import ARTICLES, PREPOSITIONS, SIMPLE_PREPOSITIONS, one_of
from rag_cover.english.noun_phrases import is_plural

__all__ = ["ask_of_both", "ask_of_either"]

_ORDER = r"(?:first|earlier|earliest|later|latest|last|second|before|after|(?:more|most) recently|sooner)"
_AGES = r"(?:older|younger|elder|oldest|youngest)"
_MANY = r"(?:the )?(?:more|most|fewer|less|greatest number of)"
_SINGULAR: Mapping[str, str] = {"are": "is", "were": "was", "do": "does", "have": "has"}
_POSITIVES: Mapping[str, str] = {
    comparative: positive
    for positive, comparatives in (
        ("old", "older younger elder newer oldest youngest newest"),
        ("tall", "taller tallest"),
        ("long", "longer shorter longest shortest"),
        ("large", "larger bigger smaller largest biggest smallest"),
        ("high", "higher lower highest lowest"),
        ("deep", "deeper deepest"),
        ("wide", "wider widest"),
        ("heavy", "heavier heaviest"),
        ("fast", "faster slower fastest"),
        ("far", "farther further"),
        ("close", "closer nearer closest nearest"),
    )
    for comparative in comparatives.split()
}
_COMPARES = rf"\b(?:{_ORDER}|more|most|less|least|better|best|worse|greater|greatest|longest|busier|{'|'.join(_POSITIVES)})\b"
_GREATER = r"(?:larger|greater|higher|bigger|smaller|lower|largest|highest)"
_COMPASS = r"(?:to the )?(?i:north|south|east|west)\w*"
_DONE = r"(?P<done>\w+ed|won|written|sold|made|built|held|begun|sung|shown)"
_MORE = r"(?:the )?(?:more|most|less|least)"
_PRICED = r"(?:the )?(?:cheaper|cheapest|dearer|dearest|pricier|(?:more|most|less|least) expensive)"
_FOR = r"(?: (?:per|for|to|in|on|at|with) .+| a (?:day|week|month|year))?"
_QUESTIONS = (
    (rf"(?:(?:is|was|were) )?born\b.*\b{_ORDER}.*", "When was {x} born?"),
    (rf"(?:has |have )?(?:died|die|passed away)\b.*{_ORDER}.*", "When did {x} die?"),
    (rf"(?:has |have )?(?:come|came) out\b.*{_ORDER}.*", "When did {x} come out?"),
    (rf"(?:came|appeared) {_ORDER}", "When did {x} first appear?"),
    (rf"(?:happened|occurred|took place) (?:.*\b)?{_ORDER}.*", "When did {x} happen?"),
    (rf"(?:started|began) {_ORDER}", "When did {x} begin?"),
    (rf"(?:was|were|is|are|got|been) (?:first )?{_DONE} (?:.*\b)?{_ORDER}.*", "When was {x} {done}?"),
    (rf"(?:was|were|is|are|got|been) {_ORDER} {_DONE}(?: {_ORDER})?", "When was {x} {done}?"),
    (rf"(?P<done>debut|premiere|open|air|form|launch|originate|close|release)e?d {_ORDER}", "When did {x} {done}?"),
    (r"(?:has |have )?lived (?:longer|the longest|a longer life)", "How long did {x} live?"),
    (rf"(?:is|was|are|were) {_PRICED}(?P<rest>{_FOR})", "How much does {x} cost{rest}?"),
    (rf"(?:costs?|cost) {_MORE}(?P<rest>{_FOR})", "How much does {x} cost{rest}?"),
    (rf"(?:weighs?|weighed) {_MORE}", "How much does {x} weigh?"),
    (rf"(?:takes?|took) (?:longer|the longest|{_MORE} time)(?P<rest>{_FOR})", "How long does {x} take{rest}?"),
    (r"(?:lasts?|lasted) (?:longer|the longest)", "How long does {x} last?"),
    (rf"(?:is|was|are) (?:located |situated )?(?:farther|further|more) {_COMPASS}", "Where is {x} located?"),
    (rf"(?:has|have|had) (?:an?|the) (?:\w+ )?{_GREATER} (?P<what>[\w -]+)", "What is the {what} of {x}?"),
    (rf"(?:has|have) had {_MANY} (?P<what>[\w' -]+)", "How many {what} has {x} had?"),
    (rf"(?:has|have|had|contains) {_MANY} (?P<what>[\w' -]+)", "How many {what} does {x} have?"),
    (rf"(?:(?:has|have|had) )?{_DONE} {_MANY} (?P<what>[\w' -]+)", "How many {what} has {x} {done}?"),
)


def ask_of_either(predicate: str, thing: str, *, noun: str = "") -> str | None:
    """Ask for one thing what distinguishes it from the other; None where that is unclear.

    Args:
        predicate: What one of the two is more or sooner than the other, or what only one of them is.
        thing: One of the two.
        noun: What both are, if the question says so: age is a date of birth for people only.

    >>> ask_of_either("was released first", "Jaws"), ask_of_either("is taller", "K2")
    ('When was Jaws released?', 'How tall is K2?')
    """
    for pattern, template in _QUESTIONS:
        if match := re.fullmatch(pattern, predicate):
            named = match.groupdict()
            return template.format(x=thing, **named) if None not in named.values() else None
    person = bool(noun) and is_person(noun.lower().split()[-1])
    return _ask_age(predicate, thing, person=person) or _ask_size(predicate, thing) or _is_so(predicate, thing)


def _ask_age(predicate: str, thing: str, *, person: bool) -> str | None:
    if re.fullmatch(rf"(?:(?:is|was) )?(?:the )?{_AGES}(?: (?:in age|person|one|than the other))?", predicate):
        return f"When was {thing} born?" if person else f"How old is {thing}?"
    return None


def _ask_size(predicate: str, thing: str) -> str | None:
    """Ask how tall, long or far a thing is."""
    match = re.fullmatch(
        r"(?:is|was|are|were|will be) (?:the )?(?P<more>\w+)(?P<rest>(?: (?:to|from|away|above)\b.*)?)", predicate
    )
    if match and match["more"] in _POSITIVES:
        return f"How {_POSITIVES[match['more']]} is {thing}{match['rest']}?"
    return None


def _is_so(predicate: str, thing: str) -> str | None:
    """Ask whether a thing is what one of two is, where nothing is compared."""
    match = re.fullmatch(r"(?P<be>is|was) (?P<rest>.+)", predicate)
    return f"{match['be'].capitalize()} {thing} {match['rest']}?" if match and not re.search(_COMPARES, predicate) else None


def ask_of_both(predicate: str, thing: str) -> str | None:
    """Ask about one thing what a comparison says of both.

    >>> ask_of_both("are located in the same country", "Rome"), ask_of_both("are film directors", "Fred")
    ('Which country is Rome located in?', 'Is Fred a film director?')
    """
    verb, _, rest = predicate.partition(" ")
    verb = _SINGULAR.get(verb, verb)
    if match := re.fullmatch(rf"(?P<done>[a-z ]*?)\b(?P<link>{one_of(SIMPLE_PREPOSITIONS)}) the same (?P<what>[\w -]+)", rest):
        return _which(verb, match["done"].strip(), match["link"], match["what"], thing)
    if match := re.fullmatch(r"(?:(?:have|share|has|hold) )?(?:the )?same (?P<what>[\w -]+)", rest):
        return f"What {'are' if is_plural(match['what']) else 'is'} the {match['what']} of {thing}?"
    return None if {"same", "common", "share"} & set(rest.split()) else _whether(verb, rest.split(), thing)


def _which(verb: str, done: str, link: str, what: str, thing: str) -> str:
    if link == "of" and not done:
        return f"What is the {what} of {thing}?"
    return f"Which {what} {verb} {thing} {f'{done} ' if done else ''}{link}?"


def _whether(verb: str, words: Sequence[str], thing: str) -> str | None:
    """Ask whether one thing is what both are said to be."""
    if not words:
        return None
    been = words[0] == "been"
    if (verb in ("is", "was") or been) and (noun := _plural_in(words)) is not None:
        phrase = " ".join((*words[been:noun], singular(words[noun]), *words[noun + 1 :]))
        article = "" if phrase.split()[0] in ARTICLES | {"part"} else f"{indefinite(phrase).split()[0]} "
        return f"{verb.capitalize()} {thing} {'been ' if been else ''}{article}{phrase}?"
    return f"{verb.capitalize()} {thing} {' '.join(words)}?"


def _plural_in(words: Sequence[str]) -> int | None:
    """Find the plural noun that both things are: the last word before a preposition or a clause."""
    noun = next((at for at, word in enumerate(words) if word in PREPOSITIONS | {"that", "who", "which"}), len(words)) - 1
    plural = noun >= 0 and words[noun].endswith(("s", "men")) and not words[noun].endswith(("ss", "us", "is"))
    return noun if plural else None
