"""Answers drawn from a receiver for many traces at once: equal contexts of a question are sampled once, in one call a round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rag_cover.backends import Receiver, fingerprint_of
from rag_cover.belief.contexts import Context, key_of
from rag_cover.errors import ModelFailedError
from rag_cover.traces import Sample

__all__ = ["SampleCache"]

Shown = tuple[str, Context]
"""A question, and the passages that a receiver is shown with it."""


class SampleCache:
    """What a receiver answered so far, by question, context and round.

    ``sizes`` are the answers of each round. A round has a seed of its own, so that it draws other answers than the one before.
    """

    def __init__(self, receiver: Receiver, sizes: Sequence[int], seed: int) -> None:
        self._receiver, self._sizes, self._seed = receiver, sizes, seed
        self._drawn: dict[object, tuple[Sample, ...]] = {}

    @property
    def rounds(self) -> int:
        """Return how many rounds there are."""
        return len(self._sizes)

    def fetch(self, wanted: Iterable[tuple[Shown, int]]) -> None:
        """Sample each (question, context) in its round, where that is not done yet.

        Raises:
            ModelFailedError: the receiver failed, or returned another number of sets than it was asked for.
        """
        by_round: defaultdict[int, dict[object, Shown]] = defaultdict(dict)
        for shown, number in wanted:
            if (name := _name(shown, number)) not in self._drawn:
                by_round[number][name] = shown
        for number, new in sorted(by_round.items()):
            items = list(new.values())
            drawn = self._receiver.sample(items, n=self._sizes[number], seed=self._seed + number)
            if len(drawn) != len(items):
                who = f"{type(self._receiver).__name__} ({fingerprint_of(self._receiver)})"
                message = f"{who}: sample returned {len(drawn)} sets for {len(items)} items; it must return one each"
                raise ModelFailedError(message)
            self._drawn |= dict(zip(new, map(tuple, drawn), strict=True))

    def of(self, shown: Shown, rounds: int) -> tuple[Sample, ...]:
        """Return the answers of a (question, context) in its first rounds."""
        return tuple(sample for number in range(rounds) for sample in self._drawn[_name(shown, number)])


def _name(shown: Shown, number: int) -> object:
    question, context = shown
    return question, key_of(context), number
