"""Lists that OpenInference writes as attributes, such as ``retrieval.documents.0.document.content``, read back as lists."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from rag_cover.errors import InputError
from rag_cover.questions import json_value
from rag_cover.spans.payloads import decode_value
from rag_cover.stores.validation import json_path

__all__ = ["documents_under", "flatten_attributes"]

_LISTS = ("documents", "input_documents", "output_documents", "input_messages", "output_messages")
_WHOLE = ("metadata", "tags", "variables", "invocation_parameters", "vector")  # values of their own, never cut up
_COLUMNS = {"contents": "content", "ids": "id", "scores": "score", "metadatas": "metadata"}  # Arize's exports


def flatten_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Bring nested, half-nested and dotted attributes to one form: dotted names and plain values.

    >>> flatten_attributes({"retrieval": {"documents": [{"document.content": "A"}]}})
    {'retrieval.documents.0.document.content': 'A'}
    """
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [(str(name), value) for name, value in reversed(list(attributes.items()))]
    while waiting:
        name, value = waiting.pop()
        last = name.rpartition(".")[2]
        value = _list_of(value, name) if last in _LISTS else value
        if isinstance(value, Mapping) and value and last not in _WHOLE:
            waiting.extend((f"{name}.{inner}", item) for inner, item in reversed(list(value.items())))
        elif isinstance(value, list | tuple) and last in _LISTS:
            waiting.extend((f"{name}.{index}", item) for index, item in reversed(list(enumerate(value))))
        elif value is not None:
            found[name] = value
    return found


def documents_under(attributes: Mapping[str, Any], prefix: str, *, inner: str = "document") -> list[dict[str, Any]]:
    """Return the documents (or messages) that stand under a prefix, in order.

    A document without a recorded text has an empty one; its metadata may be an object, JSON text or dotted.
    """
    fields: dict[int, dict[str, Any]] = defaultdict(dict)
    for name, value in attributes.items():
        number, _, rest = name.removeprefix(prefix + ".").partition(".")
        if not name.startswith(prefix + "."):
            continue
        if number.isdecimal():
            fields[int(number[:9])][rest.removeprefix(inner + ".") or "content"] = value
        elif number in _COLUMNS and isinstance(value, list):
            for index, item in enumerate(value):
                fields[index][_COLUMNS[number]] = item
    ordered = [fields[index] for index in sorted(fields)]
    return ordered if inner == "message" else [_document(document) for document in ordered]


def _list_of(value: Any, name: str) -> Any:
    found = decode_value(value)
    if isinstance(found, str) and found.strip():
        problem = "this is a list that was written neither as JSON nor as a Python literal; export the spans as JSON or Parquet"
        raise InputError(problem, field="$" + json_path([name]))
    return found


def _document(fields: Mapping[str, Any]) -> dict[str, Any]:
    content, name, score = fields.get("content"), fields.get("id"), fields.get("score")
    metadata = decode_value(fields.get("metadata"))
    dotted = {key.removeprefix("metadata."): value for key, value in fields.items() if key.startswith("metadata.")}
    others = {
        key: value for key, value in fields.items() if key.partition(".")[0] not in ("content", "id", "score", "metadata")
    }
    own = metadata if isinstance(metadata, Mapping) else {} if metadata is None else {"metadata": metadata}
    return {
        "text": content if isinstance(content, str) else "" if content is None else str(json_value(content)),
        "id": None if name is None else str(name),
        "score": _number(score),
        "metadata": json_value({**others, **dotted, **own}),
    }


def _number(value: Any) -> float | None:
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and math.isfinite(number) else None
