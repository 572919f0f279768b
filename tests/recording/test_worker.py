"""A thread behind a bounded queue: nobody who offers waits, and nothing that is taken is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.recording import worker as worker_module
from rag_cover.recording.worker import Worker

PATIENCE_S = 20


class Desk:
    """Work that waits at a gate, and remembers its blocks."""

    def __init__(self) -> None:
        self.blocks: list[list[int]] = []
        self.failures: list[Exception] = []
        self.gate = threading.Event()
        self.reached = threading.Event()

    def work(self, block: list[int]) -> None:
        self.reached.set()
        assert self.gate.wait(PATIENCE_S)
        self.blocks.append(block)

    @property
    def items(self) -> list[int]:
        return [item for block in self.blocks for item in block]

    def worker(self, capacity: int = 100) -> Worker[int]:
        return Worker(self.work, self.failures.append, capacity=capacity, name="desk")


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.gate.set()


def test_what_is_offered_is_worked_off_in_order(desk: Desk) -> None:
    worker = desk.worker()
    desk.gate.set()

    assert all(worker.offer(number) for number in range(100))

    assert worker.flush(PATIENCE_S)
    assert desk.items == list(range(100))
    assert (worker.pending, desk.failures) == (0, [])
    assert max(map(len, desk.blocks)) <= 16


def test_what_comes_after_a_block_is_collected_until_somebody_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_REST_S", PATIENCE_S)
    worker = desk.worker()
    desk.gate.set()
    worker.offer(0)
    assert desk.reached.wait(PATIENCE_S)

    for number in range(1, 6):
        worker.offer(number)

    assert worker.flush(PATIENCE_S)
    assert desk.items == list(range(6))
    assert desk.blocks[-1] == [1, 2, 3, 4, 5]


def test_a_whole_block_is_worth_being_woken_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_REST_S", 10 * PATIENCE_S)
    worker = desk.worker()
    desk.gate.set()
    worker.offer(0)
    assert desk.reached.wait(PATIENCE_S)
    desk.reached.clear()

    for number in range(1, 17):
        worker.offer(number)

    assert desk.reached.wait(PATIENCE_S)


def test_stopping_wakes_a_worker_that_collects(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_REST_S", 10 * PATIENCE_S)
    before = set(threading.enumerate())
    worker = desk.worker()
    desk.gate.set()
    worker.offer(0)
    assert desk.reached.wait(PATIENCE_S)
    (thread,) = set(threading.enumerate()) - before

    worker.stop()

    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_no_thread_is_begun_before_the_first_offer(desk: Desk) -> None:
    before = threading.active_count()

    worker = desk.worker()

    assert threading.active_count() == before
    assert (worker.flush(), worker.stop()) == (True, [])


def test_an_offer_beyond_the_capacity_is_refused_without_waiting(desk: Desk) -> None:
    worker = desk.worker(capacity=3)
    worker.offer(0)
    assert desk.reached.wait(PATIENCE_S)  # the first is being worked on, and waits no more

    taken = [worker.offer(number) for number in range(1, 6)]

    assert taken == [True, True, True, False, False]
    assert worker.pending == 4
    desk.gate.set()
    assert worker.flush(PATIENCE_S)
    assert desk.items == [0, 1, 2, 3]


def test_flush_gives_up_after_its_time_and_says_so(desk: Desk) -> None:
    worker = desk.worker()
    worker.offer(1)

    assert worker.flush(0.01) is False

    desk.gate.set()
    assert worker.flush(PATIENCE_S) is True


def test_stop_returns_what_still_waits_and_takes_no_more(desk: Desk) -> None:
    worker = desk.worker()
    worker.offer(0)
    assert desk.reached.wait(PATIENCE_S)
    for number in range(1, 5):
        worker.offer(number)

    left = worker.stop()

    assert (left, worker.offer(5), worker.stop()) == ([1, 2, 3, 4], False, [])
    assert worker.pending == 1
    desk.gate.set()
    assert worker.flush(PATIENCE_S)
    assert desk.items == [0]


def test_the_thread_ends_when_it_is_told_to_stop(desk: Desk) -> None:
    worker = desk.worker()
    desk.gate.set()
    worker.offer(1)
    worker.flush(PATIENCE_S)

    worker.stop()

    assert worker.shared.thread is not None
    worker.shared.thread.join(PATIENCE_S)
    assert not worker.shared.thread.is_alive()


def test_work_that_raises_costs_its_block_alone() -> None:
    done: list[int] = []
    failures: list[Exception] = []

    def work(block: list[int]) -> None:
        if 1 in block:
            message = "one is not a number"
            raise ValueError(message)
        done.extend(block)

    worker = Worker(work, failures.append, capacity=10, name="desk")
    for number in range(4):
        worker.offer(number)
        worker.flush(PATIENCE_S)

    assert done == [0, 2, 3]
    assert [str(failure) for failure in failures] == ["one is not a number"]
    assert worker.pending == 0


def test_flush_from_the_work_itself_does_not_deadlock() -> None:
    told: list[bool] = []
    worker: Worker[int] = Worker(lambda _: told.append(worker.flush()), lambda _: None, capacity=10, name="desk")

    worker.offer(1)

    assert worker.flush(PATIENCE_S)
    assert told == [False]


def test_work_may_offer_more_and_stop_itself() -> None:
    seen: list[int] = []

    def work(block: list[int]) -> None:
        for number in block:
            seen.append(number)
            if number < 3:
                worker.offer(number + 1)
            else:
                worker.stop()

    worker: Worker[int] = Worker(work, lambda _: None, capacity=10, name="desk")
    worker.offer(0)

    assert worker.flush(PATIENCE_S)
    assert seen == [0, 1, 2, 3]


def test_an_offer_from_within_an_offer_does_not_deadlock(desk: Desk) -> None:
    worker = desk.worker()
    desk.gate.set()

    def collected() -> None:  # as where garbage is collected while an item is taken
        with worker._changed:
            worker.offer(1)

    asking = threading.Thread(target=collected, daemon=True)
    asking.start()
    asking.join(PATIENCE_S)

    assert not asking.is_alive()
    assert worker.flush(PATIENCE_S)
    assert desk.items == [1]


@pytest.mark.parametrize("capacity", [1, 7, 10_000])
def test_of_what_sixteen_threads_offer_all_that_was_taken_is_worked_off_once(capacity: int) -> None:
    done: list[int] = []
    taken: list[int] = []
    worker: Worker[int] = Worker(done.extend, lambda _: None, capacity=capacity, name="desk")

    def offer(first: int) -> None:
        taken.extend(number for number in range(first, first + 100) if worker.offer(number))

    _at_once([partial(offer, thread * 100) for thread in range(16)])

    assert worker.flush(PATIENCE_S)
    assert sorted(done) == sorted(taken)
    assert len(set(done)) == len(done)
    assert worker.pending == 0


def test_stop_while_others_offer_loses_nothing() -> None:
    for _ in range(50):
        done: list[int] = []
        taken: list[int] = []
        left: list[int] = []
        worker: Worker[int] = Worker(done.extend, lambda _: None, capacity=1000, name="desk")

        def offer(first: int, worker: Worker[int] = worker, taken: list[int] = taken) -> None:
            taken.extend(number for number in range(first, first + 50) if worker.offer(number))

        def stop(worker: Worker[int] = worker, left: list[int] = left) -> None:
            left.extend(worker.stop())

        _at_once([*(partial(offer, thread * 50) for thread in range(4)), stop])

        assert worker.flush(PATIENCE_S)
        assert sorted(done + left) == sorted(taken)


@given(st.lists(st.integers(), max_size=60), st.integers(1, 40))
def test_the_first_that_fit_are_taken(items: list[int], capacity: int) -> None:
    done: list[int] = []
    held = threading.Event()

    def work(block: list[int]) -> None:
        held.wait(PATIENCE_S)
        done.extend(block)

    worker = Worker(work, lambda _: None, capacity=capacity, name="desk")

    taken = [item for item in items if worker.offer(item)]
    held.set()

    assert worker.flush(PATIENCE_S)
    assert done == taken
    assert len(taken) >= min(len(items), capacity)
    worker.stop()


def _at_once(calls: list[Callable[[], object]]) -> None:
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        ready.wait(PATIENCE_S)
        call()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)


def test_what_is_to_be_done_first_is_done_before_anything_is_offered_and_once() -> None:
    told: list[str] = []
    worker: Worker[str] = Worker(told.extend, lambda error: told.append(str(error)), capacity=3, name="worker")

    worker.begin(lambda: told.append("opened"))
    worker.begin(lambda: told.append("opened again"))
    worker.offer("asked")

    assert worker.flush(PATIENCE_S)
    assert told == ["opened", "asked"]
    worker.stop()


def test_a_first_thing_that_fails_leaves_the_work_to_fail_or_not() -> None:
    told: list[str] = []
    worker: Worker[str] = Worker(told.extend, lambda error: told.append(str(error)), capacity=3, name="worker")

    worker.begin(lambda: 1 / 0)
    worker.offer("asked")

    assert worker.flush(PATIENCE_S)
    assert told == ["asked"]
    worker.stop()
