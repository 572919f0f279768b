"""Files of nuggetizer and of the TREC 2024 RAG track: lists of nuggets, and their assignments to answers and passages.

https://github.com/castorini/nuggetizer
"""

from __future__ import annotations

from typing import Any

from rag_cover.importers.records import Row
from rag_cover.importers.row_values import metadata_of
from rag_cover.nuggets import Nugget
from rag_cover.spans.passages import retrieval
from rag_cover.stores.nugget_files import AssignedNugget, AssignedNuggets, ListedNugget, NuggetList
from rag_cover.stores.validation import trace_from, value_from
from rag_cover.traces import Trace

__all__ = ["recognises", "traces_of"]

_USED = ("query", "text", "qid", "nuggets", "answer_text", "run_id", "candidate_text", "docid")


def recognises(row: Row) -> bool:
    """Tell a row of nuggetizer's by its nuggets, beside a question that is called otherwise than a trace's."""
    return "nuggets" in row and "question" not in row and any(name in row for name in ("query", "qid", "candidate_text"))


def traces_of(row: Row) -> tuple[Trace, ...]:
    """Make a trace of a question with its nuggets, and with the answer or the passage that they are assigned to.

    What an assignment says stays in the nugget's metadata, under ``assignment``: it is no verdict of a judge of this package.
    """
    given = row.get("nuggets")
    listed_in = given if isinstance(given, list) else []
    if not any("assignment" in each for each in listed_in if isinstance(each, dict)):
        listed = value_from(NuggetList, dict(row), called="list of nuggets")
        return (trace_from(_data(row, listed.query, listed.qid, listed.nuggets)),)
    assigned = value_from(AssignedNuggets, dict(row), called="line of assignments")
    question = assigned.query or assigned.text or str(assigned.qid)
    data = _data(row, question, assigned.qid, assigned.nuggets)
    passage = {"id": assigned.docid, "text": assigned.candidate_text or ""}
    steps = [] if assigned.is_of_answer else retrieval(question, [passage], field="$.candidate_text")
    return (trace_from(data | {"answer": assigned.answer_text, "pipeline": assigned.run_id, "steps": steps}),)


def _data(row: Row, question: str, qid: str | int | None, nuggets: tuple[ListedNugget, ...]) -> dict[str, Any]:
    return {
        "question": {"text": question, "id": None if qid is None else str(qid)},
        "nuggets": [_nugget(each) for each in nuggets],
        "metadata": metadata_of(row, _USED),
    }


def _nugget(listed: ListedNugget) -> dict[str, Any]:
    """Write a nugget as a trace has it; what it has no field for goes into its metadata."""
    known, kept = listed.known, listed.to_dict()
    others = {name: value for name, value in kept.items() if name not in Nugget.model_fields}
    if isinstance(listed, AssignedNugget):
        others["assignment"] = str(listed.assignment)
    return known | ({"metadata": {**known.get("metadata", {}), **others}} if others else {})
