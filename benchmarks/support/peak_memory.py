"""The most memory that this process had at one time, on systems that tell it."""

from __future__ import annotations

import sys

__all__ = ["known_peak_bytes", "peak_bytes"]


def peak_bytes() -> int:
    """Return the peak resident memory of this process in bytes; end the process where the system does not tell it."""
    found = known_peak_bytes()
    if found is None:
        sys.exit("This benchmark measures memory, which this system does not tell; run it on Linux or macOS.")
    return found


def known_peak_bytes() -> int | None:
    """Return the peak resident memory of this process in bytes; None where the system does not tell it."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
