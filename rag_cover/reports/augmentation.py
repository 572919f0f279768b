"""What augmenting retrieval changed, for the terminal: how much more is covered, at which price, and question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.reports.gains import AugmentedQuestion, GainRow, Gains, select_most_changed
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, SIGNED, format_count, interval_label, interval_text, percent
from rag_cover.stats.intervals import Interval

__all__ = ["augmentation_panel", "before_and_after", "gain_sentence"]

_LISTED = 5  # failures and notes of a kind
_MARKS: Mapping[bool, tuple[str, str]] = {True: ("✓", "green"), False: ("✗", "red")}


def augmentation_panel(gains: Gains, *, judge: str) -> RenderableType:
    """Show what augmenting changed for all questions, what the extra searches bought, and what failed."""
    parts: list[RenderableType] = [
        Text(gain_sentence(gains), style="bold"),
        Text(
            f"{format_count(gains.questions, 'question')} · by {gains.mode} · judge {one_line(judge, limit=100)}", style="dim"
        ),
        *([_shares(gains)] if gains.core else []),
        *_lines(gains),
        *(Text(line, style="yellow") for line in _troubles(gains)),
        *(Text(f"· {line}", style="dim") for line in _notes(gains)),
    ]
    return Encodable(Panel(Group(*parts), title="rag_cover augment", title_align="left", box=ROUNDED, padding=(0, 1)))


def before_and_after(results: Sequence[AugmentedQuestion], *, limit: int = 5) -> RenderableType:
    """List the questions that gained most, with each core sub-question before and after, and the search that brought it."""
    return Encodable(Group(*(_question(each) for each in select_most_changed(results, limit=limit))))


def gain_sentence(gains: Gains) -> str:
    """Say how much of what matters the kept passages cover, and how much the question alone brings back."""
    if gains.before is None or gains.after is None:
        return "No core sub-question was judged before and after."
    after, before = percent(gains.after.estimate), percent(gains.before.estimate)
    return f"The passages kept cover {after} of the core sub-questions; those found by the question alone, {before}."


def _shares(gains: Gains) -> Table:
    table = plain_table(("Passages", "left"), ("Core covered", "right"), ("Share", "right"), ("95% interval", "right"))
    rows = (("by the question alone", gains.covered_before, gains.before), ("kept", gains.covered, gains.after))
    for name, count, share in rows:
        if share is not None:
            cells = (f"{count:,} of {gains.core:,}", Text(percent(share.estimate), style="bold"), interval_text(share, SHARE))
            table.add_row(name, *cells)
    if (gain := gains.gain) is not None:
        style = "green" if gain.estimate > 0 else "red" if gain.estimate < 0 else "dim"
        table.add_row("gain", f"{gains.covered - gains.covered_before:+,}", Text(_points(gain.estimate), style), _bounds(gain))
    return table


def _lines(gains: Gains) -> list[Text]:
    judged = gains.gain.n if gains.gain else 0
    per = gains.searches / max(1, gains.questions - gains.failed)
    brought = f", {gains.paid:,} of which brought what no search before did" if gains.extra else ""
    lines = [
        f"Questions: {gains.gained:,} gained, {gains.lost:,} lost, {judged - gains.gained - gains.lost:,} as before.",
        f"Searches: {gains.searches:,}, or {per:.1f} a question; {gains.extra:,} beyond the questions' own{brought}.",
    ]
    if (worth := gains.utility) is not None:
        value = SIGNED.text(worth.estimate)
        lines.append(
            f"An extra search was worth {value} ΔSePer on average ({interval_label(worth, SIGNED)}, "
            f"{format_count(worth.n, 'question')})."
        )
    return [Text(line) for line in lines if gains.questions > gains.failed]


def _troubles(gains: Gains) -> list[str]:
    failed = [f"{format_count(gains.failed, 'question')} could not be augmented."] if gains.failed else []
    return failed + _count_sentences(gains.failures, "Failed")


def _notes(gains: Gains) -> list[str]:
    uncompared = (
        [f"{format_count(gains.uncompared, 'core sub-question')} not compared: not judged before and after."]
        if gains.uncompared
        else []
    )
    return [*uncompared, *_count_sentences(gains.notes, "Left out"), *([_CAVEAT] if gains.core else [])]


_CAVEAT = "One judge chose the passages and says what they cover; 'rag-cover judge check' tells how far to trust it."


def _count_sentences(counts: Mapping[str, int], what: str) -> list[str]:
    """List the most frequent sentences, each with how often it was said."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    lines = [f"{what}{f' ({count:,} times)' if count > 1 else ''}: {one_line(text)}" for text, count in ranked[:_LISTED]]
    more = len(ranked) - _LISTED
    return [*lines, f"… and {more:,} more"] if more > 0 else lines


def _question(each: AugmentedQuestion) -> RenderableType:
    rows = each.rows
    before, after = (sum(values) for values in ([row.before for row in rows], [row.after for row in rows]))
    asked = one_line(each.asked.question.text, limit=200)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for row in rows:
        table.add_row(_mark(row), _describe_search(row))
    count = f"{before} → {after} of {format_count(len(rows), 'core sub-question')}"
    return Group(Text.assemble((asked, "bold"), (f"  {count}", "dim")), table, Text(""))


def _mark(row: GainRow) -> Text:
    return Text.assemble("  ", _MARKS[row.before], (" → ", "dim"), _MARKS[row.after])


def _describe_search(row: GainRow) -> Text:
    text = Text(one_line(row.sought.text, limit=150))
    if row.after and not row.before and (bought := row.purchase) is not None:
        own = bought.step == row.sought.step
        by = "found by its own search" if own else f"found by the search for '{one_line(bought.query, limit=100)}'"
        worth = "" if bought.utility is None else f", ΔSePer {SIGNED.text(bought.utility)}"
        text.append(f"  {by}{worth}", style="dim")
    return text


def _points(share: float) -> str:
    """Write a difference of shares in percentage points.

    >>> _points(0.215)
    '+22 points'
    """
    return f"{round(100 * share):+d} points"


def _bounds(gain: Interval) -> str:
    if gain.lower is None or gain.upper is None:
        return "no interval"
    return f"{round(100 * gain.lower):+d} to {round(100 * gain.upper):+d}"
