"""Adaptive retrieval: search only for core sub-questions that the passages found so far do not cover.

The question itself is searched for first, and its passages are judged. A sub-question that they cover needs no search, and its
answer is filled into later sub-questions that refer to it (`#1`). Each other sub-question is searched for once, and its
passages are judged. This repeats until no new sub-question can be searched for. A question that was not taken apart, and that
its own passages do not cover, is searched for expanded by what these say (`rag_cover.augmentation.feedback`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.augmentation.chains import searchable
from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.augmentation.retrieving import Retrieval, search_expanded
from rag_cover.questions import Passage, plain_query

__all__ = ["confident_threshold", "search_uncovered"]

_SURE = 0.7
_READ = 5  # passages that an answer is read from: those that cover its sub-question best


def search_uncovered(retrieval: Retrieval, evidence: PassageEvidence, *, sure: float, rounds: int) -> None:
    """Search for a question, then in at most so many rounds for the sub-questions that are not surely covered.

    ``sure`` is the probability from which one is.

    Raises:
        ModelFailedError: the scorer failed.
    """
    chain, searches = retrieval.chain, retrieval.searches
    if retrieval.reader is None:
        chain.give_up()
    searches.search([retrieval.query])
    covered = _judge_chain(retrieval, evidence, sure)
    for _ in range(rounds):
        if not (missing := _missing(retrieval, covered)):
            break
        searches.search(chain.texts(missing))
        _judge_chain(retrieval, evidence, sure)
        retrieval.read({number: retrieval.passages_for(number) for number in chain.awaited if number in missing})
        covered = _judge_chain(retrieval, evidence, sure)
    if len(covered) < len(chain.numbers):
        search_expanded(retrieval)


def confident_threshold(threshold: float) -> float:
    """Return the probability from which a judge with this threshold is sure: seven tenths of the way from there to 1.

    >>> round(confident_threshold(0.5), 6)
    0.85
    """
    return threshold + _SURE * (1 - threshold)


def _judge_chain(retrieval: Retrieval, evidence: PassageEvidence, sure: float) -> set[int]:
    """Judge every searchable sub-question and return the numbers of the covered ones.

    When a covered one fills a slot of a later one (``#1``), extract its answer and judge again, until no new sub-question
    becomes searchable.
    """
    chain = retrieval.chain
    while True:
        ready, passages = chain.ready, retrieval.passages
        evidence.judge(chain.texts(ready), passages)
        covered = {number for number in ready if evidence.covers(chain.text(number), passages, cut=sure)}
        covered_and_awaited = [number for number in chain.awaited if number in covered]
        if not covered_and_awaited:
            return covered
        retrieval.read({number: _best(evidence, chain.text(number), passages) for number in covered_and_awaited})


def _missing(retrieval: Retrieval, covered: set[int]) -> list[int]:
    """Return what is clear, not covered, and was not searched for."""
    chain, known = retrieval.chain, retrieval.searches.known
    texts = {number: chain.text(number) for number in chain.ready if number not in covered}
    return [number for number, text in texts.items() if searchable(text) and plain_query(text) not in known]


def _best(evidence: PassageEvidence, text: str, passages: Sequence[Passage]) -> list[Passage]:
    (row,) = evidence.probabilities([text], passages)
    return [passages[place] for place in (-row).argsort(kind="stable")[:_READ]]
