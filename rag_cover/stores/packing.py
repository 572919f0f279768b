"""Results as bytes: JSON, compressed, with zlib's checksum, which detects damage."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.known_measures import result_type_of
from rag_cover.measures import RESULT_SCHEMA, ResultType, TraceResult

__all__ = ["as_json", "from_json", "is_whole", "pack_result", "result_from", "unpack_result"]

_QUICK = 1  # a live recording packs in its host's process; a store is some 10% larger for it


def as_json(result: TraceResult) -> bytes:
    """Write a result as bytes of JSON."""
    text = json.dumps(result.to_dict(), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def from_json(content: bytes, result_type: ResultType = result_type_of) -> TraceResult:
    """Read back what `as_json` wrote."""
    return TraceResult.from_dict(json.loads(content.decode("utf-8", "surrogatepass")), result_type)


def result_from(data: Mapping[str, Any], path: Path, result_type: ResultType = result_type_of) -> TraceResult:
    """Read a result from JSON data in a file.

    Raises:
        StoreError: another version of rag_cover wrote it, in a form that this one does not read.
        CorruptFileError: it is damaged.
    """
    schema = data.get("schema")  # results of versions that did not write it may still be read
    if isinstance(schema, int) and schema > RESULT_SCHEMA:
        problem = (
            f"{path} holds results of schema {schema}, which a newer version of rag_cover wrote; this one reads up to "
            f"{RESULT_SCHEMA}. Upgrade it: pip install --upgrade rag-cover"
        )
        raise StoreError(problem)
    try:
        return TraceResult.from_dict(data, result_type)
    except (ValueError, KeyError, TypeError, AttributeError) as unreadable:
        if schema == RESULT_SCHEMA:
            problem = f"{path} holds a result that cannot be read ({unreadable}); measure with --resume: it is measured again"
            raise CorruptFileError(problem) from unreadable
        written = f"of schema {schema}" if schema is not None else "of a schema that they do not name"
        problem = (
            f"{path} holds results {written}, which an older version of rag_cover wrote; this one reads {RESULT_SCHEMA}. "
            "Read them with the version that wrote them, or run the command that made them again with --resume: they are "
            "measured again"
        )
        raise StoreError(problem) from unreadable


def pack_result(result: TraceResult) -> bytes:
    """Write a result as compressed bytes: little, in little time."""
    return zlib.compress(as_json(result), _QUICK)


def unpack_result(content: bytes, path: Path, result_type: ResultType = result_type_of) -> TraceResult:
    """Read back what `pack_result` wrote.

    Raises:
        CorruptFileError: the bytes are not those that were written.
        StoreError: another version of rag_cover wrote them, in a form that this one does not read.
    """
    try:
        data = json.loads(zlib.decompress(content).decode("utf-8", "surrogatepass"))
        if not isinstance(data, Mapping):
            message = "it is no object"
            raise TypeError(message)  # noqa: TRY301  # as whatever else is no result
    except (zlib.error, ValueError, TypeError) as damaged:
        problem = f"{path} holds a result that cannot be read ({damaged}); measure with --resume: it is measured again"
        raise CorruptFileError(problem) from damaged
    return result_from(data, path, result_type)


def is_whole(content: object) -> bool:
    """Return whether the bytes of a result are those that were written."""
    try:
        zlib.decompress(content)  # type: ignore[arg-type]  # what it is not is what is asked
    except (zlib.error, TypeError):
        return False
    return True
