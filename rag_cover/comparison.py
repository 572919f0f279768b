"""Two pipelines on the same questions: what differs, whether that could be chance, and which questions changed.

The p-value is of a paired permutation test: under the null hypothesis the two sides of a question may be swapped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rag_cover.errors import IncomparableError
from rag_cover.evaluation import Evaluation
from rag_cover.intervals import permutation_p_value
from rag_cover.questions import Role
from rag_cover.results import TraceResult
from rag_cover.summaries import (
    SUMMARY_METRICS,
    ChangedQuestion,
    Comparison,
    MetricComparison,
    SummaryMetric,
    Sums,
    question_key,
)

__all__ = ["compare"]


@dataclass(slots=True)
class _Side:
    """One evaluation, gathered by question."""

    sums: Sums = field(default_factory=Sums)
    texts: dict[str, str] = field(default_factory=dict)
    covered: dict[str, dict[str, bool]] = field(default_factory=dict)  # question → core sub-question → answered by some trace
    asked: dict[str, frozenset[str]] = field(default_factory=dict)
    pipelines: Counter[str] = field(default_factory=Counter)
    measured: set[str] = field(default_factory=set)

    def add(self, result: TraceResult) -> None:
        key = question_key(result.trace.question)
        self.sums.add(result)
        self.texts.setdefault(key, result.trace.question.text)
        self.pipelines[result.trace.pipeline or ""] += 1
        self.measured |= result.outcomes.keys()
        if result.coverage is None:
            return
        self.asked[key] = self.asked.get(key, frozenset()) | {each.text for each in result.coverage.sub_questions}
        core = self.covered.setdefault(key, {})
        for each in result.coverage.sub_questions:
            if each.role == Role.CORE and each.answer is not None:
                core[each.text] = core.get(each.text, False) or each.answer.covered

    @property
    def name(self) -> str:
        return ", ".join(name for name in self.pipelines if name)


def compare(a: Evaluation, b: Evaluation, *, sub_questions: Literal["same", "any"] = "same", seed: int = 0) -> Comparison:
    """Compare two evaluations on the questions they share, joined by question id, else by normalised text.

    Args:
        a: the one side.
        b: the other; differences are b - a.
        sub_questions: ``"same"`` refuses questions whose sub-questions differ between the sides, ``"any"`` compares them.
        seed: of the permutations.

    Raises:
        IncomparableError: no question in common, or their sub-questions differ.
    """
    one, other = _gathered(a.results), _gathered(b.results)
    shared = [key for key in one.texts if key in other.texts]
    if not shared:
        message = "The two evaluations have no question in common; give both the same question ids or texts."
        raise IncomparableError(message)
    if sub_questions == "same":
        _refuse_different(one, other, shared)
    name_a, name_b = one.name or "a", other.name or "b"
    return Comparison(
        name_a=name_a if name_a != name_b else f"{name_a} (a)",
        name_b=name_b if name_a != name_b else f"{name_b} (b)",
        questions=len(shared),
        only_a=len(one.texts) - len(shared),
        only_b=len(other.texts) - len(shared),
        metrics={
            name: _compared(metric, one, other, shared, seed)
            for name, metric in SUMMARY_METRICS.items()
            if metric.measure in one.measured | other.measured
        },
        losses_a=one.sums.losses_of(shared),
        losses_b=other.sums.losses_of(shared),
        changed=_changed(one, other, shared),
        notes=_notes(a, b),
    )


def _gathered(results: Sequence[TraceResult]) -> _Side:
    side = _Side()
    for result in results:
        side.add(result)
    return side


def _refuse_different(one: _Side, other: _Side, shared: Sequence[str]) -> None:
    different = [key for key in shared if one.asked.get(key, frozenset()) != other.asked.get(key, frozenset())]
    if different:
        message = (
            f"{len(different)} of {len(shared)} shared questions have different sub-questions on the two sides, such as "
            f"{one.texts[different[0]]!r}; give both the same ones, or compare them anyway with sub_questions='any'."
        )
        raise IncomparableError(message)


def _compared(metric: SummaryMetric, one: _Side, other: _Side, shared: Sequence[str], seed: int) -> MetricComparison:
    a, b = (np.array([side.sums.rows[key] for key in shared]) for side in (one, other))
    first, second = metric.interval(a, seed=seed), metric.interval(b, seed=seed)
    return MetricComparison(
        name=metric.name,
        label=metric.label,
        a=first,
        b=second,
        difference=second.estimate - first.estimate if first and second else None,
        p_value=permutation_p_value(a, b, metric.statistic, seed=seed),
        questions=len(shared),
        higher_is_better=metric.higher_is_better,
    )


def _changed(one: _Side, other: _Side, shared: Sequence[str]) -> tuple[ChangedQuestion, ...]:
    """List the questions with a core sub-question that one side covers and the other does not, most changed first."""
    found = []
    for key in shared:
        a, b = one.covered.get(key, {}), other.covered.get(key, {})
        gained = tuple(text for text, covered in b.items() if covered and a.get(text) is False)
        lost = tuple(text for text, covered in a.items() if covered and b.get(text) is False)
        if gained or lost:
            found.append(ChangedQuestion(one.texts[key], key, _share(a), _share(b), gained, lost))
    return tuple(sorted(found, key=lambda each: len(each.gained) - len(each.lost)))


def _share(covered: Mapping[str, bool]) -> float | None:
    return sum(covered.values()) / len(covered) if covered else None


def _notes(a: Evaluation, b: Evaluation) -> tuple[str, ...]:
    if a.judge != b.judge:
        return (f"The two sides were judged by different judges: {a.judge} and {b.judge}.",)
    return ()
