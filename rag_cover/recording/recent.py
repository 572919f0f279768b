"""The latest of many values, kept as bytes: thousands of live objects would make the host's garbage collections long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from rag_cover.known_measures import result_type_of
from rag_cover.measures import NumberResult, TraceResult
from rag_cover.stores.packing import as_json, from_json
from rag_cover.traces import Trace

__all__ = ["Recent", "recent_results", "recent_traces"]

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps the last ``most`` values; one that cannot be written as bytes is kept as it is.

    Args:
        most: how many are kept.
        write: makes bytes of a value; what it cannot write is a ValueError, TypeError, KeyError or AttributeError.
        read: makes the value again, equal to what it was.
    """

    def __init__(self, most: int, *, write: Callable[[T], bytes], read: Callable[[bytes], T]) -> None:
        self._write, self._read = write, read
        self._kept: deque[bytes | tuple[T]] = deque(maxlen=most)

    def extend(self, values: Iterable[T]) -> None:
        """Keep more values."""
        self._kept.extend(map(self._pack, values))

    def values(self) -> tuple[T, ...]:
        """Return what is kept, the oldest first."""
        return tuple(self._read(kept) if isinstance(kept, bytes) else kept[0] for kept in tuple(self._kept))

    def _pack(self, value: T) -> bytes | tuple[T]:
        try:
            return self._write(value)
        except (ValueError, TypeError, KeyError, AttributeError):
            return (value,)


def recent_traces(most: int) -> Recent[Trace]:
    """Keep traces."""
    return Recent(most, write=lambda trace: trace.to_json().encode(), read=Trace.model_validate_json)


def recent_results(most: int) -> Recent[TraceResult]:
    """Keep results; those of measures of the user's own stay what they are."""
    return Recent(most, write=_encode_result, read=from_json)


def _encode_result(result: TraceResult) -> bytes:
    if any(result_type_of(name) is None and not isinstance(outcome, NumberResult) for name, outcome in result.measured.items()):
        message = "only the results of installed measures, and numbers, can be read back"
        raise ValueError(message)
    return as_json(result)
