"""Points in time as exporters write them: ISO text, and seconds, milliseconds, microseconds or nanoseconds since 1970."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["moment_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000), (math.inf, 1_000_000_000))  # today is 1.8e9 seconds


def moment_of(value: Any) -> datetime | None:
    """Read a point in time, None where there is none that can be read.

    >>> moment_of("1581452772000000321"), moment_of(1581452772000), moment_of("2020-02-11T20:26:12Z").isoformat()
    (datetime.datetime(2020, 2, 11, 20, 26, 12, tzinfo=datetime.timezone.utc), \
datetime.datetime(2020, 2, 11, 20, 26, 12, tzinfo=datetime.timezone.utc), '2020-02-11T20:26:12+00:00')
    """
    match value:
        case datetime():
            return value
        case bool():
            return None
        case int() | float():
            return _since_epoch(value)
        case str() if (digits := value.strip()).isdecimal():
            return _since_epoch(int(digits[:40]))
        case str():
            return _iso(value.strip())
        case _:
            return None


def _since_epoch(number: float) -> datetime | None:
    if not 0 < number < 1e20:  # noqa: PLR2004 -- 0 is OTLP's word for unknown, and 1e20 ns is the year 5138
        return None
    per_second = next(per_second for limit, per_second in _UNITS if number < limit)
    seconds, rest = divmod(number, per_second)
    return _EPOCH + timedelta(seconds=seconds, microseconds=rest * 1_000_000 // per_second)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
