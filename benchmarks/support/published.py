"""SePer's entailment stage as its release runs it, rendered plainly: one question, one reference and one batch at a time.

Dai et al. (ICLR 2025): *soft* judges every answer against the reference in one forward, and the reference against every answer
in another; *hard* compares each founder of a cluster with all later answers, a forward each way, then the founders with the
reference, a forward each way. Equal pairs are judged as often as they come up. Answers weigh alike, as they do without
log-probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Forward", "Tally", "hard_score", "soft_score"]

Pair = tuple[str, str]
Forward = Callable[[Sequence[Pair]], NDArray[np.float64]]
"""Judges pairs in one batch, padded to the longest: (n, 3) P(entailment), P(neutral), P(contradiction)."""

_ENTAILMENT, _NEUTRAL, _CONTRADICTION = range(3)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its sampled answers and its reference."""

    question: str
    answers: tuple[str, ...]
    reference: str


@dataclass(slots=True)
class Tally:
    """What went through a network: forwards, pairs, and tokens with their padding."""

    forwards: int = 0
    pairs: int = 0
    tokens: int = 0

    def count(self, lengths: Sequence[int]) -> None:
        """Count one batch of inputs of these lengths."""
        self.forwards += 1
        self.pairs += len(lengths)
        self.tokens += len(lengths) * max(lengths)


def soft_score(asked: Asked, forward: Forward) -> float:
    """Return soft SePer: the mean over the answers of the higher P(entailment) of both directions."""
    texts, reference = _in_context(asked)
    ahead = forward([(text, reference) for text in texts])[:, _ENTAILMENT]
    back = forward([(reference, text) for text in texts])[:, _ENTAILMENT]
    return float(np.maximum(ahead, back).mean())


def hard_score(asked: Asked, forward: Forward) -> float:
    """Return hard SePer: the share of answers in clusters whose founder means the same as the reference."""
    texts, reference = _in_context(asked)
    clusters = [-1] * len(texts)
    founders: list[int] = []
    for i in range(len(texts)):
        if clusters[i] >= 0:
            continue
        clusters[i] = len(founders)
        if later := list(range(i + 1, len(texts))):
            ahead = forward([(texts[i], texts[j]) for j in later]).argmax(axis=1)
            back = forward([(texts[j], texts[i]) for j in later]).argmax(axis=1)
            for j, one, other in zip(later, ahead, back, strict=True):
                if one == other == _ENTAILMENT:
                    clusters[j] = len(founders)
        founders.append(i)
    ahead = forward([(texts[i], reference) for i in founders]).argmax(axis=1)
    back = forward([(reference, texts[i]) for i in founders]).argmax(axis=1)
    same = [
        _CONTRADICTION not in both and both != {_NEUTRAL} for both in map(set, zip(ahead.tolist(), back.tolist(), strict=True))
    ]
    return sum(same[cluster] for cluster in clusters) / len(clusters)


def _in_context(asked: Asked) -> tuple[list[str], str]:
    question = asked.question if asked.question.endswith("?") else f"{asked.question}?"
    return [f"{question} {answer}" for answer in asked.answers], f"{question} {asked.reference}"
