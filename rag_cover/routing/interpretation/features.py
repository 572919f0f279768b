"""What people can see in a question: its form, length, times, superlatives, and the words it shares with many others.

The features of the interpretation in CAIMIRA (Gor et al., EMNLP 2024, §5), recognised by rules in English questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.english.lexicon import NEGATIONS, NOT_SUPERLATIVE, YES_NO_OPENERS, one_of
from rag_cover.english.words import content_words, words_of

__all__ = ["FORMS", "MARKS", "ReadableFeatures", "form_of", "readable_features"]

Floats = NDArray[np.float64]

_LEAST = 8  # questions with, and without, what is to be told of a feature

FORMS: Mapping[str, re.Pattern[str]] = {
    "asks how many or how much": re.compile(r"\bhow (many|much|long|far|old|often|big|tall|high|deep|large)\b"),
    "asks when": re.compile(r"\bwhen\b|\b(what|which) (year|date|day|month|century|decade|time)\b"),
    "asks who": re.compile(r"\bwho(m|se)?\b"),
    "asks where": re.compile(r"\bwhere\b|\b(what|which) (country|city|state|place|town|continent|county|region)\b"),
    "asks why": re.compile(r"\bwhy\b"),
    "asks how": re.compile(r"\bhow\b"),
    "asks which": re.compile(r"\bwhich\b"),
    "asks what": re.compile(r"\bwhat\b"),
    "asks yes or no": re.compile(rf"^{one_of(YES_NO_OPENERS | {'may', 'might'})}\b"),
}

_NO_SUPERLATIVES = NOT_SUPERLATIVE | {"fest", "forrest"}  # saved skill models were fitted with this list
MARKS: Mapping[str, re.Pattern[str]] = {
    "names a year": re.compile(r"\b(1[0-9]{3}|20[0-9]{2})s?\b"),
    "speaks of order in time": re.compile(
        r"\b(before|after|during|since|until|while|last|next|latest|current|currently|now)\b"
    ),
    "superlative": re.compile(rf"\b(most|least|best|worst|first)\b|\b(?!{one_of(_NO_SUPERLATIVES)}\b)[a-z]{{2,}}est\b"),
    "compares": re.compile(r"\bthan\b|\bor\b|\b(older|younger|larger|smaller|longer|shorter|earlier|later|higher|lower)\b"),
    "joins two conditions": re.compile(r"\b(and|both|also)\b"),
    "excludes something": re.compile(rf"\b({one_of(NEGATIONS)}|except|besides|other than)\b"),
    "holds a number": re.compile(r"\d"),
    "quotes": re.compile(r"[\"“”]"),
}


@dataclass(frozen=True, slots=True)
class ReadableFeatures:
    """Named features of questions: ``values`` is (questions, names); ``per`` says what one unit of each is."""

    names: tuple[str, ...]
    values: Floats
    per: tuple[str, ...]


def readable_features(questions: Sequence[str], *, terms: int = 20) -> ReadableFeatures:
    """Describe questions; a feature that nearly all or nearly none of them have is left out.

    Args:
        questions: their texts.
        terms: of the words that most questions share, so many become features of their own.
    """
    forms = [form_of(question) for question in questions]
    columns = {name: [form == name for form in forms] for name in FORMS}
    columns |= {name: [bool(pattern.search(question.lower())) for question in questions] for name, pattern in MARKS.items()}
    columns |= _terms(questions, terms)
    kept = {name: column for name, column in columns.items() if _LEAST <= sum(column) <= len(questions) - _LEAST}
    lengths = _standardise([len(words_of(question)) for question in questions])
    has_length = bool(lengths.any())
    names = (*(("length",) if has_length else ()), *kept)
    table = [*([lengths] if has_length else []), *(np.array(column, dtype=np.float64) for column in kept.values())]
    values = np.column_stack(table) if table else np.zeros((len(questions), 0))
    return ReadableFeatures(names, values, tuple("standard deviation" if name == "length" else "" for name in names))


def form_of(question: str) -> str:
    """Return what kind of answer a question asks for; ``"other"`` where no rule knows.

    >>> form_of("How many moons has Mars?"), form_of("In which year did it end?"), form_of("is it blue")
    ('asks how many or how much', 'asks when', 'asks yes or no')
    """
    lower = question.lower().strip()
    return next((name for name, pattern in FORMS.items() if pattern.search(lower)), "other")


def _terms(questions: Sequence[str], limit: int) -> dict[str, list[bool]]:
    words = [content_words(question) for question in questions]
    counts: Counter[str] = Counter(word for found in words for word in found if not word.isdigit())
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:limit]
    return {f"“{word}”": [word in found for found in words] for word in frequent}


def _standardise(values: Sequence[float]) -> Floats:
    numbers = np.array(values, dtype=np.float64)
    spread = numbers.std() if len(numbers) else 0.0
    return np.asarray((numbers - numbers.mean()) / spread if spread else np.zeros(len(numbers)))
