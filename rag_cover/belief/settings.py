"""How the utility of retrieval steps is measured: everything but the models, checked when it is said."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from rag_cover.argument_checks import refuse_below, refuse_other_than, without_none
from rag_cover.belief.entailment import approximations_of
from rag_cover.belief.estimation import kind_in_range
from rag_cover.belief.result import Approximation, Attribution, BeliefKind, Preset, ReferenceSource
from rag_cover.errors import InvalidValueError

__all__ = ["UtilitySettings"]

_FIRST = 4  # answers of the first adaptive round; fewer say nothing of how much they vary
_NEXT = 3  # answers of each further round


@dataclass(frozen=True, slots=True)
class UtilitySettings:
    """How utilities are measured.

    ``n`` answers are sampled in each context; with ``adaptive``, a half width of intervals, they are sampled in rounds (4, 7,
    10, …) for as long as any interval that a context has part in is wider than that. ``references`` tells what counts as
    right: the question's gold answers, or the trace's own answer. ``clusters`` finds answers' clusters with kind ``soft`` too.
    """

    n: int = 10
    kind: BeliefKind = "soft"
    preset: Preset | None = None
    references: ReferenceSource = "gold"
    per_passage: Attribution | None = None
    adaptive: float | None = None
    clusters: bool = False
    approximations: Collection[Approximation] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no utility can be measured by."""
        kind_in_range(self.kind)
        refuse_other_than(("official", "paper", "unbiased"), **without_none(preset=self.preset))
        refuse_other_than(("gold", "answer"), references=self.references)
        refuse_other_than(("leave-one-out", "add-one-in"), **without_none(per_passage=self.per_passage))
        object.__setattr__(self, "approximations", approximations_of(self.approximations))
        refuse_below(1, n=self.n)
        refuse_below(0, seed=self.seed)
        if self.adaptive is not None and not self.adaptive > 0:
            message = f"adaptive is {self.adaptive}; it is the half width that intervals may have, above 0"
            raise InvalidValueError(message)

    @property
    def rounds(self) -> tuple[int, ...]:
        """List how many answers each round of sampling draws.

        >>> UtilitySettings().rounds, UtilitySettings(adaptive=0.1).rounds, UtilitySettings(n=6, adaptive=0.1).rounds
        ((10,), (4, 3, 3), (4, 2))
        """
        if self.adaptive is None:
            return (self.n,)
        starts = [0, *range(_FIRST, self.n, _NEXT), self.n]
        return tuple(stop - start for start, stop in pairwise(starts))
