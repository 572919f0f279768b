"""What the process that measures does, done here: journals in, results in the store, each trace once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Evaluation, Models, Question, Trace
from rag_cover.backends import Failure
from rag_cover.errors import StoreError
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.llm.session import LLMSession
from rag_cover.measures import Measure, measure_of
from rag_cover.recording.journal_evaluation import DIED, JournalEvaluation, Orders, Suspect
from rag_cover.recording.sinks import PartWriter
from rag_cover.stores.journals import JournalWriter, find_segments
from rag_cover.stores.store_parts import parts_folder

NO_SUSPECT = Suspect("", 0, 0)


class Heard:
    """Remembers what the host is told."""

    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        self.said.append((kind, dict(facts)))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [facts for each, facts in self.said if each == kind]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


@pytest.fixture
def heard() -> Heard:
    return Heard()


def _words(count: Callable[[Trace], float] = lambda trace: float(len((trace.answer or "").split()))) -> Measure:
    return measure_of(count, name="words")


def _plan(measure: Measure | None = None) -> EvaluationPlan:
    return EvaluationPlan.of([measure or _words()], Models(), LLMSession())


def _journal(store: Path, *ids: str, segment_bytes: int = 4_000_000) -> JournalWriter:
    writer = JournalWriter(store, segment_bytes=segment_bytes)
    _add(writer, *ids)
    return writer


def _add(writer: JournalWriter, *ids: str) -> None:
    for id_ in ids:
        trace = Trace(question=Question(f"Why {id_}?"), answer="Air scatters light.", id=id_)
        writer.append(trace.to_json().encode() + b"\n")


def _measure(
    store: Path, journal: str, heard: Heard, *, plan: EvaluationPlan | None = None, suspect: Suspect = NO_SUSPECT
) -> int:
    over = threading.Event()
    over.set()
    evaluation = JournalEvaluation(plan or _plan(), Orders(str(store), journal, suspect=suspect), heard)
    return evaluation.run(over, patience_s=20)


def _ids(store: Path) -> list[str | None]:
    return [result.trace.id for result in Evaluation.open(store).results]


def test_all_that_is_written_is_measured_and_nothing_of_the_journal_is_left(store: Path, heard: Heard) -> None:
    ids = [f"trace {number}" for number in range(40)]
    writer = _journal(store, *ids, segment_bytes=1500)
    segments = len(find_segments(store))
    writer.close()

    left = _measure(store, writer.name, heard)
    writer.release()

    assert segments > 2
    assert (left, _ids(store)) == (0, ids)
    assert not parts_folder(store).exists()
    assert sum({each["segment"]: each["traces"] for each in heard.of("measured")}.values()) == len(ids)


class Killed(BaseException):
    """Ends whatever runs, as a signal does."""


def test_one_that_is_killed_is_followed_by_one_that_goes_on_where_results_were_kept(store: Path, heard: Heard) -> None:
    ids = [f"trace {number}" for number in range(40)]
    writer = _journal(store, *ids)
    seen: list[str | None] = []

    def count(trace: Trace) -> float:
        seen.append(trace.id)
        if len(seen) == 25:
            raise Killed
        return 1.0

    evaluation = JournalEvaluation(_plan(_words(count)), Orders(str(store), writer.name), heard)
    with pytest.raises(Killed):
        evaluation.run(threading.Event())
    evaluation._release()  # as the system does with a process that is over
    halfway = _ids(store)

    assert _measure(store, writer.name, heard) == 0
    writer.release()

    assert halfway == ids[:16]
    assert _ids(store) == ids


def test_what_a_host_left_that_was_killed_is_measured_beside_the_own_journal(store: Path, heard: Heard) -> None:
    _journal(store, "left 0", "left 1", segment_bytes=100).release()
    writer = _journal(store, "own")

    _measure(store, writer.name, heard)
    writer.release()

    assert sorted(map(str, _ids(store))) == ["left 0", "left 1", "own"]
    assert not parts_folder(store).exists()


def test_the_journal_of_a_living_host_is_left_to_its_own_process(store: Path, heard: Heard) -> None:
    other = _journal(store, "other's")
    writer = _journal(store, "own")

    _measure(store, writer.name, heard)

    assert _ids(store) == ["own"]
    assert len(find_segments(store, other.name)) == 1
    for each in (writer, other):
        each.release()


def test_two_processes_do_not_measure_one_trace_twice(store: Path, heard: Heard) -> None:
    ids = [f"trace {number}" for number in range(60)]
    _journal(store, *ids, segment_bytes=1000).release()

    with_each = [threading.Thread(target=_measure, args=(store, f"nobody's {number}", heard)) for number in range(3)]
    for thread in with_each:
        thread.start()
    for thread in with_each:
        thread.join()

    assert sorted(map(str, _ids(store))) == sorted(ids)


def test_a_trace_on_which_the_process_died_three_times_is_a_failure_and_its_neighbours_are_measured_one_by_one(
    store: Path, heard: Heard
) -> None:
    writer = _journal(store, *(f"trace {number}" for number in range(20)))
    name = find_segments(store)[0].name

    _measure(store, writer.name, heard, suspect=Suspect(name, 0, deaths=3))
    writer.release()

    failures = [result.failures for result in Evaluation.open(store).results]
    assert [each.kind for failed in failures for each in failed.values()] == [DIED]
    assert failures[0]
    assert [each["traces"] for each in heard.of("begun")] == [*range(1, 16), 16]
    assert heard.of("measured")[-1]["failed"] == 1


def test_what_cannot_be_kept_is_measured_again(store: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = _journal(store, "trace")
    add, times = PartWriter.add, iter([True, False])

    def broken(self: PartWriter, results: Sequence[Any], **how: Any) -> None:
        if next(times):
            message = "The store cannot grow: the disk is full"
            raise StoreError(message)
        add(self, results, **how)

    monkeypatch.setattr(PartWriter, "add", broken)

    assert _measure(store, writer.name, heard) == 0
    writer.release()

    assert _ids(store) == ["trace"]
    assert [each["message"] for each in heard.of("failed")] == ["The store cannot grow: the disk is full"]


def test_a_line_that_is_no_trace_is_counted_and_told(store: Path, heard: Heard) -> None:
    writer = _journal(store, "before")
    writer.append(b"{}\n")
    _add(writer, "after")

    _measure(store, writer.name, heard)
    writer.release()

    assert _ids(store) == ["before", "after"]
    assert (heard.of("measured")[-1]["traces"], heard.of("measured")[-1]["unreadable"]) == (3, 1)
    assert [each["where"] for each in heard.of("failed")] == ["reading a trace that waited"]


def test_where_there_is_no_time_left_the_rest_stays(store: Path, heard: Heard) -> None:
    writer = _journal(store, *(f"trace {number}" for number in range(40)))
    over = threading.Event()
    over.set()

    left = JournalEvaluation(_plan(), Orders(str(store), writer.name), heard).run(over, patience_s=0)
    writer.release()

    assert left == 24
    assert len(_ids(store)) == 16
    _measure(store, "the next", heard)
    assert len(_ids(store)) == 40


def test_measures_that_raise_are_failures_of_their_traces(store: Path, heard: Heard) -> None:
    writer = _journal(store, "trace")

    def fails(_: Trace) -> float:
        message = "no"
        raise RuntimeError(message)

    _measure(store, writer.name, heard, plan=_plan(_words(fails)))
    writer.release()

    assert Evaluation.open(store).results[0].failures == {"words": Failure("RuntimeError", "no")}


def test_orders_are_read_as_they_were_written() -> None:
    orders = Orders("/runs/results.sqlite", "host-7-0a", 3, Suspect("host-7-0a-000001.jsonl", 5, 2))

    assert Orders.read(orders.write()) == orders
