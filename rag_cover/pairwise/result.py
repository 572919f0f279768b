"""What comes of comparing pair by pair: a frozen value, in which nothing undefined is a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.pairwise.win_rates import PairVerdict, PositionBias, UnjudgedPair, WinRate
from rag_cover.stats.intervals import Interval

__all__ = ["PairwiseComparison"]


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """Two or more pipelines, compared answer by answer on the questions that all of them have.

    ``left_out`` counts by pipeline the questions that others lack. ``win_rates`` has every two pipelines once, in the order of
    ``pipelines``; `over` finds either direction. ``overall`` is each one's rate over all the others, None where it is in no
    pair with a verdict. ``agreement`` is how often the better coverage rating is the preferred answer's; None where the
    ratings are the judge, or there is no pair to tell it by.
    """

    pipelines: tuple[str, ...]
    judge: str
    questions: int
    left_out: Mapping[str, int]
    win_rates: tuple[WinRate, ...]
    overall: Mapping[str, Interval | None]
    position_bias: PositionBias
    agreement: Interval | None
    verdicts: tuple[PairVerdict, ...]
    unjudged: tuple[UnjudgedPair, ...]
    notes: tuple[str, ...] = ()

    @property
    def reasons(self) -> Mapping[str, int]:
        """Count why pairs have no verdict, the most frequent reason first."""
        return dict(Counter(each.reason for each in self.unjudged).most_common())

    @property
    def agreement_undefined_because(self) -> str | None:
        """Return why the judge's agreement with the ratings is not known; None where it is."""
        if self.agreement is not None:
            return None
        if any(each.basis == "rated" for each in self.verdicts):
            return "not applicable: the ratings are the judge"
        return "no pair has a preferred answer, and two ratings by the same sub-questions"

    def over(self, row: str, column: str) -> WinRate:
        """Return how often one pipeline wins over another.

        Raises:
            InvalidValueError: these are not two pipelines of the comparison.
        """
        for found in self.win_rates:
            if (found.a, found.b) == (row, column):
                return found
            if (found.b, found.a) == (row, column):
                return found.mirror()
        unknown = next((name for name in (row, column) if name not in self.pipelines), row)
        message = (
            f"{row!r} and {column!r} are not two pipelines of this comparison.{nearest(unknown, self.pipelines)} "
            f"There are: {', '.join(self.pipelines)}."
        )
        raise InvalidValueError(message)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; what is undefined is null, with its reason beside it."""
        return {
            "pipelines": list(self.pipelines),
            "judge": self.judge,
            "questions": self.questions,
            "left_out": dict(self.left_out),
            "win_rates": [asdict(each) | {"judged": each.judged} for each in self.win_rates],
            "overall": {name: asdict(rate) if rate else None for name, rate in self.overall.items()},
            "position_bias": asdict(self.position_bias),
            "agreement_with_ratings": asdict(self.agreement) if self.agreement else None,
            "agreement_undefined_because": self.agreement_undefined_because,
            "reasons": dict(self.reasons),
            "verdicts": [asdict(each) for each in self.verdicts],
            "unjudged": [asdict(each) for each in self.unjudged],
            "notes": list(self.notes),
        }
