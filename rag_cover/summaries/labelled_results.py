"""Results in which people's labels stand in the place of the judge's verdicts on the same answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import overload

from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.coverage.judging import find_failing_queries, find_loss
from rag_cover.measures import TraceResult
from rag_cover.questions import Role, plain_query
from rag_cover.summaries.judge_error import JudgeKnowledge

__all__ = ["LabelledResults", "is_all_labelled", "list_labelled_verdicts", "put_labels"]


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
    was lost where the verdicts on passages say; of sub-answers and the corpus nothing is known. The rating stays
    the judge's.
    """
    answer = result.trace.answer
    if result.coverage is None or answer is None or not known.labels:
        return result
    labels = [known.label_of(each.text, answer) for each in result.coverage.sub_questions]
    if all(label is None for label in labels):
        return result
    coverage, pairs = result.coverage, zip(result.coverage.sub_questions, labels, strict=True)
    failing = find_failing_queries(result.trace, map(_question_of, coverage.sub_questions))
    labelled = tuple(each if label is None else _put_label(each, coverage, failing, covered=label) for each, label in pairs)
    return replace(result, outcomes={**result.outcomes, "coverage": replace(coverage, sub_questions=labelled)})


def is_all_labelled(results: Iterable[TraceResult], known: JudgeKnowledge) -> bool:
    """Return whether people labelled every verdict on an answer to a core sub-question, of which there are some."""
    if not known.labels:
        return False
    verdicts = labels = 0
    for result in results:
        core = [each for each in result.coverage.sub_questions if each.role == Role.CORE] if result.coverage else []
        verdicts += sum(each.answer is not None for each in core)
        labels += sum(1 for _ in list_labelled_verdicts(result, known))
        if labels < verdicts:
            return False
    return labels > 0


def list_labelled_verdicts(result: TraceResult, known: JudgeKnowledge) -> Iterator[tuple[str, Verdict, bool]]:
    """List the core sub-questions whose verdicts on the answer people labelled: text, the judge's verdict, their label."""
    answer = result.trace.answer
    if result.coverage is None or answer is None:
        return
    for each in result.coverage.sub_questions:
        if each.role == Role.CORE and each.answer is not None and (label := known.label_of(each.text, answer)) is not None:
            judged = each.answer.covered if each.answer.judged is None else each.answer.judged
            yield each.text, replace(each.answer, covered=judged), label


def _put_label(
    each: SubQuestionCoverage, coverage: CoverageResult, failing: Collection[str], *, covered: bool
) -> SubQuestionCoverage:
    if each.answer is None or each.answer.judged is not None:
        return each
    evidence = each.evidence and replace(each.evidence, answer=float(covered), contradicted=False)
    if covered is each.answer.covered:
        return replace(each, answer=replace(each.answer, certain=True, judged=covered), evidence=evidence)
    verdict = Verdict(each.answer.probability, covered, judged=each.answer.covered)
    failed, own = plain_query(_question_of(each)) in failing, coverage.from_own_passages
    loss = find_loss(verdict, each.chunks, in_prompt=each.in_prompt, failed=failed, own=own)
    return replace(each, answer=verdict, position=None, loss=loss, evidence=evidence)


def _question_of(each: SubQuestionCoverage) -> str:
    return each.question or each.text
