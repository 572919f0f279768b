"""The figures of set queries: what each way found for each question, and the tables made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.entities import TEMPLATES, SetQuestion
from benchmarks.support.tables import percent, plain, show
from rag_cover.setqueries.metrics import mrecall_at_k, recall_at_k, set_scores
from rag_cover.stats.intervals import bootstrap

Floats = NDArray[np.float64]

RANKS = (20, 50, 100)
BY_TEMPLATE = "by template"
"""In the names of baselines that take the best k for each template on the questions measured."""
UNJUDGED = "each atom's first"
"""Begins the name of set algebra without a judge, which is neither plain nor ours."""
GROUPS: Mapping[str, Sequence[str]] = {
    "intersections": ("A ∩ B", "A ∩ B ∩ C"),
    "differences": ("A \\ B", "A ∩ B \\ C"),
    "unions": ("A ∪ B", "A ∪ B ∪ C"),
    "single atoms": ("A",),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What one way returned for one question: a set, and all that it ranked, best first."""

    kept: Sequence[str]
    ranked: Sequence[str]


Ways = Mapping[str, Sequence[Found]]
"""By the name of a way, what it found for each question."""


def show_figures(title: str, questions: Sequence[SetQuestion], ways: Ways, *, seed: int) -> None:
    """Print all tables of one collection; ways whose name begins with "ours" are compared with the others."""
    _show_scores(title, questions, ways, seed)
    _show_templates(title, questions, ways)
    _show_ranks(title, questions, ways)
    _show_ratios(title, questions, ways, seed)


def f1s(questions: Sequence[SetQuestion], found: Sequence[Found]) -> Floats:
    """Return each question's F1."""
    return _scores(questions, found)[:, 2]


def best_of(questions: Sequence[SetQuestion], ways: Ways, names: Sequence[str], templates: Sequence[str]) -> str:
    """Name the way with the best mean F1 on the questions of some templates."""
    chosen = _rows_of(questions, templates)
    return max(names, key=lambda name: float(f1s(questions, ways[name])[chosen].mean()))


def ratio_of(sums: Floats) -> Floats:
    """Return how many times the first is of the second, of sums of both; NaN where the second is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


def _scores(questions: Sequence[SetQuestion], found: Sequence[Found]) -> Floats:
    scores = [set_scores(question.gold, each.kept) for question, each in zip(questions, found, strict=True)]
    return np.array([(each.precision, each.recall, each.f1) for each in scores])


def _rows_of(questions: Sequence[SetQuestion], templates: Sequence[str]) -> list[int]:
    return [row for row, question in enumerate(questions) if question.template in templates]


def _mean(values: Floats, seed: int) -> str:
    counted = np.stack([values, np.ones_like(values)], axis=1)
    return percent(bootstrap(counted, lambda sums: np.asarray(sums[..., 0] / sums[..., 1]), seed=seed))


def _show_scores(title: str, questions: Sequence[SetQuestion], ways: Ways, seed: int) -> None:
    rows = [
        [
            way,
            *(_mean(scores[:, column], seed) for column in range(3)),
            f"{np.mean([len(set(each.kept)) for each in found]):.1f}",
        ]
        for way, found in ways.items()
        for scores in [_scores(questions, found)]
    ]
    header = ["way", "precision", "recall", "F1", "returned"]
    show(f"{title}: {len(questions)} questions, averages in percent", header, rows)


def _show_templates(title: str, questions: Sequence[SetQuestion], ways: Ways) -> None:
    rows, templates = [], [template for template in TEMPLATES if _rows_of(questions, [template])]
    for way, found in ways.items():
        scores = _scores(questions, found)
        means = [100 * scores[_rows_of(questions, [template])].mean(axis=0) for template in templates]
        rows.append([way, *(" / ".join(f"{each:.0f}" for each in mean) for mean in means)])
    header = ["way", *(f"{template} ({len(_rows_of(questions, [template]))})" for template in templates)]
    show(f"{title}: average precision / recall / F1 by template, in percent", header, rows)


def _show_ranks(title: str, questions: Sequence[SetQuestion], ways: Ways) -> None:
    rows = []
    for way, found in ways.items():
        if BY_TEMPLATE in way or way.startswith(UNJUDGED):
            continue  # the same ranking as with one k, or none
        pairs = [(question.gold, each.ranked) for question, each in zip(questions, found, strict=True)]
        row = [100 * np.mean([recall_at_k(gold, ranked, k=k) for gold, ranked in pairs]) for k in RANKS]
        row += [100 * np.mean([mrecall_at_k(gold, ranked, k=k) for gold, ranked in pairs]) for k in RANKS]
        rows.append([way, *(f"{each:.1f}" for each in row)])
    header = ["way", *(f"Recall@{k}" for k in RANKS), *(f"MRecall@{k}" for k in RANKS)]
    show(f"{title}: rankings, in percent", header, rows)


def _show_ratios(title: str, questions: Sequence[SetQuestion], ways: Ways, seed: int) -> None:
    ours = [way for way in ways if way.startswith("ours")]
    plain_ways = [way for way in ways if way not in ours and not way.startswith(UNJUDGED)]
    families = [[way for way in plain_ways if (BY_TEMPLATE in way) is free] for free in (False, True)]
    rows = [
        [group, *_compared(questions, ways, way, best_of(questions, ways, family, templates), templates, seed)]
        for group, templates in GROUPS.items()
        if _rows_of(questions, templates)
        for way in ours
        for family in families
    ]
    header = ["questions", "way", "best plain way", "F1 of ours", "F1 of the plain", "difference, in points", "ratio"]
    if rows:
        show(f"{title}: ours against the plain way that is best on these very questions", header, rows)


def _compared(
    questions: Sequence[SetQuestion], ways: Ways, way: str, best: str, templates: Sequence[str], seed: int
) -> list[str]:
    chosen = _rows_of(questions, templates)
    mine, theirs = (f1s(questions, ways[each])[chosen] for each in (way, best))
    ratio = bootstrap(np.stack([mine, theirs], axis=1), ratio_of, seed=seed)
    means = (_mean(values, seed) for values in (mine, theirs, mine - theirs))
    return [way, best, *means, plain(ratio, digits=2)]
