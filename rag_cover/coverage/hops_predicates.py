"""What two things are compared by, as a question about one of them."""

from __future__ import annotations

import re

from rag_cover.coverage.hops_words import indefinite, is_person, singular

__all__ = ["asked_of_each", "asked_of_each_alike"]

_ORDER = r"(?:first|earlier|earliest|later|latest|last|second|before|after|(?:more|most) recently|sooner)"
_SINGULAR = {"are": "is", "were": "was", "do": "does", "have": "has", "did": "did", "is": "is", "was": "was", "does": "does", "has": "has"}
_POSITIVES = {
    "older": "old", "younger": "old", "elder": "old", "newer": "old", "taller": "tall", "shorter": "long", "longer": "long",
    "larger": "large", "bigger": "large", "smaller": "large", "higher": "high", "lower": "high", "deeper": "deep",
    "wider": "wide", "heavier": "heavy", "faster": "fast", "slower": "fast", "farther": "far", "further": "far", "closer": "close",
    "nearer": "close", "oldest": "old", "youngest": "old", "tallest": "tall", "longest": "long", "largest": "large",
    "biggest": "large", "highest": "high", "closest": "close",
}  # fmt: skip
_AGES = r"(?:older|younger|elder|oldest|youngest)"


def asked_of_each(predicate: str, thing: str, *, noun: str = "") -> str | None:
    """Ask of one thing what tells it from the other; None where that cannot be told.

    >>> asked_of_each("was released first", "Jaws"), asked_of_each("is taller", "K2")
    ('When was Jaws released?', 'How tall is K2?')
    """
    predicate = predicate.strip()
    for pattern, template in _QUESTIONS:
        if match := re.fullmatch(pattern, predicate):
            return template.format(x=thing, **{name: text or "" for name, text in match.groupdict().items()})
    person = is_person(noun.lower().split()[-1]) if noun else False
    return _aged(predicate, thing, person=person) or _measured(predicate, thing) or _is_so(predicate, thing)
_QUESTIONS = (
    (rf"(?:(?:is|was|were) )?born .*\b{_ORDER}|(?:(?:is|was) )?born {_ORDER}\b.*", "When was {x} born?"),
    (rf"(?:has |have )?(?:died|passed away)\b.*{_ORDER}.*", "When did {x} die?"),
    (rf"(?:has |have )?(?:come|came) out\b.*{_ORDER}.*", "When did {x} come out?"),
    (rf"(?:come|came) {_ORDER}", "When did {x} first appear?"),
    (rf"(?:happened|occurred|took place) .*{_ORDER}.*", "When did {x} happen?"),
    (rf"(?:started|began) {_ORDER}", "When did {x} start?"),
    (rf"(?P<verb>debut|premier|open|air|originat)e?d {_ORDER}", "When did {x} {verb}?"),
    (rf"(?:(?:was|were|is|are|got|been) )(?:first )?(?P<done>\w+(?:ed|en|un|ilt|ade|old|et|unded)) .*?\b{_ORDER}.*", "When was {x} {done}?"),
    (rf"(?:(?:was|were|is|are|got|been) ){_ORDER} (?P<done>\w+(?:ed|en|un|ilt|ade|old|et))", "When was {x} {done}?"),
    (r"(?:has |have )?lived (?:longer|the longest|a longer life)", "How long did {x} live?"),
    (r"(?:has|have|had|with) (?:a|the) (?:larger|greater|higher|bigger|smaller|lower|largest|highest) (?P<what>[\w ]+)", "What is the {what} of {x}?"),
    (r"(?:has|have|had) (?:the )?(?:more|most|fewer) (?P<what>[a-z][\w -]*)", "How many {what} does {x} have?"),
    (r"(?:(?:has|have|had) )?(?P<done>released|written|won|scored|published|recorded|directed|produced|played) (?:the )?(?:more|most|fewer) (?P<what>[a-z][\w -]*)",
     "How many {what} has {x} {done}?"),
)  # fmt: skip


def _aged(predicate: str, thing: str, *, person: bool) -> str | None:
    if re.fullmatch(rf"(?:(?:is|was) )?(?:the )?{_AGES}(?: (?:in age|person|one|than the other))?", predicate):
        return f"When was {thing} born?" if person else f"How old is {thing}?"
    return None


def _measured(predicate: str, thing: str) -> str | None:
    match = re.fullmatch(r"(?P<be>is|was|are|were|will be) (?:located |situated )?(?:the )?(?P<more>\w+)(?P<rest>(?: (?:to|from|north|south|east|west|up|away|above)\b.*)?)", predicate)
    if match and match["more"] in _POSITIVES:
        return f"How {_POSITIVES[match['more']]}{match['rest']} is {thing}?"
    return None


def _is_so(predicate: str, thing: str) -> str | None:
    """Ask whether a thing is what one of two is, where nothing is compared."""
    if re.search(rf"\b{_ORDER}\b|\b(?:more|most|less|least|\w+er|\w+est)\b", re.sub(r"\b(?:under|over|after|former|member|other|river)\b", "", predicate)):
        return None
    match = re.fullmatch(r"(?P<be>is|was) (?P<rest>.+)", predicate)
    return f"{match['be'].capitalize()} {thing} {match['rest']}?" if match else None


def asked_of_each_alike(predicate: str, thing: str) -> str | None:
    """Ask of one thing what is said of both.

    >>> asked_of_each_alike("are located in the same country", "Rome"), asked_of_each_alike("are film directors", "Fred")
    ('Which country is Rome located in?', 'Is Fred a film director?')
    """
    be, _, rest = predicate.partition(" ")
    be = _SINGULAR[be]
    if match := re.fullmatch(r"(?P<done>[a-z ]*?)(?P<prep>\b(?:from|in|of|at|on|to|for|by)) (?P<same>the same|the same exact) (?P<what>[\w -]+)", rest):
        return _which(be, match, thing)
    if match := re.fullmatch(r"(?:(?:have|share|has|hold|of|possess) )?(?:the )?same (?P<what>[\w -]+)", rest):
        return f"What is the {match['what']} of {thing}?"
    if "same" in rest.split() or "common" in rest.split() or "share" in rest.split():
        return None
    return _whether(be, rest, thing)


def _which(be: str, match: re.Match[str], thing: str) -> str:
    done, preposition, what = match["done"].strip(), match["prep"], match["what"]
    if preposition == "of" and not done:
        return f"What is the {what} of {thing}?"
    return f"Which {what} {'is' if be == 'has' else be} {thing} {f'{done} ' if done else ''}{preposition}?"


def _whether(be: str, rest: str, thing: str) -> str | None:
    """Ask whether one thing is what both are said to be."""
    words = rest.split()
    if be in ("is", "was") and (noun := _plural_in(words)) is not None:
        phrase = " ".join((*words[:noun], singular(words[noun]), *words[noun + 1 :]))
        return f"{be.capitalize()} {thing} {phrase if words[0] in ('the', 'a', 'an') else indefinite(phrase)}?"
    return f"{be.capitalize()} {thing} {rest}?"


def _plural_in(words: list[str]) -> int | None:
    """Find the plural noun that both things are: before any preposition, and no participle before it."""
    end = next((at for at, word in enumerate(words) if word in ("in", "of", "from", "by", "for", "at", "on", "with", "that", "who")), len(words))
    noun = end - 1
    plural = noun >= 0 and words[noun].endswith(("s", "men", "women")) and not words[noun].endswith(("ss", "us"))
    return noun if plural else None
