"""What retrieval was worth, in words: the headline, the aggregates, and the steps that hurt."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_cover.belief import StepUtility, UtilityGroup, UtilitySummary, own_name
from rag_cover.measures import TraceResult
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import SIGNED, Headline, basis_of, format_count, interval_text
from rag_cover.stats.intervals import Interval

__all__ = [
    "GroupTable",
    "HurtingStep",
    "Tone",
    "belief_text",
    "group_tables",
    "hurting_steps",
    "hurting_words",
    "interval_words",
    "least_useful",
    "step_label",
    "tone_of",
    "total_of",
    "utility_headline",
    "utility_notes",
]

Tone = Literal["gain", "loss", "same"]

"""The scale that utilities are written and drawn on."""


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Groups of steps or traces under one heading; ``has_alone`` tells whether they have utilities of their own passages."""

    heading: str
    column: str
    explanation: str
    groups: tuple[UtilityGroup, ...]
    has_alone: bool


@dataclass(frozen=True, slots=True)
class HurtingStep:
    """One step after which belief in the right answer was lower; ``is_clear`` where its whole interval is below 0."""

    question: str
    pipeline: str
    label: str
    query: str
    value: float
    interval: Interval | None
    is_clear: bool


def utility_headline(summary: UtilitySummary) -> Headline:
    """Say what retrieval was worth, how sure that is, and from where to where it moved the belief."""
    target = "the right answer" if summary.references == ("gold",) else "the pipeline’s own answer"
    total = summary.total
    way = f"from {belief_text(summary.prior.estimate)} to {belief_text(summary.posterior.estimate)}"
    basis = f"{way}; {basis_of(total, SIGNED)}"
    return Headline(f"Retrieval moved belief in {target} by", SIGNED.text(total.estimate), "", basis)


def group_tables(summary: UtilitySummary) -> list[GroupTable]:
    """Lay out the aggregates that tell something: one group alone repeats the headline, unless it is a step."""
    tables = [
        GroupTable(
            "By step", "Step", "What the context gained with each step; alone: from its passages by themselves.",
            summary.by_position, has_alone=True,
        ),
        GroupTable(
            "By retriever", "Retriever", "The same for retrieval steps, by what retrieved.",
            summary.by_retriever if len(summary.by_retriever) > 1 else (), has_alone=True,
        ),
        GroupTable(
            "By type of question", "Type", "What all of a trace’s steps were worth together.",
            summary.by_query_type, has_alone=False,
        ),
        GroupTable(
            "By the gold string", "A reference", "Whether a reference stands word for word in the last context: a simple thing "
            "beside this measure.",
            summary.by_gold_string, has_alone=False,
        ),
    ]  # fmt: skip
    return [table for table in tables if table.groups]


def hurting_steps(results: Iterable[TraceResult], *, limit: int) -> list[HurtingStep]:
    """Pick the steps that hurt most, worst first. Reads ``results`` once."""
    return heapq.nsmallest(limit, _hurting(results), key=lambda step: step.value)


def hurting_words(summary: UtilitySummary) -> str:
    """Count the steps that hurt, of all.

    The intervals are over the samples of one step, so a few of many look clear by chance alone.
    """
    steps, hurt, clear = (sum(getattr(group, what) for group in summary.by_position) for what in ("n", "hurt", "clearly_hurt"))
    if not hurt:
        return f"None of {format_count(steps, 'step')} hurt."
    return f"{hurt:,} of {format_count(steps, 'step')} hurt, {clear:,} with a whole 95% interval over the samples below 0."


def least_useful(results: Iterable[TraceResult], *, limit: int) -> list[TraceResult]:
    """Pick the measured traces by their total utility, lowest first. Reads ``results`` once."""
    measured = (result for result in results if result.utility is not None)
    return heapq.nsmallest(limit, measured, key=total_of)


def total_of(result: TraceResult) -> float:
    """Return the total utility of a measured trace; of another, infinity, so that it sorts last."""
    return float("inf") if result.utility is None else result.utility.total.value


def utility_notes(summary: UtilitySummary) -> Sequence[str]:
    """Say what a reader must know to read the figures right."""
    itself = "The pipelines’ own answers stood in for references: this is self-consistency, not correctness."
    return [*([itself] if "answer" in summary.references else []), *summary.notes]


def step_label(position: int, step: StepUtility) -> str:
    """Name a step by its place and kind, and by its own name where the trace gives one."""
    return f"{position}. {step.kind} {one_line(own_name(step.step), limit=40)}".rstrip()


def belief_text(score: float) -> str:
    """Write a belief, in [0, 1]."""
    return f"{score:.2f}"


def tone_of(value: float) -> Tone:
    """Tell gain from loss, as far as two digits do.

    >>> tone_of(0.006), tone_of(-0.004)
    ('gain', 'same')
    """
    rounded = round(value, 2)
    return "loss" if rounded < 0 else "gain" if rounded > 0 else "same"


def interval_words(interval: Interval | None) -> str:
    """Write the bounds of a utility's interval, or that there are none."""
    return interval_text(interval, SIGNED) if interval else "no interval"


def _hurting(results: Iterable[TraceResult]) -> Iterator[HurtingStep]:
    for result in results:
        for position, step in enumerate(result.utility.steps if result.utility else (), 1):
            value, interval = step.marginal.value, step.marginal.interval
            if value < 0:
                yield HurtingStep(
                    question=one_line(result.trace.question.text, limit=200),
                    pipeline=one_line(result.trace.pipeline or "", limit=60),
                    label=step_label(position, step),
                    query=one_line(step.query, limit=200),
                    value=value,
                    interval=interval,
                    is_clear=interval is not None and interval.upper is not None and interval.upper < 0,
                )
