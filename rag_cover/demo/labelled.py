"""What people say of the demo's answers, as rows that an evaluation takes (`Evaluation.with_labels`)."""

from __future__ import annotations

import json

from rag_cover.demo import labels_path, trace_paths
from rag_cover.labels import LabelledText
from rag_cover.stores import read_traces

__all__ = ["read_labelled_answers"]


def read_labelled_answers(pipeline: str) -> tuple[LabelledText, ...]:
    """Return the labels of one pipeline's answers, a row for each sub-question.

    Args:
        pipeline: ``"narrow"`` or ``"forgetful"``.
    """
    path = next(each for each in trace_paths() if each.stem == pipeline)
    traces = {trace.question.id: trace for trace in read_traces(path)}
    rows = [json.loads(line) for line in labels_path().read_text(encoding="utf-8").splitlines()]
    return tuple(
        LabelledText(
            row["sub_question"],
            trace.answer,
            row["answers"][pipeline],
            key=row["question_id"],
            user_question=trace.question.text,
        )
        for row in rows
        if (trace := traces[row["question_id"]]).answer
    )
