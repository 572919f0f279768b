"""A component study as it is shown: its settings, the effects of its components, the questions that a setting hurts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from rag_cover.reports.figures import Track, track_of
from rag_cover.reports.frontiers import Plot, plot_of
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SIGNED, Headline, format_count, p_value_text, percent
from rag_cover.reports.utility_text import interval_words, tone_of
from rag_cover.studies import Effect, SettingFigures, Study, UtilityDifference, format_level

__all__ = ["EffectRow", "HurtRow", "SettingRow", "StudyView", "study_table", "study_view"]

_HURT_SHOWN = 500


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting; ``verdict`` is empty for the baseline."""

    number: int
    name: str
    utility: str
    tone: str
    interval: str
    track: Track | None
    length: str
    on_frontier: bool
    frontier_share: str
    difference: str
    p_value: str
    verdict: str
    below_zero: str
    hurt: str


@dataclass(frozen=True, slots=True)
class EffectRow:
    """What one component does, all else equal."""

    component: str
    change: str
    difference: str
    tone: str
    interval: str
    p_value: str
    verdict: str


@dataclass(frozen=True, slots=True)
class HurtRow:
    """One question that a setting serves worse than the baseline."""

    setting: str
    question: str
    change: str
    utilities: str


@dataclass(frozen=True, slots=True)
class StudyView:
    """All that is shown of a study."""

    headline: Headline
    basis: str
    unit: str
    baseline: str
    margin: str
    rows: tuple[SettingRow, ...]
    effects: tuple[EffectRow, ...]
    hurt_heading: str
    hurt: tuple[HurtRow, ...]
    hurt_left_out: int
    plot: Plot
    notes: tuple[str, ...]


def study_view(study: Study, *, limit: int = _HURT_SHOWN) -> StudyView:
    """Gather what is shown of a study; of the questions that settings hurt, the worst ``limit``."""
    hurt = sum(len(figures.hurt) for figures in study.settings)
    return StudyView(
        headline=_headline(study),
        basis=_basis(study),
        unit=study.unit,
        baseline=_name(study.baseline.name),
        margin=f"{study.margin:g}",
        rows=tuple(_row(number, figures) for number, figures in enumerate(study.settings, 1)),
        effects=tuple(map(_effect, study.effects)),
        hurt_heading=f"Questions served worse than by the baseline, by more than {study.margin:g}",
        hurt=_hurt(study, limit),
        hurt_left_out=max(0, hurt - limit),
        plot=plot_of(study),
        notes=study.notes,
    )


def study_table(study: Study, *, limit: int = 10) -> RenderableType:
    """Show a study in the terminal."""
    view = study_view(study, limit=limit)
    hurt = [] if not view.hurt else [Text(f"\n{view.hurt_heading}", style="bold"), _hurt_table(view)]
    more = (
        [Text(f"… and {format_count(view.hurt_left_out, 'more time', 'more times')}", style="dim")]
        if view.hurt_left_out
        else []
    )
    effects = [] if not view.effects else [Text("\nEach component, all else equal", style="bold"), _effect_table(view)]
    return Encodable(
        Group(
            Text(view.headline.text, style="bold"),
            Text(view.basis, style="dim"),
            _setting_table(view),
            Text("● on the frontier: no setting is worth as much with a prompt as short.", style="dim"),
            *effects,
            *hurt,
            *more,
            *(Text(f"· {one_line(note, limit=400)}", style="dim") for note in view.notes),
        )
    )


def _headline(study: Study) -> Headline:
    best = max(study.settings, key=lambda figures: figures.utility.estimate)
    shortest = study.frontier[0]
    saves = (
        f"; {_name(shortest.setting.name)} gives {SIGNED.text(shortest.utility.estimate)} with the shortest prompt"
        if shortest.setting != best.setting
        else "; no other is as short"
    )
    basis = f"95% interval {interval_words(best.utility)}, {format_count(study.questions, 'question')}{saves}"
    return Headline(f"Retrieval is worth most with {_name(best.setting.name)}:", SIGNED.text(best.utility.estimate), "", basis)


def _basis(study: Study) -> str:
    left = f"; {format_count(study.left_out, 'question')} not measured under all of them, left out" if study.left_out else ""
    settings = format_count(len(study.settings), "setting")
    return (
        f"{settings}, {format_count(study.questions, 'question')} under each{left}. Baseline: {_name(study.baseline.name)}. "
        "Differences are paired by question, and called better or worse where p < 0.05 after Holm’s correction for all tests "
        "of their table."
    )


def _row(number: int, figures: SettingFigures) -> SettingRow:
    against, value = figures.against_baseline, figures.utility.estimate
    return SettingRow(
        number=number,
        name=_name(figures.setting.name),
        utility=SIGNED.text(value),
        tone=tone_of(value),
        interval=interval_words(figures.utility),
        track=track_of(figures.utility, SIGNED),
        length=f"{figures.length.estimate:,.0f}",
        on_frontier=figures.on_frontier,
        frontier_share=percent(figures.frontier_share),
        difference=SIGNED.text(against.interval.estimate) if against else "baseline",
        p_value=p_value_text(against.adjusted_p_value) if against else "",
        verdict=_verdict(against) if against else "",
        below_zero=f"{figures.below_zero:,}",
        hurt=f"{len(figures.hurt):,}" if against else "–",
    )


def _effect(effect: Effect) -> EffectRow:
    difference = effect.difference
    return EffectRow(
        component=_name(effect.component),
        change=f"{_name(format_level(effect.reference))} → {_name(format_level(effect.level))}",
        difference=SIGNED.text(difference.interval.estimate),
        tone=tone_of(difference.interval.estimate),
        interval=interval_words(difference.interval),
        p_value=p_value_text(difference.adjusted_p_value),
        verdict=_verdict(difference),
    )


def _hurt(study: Study, limit: int) -> tuple[HurtRow, ...]:
    every = ((figures.setting, each) for figures in study.settings for each in figures.hurt)
    return tuple(
        HurtRow(
            _name(setting.name),
            one_line(each.question, limit=200),
            SIGNED.text(each.change),
            f"{SIGNED.text(each.baseline)} → {SIGNED.text(each.utility)}",
        )
        for setting, each in heapq.nsmallest(limit, every, key=lambda pair: pair[1].change)
    )


def _verdict(difference: UtilityDifference) -> str:
    if not difference.is_clear:
        return "unclear"
    return "better" if difference.interval.estimate > 0 else "worse"


def _name(text: str) -> str:
    return one_line(text, limit=80)


_COLOURS = {"better": "green", "worse": "red", "gain": "green", "loss": "red"}


def _setting_table(view: StudyView) -> RenderableType:
    table = plain_table(
        ("", "left"), ("Setting", "left"), ("Utility", "right"), ("95% interval", "right"), (view.unit.capitalize(), "right"),
        ("vs baseline", "left"), ("Hurt", "right"),
    )  # fmt: skip
    for row in view.rows:
        table.add_row(
            "●" if row.on_frontier else "",
            Text(row.name),
            Text(row.utility, style=_COLOURS.get(row.tone, "")),
            row.interval,
            row.length,
            _format_verdict(row.difference, row.verdict, row.p_value),
            row.hurt,
        )
    return table


def _effect_table(view: StudyView) -> RenderableType:
    table = plain_table(("Component", "left"), ("Change", "left"), ("Difference", "left"), ("95% interval", "right"))
    for row in view.effects:
        table.add_row(
            Text(row.component), Text(row.change), _format_verdict(row.difference, row.verdict, row.p_value), row.interval
        )
    return table


def _hurt_table(view: StudyView) -> RenderableType:
    table = plain_table(("Change", "right"), ("Setting", "left"), ("Question", "left"))
    for row in view.hurt:
        table.add_row(Text(row.change, style="red"), Text(row.setting), Text(row.question, style="dim"))
    return table


def _format_verdict(difference: str, verdict: str, p_value: str) -> Text:
    unbroken = p_value.replace(" ", "\N{NO-BREAK SPACE}")
    parts: Sequence[tuple[str, str]] = ((difference, ""), (verdict, _COLOURS.get(verdict, "dim")), (unbroken, "dim"))
    return Text(" ").join(Text(text, style=style) for text, style in parts if text)
