"""Results as bytes: JSON, compressed, with zlib's checksum, by which damage is told."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from rag_cover.errors import CorruptFileError
from rag_cover.known_measures import result_type_of
from rag_cover.measures import ResultType, TraceResult

__all__ = ["as_json", "from_json", "is_whole", "packed", "unpacked"]

_QUICK = 1  # a live recording packs in its host's process; a store is some 10% larger for it


def as_json(result: TraceResult) -> bytes:
    """Write a result as bytes of JSON."""
    text = json.dumps(result.to_dict(), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def from_json(content: bytes, result_type: ResultType = result_type_of) -> TraceResult:
    """Read back what `as_json` wrote."""
    return TraceResult.from_dict(json.loads(content.decode("utf-8", "surrogatepass")), result_type)


def packed(result: TraceResult) -> bytes:
    """Write a result as compressed bytes: little, in little time."""
    return zlib.compress(as_json(result), _QUICK)


def unpacked(content: bytes, path: Path, result_type: ResultType = result_type_of) -> TraceResult:
    """Read back what `packed` wrote.

    Raises:
        CorruptFileError: the bytes are not those that were written.
    """
    try:
        return from_json(zlib.decompress(content), result_type)
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as damaged:
        problem = f"{path} holds a result that cannot be read ({damaged}); measure with --resume: it is measured again"
        raise CorruptFileError(problem) from damaged


def is_whole(content: object) -> bool:
    """Tell whether the bytes of a result are those that were written."""
    try:
        zlib.decompress(content)  # type: ignore[arg-type]  # what it is not is what is asked
    except (zlib.error, TypeError):
        return False
    return True
