"""Plain cases that every usable classifier gets right, asked when it is opened: a wrong label order is silent otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover_transformers.errors import CanaryError
from rag_cover_transformers.labels import THREE_CLASSES, TWO_CLASSES

__all__ = ["CANARIES", "QUESTIONS", "Canary", "refuse_a_wrong_order", "refuse_a_wrong_ranking", "refuse_a_wrong_scorer"]

Canary = tuple[str, str, str]
"""A premise, a hypothesis and the right label."""

CANARIES: tuple[Canary, ...] = (
    ("A man is playing a guitar on the stage.", "A man is playing an instrument.", "entailment"),
    ("All three children were asleep by nine.", "The children were sleeping at nine.", "entailment"),
    ("The shop is closed on Sundays and holidays.", "The shop is not open on Sundays.", "entailment"),
    ("A man is playing a guitar on the stage.", "Nobody is playing an instrument.", "contradiction"),
    ("The river froze completely last winter.", "The river has never frozen.", "contradiction"),
    ("The shop is closed on Sundays and holidays.", "The shop is open every day of the year.", "contradiction"),
    ("A man is playing a guitar on the stage.", "The man has played for twenty years.", "neutral"),
    ("She bought a red car yesterday.", "She paid for the car in cash.", "neutral"),
    ("The shop is closed on Sundays and holidays.", "The shop sells shoes and hats.", "neutral"),
)

QUESTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "When was the Eiffel Tower completed?",
        "The Eiffel Tower was completed in 1889 for the world's fair.",
        "Paris has two airports and seven railway stations.",
    ),
    (
        "Who wrote the novel Emma?",
        "Emma is a novel written by Jane Austen and published in 1815.",
        "Bread is baked from flour, water, salt and yeast.",
    ),
    (
        "What is the capital of Australia?",
        "Canberra is the capital city of Australia.",
        "The violin is the smallest of the string instruments.",
    ),
)
"""A question, a text that answers it and one that does not."""

LEAST_RIGHT = 0.66


def refuse_a_wrong_order(
    name: str, order: Sequence[str], logits: NDArray[np.float32], canaries: Sequence[Canary] = CANARIES
) -> None:
    """Refuse a classifier whose (canaries, labels) logits are wrong too often when its labels are read in this order.

    Each class counts alike, so that one who always says "not_entailment" does not pass.

    Raises:
        CanaryError: fewer than two thirds right, or another order gets more; it names that order.
        InvalidValueError: a case whose label is none.
    """
    asked = tuple(order)
    if wrong := sorted({label for _, _, label in canaries} - {*THREE_CLASSES, *TWO_CLASSES}):
        message = f"a canary is (premise, hypothesis, label), and a label one of {', '.join(THREE_CLASSES)}: not {wrong[0]!r}"
        raise InvalidValueError(message)
    shares = {read: _share_right(_right(read, logits, canaries), read, canaries) for read in permutations(order)}
    best = max(shares, key=lambda read: (shares[read], read == asked))
    if shares[asked] < LEAST_RIGHT or best != asked:
        passing = best if best != asked and shares[best] >= LEAST_RIGHT else None
        raise CanaryError(name, asked, sum(_right(asked, logits, canaries)), len(canaries), passing)


def _right(order: Sequence[str], logits: NDArray[np.float32], canaries: Sequence[Canary]) -> list[bool]:
    chosen = [order[place] for place in logits.argmax(axis=1)]
    return [said == _in(order, label) for said, (_, _, label) in zip(chosen, canaries, strict=True)]


def _share_right(right: Sequence[bool], order: Sequence[str], canaries: Sequence[Canary]) -> float:
    """Return the mean over classes of the share of their cases that is right."""
    by_class: dict[str, list[bool]] = {}
    for said_well, (_, _, label) in zip(right, canaries, strict=True):
        by_class.setdefault(_in(order, label), []).append(said_well)
    return fmean(sum(several) / len(several) for several in by_class.values())


def _in(order: Sequence[str], label: str) -> str:
    """Return what a label is called where there are only two."""
    return label if label in order else "not_entailment"


def refuse_a_wrong_scorer(
    name: str, scorer: Scorer, order: Sequence[str], questions: Sequence[tuple[str, str, str]] = QUESTIONS
) -> None:
    """Ask a scorer about texts that answer and texts that do not, and refuse one that ranks them wrongly.

    Raises:
        CanaryError: see `refuse_a_wrong_ranking`.
    """
    answering, other = (scorer.correctness([ScoringItem(case[0], case[place]) for case in questions]) for place in (1, 2))
    refuse_a_wrong_ranking(name, answering, other, order=order, questions=questions)


def refuse_a_wrong_ranking(
    name: str,
    answering: NDArray[np.float32],
    other: NDArray[np.float32],
    *,
    order: Sequence[str],
    questions: Sequence[tuple[str, str, str]] = QUESTIONS,
) -> None:
    """Refuse a scorer that finds texts beside the question likelier to answer it than texts that do.

    Raises:
        CanaryError: fewer than two thirds ranked right; it names the other order of two classes where that would pass.
    """
    right = int((answering > other).sum())
    if right < LEAST_RIGHT * len(questions):
        turned = int((answering < other).sum()) >= LEAST_RIGHT * len(questions) and len(order) == len(TWO_CLASSES)
        raise CanaryError(name, order, right, len(questions), tuple(order)[::-1] if turned else None)
