"""Pipelines compared answer by answer, as they are shown: who wins over whom, how surely, and whether the order decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rag_cover.pairwise import PairwiseComparison, WinRate
from rag_cover.reports.figures import Track, track_of
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, Headline, format_count, interval_label, interval_text, percent
from rag_cover.short_forms import letter_of
from rag_cover.stats.intervals import Interval

__all__ = ["RateCell", "RateRow", "WinningRow", "WinningView", "winning_table", "winning_view"]

_EVEN = 0.5
_REASONS_SHOWN = 5
_NOBODY = "–"
_STYLES = {"better": "green", "worse": "red"}


@dataclass(frozen=True, slots=True)
class RateCell:
    """One win rate; ``verdict`` says whether its interval lies above or below a half."""

    rate: str
    interval: str
    verdict: str


@dataclass(frozen=True, slots=True)
class RateRow:
    """One pipeline's row of the matrix; the cell of itself is None."""

    letter: str
    name: str
    cells: tuple[RateCell | None, ...]
    overall: RateCell


@dataclass(frozen=True, slots=True)
class WinningRow:
    """Two pipelines: what the win rate of the first over the second rests on."""

    name: str
    cell: RateCell
    track: Track | None
    wins: str
    ties: str
    losses: str
    failed: str
    unjudged: str
    reason: str


@dataclass(frozen=True, slots=True)
class WinningView:
    """All that is shown of a comparison answer by answer; ``notes`` begin with what the order did."""

    headline: Headline
    basis: str
    rows: tuple[RateRow, ...]
    pairs: tuple[WinningRow, ...]
    notes: tuple[str, ...]


def winning_view(comparison: PairwiseComparison) -> WinningView:
    """Gather what is shown of a comparison answer by answer."""
    return WinningView(
        headline=_headline(comparison),
        basis=_basis(comparison),
        rows=tuple(_row(comparison, index) for index in range(len(comparison.pipelines))),
        pairs=tuple(_pair(comparison, found) for found in comparison.win_rates),
        notes=(
            *_about_order(comparison),
            *_about_ratings(comparison),
            *_about_ties(comparison),
            *_describe_unjudged(comparison),
            *(clip(note, 500) for note in comparison.notes),
        ),
    )


def winning_table(comparison: PairwiseComparison) -> RenderableType:
    """Show who wins over whom in the terminal."""
    view = winning_view(comparison)
    return Encodable(
        Group(
            Text(view.headline.text, style="bold"),
            Text(view.basis, style="dim"),
            _matrix(view),
            _pairs_table(view),
            *(Text(f"· {one_line(note, limit=500)}", style="dim") for note in view.notes),
        )
    )


def _headline(comparison: PairwiseComparison) -> Headline:
    rates = {name: rate for name, rate in comparison.overall.items() if rate is not None}
    if not rates:
        reason = next(iter(comparison.reasons), "there is no pair of answers")
        return Headline("", "Whose answers are better cannot be said:", one_line(reason, limit=200), "")
    best = max(rates.values(), key=lambda rate: rate.estimate)
    basis = f"{interval_label(best, SHARE)}, {format_count(best.n, 'question')}"
    if best.estimate == _EVEN:
        return Headline("No pipeline wins more often than it loses:", percent(best.estimate), "each", basis)
    leaders = [name for name in rates if rates[name].estimate == best.estimate]
    rest = [_format_name(name) for name in comparison.pipelines if name not in leaders]
    over = rest[0] if len(comparison.pipelines) == 2 else "the others"  # noqa: PLR2004 - two
    wins = "wins" if len(leaders) == 1 else "each win"
    return Headline(f"{' and '.join(map(_format_name, leaders))} {wins}", percent(best.estimate), f"against {over}", basis)


def _basis(comparison: PairwiseComparison) -> str:
    left_out = [f"{count:,} only in {_format_name(name)}, left out" for name, count in comparison.left_out.items() if count]
    where = "both sides" if len(comparison.pipelines) == 2 else f"all {len(comparison.pipelines)} sides"  # noqa: PLR2004 - two
    asked = "; ".join([f"{format_count(comparison.questions, 'question')} on {where}", *left_out])
    by = "the coverage rating" if comparison.judge == "rating" else f"{one_line(comparison.judge, limit=80)}, in both orders"
    return f"{asked}. Judged by {by}. A tie counts a half; intervals are clustered by question."


def _row(comparison: PairwiseComparison, index: int) -> RateRow:
    name = comparison.pipelines[index]
    cells = [None if other == name else _cell(comparison.over(name, other).rate) for other in comparison.pipelines]
    return RateRow(letter_of(index), _format_name(name), tuple(cells), _cell(comparison.overall[name]))


def _cell(rate: Interval | None) -> RateCell:
    if rate is None:
        return RateCell(_NOBODY, "", "undefined")
    return RateCell(percent(rate.estimate), interval_text(rate, SHARE), _verdict(rate))


def _verdict(rate: Interval) -> str:
    if rate.lower is not None and rate.lower > _EVEN:
        return "better"
    return "worse" if rate.upper is not None and rate.upper < _EVEN else "unclear"


def _pair(comparison: PairwiseComparison, found: WinRate) -> WinningRow:
    a, b = (letter_of(comparison.pipelines.index(name)) for name in (found.a, found.b))
    return WinningRow(
        name=f"{a} over {b}".replace(" ", "\N{NO-BREAK SPACE}"),
        cell=_cell(found.rate),
        track=track_of(found.rate, SHARE),
        wins=f"{found.wins:,}",
        ties=f"{found.ties:,}",
        losses=f"{found.losses:,}",
        failed=f"{found.failed:,}",
        unjudged=f"{found.unjudged:,}",
        reason=one_line(found.undefined_because or "", limit=200),
    )


def _about_order(comparison: PairwiseComparison) -> list[str]:
    bias = comparison.position_bias
    if bias.changed is None or bias.first_won is None:
        return [f"Position bias: {bias.undefined_because}."]
    changed = f"the verdict changed with the order in {percent(bias.changed.estimate)} of {format_count(bias.pairs, 'pair')}"
    first = f"the answer shown first won {percent(bias.first_won.estimate)} of the verdicts"
    ranges = [interval_label(each, SHARE) for each in (bias.changed, bias.first_won)]
    told = f"Position bias: {changed} ({ranges[0]}); {first} ({ranges[1]}), 50% is none."
    favoured = {"better": "first", "worse": "second"}.get(_verdict(bias.first_won))
    if favoured is None:
        return [told]
    return [f"{told} The judge favours what is shown {favoured}; both orders were asked, so that no side gains by it."]


def _about_ratings(comparison: PairwiseComparison) -> list[str]:
    if (agreed := comparison.agreement) is None:
        return []
    told = f"Where the judge prefers one answer, the coverage rating prefers the same in {percent(agreed.estimate)}"
    return [f"{told} ({interval_label(agreed, SHARE)}, {format_count(agreed.n, 'question')}; equal ratings count a half)."]


def _about_ties(comparison: PairwiseComparison) -> list[str]:
    same = sum(found.identical for found in comparison.win_rates)
    return [f"{format_count(same, 'pair')} of identical answers counted as a tie without asking."] if same else []


def _describe_unjudged(comparison: PairwiseComparison) -> list[str]:
    reasons = list(comparison.reasons.items())
    told = [
        f"{format_count(count, 'pair')} without a verdict: {one_line(reason)}" for reason, count in reasons[:_REASONS_SHOWN]
    ]
    more = sum(count for _, count in reasons[_REASONS_SHOWN:])
    return [*told, *([f"{format_count(more, 'more pair')} without a verdict, for other reasons."] if more else [])]


def _format_name(name: str) -> str:
    return one_line(name, limit=80)


def _matrix(view: WinningView) -> Table:
    many = len(view.rows) > 2  # noqa: PLR2004 - of two, the rate over all is that over the other
    columns = [("", "left"), ("Pipeline", "left"), *((f"over {row.letter}", "right") for row in view.rows)]
    table = plain_table(*columns, *([("over all", "right")] if many else []))
    for row in view.rows:
        cells: Sequence[RateCell | None] = (*row.cells, row.overall) if many else row.cells
        table.add_row(Text(row.letter), Text(row.name), *(_cell_text(cell) for cell in cells))
    return table


def _cell_text(cell: RateCell | None) -> Text:
    if cell is None:
        return Text("·", style="dim")
    return Text.assemble((cell.rate, _STYLES.get(cell.verdict, "bold")), (f"\n{cell.interval}" if cell.interval else "", "dim"))


def _pairs_table(view: WinningView) -> Table:
    numbers = ("Wins", "Ties", "Losses", "Failed", "Unjudged", "Win rate", "95% interval")
    table = plain_table(("Pair", "left"), *((name, "right") for name in numbers))
    for row in view.pairs:
        table.add_row(
            Text(row.name),
            *(row.wins, row.ties, row.losses, row.failed, row.unjudged),
            Text(row.cell.rate, style=_STYLES.get(row.cell.verdict, "bold")),
            row.cell.interval,
        )
    return table
