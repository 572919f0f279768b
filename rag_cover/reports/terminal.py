"""The report for the terminal: rich renderables that fit 80 columns, with or without colour.

Every text from outside goes through `rag_cover.reports.sanitise.one_line` into a `Text`, so that neither markup nor escape
sequences in it do anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.coverage import Loss
from rag_cover.llm.usage import Price, UsageReport
from rag_cover.measures import TraceResult
from rag_cover.reports.comparison import comparison_headline, comparison_view
from rag_cover.reports.complexity_text import standings_sentence
from rag_cover.reports.figures import ComparisonRow, metric_row
from rag_cover.reports.focus import has_losses, headline_of, is_asked_for, subject_of
from rag_cover.reports.loss_text import corpus_sentence, loss_advice, losses_listed
from rag_cover.reports.nugget_text import nuggets_sentence
from rag_cover.reports.question_page import worst
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.sub_question_state import State, by_role, core_coverage, describe_state, state_of
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import (
    abstentions_sentence,
    cascade_sentence,
    controls_sentence,
    core_noun,
    format_count,
    judge_error_sentence,
    loss_error_sentence,
    losses_sentence_of,
    scale_of,
    sub_questions_hint,
)
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import Comparison, MetricValue, Summary

__all__ = ["comparison_table", "spending_table", "summary_panel", "worst_questions"]

_GAUGE = 10
_BAR = 28
_STYLES = {"better": "green", "worse": "red", "different": "bold"}
_LOSS_STYLES: Mapping[Loss, str] = {
    Loss.NOT_IN_CORPUS: "bright_red",
    Loss.FAILED: "blue",
    Loss.NOT_RETRIEVED: "red",
    Loss.DROPPED: "magenta",
    Loss.SUB_ANSWER: "bright_yellow",
    Loss.UNUSED: "yellow",
}


def summary_panel(summary: Summary) -> RenderableType:
    """Show an evaluation: its headline, every metric, where core sub-questions were lost, what was not measured."""
    noun = core_noun(summary)
    parts: list[RenderableType] = [
        Text(headline_of(summary).text, style="bold"),
        *(
            Text(line)
            for line in (judge_error_sentence(summary), cascade_sentence(summary), controls_sentence(summary))
            if line
        ),
        *([Text(hint)] if subject_of(summary) == "coverage" and (hint := sub_questions_hint(summary)) else []),
        Text(_about(summary), style="dim"),
        *([_metrics(defined)] if (defined := [each for each in summary.metrics.values() if each.interval is not None]) else []),
        *_list_undefined(summary),
        *([Text(scored)] if (scored := nuggets_sentence(summary)) else []),
        *([Text(losses_sentence_of(summary))] if has_losses(summary) else []),
        *_loss_lines(summary.losses, summary.unclear_losses),
        *([Text(counted, style="dim")] if (counted := loss_error_sentence(summary)) else []),
        *([Text(searched)] if (searched := corpus_sentence(summary.corpus)) else []),
        *([Text(advice)] if (advice := loss_advice(summary.losses, summary.corpus)) else []),
        *([Text(declining)] if (declining := abstentions_sentence(summary.answers, noun)) else []),
        *(
            [Text(f"Retrieval complexity: {standings_sentence(found.standings, 'trace')}")]
            if (found := summary.complexity)
            else []
        ),
        *_outcome_lines(summary),
        *(Text(f"· {one_line(note, limit=400)}", style="dim") for note in summary.notes),
    ]
    return Encodable(Panel(Group(*parts), title="rag_cover", title_align="left", box=ROUNDED, padding=(0, 1)))


def comparison_table(comparison: Comparison) -> RenderableType:
    """Show two pipelines side by side, and which questions changed most."""
    view = comparison_view(comparison)
    table = plain_table(("Metric", "left"), ("A", "right"), ("B", "right"), ("Difference", "right"), ("B is", "left"))
    for row in view.rows:
        table.add_row(*_comparison_cells(row))
    named = Text.assemble(("A ", "dim"), view.name_a, ("   B ", "dim"), view.name_b)
    changes = [line for change in view.changed[:5] for line in _change_lines(change.question, change.gained, change.lost)]
    more = len(comparison.changed) - 5
    rest = [Text(f"… and {format_count(more, 'more question')} changed", style="dim")] if more > 0 else []
    notes = [Text(f"· {one_line(note, limit=400)}", style="dim") for note in view.notes]
    return Encodable(
        Group(
            Text(comparison_headline(comparison), style="bold"),
            named,
            Text(view.basis, style="dim"),
            table,
            *changes,
            *rest,
            *notes,
        )
    )


def worst_questions(results: Sequence[TraceResult], *, limit: int = 5) -> RenderableType:
    """List the questions with the lowest core coverage, with the core sub-questions that each lost, and where."""
    table = plain_table(("Core", "right"), ("Question, and what was lost", "left"))
    for result in worst(results, limit=limit):
        counts = core_coverage(result.coverage)
        if counts is not None and counts[0] < counts[1]:
            table.add_row(Text(f"{counts[0]}/{counts[1]}", style="bold"), Group(*_list_lost(result)))
    return Encodable(table if table.row_count else Text("No answer is known to leave out a core sub-question."))


def spending_table(spending: UsageReport, prices: Mapping[str, Price]) -> RenderableType:
    """Show what remote models were asked, by model and purpose, and what it cost; what is not known says so."""
    table = plain_table(
        ("Remote model", "left"), ("for", "left"), ("calls", "right"), ("again", "right"), ("cached", "right"),
        ("failed", "right"), ("tokens in", "right"), ("out", "right"), ("cost", "right"),
    )  # fmt: skip
    for usage in spending.usage:
        counts = (usage.calls, usage.retries, usage.cache_hits, usage.failures)
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        table.add_row(
            Text(one_line(usage.model, limit=60)),
            Text(one_line(usage.purpose, limit=20)),
            *(f"{count:,}" for count in counts),
            *(f"{count:,}" if usage.tokens_told else "unknown" for count in tokens),
            _money(usage.cost(prices)),
        )
    total = [Text(f"Cost in all: {_money(spending.cost(prices))}")] if len(spending.usage) > 1 else []
    notes = [Text(f"· {one_line(note, limit=400)}", style="dim") for note in spending.notes]
    return Encodable(Group(table, *total, *notes))


def _money(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:,.4f}"


def _about(summary: Summary) -> str:
    pipelines = ", ".join(one_line(pipeline, limit=60) for pipeline in summary.pipelines)
    parts = (pipelines, format_count(summary.traces, "trace"), f"judge {one_line(summary.judge, limit=100)}")
    return " · ".join(part for part in parts if part)


def _metrics(metrics: Sequence[MetricValue]) -> Table:
    table = plain_table(("Metric", "left"), ("Value", "right"), ("95% interval", "right"), ("", "left"), ("n", "right"))
    for metric in metrics:
        row = metric_row(metric)
        table.add_row(Text(row.label), Text(row.value, style="bold"), row.interval, _gauge(metric), f"{row.n:,}")
    return table


def _list_undefined(summary: Summary) -> list[Text]:
    labels: dict[str, list[str]] = {}
    for metric in summary.metrics.values():
        if metric.interval is None and is_asked_for(metric, summary):
            row = metric_row(metric)
            labels.setdefault(one_line(row.reason), []).append(row.label)
    if not labels:
        return []
    total = sum(map(len, labels.values()))
    parts = [f"{named[0]} ({reason})" if len(named) == 1 else f"{len(named)} ({reason})" for reason, named in labels.items()]
    said = next(iter(labels)) if len(labels) == 1 < total else "; ".join(parts)
    return [Text(f"Undefined, {format_count(total, 'metric')}: {said}. The report names each.", style="dim")]


def _gauge(metric: MetricValue) -> Text:
    """Draw the interval on the metric's scale, as wide as `_GAUGE` characters."""
    interval, scale = metric.interval or Interval(0.0, None, None, 0), scale_of(metric)
    if not scale.is_bounded:
        return Text("")

    def at(value: float | None) -> int:
        return round(scale.at(interval.estimate if value is None else value) * (_GAUGE - 1))

    low, middle, high = at(interval.lower), at(interval.estimate), at(interval.upper)
    return Text("".join("●" if i == middle else "━" if low <= i <= high else "─" for i in range(_GAUGE)), style="cyan")


def _loss_lines(losses: Mapping[Loss, int], unclear: int) -> list[Text]:
    total = sum(losses.values()) + unclear
    rows = [(str(loss), losses.get(loss, 0), _LOSS_STYLES[loss]) for loss in losses_listed(losses)]
    rows += [("unclear", unclear, "dim")] if unclear else []
    return [
        Text.assemble(f"  {name:<24}", f"{count:>5,}  ", ("█" * round(_BAR * count / total), style))
        for name, count, style in rows
        if total
    ]


def _outcome_lines(summary: Summary) -> list[Text]:
    return [
        Text(f"Not measured for {measure}: {format_count(count, 'trace')}, {one_line(reason, limit=200)}", style="yellow")
        for measure, counts in summary.outcomes.items()
        for reason, count in counts.reasons.items()
    ]


def _comparison_cells(row: ComparisonRow) -> tuple[Text, ...]:
    clear = Text.assemble((row.verdict, _STYLES.get(row.verdict, "dim")), (f" {row.p_value}", "dim"))
    return Text(row.label), Text(row.a), Text(row.b), Text(row.difference, style="bold"), clear


def _change_lines(question: str, gained: Sequence[str], lost: Sequence[str]) -> list[Text]:
    return [
        Text(one_line(question, limit=150), style="bold"),
        *(Text(f"  + {one_line(text, limit=150)}", style="green") for text in gained),
        *(Text(f"  - {one_line(text, limit=150)}", style="red") for text in lost),
    ]


def _list_lost(result: TraceResult) -> list[Text]:
    rows = by_role(result.coverage) if result.coverage else []
    lost = [row for _, row in rows if row.role == "core" and state_of(row) not in (State.ANSWERED, State.MEMORY)]
    return [
        Text(one_line(result.trace.question.text, limit=200), style="bold"),
        *(Text.assemble(f"- {one_line(row.text, limit=150)} ", (f"({describe_state(row)})", "dim")) for row in lost),
    ]
