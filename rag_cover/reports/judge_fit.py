"""A judge fitted to labels, for the terminal: before and after on other questions, mode by mode, and why a fit was refused."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from rag_cover.judge_fit import Change, JudgeFit, ModeFit
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import format_count, percent
from rag_cover.short_forms import capitalise

__all__ = ["fit_headline", "fit_panels"]

_MODES = {"passage": "passages", "reply": "replies"}


def fit_panels(fit: JudgeFit) -> RenderableType:
    """Show what was fitted, and what it gains on questions that had no part in the fit."""
    parts: list[RenderableType] = [
        Text(fit_headline(fit), style="bold" if fit.fitted else "bold red"),
        Text(f"fitted from {one_line(fit.judge, limit=100)}", style="dim"),
    ]
    table = plain_table(
        ("On other questions", "left"), ("Before", "right"), ("Fitted", "right"), ("Gain", "right"), ("95% interval", "right")
    )
    for mode in fit.modes:
        for row in _rows(mode):
            table.add_row(*row)
    parts += [table] if table.row_count else []
    for mode in fit.modes:
        parts += [Text(line) for line in _lines(mode)]
    parts += [Text(f"· {one_line(note, limit=400)}", style="dim") for note in fit.notes]
    return Encodable(Group(*parts))


def fit_headline(fit: JudgeFit) -> str:
    """Say in one sentence what came of it."""
    if not fit.fitted:
        return "The judge was not fitted, and stays as it is."
    what = " and ".join(f"{mode.labels:,} labels of {_MODES[mode.mode]}" for mode in fit.modes if mode.fitted is not None)
    return f"The judge is fitted to {what}."


def _rows(mode: ModeFit) -> Iterator[tuple[str, str, str, str, str]]:
    noun = _MODES[mode.mode]
    if mode.accuracy is not None:
        yield f"{noun}: agreement", percent(mode.accuracy.before), percent(mode.accuracy.after), *_gain(mode.accuracy, 2)
    if mode.log_loss is not None:
        before, after = (f"{each:.3f}" for each in (mode.log_loss.before, mode.log_loss.after))
        yield f"{noun}: log-loss", before, after, *_gain(mode.log_loss, 3)


def _gain(change: Change, digits: int) -> tuple[str, str]:
    gain = change.gain
    if gain.lower is None or gain.upper is None:
        return f"{gain.estimate:+.{digits}f}", "no interval"
    return f"{gain.estimate:+.{digits}f}", f"{gain.lower:+.{digits}f} to {gain.upper:+.{digits}f}"


def _lines(mode: ModeFit) -> Iterator[str]:
    noun = _MODES[mode.mode]
    labels = f"{format_count(mode.labels, 'label')} of {format_count(mode.questions, 'question')}, {mode.covered:,} covered"
    if mode.fitted is None:
        yield f"{capitalise(noun)} ({labels}): refused, {mode.refused_because}."
        return
    low, high = mode.fitted.certain
    unsure = f"unsure from {low:g} to {high:g}" if (low, high) != (0.0, 1.0) else "all verdicts unsure"
    yield f"{capitalise(noun)} ({labels}): covered from {mode.fitted.cut:g} on, {unsure}."
