"""Which ordered pairs of texts an entailer is asked about: each distinct one once, for many inquiries at a time.

An inquiry is a generator that yields the (premise, hypothesis) pairs it needs next and is sent their probabilities. All
inquiries of a block go on side by side (`gather`), so that each round is one call to the entailer, and what one round makes
needless (the way back, where the way there already rules equivalence out) is never asked.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from itertools import islice
from typing import TypeVar, cast

from rag_cover.backends import Entailer
from rag_cover.belief.result import Approximation
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.model_calls import ask_relations

__all__ = [
    "APPROXIMATIONS",
    "EntailmentTask",
    "Judgments",
    "PremiseHypothesis",
    "Probabilities",
    "approximations_of",
    "gather",
    "normal_form",
]

PremiseHypothesis = tuple[str, str]
Probabilities = tuple[float, float, float]
"""P(entailment), P(neutral), P(contradiction)."""

T = TypeVar("T")
EntailmentTask = Generator[Sequence[PremiseHypothesis], Sequence[Probabilities], T]

APPROXIMATIONS: tuple[Approximation, ...] = ("normalised", "skip-identity")
_IDENTICAL: Probabilities = (1.0, 0.0, 0.0)


class Judgments:
    """What an entailer has judged so far, and the way to ask it more.

    ``normalised`` takes texts that are equal but for case, white space and punctuation at their end as one text;
    ``skip-identity`` takes it that every text entails itself, which not every model finds.
    """

    def __init__(self, entailer: Entailer, approximations: Collection[Approximation] = ()) -> None:
        self._entailer = entailer
        self._approximations = frozenset(approximations)
        self._known: dict[PremiseHypothesis, Probabilities] = {}
        self._first: dict[str, str] = {}

    def settle(self, inquiry: EntailmentTask[T]) -> T:
        """Answer an inquiry, one call to the entailer a round at most; return what it came to.

        Raises:
            ModelFailedError: the entailer failed, or returned something that is no probability.
        """
        judged: Sequence[Probabilities] | None = None
        while True:
            try:
                pairs = inquiry.send(cast("Sequence[Probabilities]", judged))  # None begins
            except StopIteration as done:
                return cast("T", done.value)
            judged = self.judge(pairs)

    def judge(self, pairs: Iterable[PremiseHypothesis]) -> list[Probabilities]:
        """Return the probabilities of every pair, asking the entailer once about those that are new."""
        asked = [self._canonical_pair(pair) for pair in pairs]
        new = [pair for pair in asked if pair not in self._known]
        if "skip-identity" in self._approximations:
            self._known |= {pair: _IDENTICAL for pair in new if pair[0] == pair[1]}
            new = [pair for pair in new if pair[0] != pair[1]]
        self._known |= ask_relations(self._entailer, new)
        return [self._known[pair] for pair in asked]

    def _canonical_pair(self, pair: PremiseHypothesis) -> PremiseHypothesis:
        if "normalised" not in self._approximations:
            return pair
        premise, hypothesis = (self._first.setdefault(normal_form(text), text) for text in pair)
        return premise, hypothesis


def gather(inquiries: Iterable[EntailmentTask[T]]) -> EntailmentTask[list[T]]:
    """Make one inquiry of many, which go on side by side; it comes to what each came to, in order."""
    running = list(inquiries)
    settled: dict[int, T] = {}
    judged: dict[int, Sequence[Probabilities] | None] = dict.fromkeys(range(len(running)))
    while judged:
        wanted: dict[int, Sequence[PremiseHypothesis]] = {}
        for index, probabilities in judged.items():
            try:
                wanted[index] = running[index].send(cast("Sequence[Probabilities]", probabilities))  # None begins
            except StopIteration as done:
                settled[index] = done.value
        answers = iter((yield [pair for pairs in wanted.values() for pair in pairs]) if wanted else ())
        judged = {index: list(islice(answers, len(pairs))) for index, pairs in wanted.items()}
    return [settled[index] for index in range(len(running))]


def approximations_of(names: Collection[str]) -> tuple[Approximation, ...]:
    """Return the approximations of these names, each once, in their own order.

    Raises:
        InvalidValueError: an unknown name.
    """
    for name in names:
        if name not in APPROXIMATIONS:
            known = ", ".join(APPROXIMATIONS)
            message = f"No approximation is called {name!r}.{nearest(name, APPROXIMATIONS)} There are: {known}."
            raise InvalidValueError(message)
    return tuple(each for each in APPROXIMATIONS if each in names)


def normal_form(text: str) -> str:
    """Write a text as the approximation ``normalised`` compares it: without case, repeated spaces and the marks at its end.

    >>> normal_form("Who? The  Beatles.") == normal_form("who? the beatles")
    True
    >>> normal_form("1.5") == normal_form("15")
    False
    """
    return " ".join(text.casefold().split()).rstrip(" .,;:!\"'")
