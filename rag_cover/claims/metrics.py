"""The eleven metrics of RAGChecker, of which claims follow from which texts.

Ru et al., *RAGChecker: A fine-grained framework for diagnosing retrieval-augmented generation* (NeurIPS 2024, Datasets and
Benchmarks), §3.3. An answer is cut into claims, and so is the gold answer; each claim is entailed or not by the other answer
and by each passage. A table of passages has a row for each claim and a column for each passage.

A share of nothing is None, where the published package says 0: of an answer without claims the precision is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "answer_f1",
    "answer_precision",
    "answer_recall",
    "claim_recall",
    "context_precision",
    "context_utilization",
    "faithfulness",
    "hallucination",
    "irrelevant_noise_sensitivity",
    "relevant_noise_sensitivity",
    "self_knowledge",
]

Row = Sequence[bool]
"""Whether each claim follows from one text."""
Table = Sequence[Sequence[bool]]
"""Whether each claim follows from each passage: (claims, passages)."""


def answer_precision(answer_by_gold: Row) -> float | None:
    """Return the share of the answer's claims that the gold answer entails, in [0, 1]; None without claims.

    >>> answer_precision([True, True, True, False])
    0.75
    """
    return _share(answer_by_gold)


def answer_recall(gold_by_answer: Row) -> float | None:
    """Return the share of the gold answer's claims that the answer entails, in [0, 1]; None without claims.

    >>> answer_recall([True, False])
    0.5
    """
    return _share(gold_by_answer)


def answer_f1(answer_by_gold: Row, gold_by_answer: Row) -> float | None:
    """Return the harmonic mean of precision and recall, in [0, 1]; 0 where both are 0, None where one is undefined.

    >>> answer_f1([True, True, True, False], [True, False])
    0.6
    """
    right, complete = answer_precision(answer_by_gold), answer_recall(gold_by_answer)
    if right is None or complete is None:
        return None
    return 2 * right * complete / (right + complete) if right + complete else 0.0


def claim_recall(gold_by_passages: Table) -> float | None:
    """Return the share of the gold answer's claims that some retrieved passage entails, in [0, 1]; None without claims.

    >>> claim_recall([[True, False], [False, False]])
    0.5
    """
    return _share(any(claim) for claim in gold_by_passages)


def context_precision(gold_by_passages: Table) -> float | None:
    """Return the share of the retrieved passages that entail some claim of the gold answer, in [0, 1]; these are relevant.

    None without passages, and where the gold answer has no claims.

    >>> context_precision([[True, False, False], [False, True, False]])
    0.6666666666666666
    """
    return _share(_relevant(gold_by_passages))


def context_utilization(gold_by_answer: Row, gold_by_passages: Table) -> float | None:
    """Return, of the gold claims that some passage entails, the share that the answer entails too, in [0, 1].

    None where no passage entails any.

    >>> context_utilization([True, False, True], [[True, False], [False, True], [False, False]])
    0.5
    """
    return _share(said for said, claim in zip(gold_by_answer, gold_by_passages, strict=True) if any(claim))


def relevant_noise_sensitivity(answer_by_gold: Row, answer_by_passages: Table, gold_by_passages: Table) -> float | None:
    """Return the share of the answer's claims that are incorrect, and that a relevant passage entails, in [0, 1].

    Incorrect is what the gold answer does not entail. None without claims, and where the gold answer has none: no passage is
    known to be relevant or not.

    >>> relevant_noise_sensitivity([False, False, True], [[True, True], [False, True], [True, False]], [[True, False]])
    0.3333333333333333
    """
    if not gold_by_passages:
        return None
    misled = _misled_by_relevant(answer_by_passages, gold_by_passages)
    return _share(found and not right for found, right in zip(misled, answer_by_gold, strict=True))


def irrelevant_noise_sensitivity(answer_by_gold: Row, answer_by_passages: Table, gold_by_passages: Table) -> float | None:
    """Return the share of the answer's claims that are incorrect, and that only irrelevant passages entail, in [0, 1].

    None as `relevant_noise_sensitivity` is; no claim counts in both.

    >>> irrelevant_noise_sensitivity([False, False, True], [[True, True], [False, True], [True, False]], [[True, False]])
    0.3333333333333333
    """
    if not gold_by_passages:
        return None
    misled = _misled_by_relevant(answer_by_passages, gold_by_passages)
    rows = zip(answer_by_passages, misled, answer_by_gold, strict=True)
    return _share(any(claim) and not found and not right for claim, found, right in rows)


def hallucination(answer_by_gold: Row, answer_by_passages: Table) -> float | None:
    """Return the share of the answer's claims that are incorrect, and that no passage entails, in [0, 1]; None without claims.

    >>> hallucination([False, False, True], [[True], [False], [False]])
    0.3333333333333333
    """
    return _share(not any(claim) and not right for claim, right in zip(answer_by_passages, answer_by_gold, strict=True))


def self_knowledge(answer_by_gold: Row, answer_by_passages: Table) -> float | None:
    """Return the share of the answer's claims that are correct, though no passage entails them, in [0, 1]; None without claims.

    >>> self_knowledge([False, False, True], [[True], [False], [False]])
    0.3333333333333333
    """
    return _share(not any(claim) and right for claim, right in zip(answer_by_passages, answer_by_gold, strict=True))


def faithfulness(answer_by_passages: Table) -> float | None:
    """Return the share of the answer's claims that some passage entails, in [0, 1]; None without claims.

    >>> faithfulness([[True, False], [False, False]])
    0.5
    """
    return _share(any(claim) for claim in answer_by_passages)


def _relevant(gold_by_passages: Table) -> list[bool]:
    """Tell of each passage whether it entails a claim of the gold answer."""
    return [any(passage) for passage in zip(*gold_by_passages, strict=True)]


def _misled_by_relevant(answer_by_passages: Table, gold_by_passages: Table) -> list[bool]:
    """Tell of each claim of the answer whether a relevant passage entails it."""
    relevant = _relevant(gold_by_passages)
    return [any(entailed and useful for entailed, useful in zip(claim, relevant, strict=True)) for claim in answer_by_passages]


def _share(found: Iterable[bool]) -> float | None:
    counted = list(found)
    return sum(counted) / len(counted) if counted else None
