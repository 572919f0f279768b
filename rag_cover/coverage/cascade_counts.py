"""How a cascade of judges came to the verdicts of one trace, in whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from rag_cover.backends import Failure
from rag_cover.cascade import Fate, VerdictFate

__all__ = ["CascadeCounts"]


@dataclass(frozen=True, slots=True)
class CascadeCounts:
    """Counts of verdicts.

    Args:
        verdicts: of all.
        asked: the first judge was unsure of, and the model gave.
        audited: the first judge kept, and the model was asked to check.
        agreed: of these, the model gave the same.
        failed: the model was asked for and failed; the first judge's stay.
        over_budget: the first judge is unsure of, and no call was left for.
        failure: the last one of the model; None where it never failed.
    """

    verdicts: int = 0
    asked: int = 0
    audited: int = 0
    agreed: int = 0
    failed: int = 0
    over_budget: int = 0
    failure: Failure | None = None

    @classmethod
    def of(cls, fates: Iterable[VerdictFate]) -> Self | None:
        """Count verdicts; None where there are none."""
        several = list(fates)
        counts = Counter(each.fate for each in several)
        agreed = sum(bool(each.agreed) for each in several if each.fate is Fate.AUDITED)
        found = cls(
            len(several),
            counts[Fate.ASKED],
            counts[Fate.AUDITED],
            agreed,
            counts[Fate.FAILED],
            counts[Fate.OVER_BUDGET],
            next((each.failure for each in reversed(several) if each.failure), None),
        )
        return found if several else None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `dataclasses.asdict` wrote of it."""
        failure = data.get("failure")
        return cls(**{**data, "failure": Failure(**failure) if failure else None})

    def __add__(self, other: CascadeCounts) -> CascadeCounts:
        """Add the counts of another trace, which was judged later.

        >>> CascadeCounts(verdicts=3, asked=1) + CascadeCounts(verdicts=2, failed=1)
        CascadeCounts(verdicts=5, asked=1, audited=0, agreed=0, failed=1, over_budget=0, failure=None)
        """
        names = (each.name for each in fields(self) if each.name != "failure")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return CascadeCounts(**sums, failure=other.failure or self.failure)
