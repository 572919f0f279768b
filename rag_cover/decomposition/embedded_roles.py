"""The local typer: the role of a sub-question, without a language model.

A linear model over `describe_sub_questions`, whose numbers (``embedded_roles.json``) `benchmarks/coverage/fit_typer.py`
fits by ridge regression on sub-questions written for this project and a few published ones. They hold for one space of
sentence embeddings, that of the embedded judge; an embedder of another space is recognised by a sentence whose vector is
known, and rules type instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder
from rag_cover.decomposition.role_features import describe_sub_questions, texts_to_embed
from rag_cover.decomposition.roles import role_of
from rag_cover.questions import Question, Role, SubQuestion

__all__ = ["CANARY", "NUMBERS", "Untyped", "assign_roles", "likeliest_roles", "type_roles"]

Untyped = Literal["embedded", "rules", "leave"]
"""How sub-questions without a role are typed: by an embedder (by rules where there is none), by rules, or not at all."""

CANARY = "How can individuals reduce it?"
NUMBERS = Path(__file__).with_name("embedded_roles.json")

_SAME_SPACE = 0.95  # cosine; a judge that is trained anew moves its embeddings by far less, another model's by far more


@dataclass(frozen=True, slots=True)
class _Numbers:
    canary: NDArray[np.float32]
    weights: NDArray[np.float64]


def type_roles(
    question: Question | str, sub_questions: Sequence[SubQuestion], *, embedder: Embedder | None = None
) -> tuple[SubQuestion, ...]:
    """Give sub-questions without a role the likeliest one, and leave the others.

    With an embedder of the right space it comes from a small model, marked ``role_source="embedded"``; else from rules,
    marked ``"rules"``.
    """
    text = question if isinstance(question, str) else question.text
    untyped = [each.text for each in sub_questions if each.role is None]
    if not untyped:
        return tuple(sub_questions)
    likeliest = None if embedder is None else likeliest_roles(text, untyped, embedder)
    source = "rules" if likeliest is None else "embedded"
    roles = iter([role_of(text, each) for each in untyped] if likeliest is None else likeliest)
    return tuple(
        each if each.role else each.model_copy(update={"role": next(roles), "role_source": source}) for each in sub_questions
    )


def assign_roles(
    question: Question, sub_questions: Sequence[SubQuestion], untyped: Untyped, embedder: Embedder | None
) -> Sequence[SubQuestion]:
    """Type what has no role in the way that is asked for.

    Sub-questions of which none has a role and none is found to be core are all core: whoever lists them means them.
    """
    if untyped == "leave":
        return sub_questions
    typed = type_roles(question, sub_questions, embedder=embedder if untyped == "embedded" else None)
    if any(each.role for each in sub_questions) or any(each.role is Role.CORE for each in typed):
        return typed
    return tuple(each.model_copy(update={"role": Role.CORE}) for each in typed)


def likeliest_roles(question: str, sub_questions: Sequence[str], embedder: Embedder) -> list[Role] | None:
    """Return the likeliest role of each sub-question; None where the embedder's space is not the one that was fitted."""
    vectors = embedder.embed([CANARY, *texts_to_embed(question, sub_questions)])
    canary = vectors[0]
    numbers = _numbers()
    if canary.shape != numbers.canary.shape or float(canary @ numbers.canary) < _SAME_SPACE:
        return None
    scores = describe_sub_questions(question, sub_questions, vectors[1:]) @ numbers.weights
    return [list(Role)[best] for best in scores.argmax(axis=1)]


@cache
def _numbers() -> _Numbers:
    fitted = json.loads(NUMBERS.read_text(encoding="utf-8"))
    return _Numbers(np.array(fitted["canary"], dtype=np.float32), np.array(fitted["weights"]))
