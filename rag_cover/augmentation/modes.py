"""Sub-questions that drive retrieval and generation: the four augmentations of the coverage paper, and a frugal fifth.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025):

- `definition` (M1): the question, with the definition of core sub-questions beside it in the prompt;
- `subquestions` (M2): the question, with its core sub-questions beside it, for the search and in the prompt;
- `retrieval` (M3): passages for the question and for each core sub-question, pooled, of which those are kept that together
  cover most; the paper's best, with 73% of comparisons won against the same pipeline without it;
- `end-to-end` (M4): each core sub-question answered by itself, and the answers put together;
- `auto`: M3 for those core sub-questions alone that the question's own passages do not surely cover.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_cover.augmentation.augmenter import ROUNDS, Augmenter, tokens_in
from rag_cover.augmentation.feedback import FEEDBACK
from rag_cover.augmentation.reading import SAMPLES
from rag_cover.augmentation.result import Augmentation, AugmentationMode
from rag_cover.augmentation.selection import FAIR_SHARE
from rag_cover.backends import Entailer, Generator, Receiver, Retriever, Scorer
from rag_cover.decomposition.strategies import Decomposer
from rag_cover.questions import Question, SubQuestion

__all__ = ["augment"]


def augment(  # noqa: PLR0913  # the public interface: all but three by name
    question: Question | str,
    retriever: Retriever,
    generator: Generator | None = None,
    *,
    mode: AugmentationMode = "retrieval",
    scorer: Scorer | None = None,
    sub_questions: Sequence[SubQuestion | str] | None = None,
    decomposer: Decomposer | None = None,
    receiver: Receiver | None = None,
    entailer: Entailer | None = None,
    k: int = 10,
    depth: int | None = None,
    max_tokens: int | None = None,
    max_calls: int | None = None,
    rounds: int = ROUNDS,
    feedback: int = FEEDBACK,
    fair_share: float = FAIR_SHARE,
    threshold: float | None = None,
    sure: float | None = None,
    count_tokens: Callable[[str], int] | None = None,
    workers: int = 8,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Augmentation:
    """Let a question's core sub-questions drive its retrieval, and what is asked of a generator.

    The same input gives the same result, however many searches run at a time. A retriever that fails on a query costs that
    query alone; one that does not return is waited for, so give it a time limit.

    Args:
        question: what is asked.
        retriever: finds the passages; asked from several threads.
        generator: writes the answer; and the sub-questions, where neither they nor a decomposer are given. Needed for
            ``end-to-end``.
        mode: ``definition`` (M1), ``subquestions`` (M2), ``retrieval`` (M3), ``end-to-end`` (M4), or ``auto``.
        scorer: judges whether a passage covers a sub-question. Needed for ``retrieval`` and ``auto``; in other modes it tells
            what was covered.
        sub_questions: the sub-questions; core ones and those without a role are sought. One may build on an earlier one by its
            number: ``["Who directed Jaws?", "When was #1 born?"]``.
        decomposer: makes them instead; without it a generator does, or rules.
        receiver: reads the answers that later sub-questions build on (else the generator does; without either their places
            stay empty), and is the one whose belief the searches' worth is measured by.
        entailer: with a receiver and references, the worth of each search is measured (ΔSePer).
        k: how many passages to keep.
        depth: how many passages each search asks for; k unless given.
        max_tokens: how many tokens the passages may have in all, with their titles.
        max_calls: how many searches to make in all, the question's own among them.
        rounds: how often ``auto`` searches for what is still uncovered.
        feedback: how many of the first passages expand a question that was not taken apart: ``retrieval`` and ``auto`` search
            for it once more with the names that each of them tells. 0 searches for the question alone.
        fair_share: the share of k that is kept for passages that the question itself brought back.
        threshold: the probability from which a passage covers; the scorer's own unless given.
        sure: the probability from which ``auto`` spends nothing more on a sub-question; seven tenths of the way from the
            threshold to 1, unless given. At the threshold itself it searches least.
        count_tokens: counts a text's tokens; a quarter of its characters, unless given.
        workers: how many searches run at a time.
        samples: how often the receiver is asked for one answer that later sub-questions build on.
        seed: seed that the receiver samples with.

    Raises:
        InvalidValueError: an unknown mode, one whose scorer or generator is missing, a blank question, or a number that is none
            or out of range.
        ModelFailedError: every search failed, or the scorer did.
    """
    augmenter = Augmenter(
        retriever=retriever,
        generator=generator,
        mode=mode,
        scorer=scorer,
        decomposer=decomposer,
        receiver=receiver,
        entailer=entailer,
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        feedback=feedback,
        fair_share=fair_share,
        threshold=threshold,
        sure=sure,
        count_tokens=count_tokens or tokens_in,
        workers=workers,
        samples=samples,
        seed=seed,
    )
    return augmenter.augment(question, sub_questions=sub_questions)
