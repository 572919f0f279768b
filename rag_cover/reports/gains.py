"""What augmenting retrieval changed, counted: core sub-questions covered before and after, and what extra searches bought.

Before is what the question alone brings back, after is what was kept. Sub-questions of one question hang together, so
intervals resample whole questions. A sub-question that was not judged on both sides counts on neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_cover.augmentation import Augmentation, AugmentationMode, Purchase, Sought
from rag_cover.backends import Failure
from rag_cover.stats.intervals import Interval, Statistic, jackknife, jackknife_share
from rag_cover.traces import Trace

__all__ = ["AugmentedQuestion", "GainRow", "Gains", "gains_of", "select_most_changed"]


@dataclass(frozen=True, slots=True)
class GainRow:
    """A core sub-question, whether it was covered before and after, and the extra search that first brought it."""

    sought: Sought
    before: bool
    after: bool
    purchase: Purchase | None = None


@dataclass(frozen=True, slots=True)
class AugmentedQuestion:
    """A question as it came, and what augmenting its retrieval made of it.

    ``plain`` is retrieval by the question alone, where that was done too; without it the augmentation's own first search is
    what was there before.
    """

    asked: Trace
    made: Augmentation | Failure
    plain: Augmentation | Failure | None = None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """List all that failed on the way."""
        return tuple(each for side in (self.made, self.plain) for each in _failures(side))

    @property
    def rows(self) -> tuple[GainRow, ...]:
        """List the core sub-questions that were judged before and after."""
        if isinstance(self.made, Failure):
            return ()
        bought = {text: purchase for purchase in reversed(self.made.bought) for text in purchase.covered}
        return tuple(
            GainRow(sought, before, sought.covered, bought.get(sought.text))
            for sought in self.made.sub_questions
            if (before := self._before(sought)) is not None and sought.covered is not None
        )

    def _before(self, sought: Sought) -> bool | None:
        match self.plain:
            case None:
                return sought.covered_at_first
            case Augmentation(sub_questions=plainly):
                return next((each.covered for each in plainly if each.text == sought.text), None)
        return None


@dataclass(frozen=True, slots=True)
class Gains:
    """What augmenting changed for many questions.

    Attributes:
        mode: the augmentation.
        questions: how many were asked.
        failed: for how many of them nothing was retrieved or judged.
        core: the core sub-questions that were judged before and after.
        uncompared: those that were not.
        covered_before: how many of ``core`` what the question alone brings back covers.
        covered: how many the passages that were kept cover.
        before: the share covered before, None where nothing was judged.
        after: the share covered after.
        gain: the difference of the two.
        gained: the questions of which more is covered than before.
        lost: those of which less is.
        searches: all searches.
        extra: those beyond the questions' own.
        paid: those of ``extra`` that brought something that no search before them did.
        utility: the mean ΔSePer of an extra search; None where it was not measured.
        failures: what failed, and how often.
        notes: what was left out, and for how many questions.
    """

    mode: AugmentationMode
    questions: int
    failed: int
    core: int
    uncompared: int
    covered_before: int
    covered: int
    before: Interval | None
    after: Interval | None
    gain: Interval | None
    gained: int
    lost: int
    searches: int
    extra: int
    paid: int
    utility: Interval | None
    failures: Mapping[str, int]
    notes: Mapping[str, int]


def gains_of(results: Sequence[AugmentedQuestion], mode: AugmentationMode) -> Gains:
    """Count what augmenting changed."""
    made = [each.made for each in results if isinstance(each.made, Augmentation)]
    compared = [rows for each in results if (rows := each.rows)]
    sums = [(sum(row.before for row in rows), sum(row.after for row in rows), len(rows)) for rows in compared]
    bought = [purchase for each in made for purchase in each.bought]
    core = sum(count for *_, count in sums)
    return Gains(
        mode=mode,
        questions=len(results),
        failed=len(results) - len(made),
        core=core,
        uncompared=sum(len(each.sub_questions) for each in made) - core,
        covered_before=sum(before for before, *_ in sums),
        covered=sum(after for _, after, _ in sums),
        before=jackknife_share(sums, lambda s: s[..., 0] / s[..., 2]),
        after=jackknife_share(sums, lambda s: s[..., 1] / s[..., 2]),
        gain=jackknife(sums, lambda s: (s[..., 1] - s[..., 0]) / s[..., 2], low=-1.0, high=1.0),
        gained=sum(after > before for before, after, _ in sums),
        lost=sum(after < before for before, after, _ in sums),
        searches=sum(each.calls for each in made),
        extra=len(bought),
        paid=sum(bool(purchase.covered) for purchase in bought),
        utility=_worth(made),
        failures=dict(Counter(f"{failure.kind}: {failure.message}" for each in results for failure in each.failures)),
        notes=dict(Counter(note for each in made for note in each.notes)),
    )


def select_most_changed(results: Sequence[AugmentedQuestion], *, limit: int) -> list[AugmentedQuestion]:
    """Choose the questions that gained most, equal ones in their order; those without a judged sub-question are left out."""
    judged = [each for each in results if each.rows]
    return sorted(judged, key=lambda each: sum(row.before - row.after for row in each.rows))[:limit]


def _failures(side: Augmentation | Failure | None) -> Sequence[Failure]:
    match side:
        case Augmentation(failures=failures):
            return failures
        case Failure():
            return (side,)
    return ()


def _worth(made: Sequence[Augmentation]) -> Interval | None:
    """Return the mean marginal ΔSePer of the extra searches that it was measured for."""
    values = [[each.utility for each in one.bought if each.utility is not None] for one in made]
    mean: Statistic = lambda s: s[..., 0] / s[..., 1]  # noqa: E731  # the one formula
    return jackknife([(sum(each), len(each)) for each in values if each], mean)
