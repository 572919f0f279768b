"""How long and how fast the judge is trained."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train: steps of each stage (`STAGES` in `examples.py`), in cycles of the learning rate.

    Each item of `CYCLES` has the stages of one cycle. The rate rises to the cycle's own over ``warmup`` steps and
    falls to 0 over the last part of the cycle's steps, ``falling``.
    """

    steps: tuple[int, ...] = (1200, 2200, 1000, 2400, 700, 900, 1300, 600, 1350, 1050, 1150, 400, 900)
    learning_rates: tuple[float, ...] = (1.5e-4, 8e-5, 6e-5, 6e-5, 6e-5, 7e-5, 7e-5, 7e-5, 6e-5, 5e-5)
    warmup: int = 100
    falling: tuple[float, ...] = (0.9, 1.0, 1.0, 1.0, 1.0, 0.6, 1.0, 1.0, 1.0, 1.0)
    batch_tokens: int = 4096
    text_tokens: int = 512
    checkpoint_every: int = 100
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the learning rate at a step.

        >>> steps = (400, 600, 100, 100, 10, *8 * (0,))
        >>> schedule = Schedule(steps, (1.0, 0.5, *8 * (0.1,)), falling=(0.5, 0.5, *8 * (1.0,)))
        >>> schedule.rate(750), schedule.rate(1150), schedule.rate(1200)
        (0.5, 0.25, 0.001)
        """
        lengths = [sum(self.steps[stages]) for stages in CYCLES]
        ends = [*accumulate(lengths)]
        cycle = bisect_right(ends, step)
        begin = ends[cycle] - lengths[cycle]
        rising = min(1.0, (step - begin + 1) / self.warmup)
        left = (ends[cycle] - step) / (lengths[cycle] * self.falling[cycle])
        return self.learning_rates[cycle] * min(rising, left, 1.0)


CYCLES = (
    slice(2),
    slice(2, 4),
    slice(4, 5),
    slice(5, 6),
    slice(6, 7),
    slice(7, 9),
    *(slice(at, at + 1) for at in range(9, 13)),
)
"""The stages of each cycle of the learning rate."""
ENTAILMENT_STEPS = 950
"""The steps of the network for entailment (`entailment_network.py`)."""
REPLY_STEPS = 450
"""The steps of the network for replies (`reply_network.py`)."""
