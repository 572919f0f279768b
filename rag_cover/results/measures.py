"""The Measure Protocol: what can be measured of a trace, what it needs for that, and which models it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from rag_cover.results.outcomes import Outcome
from rag_cover.traces import Trace

__all__ = ["Measure", "ModelKind"]

ModelKind = Literal[
    "scorer", "locator", "relevance", "entailer", "receiver", "generator", "embedder", "decomposer", "abstention"
]


class Measure(Protocol):
    """What can be measured of a trace; a frozen dataclass whose parameters are its fields."""

    @property
    def name(self) -> str:
        """Return the measure's name: the key of its outcome."""
        ...

    @property
    def required_inputs(self) -> tuple[str, ...]:
        """Name what a trace must carry, in words a user reads."""
        ...

    @property
    def required_models(self) -> tuple[ModelKind, ...]:
        """Name the models the measure asks."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        ...

    def lacks(self, trace: Trace) -> str | None:
        """Say why a trace cannot be measured, or None where it can; asks no model."""
        ...

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure traces that lack nothing, all in as few model calls as possible; one outcome each, in order."""
        ...
