"""What the answers of many traces are like: how many decline to answer, repeat the question or are very short.

Counts of traces, in whole numbers. They say what a share of covered sub-questions is worth, and change no metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rag_cover.coverage.cascade_counts import CascadeCounts
from rag_cover.coverage.nugget_scores import NuggetScores, mean_scores
from rag_cover.coverage.result import CoverageResult
from rag_cover.measures import TraceResult, ratio
from rag_cover.question_keys import question_key
from rag_cover.questions import Role
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.question_rows import QuestionRows

__all__ = [
    "AnswerCounts",
    "AnswerSums",
    "CascadeSums",
    "CascadeUse",
    "CorpusCounts",
    "CorpusSums",
    "NuggetCounts",
    "NuggetSums",
]

_SHORT = 2  # words


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many of the judged answers are what; an answer that declines is never counted as a repetition as well.

    Args:
        answers: that were judged.
        examined: of these, how many were looked at for whether they decline to answer.
        declined: decline as a whole.
        declined_unretrieved: of those, no retrieved passage covers a core sub-question.
        declined_retrieved: of those, a retrieved passage covers one; of the rest that is not known.
        declined_partly: decline to answer a part of the question.
        repetitions: only repeat the question.
        empty: have no words.
        short: have one or two words, which may well be right.
    """

    answers: int = 0
    examined: int = 0
    declined: int = 0
    declined_unretrieved: int = 0
    declined_retrieved: int = 0
    declined_partly: int = 0
    repetitions: int = 0
    empty: int = 0
    short: int = 0


class AnswerSums:
    """Counts answers, and questions that rules left whole, over results added one by one."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._measured = 0
        self._single = 0

    def add(self, result: TraceResult) -> None:
        """Count a trace's answer, where its coverage was measured."""
        if (coverage := result.coverage) is None:
            return
        self._measured += 1
        self._single += is_single(coverage)
        self._counts.update(_kinds_of(coverage))

    @property
    def counts(self) -> AnswerCounts | None:
        """Return the counts, None where no answer was judged."""
        return AnswerCounts(**self._counts) if self._counts else None

    @property
    def single(self) -> float | None:
        """Return the share of the measured traces whose question rules left whole; None where none was measured."""
        return self._single / self._measured if self._measured else None


@dataclass(frozen=True, slots=True)
class NuggetCounts:
    """What was measured on nuggets, and the scores of its answers.

    Args:
        traces: that were measured on nuggets.
        of: traces that were measured for coverage.
        answers: of these, how many answers were scored.
        partial: verdicts on answers that found a part of a nugget.
        scores: means over the answers (TREC 2024 RAG track).
    """

    traces: int
    of: int
    answers: int
    partial: int
    scores: NuggetScores


class NuggetSums:
    """Counts results that were measured on nuggets, added one by one."""

    def __init__(self) -> None:
        self._measured = self._on_nuggets = self._partial = 0
        self._scores: list[NuggetScores] = []

    def add(self, result: TraceResult) -> None:
        """Count a trace, where its coverage was measured."""
        if (coverage := result.coverage) is None:
            return
        self._measured += 1
        self._on_nuggets += coverage.on_nuggets
        if (scores := coverage.nugget_scores) is not None:
            self._scores.append(scores)
            self._partial += sum(each.answer is not None and each.answer.partial for each in coverage.sub_questions)

    @property
    def share(self) -> float:
        """Return the share of the traces measured for coverage that were measured on nuggets; 0 where none was."""
        return self._on_nuggets / self._measured if self._measured else 0.0

    @property
    def counts(self) -> NuggetCounts | None:
        """Return the counts, None where nothing was measured on nuggets."""
        if not self._on_nuggets:
            return None
        means = mean_scores(self._scores)
        return NuggetCounts(self._on_nuggets, self._measured, len(self._scores), self._partial, means)


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """What the corpus has on the core sub-questions that were not retrieved, of clear losses.

    Args:
        searched: that were looked for in the corpus.
        absent: of these, nothing found covers them.
        by_query: the sub-question as the query would have brought a passage that covers.
        by_k: a larger k would have.
        by_retriever: another retriever would have, with the same query and k.
        failed: the search failed, and nothing is known.
    """

    searched: int = 0
    absent: int = 0
    by_query: int = 0
    by_k: int = 0
    by_retriever: int = 0
    failed: int = 0


class CorpusSums:
    """Counts what the corpus has on what was not retrieved, over results added one by one."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, result: TraceResult) -> None:
        """Count a trace's searches of the corpus."""
        for each in result.coverage.sub_questions if result.coverage else ():
            if each.corpus is not None and each.is_loss_clear:
                search = each.corpus
                absent = "failed" if search.error is not None else "absent"
                self._counts.update(("searched", absent if search.remedy is None else f"by_{search.remedy}"))

    @property
    def counts(self) -> CorpusCounts | None:
        """Return the counts, None where the corpus was not searched."""
        return CorpusCounts(**self._counts) if self._counts else None


def is_single(coverage: CoverageResult) -> bool:
    """Return whether rules left the question whole: it is its own only core sub-question."""
    return coverage.decomposed_by == "rules" and [each.role for each in coverage.sub_questions].count(Role.CORE) == 1


def _kinds_of(coverage: CoverageResult) -> Iterator[str]:
    """Name the counts of `AnswerCounts` that a trace's answer belongs to."""
    if all(each.answer is None for each in coverage.sub_questions):
        return
    yield "answers"
    if coverage.abstained is not None:
        yield "examined"
    if coverage.abstained == "partly":
        yield "declined_partly"
    if coverage.abstained == "wholly":
        yield "declined"
        if (retrieved := coverage.core_retrieved) is not None:
            yield "declined_retrieved" if retrieved else "declined_unretrieved"
    if coverage.repeats_question:
        yield "repetitions"
    if coverage.answer_words == 0:
        yield "empty"
    elif coverage.answer_words is not None and coverage.answer_words <= _SHORT:
        yield "short"


@dataclass(frozen=True, slots=True)
class CascadeUse:
    """How a cascade of judges came to the verdicts of an evaluation.

    Args:
        counts: of the verdicts.
        agreement: the share of the verdicts on which the model alone would say the same, but for those on which it failed;
            estimated from those that it was asked to check, with an interval over questions whose ``n`` is the number of
            checked verdicts; None where nothing tells.
    """

    counts: CascadeCounts
    agreement: Interval | None

    @property
    def share_asked(self) -> float:
        """Return the share of the verdicts that were asked of the model, those that it checked or failed on included."""
        return (self.counts.asked + self.counts.audited + self.counts.failed) / self.counts.verdicts


class CascadeSums:
    """Adds up how a cascade came to its verdicts, by question, over results added one by one."""

    def __init__(self) -> None:
        self._counts = CascadeCounts()
        self._audits = QuestionRows(2)

    def add(self, result: TraceResult) -> None:
        """Add a trace's verdicts, where a cascade judged them."""
        if result.coverage is None or (counts := result.coverage.cascade) is None:
            return
        self._counts += counts
        if counts.audited:
            self._audits.add(question_key(result.trace.question), [counts.agreed, counts.audited])

    @property
    def use(self) -> CascadeUse | None:
        """Return the sums; None where no cascade judged."""
        return CascadeUse(self._counts, self._agreement(self._counts)) if self._counts.verdicts else None

    def _agreement(self, counts: CascadeCounts) -> Interval | None:
        """Estimate the agreement: whole where the model's word counts, else that of the verdicts that it checked."""
        by_model, known = counts.asked + counts.audited, counts.verdicts - counts.failed
        if not known:
            return None
        if by_model == known:
            return Interval(1.0, 1.0, 1.0, counts.audited)
        checked = jackknife_share(self._audits.matrix(), ratio) if counts.audited else None
        if checked is None:
            return None
        whole = by_model / known

        def of_all(share: float | None) -> float | None:
            return None if share is None else whole + (1 - whole) * share

        estimate = whole + (1 - whole) * checked.estimate
        return Interval(estimate, of_all(checked.lower), of_all(checked.upper), counts.audited)
