"""Passages in the order in which they add to what is covered of a question: coverage as a reranker of what was retrieved.

A reranker that judges each passage by itself puts five passages first that all answer the first half of a question. Here every
passage is judged against each core sub-question (Xie et al., NAACL 2025, §3), and the one comes next that adds most to the
expected number of covered ones (`rag_cover.augmentation.greedy`). A sub-question that builds on an earlier one (``#1``) is
judged with the answer that a receiver reads from the passages at hand in its place.

What the retriever thought of a passage counts as a prior, a weight / rank: it decides where nothing more is covered. A question
of a single sub-question gives its order more weight (`SINGLE_RETRIEVAL_WEIGHT`) than one of several (`RETRIEVAL_WEIGHT`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from rag_cover.argument_checks import refuse_below, refuse_negative, without_none
from rag_cover.augmentation.adaptive import search_uncovered
from rag_cover.augmentation.chains import Chain, searchable
from rag_cover.augmentation.core import decompose_question
from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.augmentation.greedy import Pick, greedy_marginal_coverage, reciprocal_ranks
from rag_cover.augmentation.reading import SAMPLES, reading_receiver
from rag_cover.augmentation.result import Sought
from rag_cover.augmentation.retrieving import Retrieval
from rag_cover.backends import Failure, Receiver, Scorer
from rag_cover.decomposition.multihop.slots import slots_in
from rag_cover.decomposition.strategies import Decomposer
from rag_cover.questions import Passage, Question, Role, SubQuestion, as_question
from rag_cover.searching import Searches
from rag_cover.traces import distinct

__all__ = ["RETRIEVAL_WEIGHT", "SINGLE_RETRIEVAL_WEIGHT", "RankedPassage", "Reranking", "rerank"]

RETRIEVAL_WEIGHT = 0.1
"""What standing first with the retriever is worth, in sub-questions surely covered: chosen on 2WikiMultihopQA's train part."""
SINGLE_RETRIEVAL_WEIGHT = 0.3
"""The same where there is one core sub-question: chosen on the small corpora of `benchmarks.judge.small_corpora`."""


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage that was kept.

    Attributes:
        passage: itself, as it was given.
        place: where it stood in what was given, from 0.
        gain: what it adds to the expected number of covered sub-questions beside those before it, ≥ 0; 0 without a text.
        worth: that, and what its place with the retriever is worth; never more than that of the passage before it.
        covers: the sub-questions that it covers by itself, at the judge's threshold, as they were judged.
    """

    passage: Passage
    place: int
    gain: float
    worth: float
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reranking:
    """Passages in a new order, what each adds, and which sub-questions they cover.

    ``sub_questions`` are the core ones: `Sought.covered_at_first` is by as many passages in the retriever's order,
    `Sought.covered` by those that are kept. ``failures`` name the answers that could not be read.
    """

    question: Question
    kept: tuple[RankedPassage, ...]
    sub_questions: tuple[Sought, ...]
    threshold: float
    failures: tuple[Failure, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the passages that are kept, best first."""
        return tuple(each.passage for each in self.kept)

    @property
    def order(self) -> tuple[int, ...]:
        """Return the places that they had before."""
        return tuple(each.place for each in self.kept)

    @property
    def uncovered(self) -> tuple[str, ...]:
        """List the core sub-questions that no kept passage covers."""
        return tuple(each.text for each in self.sub_questions if each.covered is False)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        kept = [asdict(each) | {"passage": each.passage.model_dump(), "covers": list(each.covers)} for each in self.kept]
        return {
            "question": self.question.model_dump(),
            "kept": kept,
            "sub_questions": [asdict(each) for each in self.sub_questions],
            "threshold": self.threshold,
            "failures": [asdict(each) for each in self.failures],
        }


@dataclass(frozen=True, slots=True)
class _AtHand:
    """Finds what was found already."""

    passages: tuple[Passage, ...]

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:  # noqa: ARG002  # the protocol's
        """Return the first k passages, whatever is asked."""
        return self.passages[:k]


def rerank(  # noqa: PLR0913  # the public interface: all but three by name
    question: Question | str,
    passages: Sequence[Passage],
    scorer: Scorer,
    *,
    k: int | None = None,
    sub_questions: Sequence[SubQuestion | str] | None = None,
    decomposer: Decomposer | None = None,
    receiver: Receiver | None = None,
    threshold: float | None = None,
    retrieval_weight: float | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Reranking:
    """Order retrieved passages by what each adds to the core sub-questions that those before it leave open.

    All pairs are judged in one call to the scorer, and in another one for each round of answers that is read. The same input
    gives the same order. Of passages with one `Passage.key` the first is kept. A passage without a text covers nothing, and
    stands where the retriever's order puts it. No passages give no order, and cost nothing.

    Args:
        question: what is asked.
        passages: what was retrieved, best first: their order is all that is known of the retriever.
        scorer: judges whether a passage covers a sub-question.
        k: how many passages to keep; all unless given.
        sub_questions: the sub-questions; core ones and those without a role count. One may build on an earlier one by its
            number: ``["Who directed Jaws?", "When was #1 born?"]``.
        decomposer: makes them instead; without it rules do. Where none is core, the question itself is the only one.
        receiver: reads the answers that later sub-questions build on. Without one their places stay empty, and rules make no
            sub-questions that need them: on questions of several hops that loses most of the gain.
        threshold: the probability from which a passage is said to cover; the scorer's own unless given. Orders nothing.
        retrieval_weight: what standing first with the retriever is worth, ≥ 0; what stands at rank r is worth 1/r of it. None:
            `SINGLE_RETRIEVAL_WEIGHT` for one core sub-question, `RETRIEVAL_WEIGHT` for several.
        samples: how often the receiver is asked for one answer.
        seed: seed that the receiver samples with.

    Raises:
        InvalidValueError: a k below 1, a sub-question that is blank, a threshold or weight out of range.
        ModelFailedError: the scorer failed.
    """
    _refuse_unless_in_range(k, retrieval_weight, samples)
    asked = as_question(question)
    evidence, found = PassageEvidence(scorer, threshold), distinct(passages)
    if not found:
        return Reranking(asked, (), (), evidence.threshold)
    reader = None if receiver is None else reading_receiver(receiver, samples=samples, seed=seed)
    split = decompose_question(asked, given=sub_questions, decomposer=decomposer, generator=None, answers=reader is not None)
    core = split.core or (SubQuestion(asked.text, role=Role.CORE),)
    chain = Chain([each.text for each in core], literal=slots_in(asked.text, position=len(core)))
    retrieval = Retrieval(asked.text, chain, Searches(_AtHand(found), k=len(found), most=1, workers=1), reader)
    judged = _Judged.of(retrieval, evidence, passages)
    weight = _default_weight(len(core)) if retrieval_weight is None else retrieval_weight
    kept = judged.rank(weight, k)
    sought = tuple(judged.sub_question_result(number, each, kept) for number, each in enumerate(core, 1))
    return Reranking(asked, kept, sought, evidence.threshold, (*split.failures, *retrieval.failures))


@dataclass(frozen=True, slots=True)
class _Judged:
    """Distinct passages with the places where they stood, all judged against the sub-questions of a chain."""

    chain: Chain
    evidence: PassageEvidence
    passages: tuple[Passage, ...]
    places: Mapping[str, int]

    @classmethod
    def of(cls, retrieval: Retrieval, evidence: PassageEvidence, passages: Sequence[Passage]) -> Self:
        """Read the answers that later sub-questions build on, from the passages at hand, and judge all pairs."""
        search_uncovered(retrieval, evidence, sure=0.0, rounds=0)  # whatever a later one waits for is read
        chain, found = retrieval.chain, retrieval.passages
        chain.give_up()
        evidence.judge(chain.texts(chain.numbers), found)
        places = {passage.key: place for place, passage in reversed(list(enumerate(passages)))}
        return cls(chain, evidence, found, places)

    def rank(self, retrieval_weight: float, k: int | None) -> tuple[RankedPassage, ...]:
        texts = self.chain.texts(self.chain.numbers)
        probabilities = np.nan_to_num(self.evidence.probabilities(texts, self.passages))
        covers = self.evidence.covering(texts, self.passages)
        taken = greedy_marginal_coverage(probabilities, reciprocal_ranks(len(self.passages), weight=retrieval_weight), k=k)
        return tuple(
            self._rank_pick(pick, [text for text, row in zip(texts, covers, strict=True) if row[pick.place]]) for pick in taken
        )

    def _rank_pick(self, pick: Pick, covers: Sequence[str]) -> RankedPassage:
        passage = self.passages[pick.place]
        return RankedPassage(passage, self.places[passage.key], pick.gain, pick.worth, tuple(covers))

    def sub_question_result(self, number: int, given: SubQuestion, kept: Sequence[RankedPassage]) -> Sought:
        text, chosen = self.chain.text(number), [each.passage for each in kept]
        asks = searchable(text)
        return Sought(
            text=text,
            given=given.text,
            role_source=given.role_source,
            covered_at_first=self.evidence.covers(text, self.passages[: len(kept)]) if asks else None,
            covered=self.evidence.covers(text, chosen) if asks else None,
            probability=self.evidence.best(text, chosen),
            answer=self.chain.answers.get(number),
        )


def _default_weight(core: int) -> float:
    return SINGLE_RETRIEVAL_WEIGHT if core == 1 else RETRIEVAL_WEIGHT


def _refuse_unless_in_range(k: int | None, retrieval_weight: float | None, samples: int) -> None:
    refuse_below(1, samples=samples, **without_none(k=k))
    refuse_negative(**without_none(retrieval_weight=retrieval_weight))
