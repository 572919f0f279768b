"""Where sub-questions were lost, in words: what became of them, where most were lost, and where to look first."""

from __future__ import annotations

from collections.abc import Mapping

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import CorpusCounts

__all__ = ["LOSS_PHRASES", "corpus_sentence", "describe_loss", "loss_advice", "losses_listed", "main_loss"]

_LEAST_LOSSES = 3  # of one kind: fewer are not spoken of in the headline
_ADVICE: Mapping[Loss, str] = {
    Loss.NOT_IN_CORPUS: "Look at the documents first: they do not say it, and no retriever brings what is not there.",
    Loss.FAILED: "Look at the failed retriever or sub-engine first: the error is in its step of the trace.",
    Loss.NOT_RETRIEVED: "Look at retrieval first: the query, the index, or whether the documents say it at all.",
    Loss.DROPPED: "Look at the reranker or filter first: it threw away passages that answer.",
    Loss.SUB_ANSWER: "Look at the sub-engine first: its model had the passages and left them out of its answer.",
    Loss.UNUSED: "Look at the prompt and the generator first: the passages were there.",
}
LOSS_PHRASES: Mapping[Loss, str] = {
    Loss.NOT_IN_CORPUS: "not in the corpus",
    Loss.FAILED: "lost because {its} retrieval failed",
    Loss.NOT_RETRIEVED: "never retrieved",
    Loss.DROPPED: "retrieved and then dropped",
    Loss.SUB_ANSWER: "left out of a sub-answer",
    Loss.UNUSED: "in the prompt and not used",
}


def describe_loss(loss: Loss, count: int) -> str:
    """Say what became of some sub-questions.

    >>> describe_loss(Loss.FAILED, 2)
    'were lost because their retrieval failed'
    """
    was, its = ("was", "its") if count == 1 else ("were", "their")
    return f"{was} {LOSS_PHRASES[loss].format(its=its)}"


def main_loss(losses: Mapping[Loss, int]) -> str:
    """Say where most of the clear losses were, if that is one place and there are enough of them to speak of."""
    total, largest = sum(losses.values()), max(losses.values(), default=0)
    if largest < _LEAST_LOSSES or 2 * largest <= total:
        return ""
    place = next(loss for loss in Loss if losses.get(loss, 0) == largest)
    of = f"{largest:,} of {total:,}" if largest < total else f"all {total:,}"
    return f"; {of} clear losses {describe_loss(place, largest)}"


def losses_listed(*counts: Mapping[Loss, int]) -> tuple[Loss, ...]:
    """List the losses to show beside each other: each, even without any, but rare ones where there are.

    >>> losses_listed({Loss.UNUSED: 1}) == losses_listed() == (Loss.NOT_RETRIEVED, Loss.DROPPED, Loss.UNUSED)
    True
    """
    rare = (Loss.NOT_IN_CORPUS, Loss.FAILED, Loss.SUB_ANSWER)
    return tuple(loss for loss in Loss if loss not in rare or any(each.get(loss, 0) for each in counts))


def loss_advice(losses: Mapping[Loss, int], corpus: CorpusCounts | None = None) -> str:
    """Say where to look first: at the largest loss, if there is a single one. Of few losses, say that they may be chance.

    >>> loss_advice({Loss.UNUSED: 1})
    'Look at the prompt and the generator first: the passages were there. With 1 clear loss, this may be chance.'
    """
    largest = max(losses.values(), default=0)
    found = [loss for loss in Loss if losses.get(loss, 0) == largest and largest]
    if len(found) != 1:
        return ""
    is_known = corpus is not None and found[0] is Loss.NOT_RETRIEVED
    advice = "Look at retrieval first: the documents say it." if is_known else _ADVICE[found[0]]
    if largest >= _LEAST_LOSSES:
        return advice
    clear = sum(losses.values())
    return f"{advice} With {clear} clear {'loss' if clear == 1 else 'losses'}, this may be chance."


def corpus_sentence(corpus: CorpusCounts | None) -> str:
    """Say what the corpus has on what was not retrieved; empty where it was not searched.

    >>> corpus_sentence(CorpusCounts(searched=3, absent=2, by_k=1))
    'The corpus was searched for 3 core parts that were not retrieved: 2 are not in it; 1 a larger k would have brought.'
    """
    if corpus is None:
        return ""
    was = "part that was" if corpus.searched == 1 else "parts that were"
    are = "is" if corpus.absent == 1 else "are"
    counts = (
        (corpus.absent, f"{are} not in it"),
        (corpus.by_k, "a larger k would have brought"),
        (corpus.by_query, "a query of its own would have brought"),
        (corpus.by_retriever, "another retriever would have brought"),
        (corpus.failed, "could not be searched for"),
    )
    parts = "; ".join(f"{count:,} {said}" for count, said in counts if count)
    return f"The corpus was searched for {corpus.searched:,} core {was} not retrieved: {parts}."
