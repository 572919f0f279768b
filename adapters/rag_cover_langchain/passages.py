"""Conversion between LangChain's documents and passages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.documents import Document

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage, json_value

__all__ = ["add_metadata", "document_of", "passage_of", "passages_of", "record_of"]

_SCORES = ("relevance_score", "score")
"""Where retrievers and compressors that give a score keep it: a document has no place for one."""


def passage_of(document: Document) -> Passage:
    """Return a document as a passage: its id, its content, and a title and a score where its metadata has them.

    Raises:
        InvalidValueError: the object is not a document.
    """
    if not isinstance(document, Document):
        message = f"{type(document).__name__!r} is no document; give a Document of LangChain"
        raise InvalidValueError(message)
    record = record_of(document)
    return Passage.model_validate(record | {"metadata": json_value(record["metadata"])})


def passages_of(documents: Iterable[Document]) -> tuple[Passage, ...]:
    """Return documents as passages, in their order."""
    return tuple(map(passage_of, documents))


def document_of(passage: Passage) -> Document:
    """Return a passage as a document; its title and score are in the metadata (``title``, ``relevance_score``)."""
    title = {} if passage.title is None else {"title": passage.title}
    score = {} if passage.score is None else {"relevance_score": passage.score}
    return Document(page_content=passage.text, id=passage.id, metadata=dict(passage.metadata) | title | score)


def add_metadata(document: Document, more: Mapping[str, Any]) -> Document:
    """Return a copy of a document with more metadata; the document itself stays unchanged."""
    return document.model_copy(update={"metadata": {**document.metadata, **more}})


def record_of(document: Document) -> dict[str, Any]:
    """Copy the fields of a passage, in microseconds: later steps of the pipeline may change the document."""
    title = document.metadata.get("title")
    return {
        "id": document.id,
        "text": document.page_content,
        "title": title if isinstance(title, str) and title.strip() else None,
        "score": _score(document.metadata),
        "metadata": dict(document.metadata),
    }


def _score(metadata: Mapping[str, Any]) -> float | None:
    for name in _SCORES:
        score = metadata.get(name)
        if isinstance(score, int | float) and not isinstance(score, bool):
            return float(score) if math.isfinite(score) else None
    return None
