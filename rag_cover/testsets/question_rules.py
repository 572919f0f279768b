"""Questions made of statements by rules: a statement that fits a pattern answers the question that the pattern writes.

There is no parser here. What fits no pattern gives no question; what a question is about must be a noun phrase that names
something by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from rag_cover.english.lexicon import ALL_PREPOSITIONS, QUESTION_WORDS, one_of
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural
from rag_cover.english.words import content_words, words_of
from rag_cover.short_forms import capitalise

__all__ = ["RULES", "AskedStatement", "ask_about"]

_FEWEST_NEW_WORDS = 2
_WORDS = range(4, 26)

_GENERIC = frozenset(
    words_of(
        """value values default defaults function functions method methods class classes option options file files example
        examples command commands user users name names parameter parameters argument arguments result results code page
        section object objects case cases type types list lists one ones way ways thing things first second third last
        number process system problem idea reason approach feature change changes work data information rest latter
        former following same other field fields string project note module package tool model program application team
        company story film book song album people person part parts line lines output input key keys version behavior
        behaviour setting settings error errors"""
    )
)
"""Nouns that name nothing without more words."""
_POINTING = re.compile(
    r"\b(?:this|that|these|those|such|above|below|following|here|there|it|its|they|them|their|he|she|his|her)\b", re.IGNORECASE
)
_PERSONS = frozenset(
    words_of(
        """writer author poet novelist player footballer singer songwriter musician composer actor actress director
        producer politician president king queen emperor scientist physicist chemist biologist mathematician engineer
        architect painter sculptor artist philosopher historian journalist lawyer judge officer general soldier coach
        businessman businesswoman entrepreneur inventor explorer priest bishop saint economist professor teacher
        photographer model dancer swimmer athlete cricketer wrestler boxer nobleman duke earl rapper guitarist drummer
        screenwriter filmmaker"""
    )
)
_VERBS = {
    "supports": "support", "requires": "require", "provides": "provide", "returns": "return", "raises": "raise",
    "contains": "contain", "includes": "include", "uses": "use", "needs": "need", "accepts": "accept", "takes": "take",
    "allows": "allow", "offers": "offer", "ignores": "ignore", "controls": "control", "specifies": "specify",
    "defines": "define", "determines": "determine", "generates": "generate", "produces": "produce", "creates": "create",
    "replaces": "replace", "prevents": "prevent", "causes": "cause", "reduces": "reduce", "increases": "increase",
    "covers": "cover", "removes": "remove", "describes": "describe", "represents": "represent", "depends on": "depend on",
    "consists of": "consist of", "defaults to": "default to", "refers to": "refer to", "belongs to": "belong to",
    "leads to": "lead to", "stands for": "stand for", "converts": "convert", "stores": "store", "holds": "hold",
    "checks": "check", "enables": "enable", "displays": "display", "measures": "measure", "absorbs": "absorb",
}  # fmt: skip
_PLURAL_VERBS = {base: base for base in _VERBS.values()}
_FINITE = frozenset(verb for verb in _VERBS if " " not in verb) | frozenset(words_of("makes has does is are was were will"))
"""Verbs that are in no name."""
_DETERMINERS = frozenset(words_of("the a an all most some many each every any no your"))
_OPENERS = (ALL_PREPOSITIONS | QUESTION_WORDS) | frozenset(
    words_of(
        """whether if all most some many each every any no two three four several both either neither one more less other
        another while although though because since once unless until when where not only just even also then so thus"""
    )
)
"""Words that what a question is about does not begin with."""
_MADE = "wrote founded invented discovered designed directed won created built developed published composed painted established"
_IRREGULAR = "born built held written found won sold shown chosen sent taught made set given known kept read run put drawn lost"
_PARTICIPLE = rf"(?:\w+ed|{one_of(_IRREGULAR.split())})"
_NO_OBJECT = r"(?!(?:not|to|may|might|can|could|should|must|will|would|is|are|was|were|has|have)\b)"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = rf"(?:(?:\d{{1,2}}\s)?{_MONTH}(?:\s\d{{1,2}})?,?\s)?(?:1\d|20)\d\d\b"
_ADVERB = r"(?:(?:\w+ly|also|often|usually|always|never|not|now|still|first|then)\s)?"
_GOAL = re.compile(r"you (?:want|wish|would like|need|have|intend|plan|prefer|are trying) to (?!be\b|know\b)(?=[a-z])")
_ADVICE = re.compile(
    r"""(?:you|use|run|set|add|call|see|pass|make|specify|try|check|be|pay|do|don['’]t|never|always|keep|ensure|consider|simply
    |just|please|we\ recommend|it\ is\ (?:recommended|advised|best)|choose|avoid|remember|contact|start|open|enter|remove|create
    |install)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NP = r"(?P<np>[\w`\"'’.()/+-]+(?:\s[\w`\"'’.()/+-]+){0,5}?)"


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """A question, the statement that answers it, what it is about, and the rule that made it.

    ``about`` is None where the question is about no single thing.
    """

    question: str
    statement: str
    rule: str
    about: str | None = None


def ask_about(statement: str, *, common: Collection[str] = ()) -> Iterator[AskedStatement]:
    """Write the questions that a statement answers, by each rule that it fits.

    ``common`` are words that are no names: such a one that begins the statement is written in small letters.

    >>> [each.question for each in ask_about("The retry limit defaults to five attempts per host.")]
    ['What does the retry limit default to?']
    >>> [each.question for each in ask_about("To install the plugin, run the setup script as root.")]
    ['How do you install the plugin?']
    >>> list(ask_about("This is the value."))
    []
    """
    text = _lower_first(statement.strip().rstrip(".!").strip(), common)
    for rule, make in RULES.items():
        asked = make(text)
        if asked is not None and _is_sound(asked[0], statement):
            yield AskedStatement(capitalise(asked[0]), statement, rule, asked[1])


def _is_sound(question: str, statement: str) -> bool:
    """Return whether a question points to nothing outside, and the statement says more than it."""
    fits = len(question.split()) in _WORDS and not _POINTING.search(question) and question.count("(") == question.count(")")
    return (
        fits and question.count("`") % 2 == 0 and len(content_words(statement) - content_words(question)) >= _FEWEST_NEW_WORDS
    )


_Asked = tuple[str, str | None] | None


def _how(text: str) -> _Asked:
    match = re.fullmatch(
        r"(?:[Ii]n order )?[Tt]o (?!be\b|an?\b|the\b|my\b|any\b)(?P<do>[a-z]+ [^,:;]{3,80}), (?P<by>[a-z].+)", text
    )
    return match and (f"how do you {match['do']}?", None)


def _what_for(text: str) -> _Asked:
    match = re.fullmatch(r"(?:[Yy]ou can use|[Uu]se) (?P<with>[^,:;]{3,80}?) to (?!be\b)(?P<do>[a-z]+ [^,:;]{3,80})", text)
    return match and (f"what can you use to {match['do']}?", None)


def _if(text: str) -> _Asked:
    match = re.fullmatch(r"(?P<word>[Ii]f|[Ww]hen) (?P<clause>[^,:;]{8,100}), (?:then )?(?P<then>.{8,})", text)
    if match is None or match["clause"].lower().startswith(("possible", "necessary", "needed", "so", "not", "desired")):
        return None
    if goal := _GOAL.match(match["clause"]):
        return f"how do you {match['clause'][goal.end() :]}?", None
    asked = "what should you do" if _ADVICE.match(match["then"]) else "what happens"
    return f"{asked} {match['word'].lower()} {match['clause']}?", None


def _why(text: str) -> _Asked:
    match = re.fullmatch(
        rf"{_NP} (?P<aux>is|are|was|were|can|cannot|should|must|will) (?P<rest>[^,:;]{{3,80}}) because .+", text
    )
    if match is None or not _names(match["np"]):
        return None
    if match["aux"] == "cannot":
        return f"why can {match['np']} not {match['rest']}?", match["np"]
    return f"why {match['aux']} {match['np']} {match['rest']}?", match["np"]


def _definition(text: str) -> _Asked:
    match = re.fullmatch(rf"{_NP} (?P<be>is|are|was|were) (?P<kind>(?:an?|the|one of)\s.+)", text)
    if match is None or not _names(match["np"]):
        return None
    kind = re.split(r"\b(?:who|that|which|from|of|in|for|by|,)\b", match["kind"])[0]
    is_person = bool(_PERSONS.intersection(words_of(kind))) and match["np"][:1].isupper()
    return f"{'who' if is_person else 'what'} {match['be']} {match['np']}?", match["np"]


def _purpose(text: str) -> _Asked:
    match = re.fullmatch(rf"{_NP} (?P<be>is|are) {_ADVERB}(?P<way>used|designed|intended|meant) (?P<to>to|for) .+", text)
    if match is None or not _names(match["np"]):
        return None
    tail = "used for" if match["way"] == "used" else f"{match['way']} {'to do' if match['to'] == 'to' else 'for'}"
    return f"what {match['be']} {match['np']} {tail}?", match["np"]


def _passive(text: str) -> _Asked:
    done = rf"(?!not\b|never\b){_ADVERB}(?P<done>{_PARTICIPLE}) (?P<link>by|in|on|at|when|if|with)"
    match = re.fullmatch(rf"{_NP} (?P<be>is|are|was|were) {done} (?P<rest>.+)", text)
    if match is None or not _names(match["np"]):
        return None
    asked = f"{match['be']} {match['np']} {match['done']}"
    link, rest = match["link"], match["rest"]
    found = None
    if link in {"by", "with"} and match["done"] not in {"followed", "affected"}:
        found = f"what {asked} {link}?"
    elif link in {"in", "on"} and re.match(_DATE, rest):
        found = f"when {asked}?"
    elif link in {"in", "at"} and match["done"] not in {"written", "used"} and re.match(r"(?:the )?[A-Z]", rest):
        found = f"where {asked}?"
    elif link in {"when", "if"}:
        found = f"when {asked}?"
    return (found, match["np"]) if found else None


def _what_does(text: str) -> _Asked:
    verb = rf"(?P<verb>{one_of([*_VERBS, *_PLURAL_VERBS])})"
    match = re.fullmatch(rf"{_NP} {_ADVERB}{verb} {_NO_OBJECT}(?P<rest>.{{6,}})", text)
    if match is None or not _names(match["np"]):
        return None
    plural = is_plural(match["np"])
    base = (_PLURAL_VERBS if plural else _VERBS).get(match["verb"])
    return None if base is None else (f"what {'do' if plural else 'does'} {match['np']} {base}?", match["np"])


def _who_made(text: str) -> _Asked:
    name = r"(?P<np>[A-Z][\w.'’-]+(?:\s(?:[A-Z][\w.'’-]+|de|van|von|of|the)){0,4})"
    match = re.fullmatch(
        rf"{name} (?P<did>{one_of(_MADE.split())}) (?P<what>[^,;:]{{6,70}}?)(?: (?:in|on|at|for|with) .+|,.+)?", text
    )
    if match is None or not _names(match["what"]):
        return None
    return f"who {match['did']} {match['what']}?", match["what"]


RULES: dict[str, Callable[[str], _Asked]] = {
    "how": _how,
    "what for": _what_for,
    "if": _if,
    "why": _why,
    "purpose": _purpose,
    "definition": _definition,
    "passive": _passive,
    "what does": _what_does,
    "who made": _who_made,
}
"""The rules, each of which reads a statement without its full stop and returns a question and what it is about."""


def _names(phrase: str) -> bool:
    """Return whether a noun phrase names something by itself."""
    words = [word for word in words_of(phrase) if word not in {"the", "a", "an", "of", "your"}]
    if _FINITE.intersection(words):
        return False
    is_phrase = bool(words) and words_of(phrase)[0] not in _OPENERS and is_noun_phrase(phrase.replace("`", "").replace('"', ""))
    return is_phrase and not set(words) <= _GENERIC and not _POINTING.search(phrase)


def _lower_first(text: str, common: Collection[str]) -> str:
    """Write the first word in small letters where it is no name."""
    first, space, rest = text.partition(" ")
    is_common = first.lower() in _DETERMINERS or first.lower() in common
    return f"{first.lower()}{space}{rest}" if (is_common and first[1:].islower()) or first == "A" else text
