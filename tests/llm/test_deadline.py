"""A run ends at its deadline, or when it is stopped, and nobody waits in vain."""

import threading
import time

import pytest

from rag_cover.errors import ModelFailedError
from rag_cover.llm.deadline import Deadline


def test_without_a_deadline_a_run_goes_on() -> None:
    clock = Deadline()

    clock.check()
    clock.sleep(0.001)

    assert clock.remaining_s() is None


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    clock = Deadline(deadline_s=5)
    began = time.monotonic()

    with pytest.raises(ModelFailedError, match="deadline of 5 s") as raised:
        clock.sleep(6)

    assert raised.value.kind == "deadline"
    assert time.monotonic() - began < 1


def test_after_the_deadline_nothing_is_begun() -> None:
    clock = Deadline(deadline_s=0)

    with pytest.raises(ModelFailedError, match="deadline"):
        clock.check()


def test_stopping_ends_every_wait_at_once() -> None:
    clock = Deadline()
    ended: list[str] = []

    def wait() -> None:
        try:
            clock.sleep(60)
        except ModelFailedError as stopped:
            ended.append(stopped.kind)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    clock.stop()
    for thread in threads:
        thread.join(timeout=10)

    assert ended == ["stopped"] * 4


def test_as_a_context_it_stops_at_the_end() -> None:
    with Deadline() as clock:
        clock.check()

    with pytest.raises(ModelFailedError, match="stopped"):
        clock.check()
