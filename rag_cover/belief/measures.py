"""Utility as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from rag_cover.belief.courses import unfit_because
from rag_cover.belief.procedures import Procedure
from rag_cover.belief.utility import utilities_of
from rag_cover.results import ModelKind, Outcome
from rag_cover.traces import Trace

__all__ = ["UtilityMeasure"]


@dataclass(frozen=True, slots=True)
class UtilityMeasure(Procedure):
    """Measure what each retrieval step of a trace was worth (`rag_cover.belief.step_utilities`, which explains the fields).

    A trace that carries samples needs no receiver.
    """

    name: ClassVar[str] = "utility"
    required_inputs: ClassVar[tuple[str, ...]] = ("references", "retrieval steps")
    required_models: ClassVar[tuple[ModelKind, ...]] = ("receiver", "entailer")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        return asdict(self) | {"approximations": list(self.approximations)}

    def lacks(self, trace: Trace) -> str | None:
        """Say why a trace cannot be measured, or None where it can."""
        return unfit_because(trace, self.references)

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure all the traces together, in as few calls to the receiver and the entailer as can be."""
        return utilities_of(traces, entailer=models["entailer"], receiver=models.get("receiver"), procedure=self)
