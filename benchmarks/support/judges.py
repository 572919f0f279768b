"""The judge under measurement, and the trivial judges it must beat."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Span
from rag_cover.english.words import content_words
from rag_cover.texts import sentences
from rag_cover_embedded.weights import Weights

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def about_judge(name: str) -> dict[str, Any]:
    """Read what an embedded judge says about itself (judge.json)."""
    weights = opened_weights(name)
    return dict(json.loads((weights.folder / "judge.json").read_text(encoding="utf-8")))


def opened_weights(name: str) -> Weights:
    """Open the weights of an embedded judge by its name."""
    folder = name.partition(":")[2]
    return Weights.open(Path(folder) if folder else None)


def squad_normalised(text: str) -> str:
    """Lower-case, drop accents, punctuation and articles, squeeze white space (SQuAD's evaluation, and accents).

    >>> squad_normalised("The  Wilhelm Röntgen.")
    'wilhelm rontgen'
    """
    plain = "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
    kept = "".join(char for char in plain.lower() if char not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", kept).split())


def overlap(asked: str, text: str) -> float:
    """Return the share of the content words of a question or statement that a text repeats.

    >>> overlap("Who wrote Emma?", "Emma is a novel")
    0.5
    """
    words = content_words(asked)
    return len(words & content_words(text)) / len(words) if words else 0.0


def two_sentence_windows(text: str) -> list[Span]:
    """Return every two neighbouring sentences; a text of one sentence is one window."""
    found = sentences(text)
    return [Span(a.start, b.end) for a, b in pairwise(found)] or found


def highest_cosines(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return (n,), for each (question, text), the highest cosine of the question with two sentences of the text."""
    windows = {text: [span.of(text) for span in two_sentence_windows(text)] for _, text in pairs}
    parts = [part for found in windows.values() for part in found]
    distinct = list(dict.fromkeys([*(question for question, _ in pairs), *parts]))
    place = {text: row for row, text in enumerate(distinct)}
    vectors = embedder.embed(distinct)

    def highest(question: str, text: str) -> float:
        return max((float(vectors[place[part]] @ vectors[place[question]]) for part in windows[text]), default=-1.0)

    return np.array([highest(question, text) for question, text in pairs])
