"""Where the two thresholds are best put, for labelled questions in numbers.

Every pair of candidate cuts is counted at once: questions fall into cells between neighbouring cuts, and how many are called
complex at a pair of cuts is a corner of the cumulated cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.complexity.choices import Constraints
from rag_cover.complexity.rrcp import T_ANS, T_COM
from rag_cover.stats.thresholds import cuts_between

__all__ = ["Thresholds", "best_thresholds"]

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]

WORTH = 0.01
"""The F1 that completeness must add to answerability to decide with it; less is what chance adds to the better of many."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A pair of thresholds, and the F1 of calling complex what they call so on the questions they were chosen on."""

    t_ans: float
    t_com: float
    f1: float


def best_thresholds(answers: Floats, completeness: Floats, truth: Truth, constraints: Constraints) -> Thresholds:
    """Choose the thresholds with the highest F1 of the complex questions; of equally good ones those in the middle.

    A constraint that does not decide keeps the paper's threshold. With both, completeness may turn out to add nothing, or less
    than 0.01: ``t_com`` is 0 then.

    >>> answers, truth = np.array([0.1, 0.2, 0.8, 0.9]), np.array([True, True, False, False])
    >>> best_thresholds(answers, np.ones(4), truth, "answerability")
    Thresholds(t_ans=0.5, t_com=0.8, f1=1.0)

    Args:
        answers: (n,) each question's highest answer probability, in [0, 1].
        completeness: (n,), in [0, 1]; read unless answerability decides alone.
        truth: (n,) which questions are complex.
        constraints: which of the two decide.
    """
    above_all = np.array([np.nextafter(1.0, 2.0)])  # no probability reaches it, so all questions are unanswerable
    t_ans = above_all if constraints == "completeness" else np.append(cuts_between(answers), (answers.max() + 1) / 2)
    t_com = np.zeros(1) if constraints == "answerability" else np.concatenate([np.zeros(1), cuts_between(completeness)])
    cells = (np.searchsorted(t_ans, answers, side="right"), np.searchsorted(t_com, completeness, side="right"))
    hits, called = (_count_complex(cells, (len(t_ans), len(t_com)), kept) for kept in (truth, np.ones_like(truth)))
    scores = 2 * hits / np.maximum(called + truth.sum(), 1)
    if constraints == "both" and scores.max() < scores[:, 0].max() + WORTH:
        scores[:, 1:] = -1.0
    good = np.argwhere(scores >= scores.max() - 1e-12)
    row, column = good[(len(good) - 1) // 2]
    return Thresholds(
        T_ANS if constraints == "completeness" else float(t_ans[row]),
        T_COM if constraints == "answerability" else float(t_com[column]),
        float(scores[row, column]),
    )


def _count_complex(cells: tuple[NDArray[np.intp], NDArray[np.intp]], shape: tuple[int, int], kept: Truth) -> Floats:
    """Count, for each pair of cuts, the questions below the first and not below the second."""
    counts = np.zeros((shape[0] + 1, shape[1] + 1))
    np.add.at(counts, (cells[0][kept], cells[1][kept]), 1.0)
    below_first = np.cumsum(counts, axis=0)[:-1]
    not_below_second: Floats = np.cumsum(below_first[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return not_below_second
