"""Which verdict is labelled next: every other one of a random order, the rest where a label teaches most.

The random order is one permutation of the verdicts behind the headline (`LabelItem.counts_in_headline`), the same for every
annotator. Its first k verdicts are a simple random sample once all of them are labelled, whichever way each was picked: every
verdict is in it with probability k/N. That is what prediction-powered inference assumes (`rag_cover.stats.prediction_powered`).
The chosen verdicts come by the judges' disagreement, then by how unsure the judge is (uncertainty sampling: Lewis & Gale, "A
sequential algorithm for training text classifiers", 1994). They are no random sample, and no share rests on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from rag_cover.argument_checks import refuse_outside
from rag_cover.labelling.items import LabelItem

__all__ = ["RANDOM_SHARE", "Draw", "LabelSampling"]

RANDOM_SHARE = 0.5
"""The share of the labels that are drawn at random."""
_BANDS = 10  # probabilities a tenth apart are about as unsure
_UNSURE = 0.4  # how far from a half a probability may lie for its verdict to be worth choosing


@dataclass(frozen=True, slots=True)
class Draw:
    """A verdict and how it was picked; ``place`` is where it stands in the random order, from 1."""

    key: str
    sampled: Literal["random", "chosen"]
    place: int | None = None


class LabelSampling:
    """The random order and the chosen one, of which the next verdict comes.

    Args:
        items: the verdicts, each key once.
        random_share: the share of the labels that are drawn at random, in [0, 1].
        seed: seed of the random order.

    Raises:
        InvalidValueError: the share is none.
    """

    def __init__(self, items: Iterable[LabelItem], *, random_share: float = RANDOM_SHARE, seed: int = 0) -> None:
        refuse_outside(0, 1, random_share=random_share)
        every = tuple(items)
        self._share = random_share
        drawn = [item.key for item in every if item.counts_in_headline]
        self.random_order = tuple(sorted(drawn, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest()))
        worth = sorted((item for item in every if _is_worth_choosing(item)), key=_usefulness)
        self.chosen_order = tuple(item.key for item in worth)

    @property
    def population(self) -> int:
        """Count the verdicts of the random order."""
        return len(self.random_order)

    def sample_size(self, answered: Collection[str]) -> int:
        """Return how long the random sample is: the verdicts at the start of the random order that were all answered."""
        return next((place for place, key in enumerate(self.random_order) if key not in answered), self.population)

    def next(self, answered: Collection[str]) -> Draw | None:
        """Return what is labelled next; None where nothing is left."""
        place = self.sample_size(answered)
        chosen = next((key for key in self.chosen_order if key not in answered), None)
        random = Draw(self.random_order[place], "random", place + 1) if place < self.population else None
        if random is None or (chosen is not None and not self._is_random_turn(len(answered))):
            return random if chosen is None else Draw(chosen, "chosen")
        return random

    def _is_random_turn(self, answered: int) -> bool:
        return int((answered + 1) * self._share) > int(answered * self._share) if self._share < 1 else True


def _is_worth_choosing(item: LabelItem) -> bool:
    return item.disputed or not item.certain or abs(item.probability - 0.5) <= _UNSURE


def _usefulness(item: LabelItem) -> tuple[bool, int, bool, float, str]:
    """Order the most useful first: disputed, then unsure ones; of those that are about as unsure what the headline counts."""
    away = abs(item.probability - 0.5)
    return (not item.disputed, int(away * _BANDS), not item.counts_in_headline, away, item.key)
