"""Where a question goes, and why: what every router answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_cover.notebook_views import show_in_notebook
from rag_cover.short_forms import quote

__all__ = ["Route"]


@dataclass(frozen=True, slots=True)
class Route:
    """One decision of a router: the route's name, and what it rests on.

    ``probability`` is what the router decided by, in [0, 1]: P(the passages answer) of a `ComplexityRouter` that decides by
    steps, P(complex) of one with a cut, the chosen agent's predicted success of a `SkillRouter`; None where nothing calibrated
    tells. ``scores`` are the numbers it was weighed against, by name; what is undefined is absent. ``reason`` is one sentence.
    """

    name: str
    probability: float | None
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    def __repr__(self) -> str:
        """Return a short form: the name, the probability, the reason."""
        known = "" if self.probability is None else f", probability={self.probability:.3g}"
        return f"Route({quote(self.name)}{known}, reason={quote(self.reason)})"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "route": self.name,
            "probability": self.probability,
            "scores": dict(self.scores),
            "reason": self.reason,
        }
