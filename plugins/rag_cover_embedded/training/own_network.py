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
    data: Path, start: Path, out: Path, stages: Sequence[tuple[TrainingStage, int]], rate: float, *, seed: int
) -> None:
    """Train stages of so many steps from a judge's checkpoint, or go on from the one in ``out``, at most at a learning rate.

    The text mode is not trained: the judge's own network gives embeddings. Leaves ``out/judge.pt`` and ``out/log.jsonl``.
    """
    others = len(STAGES) - len(stages)
    rates = tuple(rate for _ in CYCLES)
    steps = (*others * (0,), *(count for _, count in stages))
    passes: list[Callable[[int], Sequence[Example]]] = [*others * [_read_nothing]]
    passes += [partial(stage.draw, data) for stage, _ in stages]
    schedule = replace(Schedule(), steps=steps, learning_rates=rates, text_tokens=0, seed=seed)
    train_judge(data, out, schedule, start=start, passes=passes)


def _read_nothing(_: int) -> Sequence[Example]:
    return []
