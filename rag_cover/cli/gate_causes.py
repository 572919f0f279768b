"""Why answers became worse: where most more core sub-questions were lost, or that answers decline."""

from __future__ import annotations

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.reports.text import format_count
from rag_cover.summaries import Comparison

__all__ = ["METRICS_OF_LOSSES", "find_cause"]

METRICS_OF_LOSSES = ("core_coverage", "core_retrieved", "core_use", "retrieval_headroom", "rating")
"""Metrics whose cause is a loss of core sub-questions."""

_BEFORE_THE_PROMPT = (Loss.NOT_IN_CORPUS, Loss.FAILED, Loss.NOT_RETRIEVED)
_TENTH = 10
_QUARTER = 4


def find_cause(comparison: Comparison, before: AnswerCounts | None, after: AnswerCounts | None) -> str | None:
    """Name what there is most more of: answers that decline, or core sub-questions lost at a stage; None without more.

    That answers decline is the cause only where most is lost behind the prompt: what was not retrieved is rightly declined.
    Where what was retrieved covers no less than before, retrieval is not the cause, whatever stage losses are named by: an
    answer that knew without a passage, and no longer does, leaves its sub-question "not retrieved".
    """
    more = {loss: comparison.losses_b.get(loss, 0) - comparison.losses_a.get(loss, 0) for loss in Loss}
    unclear = comparison.unclear_b - comparison.unclear_a
    retrieval_is_worse = _retrieval_is_worse(comparison)
    named = {loss: count for loss, count in more.items() if retrieval_is_worse or loss not in _BEFORE_THE_PROMPT}
    loss = max(named, key=named.__getitem__)
    elsewhere = max(0, unclear) + sum(max(0, count) for each, count in more.items() if each not in named)
    behind_the_prompt = loss is Loss.UNUSED or named[loss] <= 0
    if behind_the_prompt and (declining := _more_decline(before, after, named[loss])):
        return declining
    if max(named[loss], elsewhere) <= 0:
        return None
    if named[loss] * _QUARTER >= named[loss] + elsewhere or (retrieval_is_worse and named[loss] >= elsewhere):
        where, counts = str(loss).removeprefix("its "), (comparison.losses_a.get(loss, 0), comparison.losses_b.get(loss, 0))
        return f"{_more(counts[1] - counts[0])}: {where} ({counts[0]} before, {counts[1]} now)"
    if retrieval_is_worse:
        return f"{_more(unclear)} at a stage that is unclear ({comparison.unclear_a} before, {comparison.unclear_b} now)"
    return f"{_more(max(0, named[loss]) + elsewhere)} in the answers: what was retrieved covers no less than before"


def _more(count: int) -> str:
    return f"{format_count(count, 'more core sub-question')} lost"


def _retrieval_is_worse(comparison: Comparison) -> bool:
    found = comparison.metrics.get("core_retrieved")
    return found is None or found.difference is None or (found.difference < 0)


def _more_decline(before: AnswerCounts | None, after: AnswerCounts | None, lost: int) -> str | None:
    """Say that more answers decline, where that explains half of what is lost and concerns a tenth of the answers."""
    if before is None or after is None or after.declined <= before.declined:
        return None
    declined = after.declined - before.declined
    if 2 * declined < lost or _TENTH * declined < after.answers:
        return None
    decline = "declines" if declined == 1 else "decline"
    return f"{format_count(declined, 'more answer')} {decline} ({before.declined} before, {after.declined} now)"
