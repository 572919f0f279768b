"""Typed sub-questions, published and written for this project, and the fit of the local typer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines
from rag_cover.backends import Embedder
from rag_cover.decomposition.role_features import describe_sub_questions, texts_to_embed
from rag_cover.questions import Role

Floats = NDArray[np.float64]

TYPED_SUB_QUESTIONS = Path(__file__).parents[1] / "coverage" / "typed_sub_questions.jsonl"
"""Questions, sub-questions and roles, all written by a language model for this project (CC0), after the definitions of Xie et
al. (NAACL 2025, §3.1) and the habits of the people who typed the published sheets q1 to q3. JSONL of question, sub_question,
role."""

TRAINING = ("q1", "q2", "q3")
"""The published sheets that may train a typer; the others are for testing only."""

RIDGE = 30.0
"""Chosen, like the features, by the training questions alone, each left out in turn."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One question and its sub-questions; ``labels`` are those of each person, ``roles`` those of their majority."""

    name: str
    question: str
    sub_questions: tuple[str, ...]
    roles: tuple[Role, ...]
    labels: tuple[tuple[Role, ...], ...] = ()


def published_sheets(data: Path) -> list[Sheet]:
    """Read the published sheets; of equally many labels the alphabetically first counts, as the data set says."""
    found: dict[str, list[dict[str, object]]] = {}
    for row in lines(data / "coverage/subquestion_types_part.jsonl"):
        found.setdefault(str(row["sheet"]), []).append(row)
    return [_published(name, rows) for name, rows in found.items()]


def own_sheets() -> list[Sheet]:
    """Read the sheets written for this project."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in lines(TYPED_SUB_QUESTIONS):
        found.setdefault(row["question"], []).append(row)
    return [
        Sheet(f"own {number}", question, *_columns((row["sub_question"], Role(row["role"])) for row in rows))
        for number, (question, rows) in enumerate(found.items(), 1)
    ]


def majority_of(labels: Iterable[Role]) -> Role:
    """Return the most frequent label, of equally frequent ones the alphabetically first.

    >>> majority_of([Role.CORE, Role.BACKGROUND])
    <Role.BACKGROUND: 'background'>
    """
    return min(Counter(labels).items(), key=lambda item: (-item[1], item[0]))[0]


def inputs_of(sheets: Sequence[Sheet], embedder: Embedder) -> list[Floats]:
    """Return the features of every sheet."""
    return [
        describe_sub_questions(
            sheet.question, sheet.sub_questions, embedder.embed(texts_to_embed(sheet.question, sheet.sub_questions))
        )
        for sheet in sheets
    ]


def fitted(sheets: Sequence[Sheet], inputs: Sequence[Floats]) -> Floats:
    """Fit the weights: ridge regression on one column per role, 1 where a sub-question has it; the bias is free."""
    x, roles = np.concatenate(list(inputs)), list(Role)
    truth = np.eye(len(roles))[[roles.index(role) for sheet in sheets for role in sheet.roles]]
    ridge = np.full(x.shape[1], RIDGE)
    ridge[-1] = 1e-6
    return np.linalg.solve(x.T @ x + np.diag(ridge), x.T @ truth)


def predicted(inputs: Floats, weights: Floats) -> list[Role]:
    """Return the likeliest role of each row."""
    return [list(Role)[best] for best in (inputs @ weights).argmax(axis=1)]


def _published(name: str, rows: Sequence[dict[str, object]]) -> Sheet:
    labels = [tuple(Role(label) for label in row["labels"]) for row in rows]  # type: ignore[attr-defined]  # JSON
    texts, roles = _columns((str(row["sub_question"]), majority_of(given)) for row, given in zip(rows, labels, strict=True))
    return Sheet(name, str(rows[0]["question"]), texts, roles, tuple(labels))


def _columns(pairs: Iterable[tuple[str, Role]]) -> tuple[tuple[str, ...], tuple[Role, ...]]:
    texts, roles = zip(*pairs, strict=True)
    return texts, roles
