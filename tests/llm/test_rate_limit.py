"""Requests and tokens a minute, by a clock that only the waiting moves."""

from __future__ import annotations

import pytest

from rag_cover.llm.deadline import Deadline
from rag_cover.llm.rate_limit import Limiter


class VirtualClock(Deadline):
    """Jumps where others wait."""

    def __init__(self) -> None:
        self.time = 0.0
        super().__init__()

    def now(self) -> float:
        return self.time

    def _wait(self, seconds: float) -> None:
        self.time += seconds


def test_without_limits_nobody_waits() -> None:
    clock = VirtualClock()

    for _ in range(1_000):
        Limiter().wait(10_000, clock)

    assert clock.time == 0


def test_no_minute_holds_more_requests_than_allowed() -> None:
    clock, limiter = VirtualClock(), Limiter(requests_per_minute=60)
    sent = []

    for _ in range(200):
        limiter.wait(1, clock)
        sent.append(clock.time)

    assert max(sum(start <= time < start + 60 for time in sent) for start in sent) <= 61
    assert sent[-1] == pytest.approx(199, abs=1)


def test_no_minute_holds_more_tokens_than_allowed() -> None:
    clock, limiter = VirtualClock(), Limiter(tokens_per_minute=6_000)
    sent = []

    for _ in range(50):
        limiter.wait(300, clock)
        sent.append(clock.time)

    assert max(300 * sum(start <= time < start + 60 for time in sent) for start in sent) <= 6_300


def test_a_request_larger_than_a_minute_is_sent_and_paid_for_later() -> None:
    clock, limiter = VirtualClock(), Limiter(tokens_per_minute=600)

    limiter.wait(6_000, clock)
    first = clock.time
    limiter.wait(10, clock)

    assert first == pytest.approx(600, abs=2)
    assert clock.time == pytest.approx(601, abs=2)


def test_an_estimate_is_set_right_when_the_server_has_counted() -> None:
    clock, limiter = VirtualClock(), Limiter(tokens_per_minute=60)

    limiter.wait(1, clock)
    limiter.settle(1, 31)  # 30 more than estimated
    limiter.wait(1, clock)

    assert clock.time == pytest.approx(31, abs=1)


def test_what_was_not_used_is_given_back() -> None:
    clock, limiter = VirtualClock(), Limiter(tokens_per_minute=60)

    limiter.wait(60, clock)
    before = clock.time
    limiter.settle(60, 0)
    limiter.wait(1, clock)

    assert clock.time == before
