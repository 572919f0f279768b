"""A test question made of a production trace: what was asked and what a full answer would say, without what a pipeline did."""

from __future__ import annotations

from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.questions import SubQuestion
from rag_cover.traces import Trace

__all__ = ["make_test_question"]


def make_test_question(result: TraceResult) -> Trace | None:
    """Keep a trace's question with its references, its sub-questions or nuggets, and its tags; None of a redacted trace.

    Where the trace brought no sub-questions, those that it was measured on are written: the test set stays what it is when
    another way of splitting comes.
    """
    trace, coverage = result.trace, result.coverage
    if Placeholder.read(trace.question.text) is not None:
        return None
    parts = trace.sub_questions
    if parts is None and trace.nuggets is None and coverage is not None and not coverage.on_nuggets:
        parts = tuple(SubQuestion(each.text, role=each.role, role_source=each.role_source) for each in coverage.sub_questions)
    return Trace(question=trace.question, sub_questions=parts, nuggets=trace.nuggets, tags=trace.tags)
