"""What a component study found: frozen values that go to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rag_cover.notebook_views import show_in_notebook
from rag_cover.short_forms import shorten
from rag_cover.stats.intervals import Interval
from rag_cover.studies.settings import Level, Setting

__all__ = ["Effect", "HurtQuestion", "LengthUnit", "SettingFigures", "Study", "UtilityDifference"]

LengthUnit = Literal["tokens", "words"]


@dataclass(frozen=True, slots=True)
class UtilityDifference:
    """A paired difference of utilities: its interval over questions, its p-value, and that after Holm's correction."""

    interval: Interval
    p_value: float
    adjusted_p_value: float

    @property
    def is_clear(self) -> bool:
        """Return whether it holds at 5% after the correction for all tests of its family."""
        return self.adjusted_p_value < 0.05  # noqa: PLR2004 - the usual level


@dataclass(frozen=True, slots=True)
class HurtQuestion:
    """A question that a setting serves worse than the baseline, by more than the study's margin: its utility under both."""

    question: str
    key: str
    baseline: float
    utility: float

    @property
    def change(self) -> float:
        """Return utility - baseline."""
        return self.utility - self.baseline


@dataclass(frozen=True, slots=True)
class SettingFigures:
    """One setting over the questions that all settings share.

    ``utility`` is ΔSePer in [-1, 1], ``belief`` SePer with the passages in [0, 1], ``length`` that of the prompt's passages.
    ``frontier_share`` is the share of resampled question sets in which the setting is on the frontier of utility and length.
    ``against_baseline`` is None for the baseline itself. ``below_zero`` counts the questions that the passages as a whole
    made worse. ``hurt`` lists the questions served worse than by the baseline by more than the study's margin, worst first.
    """

    setting: Setting
    utility: Interval
    belief: Interval
    length: Interval
    on_frontier: bool
    frontier_share: float
    against_baseline: UtilityDifference | None
    below_zero: int
    hurt: tuple[HurtQuestion, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What one component does, all else equal: ``level`` against ``reference``, over ``pairs`` pairs of settings."""

    component: str
    reference: Level
    level: Level
    pairs: int
    difference: UtilityDifference


@dataclass(frozen=True, slots=True)
class Study:
    """Settings of one question set, by their order; ``left_out`` counts questions that not every setting was measured on."""

    by: tuple[str, ...]
    questions: int
    left_out: int
    unit: LengthUnit
    baseline: Setting
    margin: float
    settings: tuple[SettingFigures, ...]
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return a short form: what was varied, on how many questions, and how many settings there are."""
        return f"Study(by {shorten(', '.join(self.by))}, {len(self.settings)} settings, {self.questions:,} questions)"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    @property
    def frontier(self) -> tuple[SettingFigures, ...]:
        """Return the settings on the frontier, shortest prompt first."""
        chosen = [figures for figures in self.settings if figures.on_frontier]
        return tuple(sorted(chosen, key=lambda figures: figures.length.estimate))

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "by": list(self.by),
            "questions": self.questions,
            "left_out": self.left_out,
            "length_unit": self.unit,
            "baseline": dict(self.baseline.values),
            "margin": self.margin,
            "settings": [_figures(figures) for figures in self.settings],
            "effects": [asdict(effect) for effect in self.effects],
            "notes": list(self.notes),
        }


def _figures(figures: SettingFigures) -> dict[str, Any]:
    hurt: list[Mapping[str, Any]] = [asdict(each) | {"change": each.change} for each in figures.hurt]
    return asdict(figures) | {"setting": dict(figures.setting.values), "hurt": hurt}
