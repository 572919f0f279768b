"""A question as numbers for a skill model: its embedding, and beside it what can be read off its words.

The embedding says what a question is about. How it is asked says much of whether it can be answered: what kind of thing it asks
for, whether the answer changes with time, what it singles out, how long it is. Readable features are 0 or 1, or counts less
what is usual in units that keep them near 1; all are scaled by `WEIGHT`, beside an embedding of length 1. Their rules are for
English questions; in other languages nearly all are 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder
from rag_cover.english.lexicon import AUXILIARIES, QUESTION_WORDS, SIMPLE_PREPOSITIONS, one_of
from rag_cover.english.words import words_of
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Question
from rag_cover.routing.interpretation.features import FORMS, MARKS, form_of

__all__ = ["READABLE", "WEIGHT", "encode", "readable"]

Floats = NDArray[np.float64]

WEIGHT = 0.25
"""Of a readable feature beside an embedding of length 1; chosen by cross-validation on training questions."""

_USUAL_WORDS, _WORDS_PER_UNIT, _MANY_WORDS = 9.0, 4.0, 12.0
_USUAL_LETTERS, _OCTAVES = 47.0, 0.5  # the logarithm's unit: e^0.5 times as many letters

# Without the rarer ones; saved skill models were fitted with this list.
_OPENERS = (QUESTION_WORDS | AUXILIARIES) - {"whom", "had", "could", "will", "would"}
_PATTERNS: Mapping[str, str] = {
    # what kind of person, date, place or thing it asks for
    "who plays": r"\bwho (plays?|played|portray\w*|voice[sd]?|stars?|starred|acted)\b|\b(actor|actress|voice of|cast of)\b",
    "who sings": r"\bwho (sang|sings?|sung|recorded|performed|originally sang)\b|\b(song|lyrics|album|band|singer)\b",
    "who made": (
        r"\bwho (wrote|writes|composed|authored|directed|created|invented|discovered|painted|developed|founded|built|designed|"
        r"made|produced)\b"
    ),
    "who is": r"\bwho('s| is| are)\b",
    "who was": r"\bwho (was|were)\b",
    "who won": r"\bwho (won|wins|scored|holds?|held|beat|has)\b|\b(won|winner|champion\w*)\b",
    "when did": r"\bwhen did\b",
    "when was": r"\bwhen (was|were)\b",
    "when is": r"\bwhen (is|are|does|do|will)\b",
    "where is": r"\bwhere (is|are|does|do)\b",
    "where was": r"\bwhere (did|was|were)\b",
    "how many parts": r"\bhow many (episodes?|seasons?|books?|chapters?|movies|games)\b",
    "asks for a list": r"\b(list|names? of all|(what|who|which) are|(types|kinds|examples) of|two|three|four|five)\b",
    "asks for a term": (
        r"^(what (is|are|does|do) (a|an|the)?|meaning of|define)\b|"
        r"\b(mean|meaning|called|known as|definition|refers? to|stands? for|name of|term)\b"
    ),
    "asks for a name": r"\b(real|full|first|last) name\b|\bnames?\b",
    "is no question": rf"^(?!{one_of(_OPENERS)}\b)",
    # whether the answer changes with time
    "latest": r"\b(last|latest|most recent|recent(ly)?|newest)\b",
    "current": r"\b(currently|current|now|today|this year|present|new|next|upcoming)\b",
    "in the present": r"^(who|what|when|where|how many) (is|are|does|do|has|have|plays?|sings?|holds?|owns?|runs)\b",
    "in the past": r"\b(was|were|did|had)\b",
    "of an event to come": r"\b(will|going to|comes? out|coming out|released?|premieres?|airs?|starts?|begins?)\b",
    "names a recent year": r"\b20[0-9]{2}\b",
    "names an order": r"\b(before|after|during|since|until|while)\b",
    # what it singles out, and how
    "most": (
        r"\b(most|least|best|worst|largest|biggest|longest|highest|oldest|youngest|tallest|smallest|greatest|fastest|deepest)\b"
    ),
    "first": r"\bfirst\b",
    "has a clause": r"\b(that|which|whose)\b",
    "has an and": r"\band\b",
    "has an or": r"\bor\b",
    "has a possessive": r"['’]s\b",
    "says in the": r"\bin the\b",
    "says of the": r"\bof the\b",
    "says from": r"\bfrom\b",
    "ends in a preposition": rf"\b{one_of(SIMPLE_PREPOSITIONS | {'out', 'up', 'as'})}\W*$",
    # what it is about
    "about series": r"\b(season|episode|series|show|tv)\b",
    "about films and books": r"\b(movie|film|character|story|book|novel)\b",
    "about sports": (
        r"\b(nba|nfl|mlb|nhl|ncaa|super bowl|world cup|team|league|cup|games?|football|basketball|baseball|olympics?|players?|"
        r"coach|cricket|finals?)\b"
    ),
    "about American government": (
        r"\b(us|u\.s\.|united states|america\w*|president|congress|senate|constitution|court|amendment|state)\b"
    ),
    "about India": r"\b(india\w*|pakistan\w*|bollywood|hindi|delhi)\b",
    "about nature": (
        r"\b(cells?|blood|body|bones?|atoms?|acid|energy|molecul\w*|chemical|elements?|temperature|heart|muscles?|protein|dna|"
        r"brain|planets?|earth|water)\b"
    ),
    "about history": r"\b(wars?|battle|army|treaty|king|queen|empire|revolution|colon\w*)\b",
    "about quantities": r"\b(population|percent\w*|rate|cost|worth|salary|gdp)\b",
}
_COMPILED = {**{name: re.compile(pattern) for name, pattern in _PATTERNS.items()}, **MARKS}

READABLE: tuple[str, ...] = ("words", "letters", "words beyond many", *FORMS, *_COMPILED)
"""The names of the readable columns, in their order."""


def encode(questions: Sequence[Question | str], embedder: Embedder) -> Floats:
    """Return (n, d + len(READABLE)): embeddings of length 1, and the readable features beside them, scaled.

    Raises:
        ModelFailedError: the embedder failed, or returned something else than one finite vector for each question.
    """
    texts = [each if isinstance(each, str) else each.text for each in questions]
    vectors = np.asarray(embedder.embed(texts or [""]), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts or [""]) or not np.isfinite(vectors).all():  # noqa: PLR2004 - a table
        message = f"the embedder returned {vectors.shape} for {len(texts)} questions, not one finite vector each; use another"
        raise ModelFailedError(message, kind="malformed")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    return np.hstack([unit[: len(texts)], WEIGHT * readable(texts)])


def readable(questions: Sequence[str]) -> Floats:
    """Return (n, len(READABLE)) features as they are read off, not yet scaled.

    >>> [READABLE[place] for place in np.flatnonzero(readable(["who wrote emma in 1815?"])[0] == 1)]
    ['asks who', 'who made', 'names a year', 'holds a number']
    """
    return np.array([_describe(question) for question in questions], dtype=np.float64).reshape(-1, len(READABLE))


def _describe(question: str) -> list[float]:
    lower = question.lower().strip()
    words, form = len(words_of(lower)), form_of(lower)
    return [
        (words - _USUAL_WORDS) / _WORDS_PER_UNIT,
        float(np.log(max(len(lower), 1) / _USUAL_LETTERS)) / _OCTAVES,
        max(words - _MANY_WORDS, 0.0) / _WORDS_PER_UNIT,
        *(float(form == name) for name in FORMS),
        *(float(bool(pattern.search(lower))) for pattern in _COMPILED.values()),
    ]
