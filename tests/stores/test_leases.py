"""Several runs on one store: who may measure what, and whose result stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.backends import Failure
from rag_cover.errors import StoreError
from rag_cover.llm.usage import Usage, UsageReport
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Question
from rag_cover.stores import Store
from rag_cover.stores.heartbeats import HeartbeatMonitor
from rag_cover.stores.leases import Claimable, Worker, join_store
from rag_cover.traces import Trace

ABOUT = {"judge": "a judge", "measures": ["coverage"], "seed": 0}


class _Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def _wanted(*ordinals: int) -> list[Claimable[str]]:
    return [Claimable(ordinal, f"key{ordinal}", f"trace {ordinal}") for ordinal in ordinals]


def _result(ordinal: int, by: str = "any", *, failed: bool = False) -> tuple[int, str, TraceResult]:
    trace = Trace(question=Question(text=f"q{ordinal}"), id=f"t{ordinal}")
    outcome = Failure("timeout", "no answer") if failed else NotApplicable(by)
    return ordinal, f"key{ordinal}", TraceResult(trace, {"coverage": outcome})


def _ordinals(claimed: Sequence[Claimable[str]]) -> list[int]:
    return [each.ordinal for each in claimed]


def _entered(store: Store, clock: Callable[[], float] = lambda: 0.0, *, resume: bool = True) -> Worker:
    """Enter a run on a machine that cannot be asked whether it lives."""
    share = Worker(store, ABOUT, HeartbeatMonitor(now=clock))
    share._home = None
    share.begin(resume=resume)
    return share


@contextmanager
def _a_process(path: Path) -> Iterator[Worker]:
    with Store(path) as store:
        yield _entered(store)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run.sqlite") as store:
        yield store


def test_what_one_run_has_claimed_another_leaves_to_it(store: Store) -> None:
    first, second = _entered(store), _entered(store)

    mine = first.take(_wanted(0, 1, 2))
    theirs = second.take(_wanted(1, 2, 3))

    assert _ordinals(mine.mine) == [0, 1, 2]
    assert (_ordinals(theirs.mine), _ordinals(theirs.theirs)) == ([3], [1, 2])


def test_what_one_run_has_kept_is_done_for_another(store: Store) -> None:
    first, second = _entered(store), _entered(store)
    first.take(_wanted(0, 1))

    first.keep([_result(0)], UsageReport())

    lot = second.take(_wanted(0, 1))
    assert (lot.done, _ordinals(lot.mine), _ordinals(lot.theirs)) == (1, [], [1])


def test_what_a_run_leaves_unmeasured_is_free_again(store: Store) -> None:
    first, second = _entered(store), _entered(store)
    first.take(_wanted(0, 1))

    first.leave()

    assert _ordinals(second.take(_wanted(0, 1)).mine) == [0, 1]


def test_the_claims_of_a_run_that_stands_still_are_taken_over(store: Store) -> None:
    clock = _Clock()
    dead, living = _entered(store), _entered(store, clock)
    dead.take(_wanted(0, 1))
    before = living.take(_wanted(0, 1))

    clock.time = 10.0

    assert _ordinals(before.theirs) == [0, 1]
    assert _ordinals(living.take(before.theirs).mine) == [0, 1]


def test_a_run_that_shows_that_it_lives_keeps_its_claims(store: Store) -> None:
    clock = _Clock()
    slow, other = _entered(store), _entered(store, clock)
    slow.take(_wanted(0))

    for second in range(30):
        clock.time = float(second)
        slow.beat()
        assert _ordinals(other.take(_wanted(0)).theirs) == [0]


def test_of_two_results_of_one_trace_the_first_stays_and_both_are_paid_for(store: Store) -> None:
    clock = _Clock()
    slow, other = _entered(store), _entered(store, clock)
    slow.take(_wanted(0))
    other.take(_wanted(0))
    clock.time = 10.0
    other.take(_wanted(0))
    spent = UsageReport((Usage("openai:small", "judge", calls=1),))

    other.keep([_result(0, "the other")], spent)
    slow.keep([_result(0, "the slow one", failed=True)], spent)

    assert list(store.results()) == [_result(0, "the other")[2]]
    assert store.spending == UsageReport((Usage("openai:small", "judge", calls=2),))


def test_a_failure_is_measured_again_by_a_later_run_only(store: Store) -> None:
    first, beside = _entered(store), _entered(store)
    first.take(_wanted(0))
    first.keep([_result(0, failed=True)], UsageReport())

    lot = beside.take(_wanted(0))
    later = _entered(store)

    assert (lot.done, lot.failed) == (1, 1)
    assert _ordinals(later.take(_wanted(0)).mine) == [0]


def test_a_damaged_result_is_measured_again(store: Store) -> None:
    first = _entered(store)
    first.take(_wanted(0))
    first.keep([_result(0)], UsageReport())
    with store.transaction() as connection:
        connection.execute("UPDATE results SET json = x'00'")

    later = _entered(store)
    lot = later.take(_wanted(0))
    later.keep([_result(0)], UsageReport())

    assert _ordinals(lot.mine) == [0]
    assert list(store.results()) == [_result(0)[2]]


def test_the_last_run_to_end_forgets_the_traces_that_are_no_longer_there(store: Store) -> None:
    first = _entered(store)
    first.take(_wanted(0, 1, 2))
    first.keep([_result(0), _result(1), _result(2)], UsageReport())
    first.leave()
    clock = _Clock()
    one, two = _entered(store, clock), _entered(store, clock)
    one.take([])
    two.beat()

    one.finish(2)
    one.leave()
    after_the_first = len(store)
    two.finish(2)

    assert (after_the_first, len(store), store.finished) == (3, 2, True)


def test_a_store_that_a_living_process_fills_is_not_begun_anew(store: Store) -> None:
    with join_store(store, ABOUT, resume=False), pytest.raises(StoreError, match="is being filled by another process"):
        Worker(store, ABOUT, HeartbeatMonitor()).begin(resume=False)


def test_a_living_process_is_not_joined_for_something_else(store: Store) -> None:
    other = {**ABOUT, "judge": "another judge"}

    with join_store(store, ABOUT, resume=False), pytest.raises(StoreError, match="same measures and models"):
        Worker(store, other, HeartbeatMonitor()).begin(resume=True)


def test_a_run_that_stood_still_does_not_write_into_another_evaluation(store: Store) -> None:
    clock = _Clock()
    slow = _entered(store)
    slow.take(_wanted(0))
    other = Worker(store, {**ABOUT, "seed": 1}, HeartbeatMonitor(now=clock))
    other._watch.look({1: 2})
    clock.time = 10.0

    other.begin(resume=True)

    with pytest.raises(StoreError, match="Another evaluation was begun"):
        slow.keep([_result(0)], UsageReport())
    assert len(store) == 0


def test_a_run_raises_its_counter_while_it_works(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_cover.stores.leases.BEAT_S", 0.001)

    with join_store(store, ABOUT, resume=False):
        beaten = any(Event().wait(0.01) or store.rows("SELECT beats FROM runs")[0][0] > 3 for _ in range(500))

    assert beaten
    assert store.rows("SELECT * FROM runs") == []


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["take", "keep", "die", "wait"]), st.integers(0, 9)), max_size=40))
def test_whatever_happens_no_trace_is_claimed_twice_and_each_is_kept_once(moves: list[tuple[int, str, int]]) -> None:
    with TemporaryDirectory() as folder, Store(Path(folder) / "run.sqlite") as store:
        clock = _Clock()
        shares = [_entered(store, clock) for _ in range(3)]
        held: list[dict[int, str]] = [{}, {}, {}]
        kept: set[int] = set()

        for who, move, number in moves:
            match move:
                case "take":
                    claimed = shares[who].take(_wanted(*range(number, number + 3)))
                    held[who] |= {each.ordinal: each.key for each in claimed.mine}
                case "keep":
                    shares[who].keep([_result(ordinal) for ordinal in held[who]], UsageReport())
                    kept |= held[who].keys()
                    held[who] = {}
                case "die":
                    shares[who].leave()
                    shares[who], held[who] = _entered(store, clock), {}
                case "wait":
                    clock.time += 1.0
                    for share in shares:
                        share.beat()

            assert sum(map(len, held)) == len(set().union(*held))
            assert store.keys() == {ordinal: f"key{ordinal}" for ordinal in sorted(kept)}
