"""What each retrieval step was worth, for the terminal: the headline, the aggregates, the steps that hurt, every trace."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.belief import TraceUtility, UtilityGroup, UtilitySummary
from rag_cover.measures import TraceResult
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SIGNED, format_count
from rag_cover.reports.utility_text import (
    GroupTable,
    belief_text,
    group_tables,
    hurting_steps,
    hurting_words,
    interval_words,
    least_useful,
    tone_of,
    utility_headline,
    utility_notes,
)
from rag_cover.summaries import Summary

__all__ = ["hurting_table", "trace_utilities", "utility_panel"]


def utility_panel(summary: Summary) -> RenderableType:
    """Show what retrieval was worth over a data set, and what was not measured."""
    found = summary.utility
    parts: list[RenderableType] = [] if found is None else _describe_summary(found)
    if found is None:
        parts = [Text("No utility could be measured.", style="bold")]
    counts = summary.outcomes.get("utility")
    parts += [
        Text(f"Not measured: {format_count(count, 'trace')}, {one_line(reason, limit=300)}", style="yellow")
        for reason, count in (counts.reasons.items() if counts else ())
    ]
    return Encodable(Panel(Group(*parts), title="rag_cover utility", title_align="left", box=ROUNDED, padding=(0, 1)))


def hurting_table(results: Sequence[TraceResult], *, limit: int = 10) -> RenderableType:
    """List the steps that hurt, worst first; those whose whole interval is below 0 in bold."""
    table = plain_table(("Worth", "right"), ("95% interval", "right"), ("Steps that hurt, and the question", "left"))
    for step in hurting_steps(results, limit=limit):
        where = Text.assemble((step.label, "bold" if step.is_clear else ""), (f" {step.pipeline}".rstrip(), "dim"))
        value = Text(SIGNED.text(step.value), style="bold red" if step.is_clear else "red")
        table.add_row(value, interval_words(step.interval), Group(where, Text(step.question, style="dim")))
    return Encodable(table if table.row_count else Text("No step hurt."))


def trace_utilities(results: Sequence[TraceResult], *, limit: int = 20) -> RenderableType:
    """List traces by what retrieval was worth to them, lowest first: the belief before, each step, the belief after."""
    table = plain_table(("Total", "right"), ("Belief: before, by step, after", "left"), ("Question", "left"))
    chosen = least_useful(results, limit=limit)
    for result in chosen:
        if result.utility is not None:
            total = result.utility.total.value
            question = Text(one_line(result.trace.question.text, limit=200))
            if result.trace.pipeline:
                question.append(f" {one_line(result.trace.pipeline, limit=60)}", style="dim")
            table.add_row(Text(SIGNED.text(total), style=_colour(total)), _way(result.utility), question)
    return Encodable(table)


def _describe_summary(summary: UtilitySummary) -> list[RenderableType]:
    receivers = ", ".join(one_line(name, limit=100) for name in summary.receivers)
    tables = [part for table in group_tables(summary) for part in (Text(f"\n{table.heading}", style="bold"), _groups(table))]
    return [
        Text(utility_headline(summary).text, style="bold"),
        Text(f"{format_count(summary.traces, 'trace')} · receiver {receivers}", style="dim"),
        *tables,
        Text(hurting_words(summary)),
        *(Text(f"· {one_line(note, limit=400)}", style="dim") for note in utility_notes(summary)),
    ]


def _groups(groups: GroupTable) -> Table:
    alone = [("Alone", "right")] if groups.has_alone else []
    table = plain_table(
        (groups.column, "left"), ("Worth", "right"), ("95% interval", "right"), *alone, ("n", "right"), ("Hurt", "right")
    )
    for group in groups.groups:
        table.add_row(*_cells(group, has_alone=groups.has_alone))
    return table


def _cells(group: UtilityGroup, *, has_alone: bool) -> list[RenderableType]:
    value = group.marginal.estimate
    alone = [SIGNED.text(group.alone.estimate) if group.alone else "–"] if has_alone else []
    return [
        Text(one_line(group.name, limit=40)),
        Text(SIGNED.text(value), style=_colour(value)),
        interval_words(group.marginal),
        *alone,
        f"{group.n:,}",
        f"{group.hurt:,}",
    ]


def _way(utility: TraceUtility) -> Text:
    """Write a trace's way: the belief before, what each step was worth, the belief after."""
    way = Text(belief_text(utility.prior.score), style="dim")
    for step in utility.steps:
        way.append(f" {SIGNED.text(step.marginal.value)}", style=_colour(step.marginal.value))
    return way.append(f" → {belief_text(utility.total.posterior.score)}", style="dim")


def _colour(value: float) -> str:
    return {"loss": "red", "gain": "green", "same": ""}[tone_of(value)]
