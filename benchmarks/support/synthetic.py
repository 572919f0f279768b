"""Traces made of words drawn at random: as many as are asked for, of the lengths that short pipelines have."""

from __future__ import annotations

import random
from collections.abc import Iterator

from rag_cover import Passage, Question, RetrievalStep, SubQuestion, Trace

__all__ = ["synthetic"]

SUBJECTS = ("bridge", "turbine", "glacier", "orchard", "parliament", "telescope", "harbour", "vaccine", "lighthouse", "railway")
DEEDS = ("built", "closed", "measured", "repaired", "opened", "moved", "described", "sold", "planned", "named")
PLACES = ("Norway", "Lisbon", "Chile", "Quebec", "Nairobi", "Osaka", "Perth", "Tallinn", "Iceland", "Sardinia")
FILLING = (
    "the report says that work went on through the winter",
    "people of the town still speak of it",
    "no photograph is left",
)


def synthetic(number: int, *, seed: int = 0) -> Iterator[Trace]:
    """Make traces of two passages of some 30 words, an answer of some 20 and one sub-question, all of them different."""
    draw = random.Random(seed)  # noqa: S311  # words, not secrets
    for index in range(number):
        yield _trace(index, draw)


def _trace(index: int, draw: random.Random) -> Trace:
    subject, other = draw.sample(SUBJECTS, 2)
    deed, place, year = draw.choice(DEEDS), draw.choice(PLACES), draw.randrange(1800, 2025)
    told = f"The {subject} number {index} in {place} was {deed} in {year}"
    passages = (
        Passage(f"{told}, and {draw.choice(FILLING)}. Its {other} was sold later, and {draw.choice(FILLING)}."),
        Passage(
            f"Of the {other} in {draw.choice(PLACES)} little is known: {draw.choice(FILLING)}, and {draw.choice(FILLING)}."
        ),
    )
    return Trace(
        question=Question(f"When was the {subject} number {index} in {place} {deed}, and what became of its {other}?"),
        steps=(RetrievalStep(passages=passages),),
        answer=f"{told}." if draw.random() < 0.5 else f"{told}; the {other} was sold.",  # noqa: PLR2004  # half of them
        sub_questions=(SubQuestion(f"What became of the {other} of the {subject} number {index}?", role="core"),),
    )
