"""Documents as frameworks write them, made passages: their text, id, title and score have many names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rag_cover.errors import InputError
from rag_cover.questions import json_value
from rag_cover.stores.validation import describe_value, json_path

__all__ = ["is_document", "passage_of_document", "passages_from", "retrieval"]

_TEXT = ("text", "content", "page_content", "pageContent", "document.content", "passage", "chunk", "body", "snippet")
_ID = ("id", "doc_id", "docId", "document.id", "document_id", "id_", "node_id", "chunk_id", "_id")
_TITLE = ("title", "document.title")
_SCORE = ("score", "document.score", "relevance_score", "similarity", "similarity_score")
_METADATA = ("metadata", "document.metadata")
_WRAPPED = ("kwargs", "node", "document")  # LangChain's serialised objects, LlamaIndex's NodeWithScore, OpenInference


def retrieval(query: str, documents: Iterable[Any] | None, *, field: str) -> list[dict[str, Any]]:
    """Make the steps of a pipeline of which only the question and what was retrieved are known; none where nothing is."""
    return [] if documents is None else [{"query": query, "passages": passages_from(documents, field=field)}]


def passages_from(documents: Iterable[Any], *, field: str) -> list[dict[str, Any]]:
    """Make passages of a list of texts or documents."""
    return [passage_of_document(document, field=field + f"[{index}]") for index, document in enumerate(documents)]


def passage_of_document(document: Any, *, field: str = "$") -> dict[str, Any]:
    """Make one passage of a text or a document; what a passage has no field for goes to its metadata.

    >>> passage_of_document({"page_content": "Paris.", "metadata": {"source": "a.txt"}})
    {'text': 'Paris.', 'metadata': {'source': 'a.txt'}}
    """
    if isinstance(document, str):
        return {"text": document}
    if not isinstance(document, Mapping) or not is_document(document):
        problem = f"expected a text or a document with a text, got {describe_value(document)}"
        raise InputError(problem, field=field)
    fields = _unwrap(document)
    text, identifier, title, score = (_take(fields, names) for names in (_TEXT, _ID, _TITLE, _SCORE))
    found = {"text": text, "id": _name(identifier), "title": _name(title), "score": _number(score, field)}
    metadata = _metadata(fields)
    return {name: value for name, value in found.items() if value is not None} | ({"metadata": metadata} if metadata else {})


def is_document(value: object) -> bool:
    """Return whether something has a text where documents have theirs."""
    if not isinstance(value, Mapping):
        return False
    return any(isinstance(value.get(name), str) for name in _TEXT) or any(is_document(value.get(name)) for name in _WRAPPED)


def _unwrap(document: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the fields of an object inside beside those around it; a serialised LangChain object is its ``kwargs`` alone."""
    inner = next((name for name in _WRAPPED if is_document(document.get(name))), None)
    if inner is None:
        return dict(document)
    around = {} if inner == "kwargs" else {name: value for name, value in document.items() if name != inner}
    return around | _unwrap(document[inner])


def _take(fields: dict[str, Any], names: Iterable[str]) -> Any:
    """Remove and return the first of the names that is there and not null."""
    name = next((name for name in names if fields.get(name) is not None), None)
    return None if name is None else fields.pop(name)


def _name(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(json_value(value))


def _number(value: Any, field: str) -> float | None:
    try:
        score = None if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as bad:
        problem = f"expected a number as score, got {describe_value(value)}"
        raise InputError(problem, field=field + json_path(["score"])) from bad
    return score if score is None or math.isfinite(score) else None


def _metadata(fields: dict[str, Any]) -> dict[str, Any]:
    given = _take(fields, _METADATA)
    rest = {name: value for name, value in fields.items() if value is not None and name not in ("lc", "type")}
    own = given if isinstance(given, Mapping) else {} if given is None else {"metadata": given}
    return dict(json_value({**rest, **own}))
