"""What speaks for a window answering a question, and how it is weighed: a logistic regression of five numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OUTPUTS", "Evidence", "Mixing", "evidence_of", "likeliest_span"]

OUTPUTS = ("answers", "span", "relevance")
"""What the network says of a window, as `evidence_of` takes it."""

_LONGEST_ANSWER = 40
_CERTAIN = 8.0


class Evidence(NamedTuple):
    """What is known of one window.

    ``logit`` of the head for *answers*; ``score`` of the first stage; ``margin``, by how much the likeliest span beats
    *none*; ``touched`` and ``least``: mean and lowest relevance (logit) of the question's words.
    """

    logit: float
    score: float
    margin: float
    touched: float
    least: float


@dataclass(frozen=True, slots=True)
class Mixing:
    """How a window's probability is made of its evidence; fitted on texts that the weights never saw."""

    logit: float
    score: float
    margin: float
    touched: float
    least: float
    intercept: float

    def probability(self, found: Evidence) -> float:
        """Return P(the window answers).

        >>> Mixing(1.0, 2.0, 0.0, 0.0, 0.0, intercept=-1.0).probability(Evidence(0.0, 0.5, 9.0, 9.0, 9.0))
        0.5
        """
        weights = (self.logit, self.score, self.margin, self.touched, self.least)
        return 1 / (1 + math.exp(-sum(a * b for a, b in zip(weights, found, strict=True)) - self.intercept))


def evidence_of(
    outputs: tuple[NDArray[np.float32], ...], start: int, words: Sequence[Sequence[int]], score: float
) -> tuple[Evidence, tuple[int, int]]:
    """Read a window's outputs; also returns its likeliest span, counted from ``start``, the text's first token.

    ``words`` are the question's: each the places of its tokens.
    """
    logit, spans, relevance = outputs
    (first, last), best = likeliest_span(spans[start:-1])
    margin = best - float(spans[0].sum())
    values = np.clip(relevance[:, 0], -_CERTAIN, _CERTAIN)
    touched = [max(float(values[place]) for place in word) for word in words]
    mean, least = (sum(touched) / len(touched), min(touched)) if touched else (0.0, 0.0)
    return Evidence(float(logit[0]), score, margin, mean, least), (first, last)


def likeliest_span(logits: NDArray[np.float32]) -> tuple[tuple[int, int], float]:
    """Choose the first and last token of the likeliest answer of at most 40 tokens; returns its score as well.

    >>> likeliest_span(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]], dtype=np.float32))
    ((1, 2), 5.0)
    """
    starts, ends = logits[:, 0], logits[:, 1]
    total = starts[:, None] + ends[None, :]
    length = np.arange(len(logits)) - np.arange(len(logits))[:, None]
    allowed = (length >= 0) & (length <= _LONGEST_ANSWER)
    scored = np.where(allowed, total, -np.inf)
    first, last = divmod(int(scored.argmax()), len(logits))
    return (first, last), float(scored[first, last])
