"""Results as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag_cover.backends import Span
from rag_cover.coverage import SubQuestionCoverage
from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.questions import Passage

__all__ = ["PASSAGE_COLUMNS", "column_of", "passage_rows_of", "rows_of"]

PASSAGE_COLUMNS = (
    "trace",
    "pipeline",
    "question",
    "sub_question",
    "role",
    "step",
    "passage",
    "title",
    "text",
    "in_prompt",
    "covered",
    "probability",
    "certain",
    "fragment",
)
"""The columns of `passage_rows_of`, which a frame without rows has, too."""

_WITH_COLUMNS = ("coverage", "groundedness", "utility", "complexity")


def rows_of(result: TraceResult) -> Iterator[dict[str, Any]]:
    """Yield a row for each sub-question or nugget of a trace, one for a trace without any; None: it was not measured."""
    trace, coverage, grounded = result.trace, result.coverage, result.groundedness
    worth, hard = result.utility, result.complexity
    shared = {
        "trace": trace.id,
        "pipeline": trace.pipeline,
        "question": trace.question.text,
        "rating": coverage and coverage.rating,
        "abstained": coverage and coverage.abstained,
        "groundedness": grounded and grounded.share,
        "utility": worth and worth.total.value,
        "is_complex": hard and hard.is_complex,
        "answerable": hard and hard.answerable,
        "max_answer_probability": hard and hard.max_answer_probability,
        "completeness": hard and hard.completeness,
        **_other_values(result),
        **_scores_of_nuggets(result),
    }
    for sub_question in coverage.sub_questions if coverage else ():
        yield shared | {
            "sub_question": sub_question.text,
            "role": sub_question.role,
            "answered": sub_question.answer and sub_question.answer.covered,
            "answer_probability": sub_question.answer and sub_question.answer.probability,
            "answer_certain": sub_question.answer and sub_question.answer.certain,
            "answer_refused": sub_question.answer and sub_question.answer.refused,
            "retrieved": sub_question.retrieved,
            "in_prompt": sub_question.in_prompt,
            "position": sub_question.position,
            "loss": sub_question.loss,
            "is_loss_clear": sub_question.is_loss_clear if sub_question.loss else None,
            **_columns_of_corpus(sub_question),
            **(_columns_of_nugget(sub_question) if coverage and coverage.on_nuggets else {}),
        }
    if not coverage or not coverage.sub_questions:
        yield shared


def passage_rows_of(result: TraceResult) -> Iterator[dict[str, Any]]:
    """Yield a row for each passage and sub-question or nugget that was judged; none where no passage was judged."""
    trace, coverage = result.trace, result.coverage
    if coverage is None:
        return
    passages = {passage.key: (step.id, passage) for step in reversed(trace.steps) for passage in reversed(step.passages)}
    in_prompt = None if trace.prompt is None else {passage.key for passage in trace.prompt}
    for sub_question in coverage.sub_questions:
        for key, verdict in zip(coverage.chunk_keys, sub_question.chunks or (), strict=False):
            step, passage = passages.get(key, (None, None))
            yield {
                "trace": trace.id,
                "pipeline": trace.pipeline,
                "question": trace.question.text,
                "sub_question": sub_question.text,
                "role": sub_question.role,
                "step": step,
                "passage": key,
                "title": passage and passage.title,
                "text": passage and passage.text,
                "in_prompt": None if in_prompt is None else key in in_prompt,
                "covered": verdict.covered,
                "probability": verdict.probability,
                "certain": verdict.certain,
                "fragment": _fragment(passage, verdict.fragment),
            }


def _fragment(passage: Passage | None, span: Span | None) -> str | None:
    if passage is None or span is None or Placeholder.read(passage.text):  # of a redacted text nothing can be quoted
        return None
    return passage.text[span.start : span.end]


def _columns_of_corpus(sub_question: SubQuestionCoverage) -> dict[str, Any]:
    """Return what the corpus has on a sub-question, where it was searched."""
    if (search := sub_question.corpus) is None:
        return {}
    found = search.covering
    return {
        "corpus_passage": found and found.key,
        "corpus_probability": search.passages[0].probability if search.passages else None,
        "corpus_rank": found and found.rank,
        "corpus_question_rank": found and found.question_rank,
        "corpus_remedy": search.remedy,
        "corpus_error": search.error,
    }


def _columns_of_nugget(nugget: SubQuestionCoverage) -> dict[str, Any]:
    """Return the columns that only nuggets have; ``sub_question`` holds their text."""
    return {"unit": "nugget", "nugget_question": nugget.question, "answer_partial": nugget.answer and nugget.answer.partial}


def _scores_of_nuggets(result: TraceResult) -> dict[str, float | None]:
    coverage = result.coverage
    return {} if coverage is None else {name: value for name, value in coverage.values.items() if name.startswith("nuggets_")}


def _other_values(result: TraceResult) -> dict[str, float | None]:
    """Return the values of measures that have no columns of their own, by ``measure`` or ``measure.name``."""
    others = {name: measured for name, measured in result.measured.items() if name not in _WITH_COLUMNS}
    return {column_of(name, value): number for name, measured in others.items() for value, number in measured.values.items()}


def column_of(measure: str, value: str) -> str:
    """Name a value of a measure among those of others.

    >>> column_of("answer_length", "value"), column_of("relevance", "precision")
    ('answer_length', 'relevance.precision')
    """
    return measure if value in ("value", measure) else f"{measure}.{value}"
