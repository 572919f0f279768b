"""A question split into sub-questions by rules, without a model: what a full answer would have to say.

The questions that a text asks are core. The shape of each (a comparison, a why, a how-to, …) adds the facets that a full
answer to such a question has (`shapes`). Rules know English; a question in another language, or of no known shape, is its own
and only sub-question. A model splits better (Xie et al., NAACL 2025, §3.1, have GPT-4 write about 20 sub-questions); what
rules made is marked ``role_source="rules"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from rag_cover.coverage.clauses import MARKS, asked, holds_several, questions_in
from rag_cover.coverage.phrases import is_plural, listed
from rag_cover.coverage.repetitions import plain_wording
from rag_cover.coverage.shapes import Facet, facets_of
from rag_cover.coverage.words import words_of
from rag_cover.questions import Role, SubQuestion

__all__ = ["decomposed_by_rules"]

_LONGEST = 40  # words of a question whose shape is still worth a look
_ATTRIBUTES = re.compile(
    r"what\ (?:is|are|was|were)\ the\ (?P<list>[\w\s,-]{3,60}?)\ (?P<of>of|for|in)\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_SHARED = re.compile(
    r"(?P<ask>what\ (?:is|was)\ the\ [\w\s-]{3,60}?\ (?:of|in|for)|who\ \w+)\ (?P<list>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_FOREIGN = frozenset(
    words_of(
        """ist sind der das und wie wird nicht ein eine el los las que qué cuál por para est les des une dans pourquoi che
        perché di het een wat zijn och är vad como são uma det som il quali quand où"""
    )
)


def decomposed_by_rules(text: str, *, most: int) -> tuple[SubQuestion, ...]:
    """Split a question into at most ``most`` typed sub-questions: core first, then background, then follow-up.

    Every one ends with a question mark and none occurs twice. A question of no known shape has itself as its only one, a
    blank text has none.

    >>> [sub.text for sub in decomposed_by_rules("are fresh or frozen vegetables healthier", most=12)][1:3]
    ['How healthy are fresh vegetables?', 'How healthy are frozen vegetables?']
    """
    questions = [asked(part) for part in islice(questions_in(text), most)]
    own = [(Role.CORE, text) for text in questions]
    facets = [facet for text in questions for facet in _facets(text)]
    ordered = [facet for role in Role for facet in (*own, *facets) if facet[0] == role]
    return tuple(SubQuestion(text=text, role=role, role_source="rules") for role, text in islice(_distinct(ordered), most))


def _distinct(facets: Iterable[Facet]) -> Iterator[Facet]:
    """Keep the first of those that differ in articles, number and punctuation only."""
    seen: set[str] = set()
    for role, text in facets:
        if (key := plain_wording(text)) not in seen:
            seen.add(key)
            yield role, text


def _facets(text: str) -> Iterator[Facet]:
    question = text.rstrip(f" .!{MARKS}")
    if len(question.split()) <= _LONGEST and not _FOREIGN.intersection(words_of(question)) and not holds_several(text):
        yield from ((Role.CORE, each) for each in _each_of(question))
        yield from facets_of(question)


def _each_of(question: str) -> list[str]:
    """Ask about each item of a list by itself: the causes and effects of x; the capital of x and y."""
    if (match := _ATTRIBUTES.fullmatch(question)) and (names := listed(match["list"])):
        return [f"What {'are' if is_plural(name) else 'is'} the {name} {match['of']} {match['x']}?" for name in names]
    if (match := _SHARED.fullmatch(question)) and (names := listed(match["list"])):
        return [f"{match['ask'][:1].upper()}{match['ask'][1:]} {name}?" for name in names]
    return []
