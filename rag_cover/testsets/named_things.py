"""What a question can be about: noun phrases that name something without the text around them."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import ALL_PREPOSITIONS, FUNCTION_WORDS, IRREGULAR_PARTICIPLES, QUESTION_WORDS, one_of
from rag_cover.english.noun_phrases import is_noun_phrase
from rag_cover.english.words import words_of

__all__ = ["ACTIVE_VERBS", "NOUN_PHRASE", "PARTICIPLE", "PERSONS", "POINTING", "names_something", "points_back"]

_GENERIC = frozenset(
    words_of(
        """value values default defaults function functions method methods class classes option options file files example
        examples command commands user users name names parameter parameters argument arguments result results code page
        section object objects case cases type types list lists one ones way ways thing things first second third last
        number process system problem idea reason approach feature change changes work data information rest latter
        former following same other field fields string project note module package tool model program application team
        company story film book song album people person part parts line lines output input key keys version behavior
        behaviour setting settings error errors format formats supported available possible valid effect effects issue issues
        limit limits step steps exception exceptions setup test tests"""
    )
)
"""Nouns that name nothing without more words."""
POINTING = re.compile(
    r"""\b(?:this|that|these|those|such|above|below|following|here|there|it|its|they|them|their|he|she|his|her|also|still|instead
    |actually|otherwise|again|further|another|other|others|rest|same|too|of\ course)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that point to something outside of a question."""
PARTICIPLE = rf"(?:\w+ed|{one_of(IRREGULAR_PARTICIPLES)})"
"""Matches a word that may be a past participle."""
PERSONS = frozenset(
    words_of(
        """writer author poet novelist player footballer singer songwriter musician composer actor actress director
        producer politician president king queen emperor scientist physicist chemist biologist mathematician engineer
        architect painter sculptor artist philosopher historian journalist lawyer judge officer general soldier coach
        businessman businesswoman entrepreneur inventor explorer priest bishop saint economist professor teacher
        photographer model dancer swimmer athlete cricketer wrestler boxer nobleman duke earl rapper guitarist drummer
        screenwriter filmmaker"""
    )
)
ACTIVE_VERBS = {
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
"""Verbs of which rules ask "what does it …", in the third person, and their base forms."""
_FINITE = frozenset(verb for verb in ACTIVE_VERBS if " " not in verb) | frozenset(
    words_of("makes has does is are was were will")
)
"""Verbs that are in no name."""
_OPENERS = (ALL_PREPOSITIONS | QUESTION_WORDS) | frozenset(
    words_of(
        """whether if all most some many each every any no two three four several both either neither one more less other
        another while although though because since once unless until when where not only just even also then so thus whoever
        whatever whichever nobody everybody somebody anybody nothing everything something anything"""
    )
)
"""Words that what a question is about does not begin with."""
_THE_NOUN = re.compile(rf"\bthe ([a-z-]+)(?=\?|,| {one_of(FUNCTION_WORDS)}\b)")
_ONLY_THE_NOUN = re.compile(r"^the ([a-z-]+)$")
NOUN_PHRASE = r"(?P<np>[\w`\"'’.()/+-]+(?:\s[\w`\"'’.()/+-]+){0,5}?)"
"""The pattern of one to six words that may be a noun phrase, as the group ``np``."""


def points_back(question: str, about: str | None, before: str) -> bool:
    """Return whether a question speaks of "the counter" where the text before what answers it says of which.

    A thing that is "the …" from the start, such as the library of a library's page, points to nothing.

    >>> points_back("Where is the counter stored?", "the counter", "Each client keeps a nonce counter. ")
    True
    >>> points_back("When does the library close?", "the library", "The library opens at nine. ")
    False
    """
    nouns = {*_THE_NOUN.findall(question), *_ONLY_THE_NOUN.findall(about or "")}
    text = before.replace("The ", "the ")
    return any(re.search(rf"(?<!\bthe )\b{re.escape(noun.removesuffix('s'))}s?\b", text) for noun in nouns)


def names_something(phrase: str) -> bool:
    """Return whether a noun phrase names something by itself.

    >>> names_something("the retry limit"), names_something("the value"), names_something("this bridge")
    (True, False, False)
    """
    if re.match(r"\w+ing (?:an?|the|your|all|any) ", phrase, re.IGNORECASE):
        return False
    words = [word for word in words_of(phrase) if word not in {"the", "a", "an", "of", "your"}]
    if _FINITE.intersection(words):
        return False
    is_phrase = bool(words) and words_of(phrase)[0] not in _OPENERS and is_noun_phrase(phrase.replace("`", "").replace('"', ""))
    return is_phrase and not set(words) <= _GENERIC and not POINTING.search(phrase)
