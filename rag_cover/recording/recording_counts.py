"""How many questions a recording saw, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RecordingCounts"]


@dataclass(frozen=True, slots=True)
class RecordingCounts:
    """How many questions began, and what became of them.

    Of those that ``begun``, some are ``under_way``, ``unsampled`` by choice, ``skipped`` because they searched for nothing,
    ``dropped`` because the queue was full, too many were under way, or the recording was closed before they were over,
    ``unreadable`` because they made no trace, ``waiting`` to be measured, ``measured``, only ``recorded``: traces that nothing
    was to be measured of, or no time was left to, or ``unmeasured`` because the models could not be opened. Of those
    ``measured``, some measure ``failed`` on so many. Where scores are sent (`Recording.send_scores`), so many were
    ``scores_sent``, and so many ``scores_unsent`` because that failed, or too many waited. A process of its own that measures
    died so many times (``process_deaths``).

    >>> RecordingCounts(begun=3, measured=2, dropped=1).lost
    1
    """

    begun: int = 0
    under_way: int = 0
    unsampled: int = 0
    skipped: int = 0
    dropped: int = 0
    unreadable: int = 0
    waiting: int = 0
    measured: int = 0
    recorded: int = 0
    unmeasured: int = 0
    failed: int = 0
    scores_sent: int = 0
    scores_unsent: int = 0
    process_deaths: int = 0

    @property
    def lost(self) -> int:
        """Return how many were to be recorded and were not."""
        return self.dropped + self.unreadable
