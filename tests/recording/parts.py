"""Questions as a framework's adapter notes them: calls that begin and end, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from rag_cover.recording import Call, CallKind, Recording

__all__ = ["ANSWER", "QUESTION", "ask", "begun", "record"]

QUESTION = "Why is the sky blue?"
ANSWER = "Air scatters blue light."

_NUMBERS = count()


def record(id_: str, text: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a passage as adapters note it."""
    return {"id": id_, "text": f"Text of {id_}." if text is None else text, "metadata": {}, **fields}


def begun(recording: Recording, kind: CallKind, *, parent: str | None = None, name: str = "", **fields: Any) -> Call:
    """Begin a call with an id of its own."""
    call = Call(f"{kind}-{next(_NUMBERS)}", kind, name or kind, **fields)
    recording.gathering.begin(call.id, parent, call, recording.asked)
    return call


def ask(
    recording: Recording,
    question: str = QUESTION,
    answer: str | None = ANSWER,
    *,
    found: Sequence[dict[str, Any]] = (record("air", ANSWER),),
    error: str | None = None,
) -> str:
    """Ask a question that is answered from what one retriever found; return the id of its outermost call."""
    gathering = recording.gathering
    engine = begun(recording, "question", name="Engine", query=question)
    retriever = begun(recording, "retriever", parent=engine.id, name="BM25", query=question)
    retriever.passages = found
    gathering.settle(retriever.id)
    synthesis = begun(recording, "synthesis", parent=engine.id, query=question, consumed=found)
    synthesis.answer = answer
    gathering.settle(synthesis.id)
    engine.answer, engine.error = answer, error
    gathering.settle(engine.id)
    return engine.id
