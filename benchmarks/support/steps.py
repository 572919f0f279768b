"""Human decompositions of multi-hop questions, as steps that build on each other: ``#1`` stands for the answer to the first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Steps", "filled_by_gold", "phrased", "steps_of"]


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps with their slots, and the gold answer to each."""

    texts: tuple[str, ...]
    answers: tuple[str, ...]


def steps_of(row: dict[str, Any]) -> Steps | None:
    """Read the steps of a row of MuSiQue or 2WikiMultihopQA; HotpotQA has none.

    2WikiMultihopQA writes the answer to an earlier step into a later one: it is taken out again.
    """
    if "question_decomposition" in row:
        steps = row["question_decomposition"]
        return Steps(tuple(phrased(step["question"]) for step in steps), tuple(step["answer"] for step in steps))
    if "qa_pairs" in row:
        answers = [value for *_, value in row["evidences"]]
        texts = [_unfilled(pair["question"], answers[:place]) for place, pair in enumerate(row["qa_pairs"])]
        return Steps(tuple(texts), tuple(answers))
    return None


def filled_by_gold(steps: Steps) -> tuple[str, ...]:
    """Put gold answers in the place of slots.

    >>> filled_by_gold(Steps(("Who directed Jaws?", "When was #1 born?"), ("Steven Spielberg", "1946")))
    ('Who directed Jaws?', 'When was Steven Spielberg born?')
    """
    return tuple(re.sub(r"#(\d+)", lambda match: steps.answers[int(match[1]) - 1], text) for text in steps.texts)


def phrased(step: str) -> str:
    """Write a step of the form ``X >> relation`` as a question.

    >>> phrased("#1 >> place of birth")
    'What is the place of birth of #1?'
    """
    subject, found, relation = step.partition(">>")
    return f"What is the {relation.strip()} of {subject.strip()}?" if found else step


def _unfilled(text: str, answers: Sequence[str]) -> str:
    for number, answer in enumerate(answers, 1):
        text = re.sub(re.escape(answer), f"#{number}", text, flags=re.IGNORECASE)
    return text
