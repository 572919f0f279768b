"""Utility as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_cover.belief.courses import unfit_because
from rag_cover.belief.pairs import approximations_of
from rag_cover.belief.procedures import Procedure
from rag_cover.belief.utility import utilities_of
from rag_cover.results import (
    Approximation,
    Attribution,
    BeliefKind,
    ModelKind,
    Outcome,
    Preset,
    ReferenceSource,
)
from rag_cover.traces import Trace

__all__ = ["UtilityMeasure"]


@dataclass(frozen=True, slots=True)
class UtilityMeasure:
    """Measure what each retrieval step of a trace was worth (`rag_cover.belief.step_utilities`, which explains the fields).

    A trace that carries samples needs no receiver.
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

    name: ClassVar[str] = "utility"
    required_inputs: ClassVar[tuple[str, ...]] = ("references", "retrieval steps")
    required_models: ClassVar[tuple[ModelKind, ...]] = ("receiver", "entailer")

    def __post_init__(self) -> None:
        """Refuse what no utility can be measured by."""
        object.__setattr__(self, "approximations", approximations_of(self.approximations))
        self._procedure()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        return {
            "n": self.n,
            "kind": self.kind,
            "preset": self.preset,
            "references": self.references,
            "per_passage": self.per_passage,
            "adaptive": self.adaptive,
            "clusters": self.clusters,
            "approximations": list(self.approximations),
            "seed": self.seed,
        }

    def lacks(self, trace: Trace) -> str | None:
        """Say why a trace cannot be measured, or None where it can."""
        return unfit_because(trace, self.references)

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure all the traces together, in as few calls to the receiver and the entailer as can be."""
        receiver, procedure = models.get("receiver"), self._procedure()
        return utilities_of(traces, entailer=models["entailer"], receiver=receiver, procedure=procedure)

    def _procedure(self) -> Procedure:
        return Procedure(**dict(self.parameters))
