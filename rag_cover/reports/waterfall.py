"""A trace's belief on its way, as a drawing: before, what each step added or took, and after.

Positions are in percent of the width, on which belief runs from 0 to 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rag_cover.belief import BINS, Belief, StepUtility, TraceUtility, UtilitySummary
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import SIGNED, format_count, percent
from rag_cover.reports.utility_text import Tone, belief_text, interval_words, step_label, tone_of

__all__ = ["AnswerView", "Bin", "PassageWorth", "Stage", "Waterfall", "distribution_of", "waterfall_of"]

StageTone = Tone | Literal["level"]

_ANSWERS_SHOWN = 3
_TALLEST = 84  # pixels of the highest bar of the distribution
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class PassageWorth:
    """What one passage of a step was worth; ``number`` is the passage's in the trace, None where it is not among them."""

    number: int | None
    value: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Stage:
    """One row: the belief before the first step or after the last, or what a step did between ``before`` and ``after``."""

    label: str
    tone: StageTone
    x: str
    width: str
    before: str
    after: str
    value: str
    interval: str
    alone: str
    passages: tuple[PassageWorth, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A sampled answer, the weight of all samples with this text, and how far they agree with the references."""

    text: str
    weight: str
    agreement: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """All that is shown of one trace's utility; ``words`` say in one sentence what the drawing shows."""

    words: str
    total: str
    tone: Tone
    interval: str
    stages: tuple[Stage, ...]
    before: tuple[AnswerView, ...]
    after: tuple[AnswerView, ...]
    note: str
    hurts: bool

    @property
    def height(self) -> int:
        """Return the height of the small drawing, in pixels."""
        return 5 * len(self.stages)


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a distribution: ``y`` and ``height`` in pixels."""

    x: str
    width: str
    y: int
    height: int
    tone: Tone
    words: str


def waterfall_of(utility: TraceUtility, numbers: Mapping[str, int]) -> Waterfall:
    """Draw one trace's way; ``numbers`` are those of its passages, by `Passage.key`."""
    prior, posterior, total = utility.prior, utility.total.posterior, utility.total.value
    steps = tuple(_stage(position, step, numbers) for position, step in enumerate(utility.steps, 1))
    way = ", ".join(f"{stage.label} {stage.value}" for stage in steps)
    words = f"belief {belief_text(prior.score)} without passages; {way}; {belief_text(posterior.score)} in the end"
    return Waterfall(
        words=words,
        total=SIGNED.text(total),
        tone=tone_of(total),
        interval=interval_words(utility.total.interval),
        stages=(_level("without passages", prior), *steps, _level("in the end", posterior)),
        before=tuple(_answers(prior)),
        after=tuple(_answers(posterior)),
        note=_note(utility),
        hurts=any(step.marginal.value < 0 for step in utility.steps),
    )


def distribution_of(summary: UtilitySummary) -> tuple[Bin, ...]:
    """Draw how the traces' totals spread over [-1, 1]; an empty bin has no bar."""
    counts, most = summary.distribution, max(summary.distribution)
    edges = list(pairwise(2 * number / BINS - 1 for number in range(BINS + 1)))
    return tuple(_bin(number, count, edges[number], most) for number, count in enumerate(counts) if count)


def _bin(number: int, count: int, edges: tuple[float, float], most: int) -> Bin:
    height = max(_SHORTEST, round(_TALLEST * count / most))
    low, high = edges
    words = f"{SIGNED.text(low)} to {SIGNED.text(high)}: {format_count(count, 'trace')}"
    tone: Tone = "loss" if high <= 0 else "gain"
    return Bin(_at(number / BINS), _at(1 / BINS), _TALLEST - height, height, tone, words)


def _stage(position: int, step: StepUtility, numbers: Mapping[str, int]) -> Stage:
    before, after = step.marginal.prior.score, step.marginal.posterior.score
    return Stage(
        label=step_label(position, step),
        tone=tone_of(step.marginal.value),
        x=_at(min(before, after)),
        width=_at(abs(after - before)),
        before=_at(before),
        after=_at(after),
        value=SIGNED.text(step.marginal.value),
        interval=interval_words(step.marginal.interval),
        alone=SIGNED.text(step.alone.value) if step.alone else "–",
        passages=tuple(
            PassageWorth(numbers.get(each.passage), SIGNED.text(each.value), tone_of(each.value)) for each in step.passages
        ),
    )


def _level(label: str, belief: Belief) -> Stage:
    at = _at(belief.score)
    return Stage(label, "level", _at(0), at, at, at, belief_text(belief.score), "", "")


def _answers(belief: Belief) -> Iterator[AnswerView]:
    """Show the answers that weigh most, equal texts together."""
    weights: defaultdict[str, float] = defaultdict(float)
    agreements: defaultdict[str, float] = defaultdict(float)
    for answer in belief.answers:
        weights[answer.text] += answer.weight
        agreements[answer.text] = max(agreements[answer.text], answer.agreement)
    for text in sorted(weights, key=lambda text: -weights[text])[:_ANSWERS_SHOWN]:
        shown = one_line(text, limit=200) or "(no text)"
        yield AnswerView(shown, _share(weights[text]), _share(agreements[text]))


def _share(value: float) -> str:
    """Write a share that was summed up from rounded ones."""
    return percent(min(1.0, round(value, 6)))


def _note(utility: TraceUtility) -> str:
    target = "gold answers" if utility.references == "gold" else "the pipeline’s own answer"
    approximated = [f"approximated: {', '.join(utility.approximations)}"] if utility.approximations else []
    parts = [
        f"receiver {one_line(utility.receiver, limit=80)}",
        f"against {target}",
        f"{utility.kind}, {utility.preset}",
        format_count(utility.samples, "sample"),
        *approximated,
    ]
    return " · ".join(parts)


def _at(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"
