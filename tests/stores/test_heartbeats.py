from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rag_cover.stores.heartbeats import HeartbeatMonitor, process_ended, process_identity

linux = pytest.mark.skipif(process_identity(os.getpid()) is None, reason="the system does not tell when a process started")


class _Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_counter_that_stands_still_for_ten_seconds_is_a_dead_runs() -> None:
    clock = _Clock()
    watch = HeartbeatMonitor(now=clock)
    watch.look({1: 5})

    clock.time = 9.9
    watch.look({1: 5})
    early = watch.is_dead(1)
    clock.time = 10.0

    assert not early
    assert watch.is_dead(1)
    assert not watch.is_alive(1)


def test_a_counter_that_moved_is_a_living_runs_until_it_stands_still() -> None:
    clock = _Clock()
    watch = HeartbeatMonitor(now=clock)
    watch.look({1: 5})
    unknown = watch.is_alive(1)

    clock.time = 9.0
    watch.look({1: 6})
    clock.time = 18.0
    watch.look({1: 6})

    assert not unknown
    assert watch.is_alive(1)
    clock.time = 19.0
    assert watch.is_dead(1)


def test_a_run_that_was_never_seen_is_neither_dead_nor_alive() -> None:
    watch = HeartbeatMonitor()

    assert not watch.is_dead(1)
    assert not watch.is_alive(1)


@linux
def test_a_process_that_has_ended_is_gone_and_one_that_lives_is_not() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        home = process_identity(child.pid)
        while_alive = process_ended(home)
        child.kill()

    assert not while_alive
    assert process_ended(home)
    assert not process_ended(process_identity(os.getpid()))


@linux
def test_a_number_that_another_process_has_now_does_not_bring_the_first_back() -> None:
    home = process_identity(os.getpid())
    assert home is not None

    earlier = home.rpartition("/")[0] + "/1"

    assert process_ended(earlier)


@linux
def test_of_a_process_on_another_machine_nothing_is_known() -> None:
    home = process_identity(os.getpid())
    assert home is not None
    _, _, elsewhere = home.partition("/")

    assert not process_ended(f"another-boot/{elsewhere}")
    assert not process_ended(None)
