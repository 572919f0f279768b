from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from rag_cover.errors import InvalidValueError, ModelFailedError, TransientError
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.retry import Caller, RetryPolicy, call_with_retries


class _Flaky:
    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)

    def __call__(self) -> object:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_a_transient_error_is_tried_again() -> None:
    waits: list[float] = []

    result = call_with_retries(_Flaky(TimeoutError(), TimeoutError(), "done"), on=TimeoutError, sleep=waits.append)

    assert result == "done"
    assert len(waits) == 2


def test_another_error_is_raised_at_once() -> None:
    flaky = _Flaky(KeyError("x"), "done")

    with pytest.raises(KeyError):
        call_with_retries(flaky, on=TimeoutError, sleep=lambda _: None)

    assert flaky.outcomes == ["done"]


def test_the_last_error_is_raised_as_it_is() -> None:
    with pytest.raises(TimeoutError, match="third"):
        call_with_retries(
            _Flaky(*map(TimeoutError, ("first", "second", "third"))), on=TimeoutError, attempts=3, sleep=lambda _: None
        )


def test_a_server_that_names_its_wait_is_obeyed() -> None:
    waits: list[float] = []

    call_with_retries(_Flaky(TimeoutError(), "done"), on=TimeoutError, retry_after_s=lambda _: 77.0, sleep=waits.append)

    assert waits == [77.0]


def test_a_wait_that_is_too_late_is_not_begun() -> None:
    waits: list[float] = []

    with pytest.raises(TimeoutError):
        call_with_retries(_Flaky(TimeoutError(), "done"), on=TimeoutError, too_late=lambda wait: wait > 0, sleep=waits.append)

    assert waits == []


class _Patient(Deadline):
    """A clock that only waiting moves, and that remembers how long was waited."""

    def __init__(self, deadline_s: float | None = None) -> None:
        self.time = 0.0
        self.waits: list[float] = []
        super().__init__(deadline_s)

    def now(self) -> float:
        return self.time

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


def _caller(**options: Any) -> Caller:
    return Caller(RetryPolicy(**{"wait_initial_s": 1.0, **options}))


def test_waiting_is_no_latency() -> None:
    clock = _Patient()
    flaky = _Flaky(TransientError("busy", retry_after_s=20), "done")

    def send(_timeout_s: float) -> object:
        clock.time += 3
        return flaky()

    called = _caller().call(send, tokens=1, clock=clock)

    assert (called.value, called.attempts, called.seconds) == ("done", 2, 3)
    assert clock.waits == [20]


def test_a_call_ends_at_its_deadline_with_its_last_error() -> None:
    clock = _Patient()
    flaky = _Flaky(*[TransientError("busy", kind="rate limit", retry_after_s=40)] * 9)

    with pytest.raises(ModelFailedError, match="busy") as raised:
        _caller(deadline_s=100, attempts=99).call(lambda _: flaky(), tokens=1, clock=clock)

    assert (raised.value.kind, raised.value.attempts) == ("rate limit", 3)
    assert clock.time == 80


def test_a_run_ends_at_its_deadline() -> None:
    clock = _Patient(deadline_s=60)
    flaky = _Flaky(*[TransientError("busy", retry_after_s=40)] * 9)

    with pytest.raises(ModelFailedError, match=r"the run's deadline of 60 s .*\. The last attempt: busy") as raised:
        _caller(attempts=99).call(lambda _: flaky(), tokens=1, clock=clock)

    assert (raised.value.kind, raised.value.attempts) == ("deadline", 2)


def test_an_attempt_may_take_no_longer_than_what_is_left() -> None:
    allowed: list[float] = []

    def send(timeout_s: float) -> None:
        allowed.append(timeout_s)

    _caller(timeout_s=60, deadline_s=100).call(send, tokens=1, clock=_Patient())
    _caller(timeout_s=60, deadline_s=100).call(send, tokens=1, clock=_Patient(deadline_s=7))
    _caller(timeout_s=60, deadline_s=5).call(send, tokens=1, clock=_Patient())

    assert allowed == [60, 7, 5]


def test_another_failure_is_not_tried_again() -> None:
    flaky = _Flaky(ModelFailedError("no such model", kind="not found"), "done")

    with pytest.raises(ModelFailedError, match="no such model") as raised:
        _caller().call(lambda _: flaky(), tokens=1, clock=_Patient())

    assert raised.value.attempts == 1


def test_who_waited_for_a_slot_still_keeps_to_the_rate() -> None:
    clock = _Patient()
    caller = _caller(max_concurrency=1, requests_per_minute=60)
    sent: list[float] = []

    def send(_timeout_s: float) -> None:
        sent.append(clock.time)
        clock.time += 0.1

    for _ in range(5):
        caller.call(send, tokens=1, clock=clock)

    assert [later - sooner for sooner, later in pairwise(sent)] == pytest.approx([1, 1, 1, 1])


def test_waiting_for_the_rate_is_no_latency() -> None:
    clock = _Patient()
    caller = _caller(requests_per_minute=1)

    def send(_timeout_s: float) -> None:
        clock.time += 3

    seconds = [caller.call(send, tokens=1, clock=clock).seconds for _ in range(3)]

    assert seconds == pytest.approx([3, 3, 3])
    assert clock.time > 100


def test_a_stopped_run_sends_nothing() -> None:
    clock = _Patient()
    clock.stop()

    with pytest.raises(ModelFailedError, match="stopped"):
        _caller().call(lambda _: pytest.fail("sent"), tokens=1, clock=clock)


@pytest.mark.parametrize("options", [{"attempts": 0}, {"max_concurrency": 0}, {"timeout_s": 0}, {"requests_per_minute": -1}])
def test_a_policy_under_which_nothing_is_called_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=f"{next(iter(options))} is "):
        RetryPolicy(**options)
