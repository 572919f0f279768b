"""Any table with a question in each row: columns with obvious names are found, others are named by a column map."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag_cover.errors import InputError, InvalidValueError, nearest
from rag_cover.importers.records import Row
from rag_cover.importers.row_values import identifier_in, items_in, metadata_of, row_question, row_texts, tags_in, text_in
from rag_cover.spans.passages import retrieval
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["COLUMNS", "check_columns", "is_flat", "recognises", "traces_of"]

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "user_input", "user_query", "input", "prompt"),
    "answer": ("answer", "response", "actual_output", "output", "generated_answer", "prediction", "completion"),
    "contexts": (
        "contexts",
        "retrieved_contexts",
        "retrieved_context",
        "retrieval_context",
        "context",
        "passages",
        "documents",
        "chunks",
        "source_documents",
    ),
    "references": (
        "references",
        "reference",
        "ground_truths",
        "ground_truth",
        "gold_answers",
        "gold_answer",
        "gt_answer",
        "expected_output",
        "expected_answer",
        "answers",
    ),
    "sub_questions": ("sub_questions", "subquestions"),
    "id": ("question_id", "query_id", "qid", "id"),
    "pipeline": ("pipeline", "system", "model_name"),
    "tags": ("tags",),
    "thread_id": ("thread_id", "session_id", "conversation_id"),
    "user_id": ("user_id",),
}
"""What a column can hold, and the names under which it is found without a map."""

_OF_TRACES = frozenset(("steps", "prompt", "samples", "metadata"))


def check_columns(columns: Mapping[str, str], row: Row) -> None:
    """Refuse a column map that maps what no column can hold, or names a column that the first row has not.

    Raises:
        InvalidValueError: a kind of column is not known.
        InputError: the file has no such column.
    """
    for kind, column in columns.items():
        if kind not in COLUMNS:
            problem = f"columns maps {kind!r}, which is none of {', '.join(COLUMNS)}.{nearest(kind, COLUMNS)}"
            raise InvalidValueError(problem)
        if column not in row:
            has = ", ".join(repr(str(name)) for name in row)
            problem = f"there is no column {column!r}.{nearest(column, [str(name) for name in row])} It has: {has}"
            raise InputError(problem)


def recognises(row: Row) -> bool:
    """Return whether this is a row of a table that needs no column map: a question stands under a usual name."""
    return any(_plain(name) in COLUMNS["question"] for name in row)


def is_flat(row: Row) -> bool:
    """Return whether this is a question with gold answers or passages beside it, and no trace, which has steps or the like."""
    names = {_plain(name) for name in row}
    beside = {*COLUMNS["references"], *COLUMNS["contexts"]}
    return isinstance(row.get("question"), str) and bool(names & beside) and not names & _OF_TRACES


def traces_of(row: Row, columns: Mapping[str, str] | None = None) -> tuple[Trace]:
    """Make one trace of one row.

    ``columns`` names the column of each kind, such as ``{"question": "Frage"}``; those it leaves out are found by name.
    """
    names = _names(row, columns or {})
    question = row_question(row, names["question"] or COLUMNS["question"])
    contexts = items_in(row, names["contexts"])
    data = {
        "question": {
            "text": question,
            "id": identifier_in(row, names["id"]),
            "references": row_texts(row, names["references"]) or (),
        },
        "answer": text_in(row, names["answer"]),
        "pipeline": text_in(row, names["pipeline"]),
        "steps": retrieval(question, contexts, field=f"$.{(*names['contexts'], '')[0]}"),
        "sub_questions": items_in(row, names["sub_questions"]),
        "tags": tags_in(row, names["tags"]),
        "thread_id": next(iter(tags_in(row, names["thread_id"])), None),
        "user_id": next(iter(tags_in(row, names["user_id"])), None),
        "metadata": metadata_of(row, (name for found in names.values() for name in found)),
    }
    return (trace_from(data),)


def _names(row: Row, columns: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """Find the column of each kind; the first of a kind's names wins, the others stay extra columns."""
    plain = {_plain(name): name for name in reversed(list(row))}
    found: dict[str, Sequence[str]] = {}
    for kind, known in COLUMNS.items():
        if kind in columns:
            found[kind] = (columns[kind],)
        else:
            free = [plain[name] for name in known if name in plain and plain[name] not in columns.values()]
            found[kind] = tuple(free[:1])
    return found


def _plain(name: object) -> str:
    return re.sub(r"[\s\-]+", "_", str(name).strip().lower())
