"""Noun phrases by rule of thumb: what a question is about, and how to ask what that is.

There is no parser here. What cannot be told is None, and a template that needs it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.english.lexicon import ARTICLES, FUNCTION_WORDS, POSSESSIVES, SIMPLE_PREPOSITIONS, one_of
from rag_cover.english.words import words_of

__all__ = ["head_noun", "is_noun_phrase", "is_plural", "split_list", "subject_in", "without_last_verb"]

_LONGEST = 6  # words of what still passes for a noun phrase
# without "that", "those" and "each", which as often stand for a noun themselves
_DETERMINERS = ARTICLES | POSSESSIVES | frozenset(words_of("this these some any all most many no"))
_INSIDE = frozenset({"of", "and", "de", "van", "von", "for"})
_LINKS = frozenset({"in", "on", "to", "at"})
_IRREGULAR_PLURALS = frozenset({"people", "children", "men", "women", "mice", "teeth", "feet", "geese", "cattle", "police"})
_SINGULAR_ENDINGS = ("ss", "us", "is", "news", "diabetes", "series", "physics", "economics", "mathematics", "politics")
_VERBS = frozenset(
    words_of(
        """affect cause work make have need use become happen play influence impact change help differ lead get come go produce
        form occur matter exist mean live die eat sleep grow fall rise float sink fly run move turn look feel taste smell sound
        like love hate want think believe know learn see hear say speak write read win lose fail succeed start begin end stop
        stay keep give take bring buy sell pay cost save spend kill hurt harm prevent protect increase decrease reduce improve
        support require contain include create build develop invent discover purr bark migrate hibernate shed stick burn freeze
        melt boil expand contract spin orbit shine contribute relate depend compare vary suffer benefit struggle leave join
        enter collapse evolve adapt respond react behave communicate reproduce store digest absorb"""
    )
)
_PREDICATES = frozenset(
    words_of(
        """still so always often never usually now currently considered not too very more most less such only also important bad
        good better worse best worst safe dangerous healthy unhealthy hard easy difficult popular famous known called made used
        different similar able necessary useful expensive cheap rare common blue red green yellow white black pink
        born built held written found lost won sold shown chosen sent paid taught thought"""
    )
)
_TIMES = frozenset(words_of("last next yesterday today tonight tomorrow again"))
"""Words that follow a verb: "the server crash last night"."""
_COUNTS = frozenset(
    words_of("two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty")
)
_AFTER_HEAD = re.compile(rf"\s+{one_of(SIMPLE_PREPOSITIONS - {'by'})}\s+")  # "by" follows participles
_AND = re.compile(r",\s*(?:and|or)\s+|\s+(?:and|or)\s+|,\s*")
_BINOMIALS = re.compile(
    r"""\b(?:rock\ and\ roll|romeo\ and\ juliet|antony\ and\ cleopatra|trial\ and\ error|research\ and\ development
    |supply\ and\ demand|terms\ and\ conditions|health\ and\ safety|trinidad\ and\ tobago
    |bosnia\ and\ herzegovina|antigua\ and\ barbuda|war\ and\ peace|pride\ and\ prejudice|crime\ and\ punishment
    |sense\ and\ sensibility|profit\ and\ loss|law\ and\ order|cause\ and\ effect|salt\ and\ pepper|bed\ and\ breakfast
    |black\ and\ white|science\ and\ technology|mergers\ and\ acquisitions|checks\ and\ balances|arts\ and\ crafts)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def is_noun_phrase(text: str) -> bool:
    """Check whether a text may stand where a template needs a noun phrase.

    >>> is_noun_phrase("the theory of relativity"), is_noun_phrase("it"), is_noun_phrase("how to cook")
    (True, False, False)
    """
    tokens = text.lower().split()
    if not 1 <= len(tokens) <= _LONGEST or any(mark in text for mark in ',;:?!"()'):
        return False
    inner = [token for token in tokens if token not in _DETERMINERS and token not in _INSIDE]
    return bool(inner) and tokens[-1] not in FUNCTION_WORDS and not FUNCTION_WORDS.intersection(inner) - _LINKS


def head_noun(phrase: str) -> str:
    """Return the noun that a phrase is about, before what is said of it; empty where there is none.

    >>> head_noun("side effects on health"), head_noun("inventor")
    ('effects', 'inventor')
    """
    tokens = _AFTER_HEAD.split(phrase)[0].split()
    return tokens[-1] if tokens else ""


def is_plural(phrase: str) -> bool:
    """Check whether a noun phrase takes a plural verb.

    >>> is_plural("the causes of cancer"), is_plural("climate change"), is_plural("Paris"), is_plural("tea and coffee")
    (True, False, False, True)
    """
    if re.search(r"(?<!-)\band\b(?!-)", phrase) and not _BINOMIALS.search(phrase):
        return True
    tokens = _AFTER_HEAD.split(phrase)[0].split()
    head = head_noun(phrase)
    if head[:1].isupper() and tokens[0].lower() not in _DETERMINERS:
        return False
    word = head.lower()
    return word in _IRREGULAR_PLURALS or (word.endswith("s") and len(word) > 3 and not word.endswith(_SINGULAR_ENDINGS))  # noqa: PLR2004 - "gas"


def subject_in(clause: str) -> str | None:
    """Find the noun phrase that begins a clause whose auxiliary was taken off ("the sky blue", "cats purr at night").

    >>> subject_in("the sky blue"), subject_in("cats purr at night"), subject_in("Shakespeare still so important today")
    ('the sky', 'cats', 'Shakespeare')
    >>> subject_in("it important to sleep") is None
    True
    """
    tokens = clause.split()
    end = _end_of_subject(tokens)
    phrase = " ".join(tokens[:end])
    return phrase if end and is_noun_phrase(phrase) else None


def without_last_verb(clause: str) -> str:
    """Drop the verb that ends a clause, where it is a common one; the clause itself where it is its only word.

    >>> without_last_verb("shipping to Iceland cost"), without_last_verb("the old bridge")
    ('shipping to Iceland', 'the old bridge')
    """
    before, _, last = clause.rpartition(" ")
    return before if before and last.lower() in _VERBS else clause


def split_list(text: str) -> tuple[str, ...]:
    """Split a list of two or more short noun phrases; empty where the text is no such list, or a fixed pair of words.

    >>> split_list("France, Italy and Spain"), split_list("Romeo and Juliet"), split_list("France")
    (('France', 'Italy', 'Spain'), (), ())
    """
    items = tuple(item.strip() for item in _AND.split(text))
    short = all(is_noun_phrase(item) and len(item.split()) <= 3 for item in items)  # noqa: PLR2004 - longer ones are clauses
    return items if len(items) > 1 and short and not _BINOMIALS.search(text) else ()


def _end_of_subject(tokens: Sequence[str]) -> int:
    """Return how many words the subject has: up to a verb or predicate; one less than all where nothing tells."""
    for index, token in enumerate(tokens[1:], 1):
        if _is_count(token) and tokens[index - 1].islower() and tokens[index - 1] not in _DETERMINERS | _INSIDE:
            return index - 1  # "the bar seats 40 guests"
        if _ends_subject(tokens, index, token.lower()):
            return index
        is_time = token.lower() in _TIMES and tokens[index - 1].lower() not in _DETERMINERS
        if is_time or token.lower() in FUNCTION_WORDS - _INSIDE - _DETERMINERS:
            return max(0, index - 1)
    return len(tokens) - 1


def _is_count(word: str) -> bool:
    return word[:1].isdigit() or word.lower() in _COUNTS


def _ends_subject(tokens: Sequence[str], index: int, word: str) -> bool:
    if tokens[index - 1].lower() in _DETERMINERS | _INSIDE:
        return False
    return word in _PREDICATES or word.removesuffix("s") in _VERBS or (word.endswith("ed") and len(word) > 4)  # noqa: PLR2004 - "bed", "seed"
