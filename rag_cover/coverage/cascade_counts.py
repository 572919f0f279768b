"""How a cascade of judges came to the verdicts of one trace, in whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

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
    """

    verdicts: int = 0
    asked: int = 0
    audited: int = 0
    agreed: int = 0
    failed: int = 0
    over_budget: int = 0

    @classmethod
    def of(cls, fates: Iterable[VerdictFate]) -> Self | None:
        """Count verdicts; None where there are none."""
        several = list(fates)
        counts = Counter(each.fate for each in several)
        agreed = sum(bool(each.agreed) for each in several if each.fate is Fate.AUDITED)
        found = cls(
            len(several), counts[Fate.ASKED], counts[Fate.AUDITED], agreed, counts[Fate.FAILED], counts[Fate.OVER_BUDGET]
        )
        return found if several else None
