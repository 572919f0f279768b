"""Two pipelines laid side by side, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_cover.reports.figures import Bar, ComparisonRow, comparison_row, difference_text, loss_bar
from rag_cover.reports.loss_text import losses_listed
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.text import (
    SHARE,
    Headline,
    are_questions_whole,
    core_noun,
    format_count,
    p_value_text,
    percent,
    verdict_on,
)
from rag_cover.summaries import ChangedQuestion, Comparison, MetricComparison

__all__ = ["ChangeView", "ComparisonView", "comparison_headline", "comparison_view"]

_CHANGES_SHOWN = 500


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One question whose core coverage changed."""

    question: str
    a: str
    b: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """All that is shown of a comparison."""

    headline: Headline
    name_a: str
    name_b: str
    basis: str
    rows: tuple[ComparisonRow, ...]
    loss_bars: tuple[Bar, ...]
    changed: tuple[ChangeView, ...]
    changed_left_out: int
    notes: tuple[str, ...]


def comparison_view(comparison: Comparison) -> ComparisonView:
    """Gather what is shown of a comparison; metrics that are undefined on both sides are named in a note."""
    metrics = comparison.metrics.values()
    defined = [metric for metric in metrics if metric.a is not None or metric.b is not None]
    undefined = [metric.label for metric in metrics if metric.a is None and metric.b is None]
    return ComparisonView(
        headline=_headline(comparison),
        name_a=one_line(comparison.name_a, limit=80),
        name_b=one_line(comparison.name_b, limit=80),
        basis=_basis(comparison),
        rows=tuple(map(comparison_row, defined)),
        loss_bars=tuple(_loss_bars(comparison)),
        changed=tuple(_change(change) for change in comparison.changed[:_CHANGES_SHOWN]),
        changed_left_out=max(0, len(comparison.changed) - _CHANGES_SHOWN),
        notes=(*comparison.notes, *([f"Undefined on both sides: {', '.join(undefined)}"] if undefined else [])),
    )


def comparison_headline(comparison: Comparison) -> str:
    """Say in one sentence which side covers more of what matters, and whether that is clear."""
    return _headline(comparison).text


def _headline(comparison: Comparison) -> Headline:
    a, b = one_line(comparison.name_a, limit=80), one_line(comparison.name_b, limit=80)
    answered = ("answers", "questions") if are_questions_whole(comparison) else ("covers", f"{core_noun(comparison)}s")
    found = ("retrieves", f"{core_noun(comparison)}s")  # without answers, what was retrieved
    for name, (verb, what) in (("core_coverage", answered), ("core_retrieved", found)):
        metric = comparison.metrics.get(name)
        if metric is not None and metric.a is not None and metric.b is not None and metric.difference is not None:
            values = f"{b} {verb} {percent(metric.b.estimate)} of the {what}, {a} {percent(metric.a.estimate)}"
            by = "by people’s labels, " if comparison.by_labels else ""
            has_labels = any(labels and labels.used for labels in (comparison.labels_a, comparison.labels_b))
            return Headline(values, "", "", f"{by}{_basis_of(metric, metric.difference, has_labels=has_labels)}")
    return Headline(f"The core coverage of {a} and {b} cannot be compared", "", "", "")


def _basis_of(metric: MetricComparison, difference: float, *, has_labels: bool) -> str:
    is_clear = verdict_on(metric) != "unclear"
    said = difference_text(difference, SHARE) if is_clear else "no clear difference"
    counts = (p_value_text(metric.p_value), format_count(metric.questions, "question"))
    return ", ".join([said, *counts, *_with_errors(metric, is_clear=is_clear, has_labels=has_labels)])


def _with_errors(metric: MetricComparison, *, is_clear: bool, has_labels: bool) -> list[str]:
    """Say how large the difference may be with the judge's errors, and how large it is at best, beside one that is named.

    Labels of these answers may move it to the other side of 0: then the best guess stands there, too.
    """
    found = metric.with_judge_error
    if found is None or found.lower is None or found.upper is None:
        return []
    ends = (found.estimate, found.lower, found.upper)
    best, low, high = (difference_text(end, SHARE).removesuffix(" points") for end in ends)
    if is_clear:
        return [f"corrected for the judge’s errors {best} points, 95% interval {low} to {high}"]
    if has_labels:
        return [f"with people’s labels {best} points, 95% interval {low} to {high}"]
    return [f"with the judge’s errors {low} to {high} points"]


def _basis(comparison: Comparison) -> str:
    parts = [f"{format_count(comparison.questions, 'question')} on both sides"]
    for count, name in ((comparison.only_a, comparison.name_a), (comparison.only_b, comparison.name_b)):
        parts += [f"{count:,} only in {one_line(name, limit=80)}, left out"] if count else []
    return "; ".join(parts) + ". A difference is called better or worse where p < 0.05 (paired permutation test by question)."


def _loss_bars(comparison: Comparison) -> Sequence[Bar]:
    sides = (
        (comparison.name_a, comparison.losses_a, comparison.unclear_a),
        (comparison.name_b, comparison.losses_b, comparison.unclear_b),
    )
    listed = losses_listed(comparison.losses_a, comparison.losses_b)  # one key explains both bars
    return [
        replace(bar, name=f"{one_line(name, limit=40)}: {sum(losses.values()) + unclear} lost")
        for name, losses, unclear in sides
        if (bar := loss_bar(losses, unclear, listed)) is not None
    ]


def _change(change: ChangedQuestion) -> ChangeView:
    return ChangeView(
        question=clip(change.question, 500),
        a="–" if change.a is None else percent(change.a),
        b="–" if change.b is None else percent(change.b),
        gained=tuple(clip(text, 500) for text in change.gained),
        lost=tuple(clip(text, 500) for text in change.lost),
    )
