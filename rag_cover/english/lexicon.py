"""The closed classes of English words: articles, pronouns, auxiliaries, prepositions, question words and the like.

This is the one place of these lists; a rule that needs fewer or more words of a class derives its own list and says why. Words
of open classes (verbs, nouns, adjectives) stand with the rules that use them. A pattern that spells out a few words of a class
names those that matter in its place.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "ALL_PREPOSITIONS",
    "ARTICLES",
    "AUXILIARIES",
    "BE",
    "DEMONSTRATIVES",
    "DO",
    "FUNCTION_WORDS",
    "HAVE",
    "IRREGULAR_PARTICIPLES",
    "MARKS",
    "MODALS",
    "NAME_PARTICLES",
    "NEGATIONS",
    "NOT_SUPERLATIVE",
    "PERSONAL_PRONOUNS",
    "POSSESSIVES",
    "PREPOSITIONS",
    "QUESTION_WORDS",
    "RELATIVE_PRONOUNS",
    "SIMPLE_PREPOSITIONS",
    "YES_NO_OPENERS",
    "one_of",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MARKS = "?\uff1f\u061f"
"""Question marks: Latin, full-width, Arabic."""
ARTICLES = _words("a an the")
DEMONSTRATIVES = _words("this that these those")
PERSONAL_PRONOUNS = _words("i you he she it we they me him her us them")
POSSESSIVES = _words("my your his her its our their")
"""Possessives that stand before a noun; "her" is a personal pronoun, too."""
IRREGULAR_PARTICIPLES = _words(
    """begun born built chosen done drawn driven eaten found given grown held hidden kept known led left lent lost made paid put
    read run seen sent set shown sold spent stolen sung taken taught thrown told won worn written"""
)
QUESTION_WORDS = _words("who whom whose what which when where why how")
RELATIVE_PRONOUNS = _words("who whom whose that which where")

BE = _words("is are was were")
DO = _words("do does did")
HAVE = _words("has have had")
MODALS = _words("can could will would")
"""The common modals; rare ones ("may", "might", "must", "shall") are names of months and people, or nouns, as often."""
AUXILIARIES = BE | DO | HAVE | MODALS
YES_NO_OPENERS = AUXILIARIES | {"should"}
"""Words by which a question for yes or no begins."""

SIMPLE_PREPOSITIONS = _words("of in on at by for from to with")
PREPOSITIONS = SIMPLE_PREPOSITIONS | _words("about after as before between into near than through under")
ALL_PREPOSITIONS = PREPOSITIONS | _words(
    """above across against along around behind below beyond despite during inside like onto outside over per since throughout
    towards until upon via within without"""
)
"""With those that begin a modifier of a noun, but are adverbs, conjunctions or verbs elsewhere."""

NEGATIONS = _words("not no never without")

FUNCTION_WORDS = (
    ARTICLES
    | DEMONSTRATIVES
    | PERSONAL_PRONOUNS
    | POSSESSIVES
    | QUESTION_WORDS
    | AUXILIARIES
    | SIMPLE_PREPOSITIONS
    | (NEGATIONS - {"never"})  # "never" changes what is asked more than a function word does
    | _words("mine yours")
    | _words("be been being am done having should shall may might must")
    | _words("as than about into over under between")  # others, such as "near" and "after", say where and when
    | _words("and or but nor so yet if then")
    | _words("some any each every all both either neither such much many most more other same")
    | _words("there here also just only very too")
)
"""Words that carry no content by themselves."""

NAME_PARTICLES = _words("of the and de la le du del der van von da di el y")
"""Small words inside names, of several languages."""

NOT_SUPERLATIVE = _words(
    """arrest best breast chest contest crest dest digest east forest guest harvest honest inquest interest invest jest latest
    manifest midwest modest nest northeast northwest pest priest protest quest request rest southeast southwest suggest test
    vest west zest"""
)
"""Common words in -est that are no superlatives, or are counted apart."""


def one_of(words: Iterable[str]) -> str:
    """Write the pattern that any of these words matches, longer words first.

    >>> one_of({"an", "a", "the"})
    '(?:the|an|a)'
    """
    return f"(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})"
