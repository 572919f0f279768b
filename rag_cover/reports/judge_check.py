"""How far a judge can be trusted, for the terminal: canaries, agreement with labels, its cut, calibration, shares covered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.judge_check import Agreement, CanaryVerdict, JudgeCheck, SharesCovered
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, format_count, interval_text, percent
from rag_cover.stats.intervals import Interval

__all__ = ["check_headline", "check_panels"]

_BAR = 20
_GUESSING = 0.5  # area under the ROC curve


def check_panels(check: JudgeCheck) -> RenderableType:
    """Show a judge held against labels: what it fails, then one panel for each kind of rows, then what to be careful of."""
    head: list[RenderableType] = [
        Text(check_headline(check), style="bold" if check.passed else "bold red"),
        Text(f"judge {one_line(check.judge, limit=100)}", style="dim"),
        *_canary_lines(check.canaries),
    ]
    blocks = (
        ("Without references", check.reference_free, "no references"),
        ("With references", check.with_references, "references"),
    )
    panels = [
        Panel(Group(*_block(block, rows)), title=title, title_align="left", box=ROUNDED, padding=(0, 1))
        for title, block, rows in blocks
        if block is not None
    ]
    notes = [Text(f"Take care: {one_line(note, limit=400)}.", style="yellow") for note in check.notes]
    return Encodable(Group(*head, *panels, *notes))


def check_headline(check: JudgeCheck) -> str:
    """Say in one sentence whether the judge works at all, and how often it agrees with people."""
    if check.failed_because:
        return f"The judge fails: {check.failed_because}."
    parts = [
        f"{percent(block.agreement.estimate)} of {format_count(block.labelled, 'label')}{_sure(block.agreement)}{where}"
        for block, where in ((check.reference_free, ""), (check.with_references, " where there are references"))
        if block is not None and block.agreement is not None
    ]
    return f"The judge agrees with {' and '.join(parts)}."


def _sure(interval: Interval) -> str:
    return "" if interval.lower is None else f" (95% interval {interval_text(interval, SHARE)})"


def _canary_lines(canaries: Sequence[CanaryVerdict]) -> Iterator[Text]:
    passed = sum(canary.passed for canary in canaries)
    yield Text(f"Canaries: {passed} of {len(canaries)} plain cases are judged rightly.")
    for canary in canaries:
        if not canary.passed:
            yield Text(f"  wrong: “{canary.text}” to “{canary.given}” is judged as {canary.said}", style="dim")


def _block(block: Agreement, rows: str) -> Iterator[RenderableType]:
    about = (
        f"{format_count(block.labelled, 'label')} of {format_count(block.questions, 'question')}, {block.positives:,} covered"
    )
    yield Text(
        f"{about}; {format_count(block.unlabelled, 'unlabelled row')}; {rows}; covered from {block.cut:g} on", style="dim"
    )
    if block.labelled:
        yield _figures(block)
        yield Text(_threshold_sentence(block, passed_on=rows == "no references"))
        yield _reliability(block)
    yield _shares(block.shares)
    yield from _share_lines(block)
    if block.disagreements:
        yield _disagreements(block)


def _figures(block: Agreement) -> Table:
    table = plain_table(("Agreement with the labels", "left"), ("Value", "right"), ("95% interval", "right"))
    figures = (
        ("agreement", block.agreement, True),
        ("Cohen's kappa", block.kappa, False),
        ("precision of “covered”", block.precision, True),
        ("recall of “covered”", block.recall, True),
        ("ROC-AUC", block.area_under_roc, False),
    )
    for name, interval, is_share in figures:
        table.add_row(name, *_cells(interval, is_share=is_share))
    if block.majority is not None:
        word = "covered" if 2 * block.positives >= block.labelled else "not covered"
        table.add_row(f"always saying “{word}”", Text(percent(block.majority), style="bold"), "")
    return table


def _cells(interval: Interval | None, *, is_share: bool) -> tuple[Text, str]:
    if interval is None:
        return Text("–", style="bold"), "undefined"
    value = percent(interval.estimate) if is_share else f"{interval.estimate:.2f}"
    if is_share or interval.lower is None or interval.upper is None:
        return Text(value, style="bold"), interval_text(interval, SHARE)
    return Text(value, style="bold"), f"{interval.lower:.2f} to {interval.upper:.2f}"


def _threshold_sentence(block: Agreement, *, passed_on: bool) -> str:
    fit = block.threshold
    if block.area_under_roc is not None and block.area_under_roc.estimate < _GUESSING:
        return (
            f"ROC-AUC {block.area_under_roc.estimate:.2f} is below that of guessing, 0.5: are 0 and 1 exchanged in the labels? "
            "No threshold is fitted to them."
        )
    if fit.fitted is None or fit.agreement is None or fit.gain is None:
        return "No threshold can be fitted: that takes labels of both kinds, of two questions or more."
    gain = f"{_points(fit.gain.estimate)} points{_sure_points(fit.gain)}"
    honest = f"Fitted on other questions, the threshold agrees with {percent(fit.agreement.estimate)} ({gain})"
    if not passed_on:
        return f"{honest}; fitted on all: {fit.fitted:.4g}."
    if fit.gain.upper is not None and fit.gain.upper < 0:
        return f"{honest}, clearly worse than the judge's own {fit.shipped:g}: keep that."
    advice = (
        f"clearly better than the judge's own {fit.shipped:g}. Use"
        if fit.is_better
        else f"not clearly better than the judge's own {fit.shipped:g}, which you can keep. Fitted on all, it would be"
    )
    return f"{honest}, {advice} --threshold {fit.fitted:.4g} with rag-cover evaluate."


def _sure_points(gain: Interval) -> str:
    if gain.lower is None or gain.upper is None:
        return ""
    return f", 95% interval {_points(gain.lower)} to {_points(gain.upper)}"


def _points(difference: float) -> str:
    points = round(100 * difference)
    return f"{points:+d}".replace("-", "\N{MINUS SIGN}") if points else "0"


def _reliability(block: Agreement) -> Table:
    error = "" if block.calibration_error is None else f"calibration error {block.calibration_error:.3f}"
    table = plain_table(("Probability", "left"), ("n", "right"), ("mean", "right"), ("covered", "right"), (error, "left"))
    for each in block.reliability:
        bar = Text("█" * round(_BAR * each.covered), style="cyan")
        bounds = f"{each.lower:.1f}–{each.upper:.1f}"
        table.add_row(bounds, f"{each.n:,}", f"{each.probability:.2f}", percent(each.covered), bar)
    return table


def _shares(shares: Sequence[SharesCovered]) -> Table:
    names = ("labelled", "judge", "labels alone", "with judge", "λ")
    table = plain_table(("Share covered", "left"), *((name, "right") for name in names))
    table.columns[0].min_width = len("Share covered")
    for share in shares:
        weight = "–" if share.weight is None else f"{share.weight:.2f}"
        table.add_row(
            Text("all" if share.group is None else one_line(share.group, limit=20)),
            f"{share.labelled:,} of {share.labelled + share.unlabelled:,}",
            percent(share.judged),
            _share_text(share.by_labels),
            Text(_share_text(share.powered), style="bold"),
            weight,
        )
    return table


def _share_text(interval: Interval | None) -> str:
    return "–" if interval is None else f"{percent(interval.estimate)} ({interval_text(interval, SHARE)})"


def _share_lines(block: Agreement) -> Iterator[Text]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for share in block.shares:
        if share.undefined_because:
            what = "No interval with the judge" if share.by_labels else "No interval"
            reasons.setdefault((what, share.undefined_because), []).append(share.group or "all")
    for (what, reason), groups in reasons.items():
        yield Text(f"{what} for {one_line(', '.join(groups), limit=200)}: {reason}.", style="dim")
    if any(share.powered for share in block.shares):
        line = "95% intervals by question; with the judge they hold where the labelled rows are a random sample of all."
        yield Text(line, style="dim")


def _disagreements(block: Agreement) -> Table:
    all_shown = block.disagreeing == len(block.disagreements)
    shown = "Disagreements" if all_shown else f"The worst of {block.disagreeing:,} disagreements"
    table = plain_table(("P", "right"), ("label", "left"), (shown, "left"))
    for each in block.disagreements:
        label = "covered" if each.label else "not"
        texts = Group(Text(one_line(each.question, limit=120), style="bold"), Text(one_line(each.text, limit=120)))
        table.add_row(f"{each.probability:.2f}", label, texts)
    return table
