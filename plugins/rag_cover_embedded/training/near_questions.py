"""Groups of near questions, each with answers of its own: what answers one of them does not answer the others.

The others are about another aspect of the same thing, about a sister thing, or in nearly the same words about another point.
Every answer is a positive of its question and a negative of another one, so that neither its form nor its style says which.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import TEXTS, is_learned
from rag_cover_embedded.training.example import NO_SPAN, Example
from rag_cover_embedded.training.sources import read_json_rows
from rag_cover_embedded.training.splits import Part

FILE = "near_questions.jsonl"
ANSWERS = ("full", "terse", "list", "chatty", "passage")
NEAR_MISS = "near_miss"
"""A text in the question's words with the kind of thing that is asked for, which answers no question of the group."""
OF_OTHERS = 6
"""Answers of the group's other questions that each question is paired with in a pass."""
PASSAGE_AS_REPLY, REPLY_AS_PASSAGE = 0.25, 0.35
_LIKE_A_PASSAGE = 8  # words
_LONG = 3  # letters of a word that says what is spoken of
_KINDS = (
    r"how (?:long|often)|how old",
    r"how (?:many|much|far|high|big|large|heavy|fast)",
    r"who|whose|whom",
    r"when",
    r"where",
    r"why",
    r"(?:can|may|do|does|did|is|are|was|were|will|must|should|has|have|am) ",
)


def near_question_examples(rng: random.Random, part: Part, path: Path = TEXTS / FILE) -> Iterator[Example]:
    """Pair each question with its answers, its near miss, and answers of the other questions of its group."""
    for group in read_json_rows(path):
        if not is_learned(group["questions"][0]["question"], part):
            continue
        for each in group["questions"]:
            question, answers = each["question"], each["answers"]
            for form in ANSWERS:
                yield _pair(question, answers[form], form, rng, covered=True)
            yield _pair(question, answers[NEAR_MISS], NEAR_MISS, rng, covered=False)
        others = [
            (each["question"], other["answers"][form], form)
            for each, other in permutations(group["questions"], 2)
            for form in (*ANSWERS, NEAR_MISS)
            if form in ("passage", NEAR_MISS) or _tells(other["answers"][form], other["question"], each["question"])
        ]
        for question, text, form in rng.sample(others, min(len(others), OF_OTHERS * len(group["questions"]))):
            yield _pair(question, text, form, rng, covered=False)


def _pair(question: str, text: str, form: str, rng: random.Random, *, covered: bool) -> Example:
    if form in ("passage", NEAR_MISS):
        reply = rng.random() < PASSAGE_AS_REPLY
    else:
        reply = len(text.split()) < _LIKE_A_PASSAGE or rng.random() >= REPLY_AS_PASSAGE
    return Example(Task.REPLIES if reply else Task.ANSWERS, question, text, float(covered), None if covered else NO_SPAN)


def _tells(text: str, own: str, other: str) -> bool:
    """Return whether a text shows that it answers its own question and not the other: by its words, or by its kind.

    >>> _tells("It takes 45 minutes.", "How long does the ferry take?", "How long does the bus take?")
    False
    >>> _tells("The ferry takes 45 minutes.", "How long does the ferry take?", "How long does the bus take?")
    True
    >>> _tells("45 minutes", "How long does the ferry take?", "Who owns the ferry?")
    True
    """
    kinds = (_kind(own), _kind(other))
    if None not in kinds and kinds[0] != kinds[1]:
        return True
    return bool(_long_words(text) & (_long_words(own) - _long_words(other)))


def _kind(question: str) -> int | None:
    return next((number for number, kind in enumerate(_KINDS) if re.match(kind, question, re.IGNORECASE)), None)


def _long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) >= _LONG}
