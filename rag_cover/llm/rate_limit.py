"""So many requests and so many tokens a minute, however many threads ask."""

from __future__ import annotations

import threading

from rag_cover.llm.deadline import Deadline

__all__ = ["Limiter"]


class _Bucket:
    """Fills at a steady rate up to one second's worth; what is taken beyond its content is owed, and waited for."""

    def __init__(self, per_minute: float, least: float) -> None:
        self._rate = per_minute / 60
        self._capacity = self._level = max(least, self._rate)
        self._filled_at: float | None = None

    def take(self, amount: float, now: float) -> float:
        """Take an amount, and return the seconds until it is there."""
        if self._filled_at is not None:
            self._level = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give(self, amount: float) -> None:
        """Put back what was taken and not needed; a negative amount is taken on top."""
        self._level = min(self._capacity, self._level + amount)


class Limiter:
    """Lets requests through at the rates that a server allows; None is no limit.

    Each request takes its place in the queue at once and waits outside the lock. A request's tokens are estimated before it
    is sent and set right by `settle` when the server has counted them.
    """

    def __init__(self, *, requests_per_minute: float | None = None, tokens_per_minute: float | None = None) -> None:
        self._lock = threading.Lock()
        self._requests = _Bucket(requests_per_minute, 1) if requests_per_minute else None
        self._tokens = _Bucket(tokens_per_minute, 0) if tokens_per_minute else None

    def wait(self, tokens: int, clock: Deadline) -> None:
        """Wait until one request of so many tokens may be sent."""
        with self._lock:
            now = clock.now()
            delays = [
                bucket.take(amount, now)
                for bucket, amount in ((self._requests, 1), (self._tokens, tokens))
                if bucket is not None
            ]
        if delay := max(delays, default=0.0):
            clock.sleep(delay)

    def settle(self, estimated: int, actual: int) -> None:
        """Correct an estimate by what the server counted."""
        if self._tokens is not None:
            with self._lock:
                self._tokens.give(estimated - actual)
