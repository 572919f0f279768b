"""Correctness given references, and entailment: every window is judged, the best one speaks for the text.

Parts longer than the network's input are windowed: a text is correct if some window is, for some group of references; a
premise entails a hypothesis if, for each part of the hypothesis, some window of the premise does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import ScoringItem
from rag_cover_embedded.inputs import Encoded, Task, encodable, join, question_with_references
from rag_cover_embedded.segments import SegmentedText, segmented
from rag_cover_embedded.session import Session

__all__ = ["correctness", "entailment"]

Floats = NDArray[np.float32]

MAX_FIRST = 96
WINDOW = 152
HYPOTHESIS_WINDOW = 88
_MAX_REFERENCES = 240  # characters in one group


def correctness(session: Session, tokenizer: Tokenizer, items: Sequence[ScoringItem], *, temperature: float) -> Floats:
    """Return (n,) P(the text agrees with some reference); the question is cut to its last tokens where it leaves no room.

    References are judged in groups of about 240 characters.
    """
    texts = segmented(tokenizer, [item.text for item in items])
    rows, encoded = [], []
    for row, (item, text) in enumerate(zip(items, texts, strict=True)):
        for group in _groups(item.references):
            first = _ids(tokenizer, question_with_references(item.question, group))[-MAX_FIRST:]
            pairs = [join(Task.CORRECT, first, window) for window in _windows(text, WINDOW)]
            encoded += pairs
            rows += [row] * len(pairs)
    logits = np.array([logit[0] for (logit,) in session.run(encoded, ["correct"])], dtype=np.float32)
    best = np.full(len(items), -np.inf, dtype=np.float32)
    np.maximum.at(best, np.array(rows, dtype=np.intp), logits)
    probabilities: Floats = 1 / (1 + np.exp(-best / temperature))
    return probabilities


def entailment(session: Session, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], *, temperature: float) -> Floats:
    """Return (n, 3) P(entailment), P(neutral), P(contradiction).

    Of a premise's windows the one with the highest P(entailment) speaks; of a hypothesis' parts the one with the lowest. A
    blank premise or hypothesis is neutral.
    """
    distinct = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    cut = segmented(tokenizer, list(distinct))
    encoded: list[Encoded] = []
    plan = [_plan(cut[distinct[premise]], cut[distinct[hypothesis]], encoded) for premise, hypothesis in pairs]
    logits = [logit for (logit,) in session.run(encoded, ["entailment"])]
    neutral = np.array([0.0, 1.0, 0.0], dtype=np.float32)
    return np.array([_weakest_part(logits, parts, temperature) if parts else neutral for parts in plan]).reshape(-1, 3)


def _plan(premise: SegmentedText, hypothesis: SegmentedText, encoded: list[Encoded]) -> list[list[int]]:
    """Queue every (premise window, hypothesis part); list, for each part, where its windows stand in the queue."""
    windows, parts = _windows(premise, WINDOW), _windows(hypothesis, HYPOTHESIS_WINDOW)
    start = len(encoded)
    encoded += [join(Task.ENTAILMENT, window, part) for part, window in product(parts, windows)]
    return [list(range(start + n * len(windows), start + (n + 1) * len(windows))) for n in range(len(parts)) if windows]


def _weakest_part(logits: Sequence[Floats], parts: Sequence[Sequence[int]], temperature: float) -> Floats:
    rows = [_softmax(np.stack([logits[place] for place in windows]) / temperature) for windows in parts]
    strongest = [row[row[:, 0].argmax()] for row in rows]
    return min(strongest, key=lambda row: float(row[0]))


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)


def _windows(text: SegmentedText, size: int) -> list[list[int]]:
    return [text.ids[text.tokens(window)].tolist() for window in text.windows(size)]


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(encodable(text), add_special_tokens=False).ids)


def _groups(references: Sequence[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    for reference in references:
        if not groups or sum(map(len, groups[-1])) + len(reference) > _MAX_REFERENCES:
            groups.append([])
        groups[-1].append(reference)
    return groups
