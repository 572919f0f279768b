"""Which of the processes that fill one store are alive, told without comparing anybody's clocks.

A process on this machine that is no longer there is known to be dead at once. Of any other the counter is watched that it
raises every second: it is taken for dead when the watcher's own monotonic clock, which no setting of the time moves, has seen
the counter stand still for ten seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BEAT_S", "HeartbeatMonitor", "Home", "process_ended", "process_identity"]

BEAT_S = 1.0
"""A run raises its counter as often."""

_DEAD_AFTER_S = 10.0
_ENDED = ("Z", "X")  # a zombie, or dead: of both only the number is left

Home = str | None


@dataclass(slots=True)
class _Seen:
    beats: int
    since: float
    moved: bool = False


class HeartbeatMonitor:
    """Watches the counters of other runs."""

    def __init__(self, dead_after_s: float = _DEAD_AFTER_S, now: Callable[[], float] = time.monotonic) -> None:
        self._dead_after_s, self._now = dead_after_s, now
        self._seen: dict[int, _Seen] = {}

    def look(self, beats: Mapping[int, int]) -> None:
        """Note where the counters of all other runs stand now."""
        now, before = self._now(), self._seen
        self._seen = {run: _Seen(count, now) for run, count in beats.items()}
        for run, seen in before.items():
            match self._seen.get(run):
                case _Seen(beats=count) if count == seen.beats:
                    self._seen[run] = seen
                case _Seen() as moved:
                    moved.moved = True

    def is_dead(self, run: int) -> bool:
        """Tell whether a run's counter has stood still for too long."""
        return run in self._seen and self._now() - self._seen[run].since >= self._dead_after_s

    def is_alive(self, run: int) -> bool:
        """Tell whether a run's counter was seen to move, and not to stop for good since."""
        return run in self._seen and self._seen[run].moved and not self.is_dead(run)


def process_identity(process: int) -> Home:
    """Name a process so that no other ever has its name: this boot of the machine, its numbering, number and start.

    None where the system does not tell.
    """
    start = _start_of(process)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        numbering = Path("/proc/self/ns/pid").readlink()
    except (OSError, ValueError):
        return None
    return None if start is None else f"{boot}/{numbering}/{process}/{start}"


def process_ended(home: Home) -> bool:
    """Tell whether a process of this machine is certainly no longer there; of another machine's nothing is known."""
    ours = process_identity(os.getpid())
    if home is None or ours is None or home.split("/")[:2] != ours.split("/")[:2]:
        return False
    process = int(home.split("/")[2])
    return not _exists(process) or process_identity(process) not in (home, None)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)  # no signal: asks whether one could be sent
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and another user's
        return True
    return True


def _start_of(process: int) -> str | None:
    """Return when a process started, in ticks since the machine did; None where it is over or not to be seen."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = about.rpartition(")")[2].split()
    return "ended" if state in _ENDED else rest[18]
