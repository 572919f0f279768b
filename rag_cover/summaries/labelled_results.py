"""Results in which people's labels stand in the place of the judge's verdicts on the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.measures import TraceResult
from rag_cover.summaries.judge_error import JudgeKnowledge

__all__ = ["LabelledResults", "put_labels"]


class LabelledResults(Sequence[TraceResult]):
    """The results of an evaluation, each read with people's labels in the place of the judge's verdicts (`put_labels`)."""

    def __init__(self, results: Sequence[TraceResult], known: JudgeKnowledge) -> None:
        self._results, self._known = results, known

    @overload
    def __getitem__(self, index: int) -> TraceResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceResult]: ...
    def __getitem__(self, index: int | slice) -> TraceResult | list[TraceResult]:
        """Return a result, or several of them."""
        if isinstance(index, slice):
            return [put_labels(each, self._known) for each in self._results[index]]
        return put_labels(self._results[index], self._known)

    def __iter__(self) -> Iterator[TraceResult]:
        """Read the results once, in order."""
        return (put_labels(each, self._known) for each in self._results)

    def __len__(self) -> int:
        """Count the results."""
        return len(self._results)


def put_labels(result: TraceResult, known: JudgeKnowledge) -> TraceResult:
    """Put people's labels in the place of the judge's verdicts on a trace's answer.

    What a label changes follows from it: a sub-question that people find covered is not lost, and one that they find uncovered
    was lost where the verdicts on passages say. The rating is the judge's still.
    """
    answer = result.trace.answer
    if result.coverage is None or answer is None or not known.labels:
        return result
    labels = [known.label_of(each.text, answer) for each in result.coverage.sub_questions]
    if all(label is None for label in labels):
        return result
    pairs = zip(result.coverage.sub_questions, labels, strict=True)
    labelled = tuple(each if label is None else _put_label(each, result.coverage, covered=label) for each, label in pairs)
    return replace(result, outcomes={**result.outcomes, "coverage": replace(result.coverage, sub_questions=labelled)})


def _put_label(each: SubQuestionCoverage, coverage: CoverageResult, *, covered: bool) -> SubQuestionCoverage:
    if each.answer is None:
        return each
    evidence = each.evidence and replace(each.evidence, answer=float(covered), contradicted=False)
    if covered is each.answer.covered:
        return replace(each, answer=replace(each.answer, certain=True, labelled=True), evidence=evidence)
    verdict = Verdict(each.answer.probability, covered, labelled=True)
    loss = None if covered else _find_loss(each, coverage)
    return replace(each, answer=verdict, position=None, loss=loss, evidence=evidence)


def _find_loss(each: SubQuestionCoverage, coverage: CoverageResult) -> Loss | None:
    """Tell where a sub-question was lost that the judge found covered: sub-answers and the corpus were not looked at."""
    if each.in_prompt is None:
        return None
    if each.in_prompt:
        return Loss.UNUSED
    if coverage.from_own_passages:
        return None
    return Loss.DROPPED if each.retrieved else Loss.NOT_RETRIEVED
