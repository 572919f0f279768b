"""The plan of a cascade with a budget: which verdicts the model is asked for, by their keys."""

from __future__ import annotations

from dataclasses import dataclass

from rag_cover.traces import content_hash

__all__ = ["CascadePlan"]


@dataclass(frozen=True, slots=True)
class CascadePlan:
    """The keys (`rag_cover.cascade.settings.item_key`) of what is asked, since it is unsure, and of what is checked."""

    asked: frozenset[str] = frozenset()
    audited: frozenset[str] = frozenset()

    @property
    def fingerprint(self) -> str:
        """Return what names the plan in caches."""
        return content_hash([sorted(self.asked), sorted(self.audited)])[:16]
