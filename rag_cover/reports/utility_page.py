"""What retrieval was worth over a data set, as the page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.belief import UtilityGroup, UtilitySummary
from rag_cover.reports.figures import Track, track_of
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import SIGNED
from rag_cover.reports.utility_text import (
    GroupTable,
    HurtingStep,
    group_tables,
    hurting_words,
    interval_words,
    tone_of,
    utility_notes,
)
from rag_cover.reports.waterfall import Bin, distribution_of

__all__ = ["GroupRow", "GroupTableView", "HurtingView", "UtilityView", "utility_view"]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group of steps or traces."""

    name: str
    value: str
    tone: str
    interval: str
    track: Track | None
    alone: str
    n: int
    hurt: str


@dataclass(frozen=True, slots=True)
class GroupTableView:
    """Groups under one heading."""

    heading: str
    column: str
    explanation: str
    has_alone: bool
    rows: tuple[GroupRow, ...]


@dataclass(frozen=True, slots=True)
class HurtingView:
    """One step that hurt."""

    value: str
    interval: str
    label: str
    question: str
    pipeline: str


@dataclass(frozen=True, slots=True)
class UtilityView:
    """All that the page shows of utilities, but for the single traces."""

    receivers: tuple[str, ...]
    hurting: str
    bins: tuple[Bin, ...]
    tables: tuple[GroupTableView, ...]
    worst: tuple[HurtingView, ...]
    notes: tuple[str, ...]


def utility_view(summary: UtilitySummary, worst: Sequence[HurtingStep]) -> UtilityView:
    """Gather what is shown of utilities."""
    return UtilityView(
        receivers=tuple(one_line(name, limit=100) for name in summary.receivers),
        hurting=hurting_words(summary),
        bins=distribution_of(summary),
        tables=tuple(map(_table, group_tables(summary))),
        worst=tuple(
            HurtingView(SIGNED.text(step.value), interval_words(step.interval), step.label, step.question, step.pipeline)
            for step in worst
        ),
        notes=tuple(utility_notes(summary)),
    )


def _table(table: GroupTable) -> GroupTableView:
    return GroupTableView(table.heading, table.column, table.explanation, table.has_alone, tuple(map(_row, table.groups)))


def _row(group: UtilityGroup) -> GroupRow:
    value = group.marginal.estimate
    return GroupRow(
        name=one_line(group.name, limit=80),
        value=SIGNED.text(value),
        tone=tone_of(value),
        interval=interval_words(group.marginal),
        track=track_of(group.marginal, SIGNED),
        alone=SIGNED.text(group.alone.estimate) if group.alone else "–",
        n=group.n,
        hurt=f"{group.hurt:,}",
    )
