"""How far sampled answers agree with references, asked of an entailer: the inquiries that a belief is made from.

Every text is read with the question in front of it, as in the release of Dai et al. (ICLR 2025).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rag_cover.belief.clustering import grouping, is_equivalent, may_be_equivalent, relation_of
from rag_cover.belief.entailment import EntailmentTask, PremiseHypothesis
from rag_cover.belief.result import BeliefKind, Preset
from rag_cover.belief.scoring import hard_kernel, soft_kernel

__all__ = ["EntailmentKernel", "cluster_by_meaning", "entailment_kernel", "in_context"]


@dataclass(frozen=True, slots=True)
class EntailmentKernel:
    """The kernel of n answers (`rag_cover.belief.scoring`), and their clusters where they were asked for.

    With kind ``hard`` and any preset but ``paper`` the kernel has one column: whether the meaning is that of any reference.
    """

    kernel: NDArray[np.float64]
    clusters: tuple[int, ...] | None


def in_context(question: str, text: str) -> str:
    """Put the question in front of a text, with a question mark where it does not end in one.

    >>> in_context("Name the capital of France", "Paris")
    'Name the capital of France? Paris'
    """
    asked = question.strip()
    return f"{asked if asked.endswith('?') else asked + '?'} {text}"


def cluster_by_meaning(
    question: str, texts: Sequence[str], *, strict: bool = True, reassign: bool = True
) -> EntailmentTask[tuple[int, ...]]:
    """Ask which texts mean the same; come to each one's cluster number."""
    return _group([in_context(question, text) for text in texts], strict=strict, reassign=reassign)


def entailment_kernel(
    references: Sequence[str],
    texts: Sequence[str],
    *,
    question: str,
    kind: BeliefKind,
    preset: Preset,
    clusters: bool = False,
) -> EntailmentTask[EntailmentKernel]:
    """Ask how far texts agree with references; come to their `EntailmentKernel`.

    Only what is needed is asked: for ``soft`` both directions between texts and references (preset ``paper``: one), and pairs
    of texts only where ``clusters`` are wanted; for ``hard`` the texts' clusters, then their founders against the references.
    """
    answers = [in_context(question, text) for text in texts]
    golds = [in_context(question, reference) for reference in references]
    if kind == "soft":
        kernel = yield from _soft(answers, golds, both_ways=preset != "paper")
        found = (yield from _group(answers)) if clusters else None
        return EntailmentKernel(kernel, found)
    found = yield from _group(answers)
    founders = {cluster: answers[found.index(cluster)] for cluster in found}
    agreeing = yield from _founders_agree(founders, golds)
    if preset != "paper":
        agreeing = {cluster: [any(row)] for cluster, row in agreeing.items()}
    return EntailmentKernel(hard_kernel(found, agreeing), found)


def _soft(answers: Sequence[str], golds: Sequence[str], *, both_ways: bool) -> EntailmentTask[NDArray[np.float64]]:
    forward = list(product(answers, golds))
    backward = [_swap(pair) for pair in forward] if both_ways else []
    judged = yield [*forward, *backward]
    entailment = np.array([probabilities[0] for probabilities in judged]).reshape(-1, len(answers), len(golds))
    return soft_kernel(entailment[0], entailment[-1])


def _group(texts: Sequence[str], *, strict: bool = True, reassign: bool = True) -> EntailmentTask[tuple[int, ...]]:
    groups = grouping(len(texts), reassign=reassign)
    same: Sequence[bool] | None = None
    while True:
        try:
            founder, compared = groups.send(cast("Sequence[bool]", same))  # None begins
        except StopIteration as done:
            return cast("tuple[int, ...]", done.value)
        same = yield from _equivalent([(texts[founder], texts[later]) for later in compared], strict=strict)


def _founders_agree(founders: Mapping[int, str], golds: Sequence[str]) -> EntailmentTask[dict[int, list[bool]]]:
    """Hold each cluster's founder against each reference; that is always loose equivalence."""
    agree = yield from _equivalent(list(product(founders.values(), golds)), strict=False)
    width = len(golds)
    return {cluster: agree[row * width : (row + 1) * width] for row, cluster in enumerate(founders)}


def _equivalent(pairs: Sequence[PremiseHypothesis], *, strict: bool) -> EntailmentTask[list[bool]]:
    """Judge the way there, and the way back where it can still matter."""
    forward = [relation_of(probabilities) for probabilities in (yield pairs)]
    undecided = [index for index, relation in enumerate(forward) if may_be_equivalent(relation, strict=strict)]
    judged = (yield [_swap(pairs[index]) for index in undecided]) if undecided else ()
    backward = {index: relation_of(probabilities) for index, probabilities in zip(undecided, judged, strict=True)}
    return [
        index in backward and is_equivalent(relation, backward[index], strict=strict) for index, relation in enumerate(forward)
    ]


def _swap(pair: PremiseHypothesis) -> PremiseHypothesis:
    premise, hypothesis = pair
    return hypothesis, premise
