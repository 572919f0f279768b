"""Ragas datasets: samples of one turn, with today's column names and those of before 0.2.

https://docs.ragas.io/en/stable/concepts/components/eval_sample/
"""

from __future__ import annotations

from rag_cover.errors import InputError
from rag_cover.importers.records import Row
from rag_cover.importers.row_values import items_in, list_of_cell, metadata_of, present, row_question, row_texts, text_in
from rag_cover.spans.passages import retrieval
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["recognises", "traces_of"]

_QUESTION = ("user_input", "question")
_ANSWER = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_CONTEXT_IDS = ("retrieved_context_ids",)
_REFERENCES = ("reference", "ground_truths", "ground_truth")


def recognises(row: Row) -> bool:
    """Return whether this is a Ragas row, by its columns."""
    return "user_input" in row or ("question" in row and any(name in row for name in (*_CONTEXTS, *_REFERENCES)))


def traces_of(row: Row) -> tuple[Trace]:
    """Make one trace of one sample; its reference contexts and rubrics are kept as metadata."""
    _refuse_conversation(row)
    question = row_question(row, _QUESTION)
    used = (*_QUESTION, *_ANSWER, *_CONTEXTS, *_CONTEXT_IDS, *_REFERENCES)
    contexts = items_in(row, _CONTEXTS)
    data = {
        "question": {"text": question, "references": row_texts(row, _REFERENCES) or ()},
        "answer": text_in(row, _ANSWER),
        "steps": retrieval(question, _with_ids(row, contexts), field=f"$.{present(row, _CONTEXTS)}"),
        "metadata": metadata_of(row, used),
    }
    return (trace_from(data),)


def _with_ids(row: Row, contexts: list[object] | None) -> list[object] | None:
    """Pair contexts with their ids, where Ragas wrote ids."""
    ids = row_texts(row, _CONTEXT_IDS)
    if ids is None or contexts is None:
        return contexts
    if len(ids) != len(contexts):
        problem = f"there are {len(ids)} ids for {len(contexts)} contexts"
        raise InputError(problem, field="$.retrieved_context_ids")
    pairs = zip(contexts, ids, strict=True)
    return [{"text": context, "id": name} if isinstance(context, str) else context for context, name in pairs]


def _refuse_conversation(row: Row) -> None:
    turns = row.get("user_input")
    if isinstance(turns, str) and turns.startswith("[{"):
        turns = list_of_cell(turns, "user_input")
    if isinstance(turns, list) and turns:
        problem = "this sample is a conversation of several turns; rag_cover reads single-turn samples"
        raise InputError(problem, field="$.user_input")
