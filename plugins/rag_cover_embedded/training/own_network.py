"""Networks that go on from a trained judge with some of its tasks alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rag_cover_embedded.training.examples import STAGES
from rag_cover_embedded.training.schedule import CYCLES, Schedule
from rag_cover_embedded.training.trainer import train_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rag_cover_embedded.training.example import Example
    from rag_cover_embedded.training.examples import TrainingStage


def train_own_network(
    data: Path, start: Path, out: Path, stages: Sequence[tuple[TrainingStage, int]], *, seed: int, rate: float | None = None
) -> None:
    """Train stages of so many steps from a judge's checkpoint, or go on from the one in ``out``.

    ``rate`` is the highest learning rate of every stage; None: those of the judge's own last stages.
    The text mode is not trained: the judge's own network gives embeddings. Leaves ``out/judge.pt`` and ``out/log.jsonl``.
    """
    others = len(STAGES) - len(stages)
    rates = Schedule().learning_rates if rate is None else (rate,) * len(CYCLES)
    steps = (*others * (0,), *(count for _, count in stages))
    passes: list[Callable[[int], Sequence[Example]]] = [*others * [_read_nothing]]
    passes += [partial(stage.draw, data) for stage, _ in stages]
    schedule = replace(Schedule(), steps=steps, learning_rates=rates, text_tokens=0, seed=seed)
    train_judge(data, out, schedule, start=start, passes=passes)


def _read_nothing(_: int) -> Sequence[Example]:
    return []
