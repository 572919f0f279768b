import pytest

from rag_cover.retries import retried


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

    result = retried(_Flaky(TimeoutError(), TimeoutError(), "done"), on=TimeoutError, sleep=waits.append)

    assert result == "done"
    assert len(waits) == 2


def test_another_error_is_raised_at_once() -> None:
    flaky = _Flaky(KeyError("x"), "done")

    with pytest.raises(KeyError):
        retried(flaky, on=TimeoutError, sleep=lambda _: None)

    assert flaky.outcomes == ["done"]


def test_the_last_error_is_raised_as_it_is() -> None:
    with pytest.raises(TimeoutError, match="third"):
        retried(_Flaky(*map(TimeoutError, ("first", "second", "third"))), on=TimeoutError, attempts=3, sleep=lambda _: None)


def test_a_server_that_names_its_wait_is_obeyed() -> None:
    waits: list[float] = []

    retried(_Flaky(TimeoutError(), "done"), on=TimeoutError, retry_after_s=lambda _: 77.0, sleep=waits.append)

    assert waits == [77.0]
