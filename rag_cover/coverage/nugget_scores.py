"""The nugget scores of the TREC 2024 RAG track: how much of what a full answer states an answer states.

Pradeep et al., "The Great Nugget Recall: Automating Fact Extraction and RAG Evaluation with Large Language Models" (SIGIR
2025), §4.4, defines A_strict and V_strict, the track's primary metric; the same authors' "Initial Nugget Evaluation Results for
the TREC 2024 RAG Track with the AutoNuggetizer Framework" (arXiv:2411.09607) has all six. A nugget i is worth

- ``s_i`` = 1 where the answer supports it, 0.5 where it supports a part of it, else 0; strictly, a part is worth 0.

With the sums over all nuggets, over vital ones (v) and over okay ones (o):

- all ``A = Σ s_i / n``
- vital ``V = Σ s_i^v / n^v``
- weighted ``W = (Σ s_i^v + 0.5 Σ s_i^o) / (n^v + 0.5 n^o)``

and A_strict, V_strict, W_strict with the strict worth. The score of a run is the mean over its questions. A score without its
denominator is None, where the authors' program writes 0.0; so is one in which a nugget counts whose assignment failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields

from rag_cover.nuggets import Assignment, Importance

__all__ = ["AssignedImportance", "NuggetScores", "mean_scores", "score_nuggets"]

AssignedImportance = tuple[Importance | None, Assignment | None]
"""What is counted of a nugget: its importance, None where it has none, and its assignment, None where that failed."""

_WORTH = {Assignment.SUPPORT: 1.0, Assignment.PARTIAL_SUPPORT: 0.5, Assignment.NOT_SUPPORT: 0.0}
_STRICT_WORTH = {**_WORTH, Assignment.PARTIAL_SUPPORT: 0.0}
_OKAY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class NuggetScores:
    """The six scores of an answer, or their means over questions: each in [0, 1], None where it is undefined."""

    all: float | None
    all_strict: float | None
    vital: float | None
    vital_strict: float | None
    weighted: float | None
    weighted_strict: float | None


def score_nuggets(assigned: Iterable[AssignedImportance]) -> NuggetScores:
    """Compute the scores of one answer.

    >>> vital, okay = Importance.VITAL, Importance.OKAY
    >>> score_nuggets([(vital, Assignment.SUPPORT), (vital, Assignment.PARTIAL_SUPPORT), (okay, Assignment.NOT_SUPPORT)])
    NuggetScores(all=0.5, all_strict=0.3333333333333333, vital=0.75, vital_strict=0.5, weighted=0.6, weighted_strict=0.4)
    >>> score_nuggets([(okay, Assignment.SUPPORT)]).vital is None
    True
    """
    every = list(assigned)
    vital = [assignment for importance, assignment in every if importance == Importance.VITAL]
    okay = [assignment for importance, assignment in every if importance == Importance.OKAY]
    equal = [(assignment, 1.0) for _, assignment in every]
    weighted = [*((assignment, 1.0) for assignment in vital), *((assignment, _OKAY_WEIGHT) for assignment in okay)]
    return NuggetScores(
        all=_share(equal, _WORTH),
        all_strict=_share(equal, _STRICT_WORTH),
        vital=_share([(assignment, 1.0) for assignment in vital], _WORTH),
        vital_strict=_share([(assignment, 1.0) for assignment in vital], _STRICT_WORTH),
        weighted=_share(weighted, _WORTH),
        weighted_strict=_share(weighted, _STRICT_WORTH),
    )


def mean_scores(scores: Iterable[NuggetScores]) -> NuggetScores:
    """Average each score over the answers of which it is defined.

    >>> mean_scores([NuggetScores(1.0, 1.0, None, None, 1.0, 1.0), NuggetScores(0.5, 0.0, 0.5, 0.0, 0.5, 0.0)]).vital
    0.5
    """
    sums = {field.name: 0.0 for field in fields(NuggetScores)}
    counts = dict.fromkeys(sums, 0)
    for each in scores:
        for name, value in asdict(each).items():
            if value is not None:
                sums[name] += value
                counts[name] += 1
    return NuggetScores(**{name: sums[name] / counts[name] if counts[name] else None for name in sums})


def _share(weighted: Sequence[tuple[Assignment | None, float]], worth: dict[Assignment, float]) -> float | None:
    whole = sum(weight for _, weight in weighted)
    if not whole or any(assignment is None for assignment, _ in weighted):
        return None
    return sum(weight * worth[assignment] for assignment, weight in weighted if assignment is not None) / whole
