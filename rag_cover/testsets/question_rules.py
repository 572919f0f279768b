"""Questions made of statements by rules: a statement that fits a pattern answers the question that the pattern writes.

There is no parser here. What fits no pattern gives no question; what a question is about must be a noun phrase that names
something by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rag_cover.english.lexicon import ALL_PREPOSITIONS, one_of
from rag_cover.english.noun_phrases import is_plural
from rag_cover.english.words import content_words, words_of
from rag_cover.short_forms import capitalise
from rag_cover.testsets.amount_rules import AMOUNT_RULES, MONTHS, PEOPLE, begins_with_amount
from rag_cover.testsets.named_things import ACTIVE_VERBS, NOUN_PHRASE, PARTICIPLE, PERSONS, POINTING, names_something

__all__ = ["RULES", "AskedStatement", "ask_about"]

_FEWEST_NEW_WORDS = 2
_NEW_WORDS = dict.fromkeys(("passive", "who made", *AMOUNT_RULES), 1) | {"allowed": 0}
"""The least words of a statement that are not in its question, where a single one answers, or a yes or no."""
_WORDS = range(4, 26)

_PLURAL_VERBS = {base: base for base in ACTIVE_VERBS.values()}
_NO_NAMES = frozenset(words_of("the a an all most some many each every any no your there")) | frozenset(PEOPLE)
_PLURAL_VERBS_AFTER = frozenset(words_of("are were have do may can must should will cost take last")) | frozenset(_PLURAL_VERBS)
"""Verbs after which the word before, in the plural, is no name."""
_MADE = "wrote founded invented discovered designed directed won created built developed published composed painted established"
_NO_OBJECT = (
    r"(?!(?:not|only|if|when|until|in|on|at|for|with|by|from|as|to|may|might|can|could|should|must|will|would|is|are|was|were|has"
    r"|have)\b)"
)
_DATE = rf"(?:(?:\d{{1,2}}\s)?{one_of(MONTHS)}(?:\s\d{{1,2}})?,?\s)?(?:1\d|20)\d\d\b"
_ADVERB = r"(?:(?:\w+ly|also|often|usually|always|never|not|now|still|first|then)\s)?"
_GOAL = re.compile(r"you (?:want|wish|would like|need|have|intend|plan|prefer|are trying) to (?!be\b|know\b)(?=[a-z])")
_ADVISED = frozenset(
    words_of(
        """use run set add call see pass make specify try check be pay do don't don never always keep ensure consider simply
        just please choose avoid remember contact start open enter remove create install take leave tell ask send bring write
        wait press turn go look let put fill show hand apply log ring phone email report order read click tap select scan swipe
        type plug unplug hold push pull lift rinse visit follow sign swap wipe clean switch drain"""
    )
)
"""Words that begin advice."""
_YOU_SHOULD = re.compile(
    r"(?:you (?:must|should|need|can|may|have to|do not)|we recommend|it is (?:recommended|advised|best))\b", re.IGNORECASE
)
_VERB_WITH_OBJECT = re.compile(r"(?P<verb>[a-z]+[a-rt-z]) (?:it|them|the|your|an?|all|any|us|this)\b")
_STATES = re.compile(r"\w+ (?:is|are|was|were|of)\b")
_NO_VERBS = ALL_PREPOSITIONS | frozenset(words_of("the a an your and or if all both only not then half what until while than"))
_UNFINISHED = re.compile(
    r"\b(?:below|above|following|as follows|also|this (?:paragraph|section|page|way))\b|:\s*$", re.IGNORECASE
)
"""What a statement points to, or ends with, that says the answer elsewhere."""
_EMPTY = re.compile(r"(?:an? (?:number|variety|range|set|lot) of|several|various|many|multiple|different|some)\b")
"""How an answer begins that only says how many."""
_FORBIDS = re.compile(r"(?:do not|don['’]t|never|avoid)\b")
_IDIOM = re.compile(r"(?:care|place|part|advantage|effect|into|over|account|precedence)\b")
"""What follows "takes" in an idiom."""
_HAS_MODAL = re.compile(r"\b(?:should|must|is|are|was|were)\b")
_IS_TOO = re.compile(r"^(?:\S+ ){1,4}(?:is|are|was|were) (?:too|probably|likely|usually|often|perhaps|not)\b")
"""A cause, which answers no question for what happens."""
_TWO_CLAUSES = re.compile(r"\byou \w+ .*\byou (?:must|can|may|should|will)\b")
_PRONOUN_ONE = re.compile(r"\b(?:an?|another|the|new|old|older|other|same|different) ones?\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did|came|went|became|began)\b")
_LABEL = re.compile(r"[A-Z][\w'’ -]{1,40}: (?=[A-Z])")
"""What stands before a statement as a heading does: "Parking: Visitors park behind the house.\""""
_GROUPS = frozenset(
    words_of(
        """team office department board committee council desk service agency ministry government bank university company court
        parliament police staff manager engineer doctor radiologist nurse driver teacher parent parents owner landlord
        administrator caretaker operator inspector technician librarian secretary treasurer chairman volunteer volunteers"""
    )
)


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """A question, the statement that answers it, what it is about, and the rule that made it.

    ``about`` is None where the question is about no single thing.
    """

    question: str
    statement: str
    rule: str
    about: str | None = None


def ask_about(
    statement: str, *, common: AbstractSet[str] = frozenset(), names: AbstractSet[str] = frozenset()
) -> Iterator[AskedStatement]:
    """Write the questions that a statement answers, by each rule that it fits.

    ``common`` are words that are no names, ``names`` those that are written with a capital within sentences. A common word that
    begins the statement is written in small letters, and so is one that is neither where another word of the name follows.

    >>> [each.question for each in ask_about("The retry limit defaults to five attempts per host.")]
    ['What does the retry limit default to?']
    >>> [each.question for each in ask_about("To install the plugin, run the setup script as root.")]
    ['How do you install the plugin?']
    >>> list(ask_about("This is the value."))
    []
    """
    text = _lower_first(_LABEL.sub("", statement.strip(), count=1).rstrip(".!").strip(), common, names)
    for rule, make in RULES.items():
        asked = make(text)
        if asked is not None and _is_sound(asked[0], statement, fewest_new=_NEW_WORDS.get(rule, _FEWEST_NEW_WORDS)):
            question = _lower_unknown(asked[0], asked[1], names)
            yield AskedStatement(capitalise(question), statement, rule, asked[1])


def _is_sound(question: str, statement: str, *, fewest_new: int) -> bool:
    """Return whether a question points to nothing outside, and the statement says more than it."""
    points = POINTING.search(question) or _PRONOUN_ONE.search(question) or _UNFINISHED.search(statement)
    fits = len(question.split()) in _WORDS and not points and question.count("(") == question.count(")")
    is_new = len(content_words(statement) - content_words(question)) >= fewest_new
    return fits and question.count("`") % 2 == 0 and is_new


_Asked = tuple[str, str | None] | None


def _how(text: str) -> _Asked:
    match = re.fullmatch(
        r"(?:[Ii]n order )?[Tt]o (?!be\b|an?\b|the\b|my\b|any\b|some\b)(?P<do>[a-z]+ [^,:;]{3,80}), (?P<by>[a-z].+)", text
    )
    if match is None or _HAS_MODAL.search(match["do"]) or not _is_advice(match["by"]) or _FORBIDS.match(match["by"]):
        return None
    return f"how do you {match['do']}?", None


def _what_for(text: str) -> _Asked:
    match = re.fullmatch(r"(?:[Yy]ou can use|[Uu]se) (?P<with>[^,:;]{3,80}?) to (?!be\b)(?P<do>[a-z]+ [^,:;]{3,80})", text)
    if match is None or re.search(r"\bfrom\b", match["with"]) or _HAS_MODAL.search(match["do"]):
        return None
    return f"what can you use to {match['do']}?", None


def _if(text: str) -> _Asked:
    match = re.fullmatch(r"(?P<word>[Ii]f|[Ww]hen) (?P<clause>[^,:;]{8,100}), (?:then )?(?P<then>.{8,})", text)
    if (
        match is None
        or _TWO_CLAUSES.search(match["clause"])
        or match["clause"].lower().startswith(("possible", "necessary", "needed", "so", "not", "desired"))
    ):
        return None
    if goal := _GOAL.match(match["clause"]):
        return f"how do you {match['clause'][goal.end() :]}?", None
    asked = "what happened" if _PAST.search(match["then"]) else "what happens"
    if _IS_TOO.search(match["then"]):
        return None
    if _is_advice(match["then"]):
        asked = "what should you do"
    return f"{asked} {match['word'].lower()} {match['clause']}?", None


def _is_advice(text: str) -> bool:
    first = (words_of(text) or [""])[0]
    begins = first in _ADVISED and not _STATES.match(text)
    has_object = (match := _VERB_WITH_OBJECT.match(text)) is not None and match["verb"] not in _NO_VERBS
    return begins or has_object or _YOU_SHOULD.match(text) is not None


def _why(text: str) -> _Asked:
    match = re.fullmatch(
        rf"{NOUN_PHRASE} (?P<aux>is|are|was|were|can|cannot|should|must|will) (?P<rest>[^,:;]{{3,80}}) because .+", text
    )
    if match is None or not names_something(match["np"]):
        return None
    if match["aux"] == "cannot":
        return f"why can {match['np']} not {match['rest']}?", match["np"]
    return f"why {match['aux']} {match['np']} {match['rest']}?", match["np"]


def _definition(text: str) -> _Asked:
    match = re.fullmatch(rf"{NOUN_PHRASE} (?P<be>is|are|was|were) (?P<kind>(?:an?|the|one of)\s.+)", text)
    if match is None or not names_something(match["np"]) or re.fullmatch(r"the [a-z-]+", match["np"]):
        return None
    kind = re.split(r"\b(?:who|that|which|from|of|in|for|by|,)\b", match["kind"])[0]
    is_person = bool(PERSONS.intersection(words_of(kind))) and match["np"][:1].isupper()
    return f"{'who' if is_person else 'what'} {match['be']} {match['np']}?", match["np"]


def _purpose(text: str) -> _Asked:
    match = re.fullmatch(
        rf"{NOUN_PHRASE} (?P<be>is|are) {_ADVERB}(?P<way>used|designed|intended|meant) (?P<to>to|for) .+", text
    )
    if match is None or not names_something(match["np"]):
        return None
    tail = "used for" if match["way"] == "used" else f"{match['way']} {'to do' if match['to'] == 'to' else 'for'}"
    return f"what {match['be']} {match['np']} {tail}?", match["np"]


_NOT_PLACED = frozenset(words_of("written used implemented expressed measured given described called coded based shown listed"))
"""Participles after which "in" says no place."""


def _passive(text: str) -> _Asked:
    done = rf"(?!not\b|never\b){_ADVERB}(?P<done>{PARTICIPLE}) (?P<link>by|in|on|at|when|if|with)"
    match = re.fullmatch(rf"{NOUN_PHRASE} (?P<be>is|are|was|were) {done} (?P<rest>.+)", text)
    if match is None or not names_something(match["np"]):
        return None
    asked = f"{match['be']} {match['np']} {match['done']}"
    link, rest = match["link"], match["rest"]
    found = None
    if link == "by" and _says_how(rest) and _who_or_what(link, rest) == "what":
        found = f"how {asked}?"
    elif link in {"by", "with"} and match["done"] not in {"followed", "affected"}:
        found = f"{_who_or_what(link, rest)} {asked} {link}?"
    elif link in {"in", "on"} and re.match(_DATE, rest):
        found = f"when {asked}?"
    elif link in {"in", "at"} and match["done"] not in _NOT_PLACED and re.match(r"(?:the )?[A-Z]", rest):
        found = f"where {asked}?"
    elif link in {"when", "if"}:
        found = f"when {asked}?"
    return (found, match["np"]) if found else None


_MEANS = re.compile(
    r"(?:e-?mail|mail|post|phone|telephone|letter|courier|hand|card|cheque|cash|(?:bank )?transfer|direct debit|push button|fax"
    r"|text message|train|bus|car|ship|boat|air|sea|bike|bicycle)\b"
)


def _says_how(rest: str) -> bool:
    """Return whether what follows "by" is an action ("pressing the button") or a means ("email")."""
    return re.match(r"(?:\w+ly )?[a-z]+ing\b", rest) is not None or _MEANS.match(rest) is not None


def _who_or_what(link: str, rest: str) -> str:
    agent = re.split(r"[,;:]|\b(?:who|which|that|in|on|at|for|of|and)\b", rest)[0]
    return "who" if link == "by" and (PERSONS | _GROUPS | frozenset(PEOPLE)).intersection(words_of(agent)) else "what"


def _what_does(text: str) -> _Asked:
    verb = rf"(?P<verb>{one_of([*ACTIVE_VERBS, *_PLURAL_VERBS])})"
    match = re.fullmatch(rf"{NOUN_PHRASE} {_ADVERB}{verb} {_NO_OBJECT}(?P<rest>.{{6,}})", text)
    if match is None or not names_something(match["np"]):
        return None
    takes = match["verb"].startswith("take") and (begins_with_amount(match["rest"]) or _IDIOM.match(match["rest"]))
    if takes or _EMPTY.match(match["rest"]) or AMOUNT_RULES["how many"](text):
        return None
    plural = is_plural(match["np"])
    base = (_PLURAL_VERBS if plural else ACTIVE_VERBS).get(match["verb"])
    return None if base is None else (f"what {'do' if plural else 'does'} {match['np']} {base}?", match["np"])


def _who_made(text: str) -> _Asked:
    name = r"(?P<np>[A-Z][\w.'’-]+(?:\s(?:[A-Z][\w.'’-]+|de|van|von|of|the)){0,4})"
    match = re.fullmatch(
        rf"{name} (?P<did>{one_of(_MADE.split())}) (?P<what>[^,;:]{{6,70}}?)(?: (?:in|on|at|for|with) .+|,.+)?", text
    )
    if match is None or not names_something(match["what"]):
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
    **AMOUNT_RULES,
}
"""The rules, each of which reads a statement without its full stop and returns a question and what it is about."""


def _lower_unknown(question: str, about: str | None, names: AbstractSet[str]) -> str:
    """Write the first word of what is asked about in small letters, unless it is a name or may be one."""
    first, space, rest = (about or "").partition(" ")
    is_word = first[:1].isupper() and first[1:].replace("-", "").islower() and first not in names
    if not is_word or not (rest[:1].islower() if space else is_plural(first)):
        return question
    return question.replace(f"{first}{space}{rest}", f"{first.lower()}{space}{rest}")


def _lower_first(text: str, common: AbstractSet[str], names: AbstractSet[str]) -> str:
    """Write the first word in small letters where it is no name."""
    first, space, rest = text.partition(" ")
    small = first.lower()
    if rest[:1].isupper() and small not in _NO_NAMES:
        return text
    is_known = first not in names and not common.isdisjoint({small, f"{small}s", small.removesuffix("s")})
    is_plain_plural = first not in names and is_plural(small) and (words_of(rest) or [""])[0] in _PLURAL_VERBS_AFTER
    is_common = small in _NO_NAMES or is_known or is_plain_plural
    return f"{first.lower()}{space}{rest}" if (is_common and first[1:].islower()) or first == "A" else text
