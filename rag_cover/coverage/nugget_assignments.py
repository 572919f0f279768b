"""Assignments of nuggets as files hold them: made of what was judged, and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rag_cover.coverage.nugget_scores import NuggetScores, mean_scores, score_nuggets
from rag_cover.coverage.result import CoverageResult
from rag_cover.nuggets import Importance, importance_for
from rag_cover.stores.nugget_files import AssignedNugget, AssignedNuggets
from rag_cover.traces import Trace

__all__ = ["assignments_of", "assignments_to", "score_assignments", "scores_by_run"]


def assignments_to(trace: Trace, nuggets: Iterable[AssignedNugget]) -> AssignedNuggets:
    """Write down the assignments of nuggets to a trace's answer, under the name of its pipeline as the run."""
    answer = trace.answer or ""
    known = {"qid": trace.question.id, "run_id": trace.pipeline}
    return AssignedNuggets(
        query=trace.question.text,
        **{name: value for name, value in known.items() if value is not None},
        answer_text=answer,
        response_length=len(answer.split()),
        nuggets=tuple(nuggets),
    )


def assignments_of(trace: Trace, coverage: CoverageResult) -> AssignedNuggets | None:
    """Return what was judged of a trace's answer; None without an answer, and of sub-questions."""
    if not coverage.on_nuggets or trace.answer is None:
        return None
    rows = ((each, each.answer) for each in coverage.sub_questions if each.answer is not None)
    return assignments_to(
        trace, [_make_assigned(row.text, importance_for(row.role), str(verdict.assignment)) for row, verdict in rows]
    )


def score_assignments(assigned: AssignedNuggets) -> NuggetScores:
    """Compute the scores of one text."""
    return score_nuggets(
        (Importance(each.importance) if each.importance in set(Importance) else None, each.label) for each in assigned.nuggets
    )


def scores_by_run(assigned: Iterable[AssignedNuggets]) -> Mapping[str, tuple[NuggetScores, int]]:
    """Average the scores of each run over its answers: run to scores and number of answers, in the order of the file.

    Assignments to passages are of no run and are left out.
    """
    runs: dict[str, list[NuggetScores]] = {}
    for each in assigned:
        if each.is_of_answer:
            runs.setdefault(each.run, []).append(score_assignments(each))
    return {run: (mean_scores(scores), len(scores)) for run, scores in runs.items()}


def _make_assigned(text: str, importance: Importance | None, assignment: str) -> AssignedNugget:
    weighed = {} if importance is None else {"importance": importance}
    return AssignedNugget.model_validate({"text": text, **weighed, "assignment": assignment})
