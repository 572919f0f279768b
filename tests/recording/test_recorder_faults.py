"""What goes wrong in a recording is counted, kept and said; whoever answers questions never notices."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Models
from rag_cover.backends import ScoringItem
from rag_cover.errors import StoreError
from rag_cover.hooks import hook
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import plugins
from rag_cover.recording import Recording, RecordingCounts
from rag_cover.stores import Store, read_traces
from rag_cover.testing import KeywordEntailer, KeywordScorer
from tests.recording.parts import QUESTION, ask, begun

PATIENCE_S = 20
MODELS = Models(judge=KeywordScorer(), entailer=KeywordEntailer())


@dataclass(frozen=True)
class SlowScorer:
    """Scores when its gate is opened."""

    gate: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)
    threshold: float = 0.5
    fingerprint: str = "testing:slow-scorer"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.reached.set()
        assert self.gate.wait(PATIENCE_S)
        return np.ones(len(items), dtype=np.float32)


@dataclass(frozen=True)
class BrokenScorer:
    """Cannot judge one of the answers."""

    threshold: float = 0.5
    fingerprint: str = "testing:broken-scorer"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("poison" in item.text for item in items):
            message = "the judge choked"
            raise ZeroDivisionError(message)
        return np.ones(len(items), dtype=np.float32)


class FullDisk:
    """A file that can be written to no more."""

    def write(self, _: bytes) -> int:
        raise OSError(28, "No space left on device")

    def close(self) -> None: ...


@pytest.fixture
def slow() -> Iterator[SlowScorer]:
    scorer = SlowScorer()
    yield scorer
    scorer.gate.set()


def test_close_in_no_time_records_the_rest_unmeasured(slow: SlowScorer, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    recording = Recording(measures=["coverage"], models=Models(judge=slow), traces=path)
    with recording.question(sub_questions=[QUESTION]):
        ask(recording, "first?")
        assert slow.reached.wait(PATIENCE_S)
        for number in range(30):
            ask(recording, f"question {number}")

    recording.close(timeout_s=0)

    assert recording.counts == RecordingCounts(begun=31, waiting=1, recorded=30)
    assert len(tuple(read_traces(path))) == 31
    slow.gate.set()
    assert recording.flush(PATIENCE_S)
    assert recording.counts == RecordingCounts(begun=31, measured=1, recorded=30)


def test_what_is_measured_after_the_store_was_closed_stays_in_memory_and_is_said(slow: SlowScorer, tmp_path: Path) -> None:
    recording = Recording(measures=["coverage"], models=Models(judge=slow), store=tmp_path / "results.sqlite")
    with recording.question(sub_questions=[QUESTION]):
        ask(recording)
    assert slow.reached.wait(PATIENCE_S)

    recording.close(timeout_s=0)
    slow.gate.set()

    assert recording.flush(PATIENCE_S)
    assert len(recording.results) == recording.counts.measured == 1
    (error,) = recording.errors
    assert error.kind == "StoreError"


def test_a_queue_that_is_full_drops_questions_without_waiting(slow: SlowScorer, caplog: pytest.LogCaptureFixture) -> None:
    recording = Recording(measures=["coverage"], models=Models(judge=slow), capacity=2)
    with caplog.at_level(logging.WARNING, "rag_cover.recording"), recording.question(sub_questions=[QUESTION]):
        ask(recording)
        assert slow.reached.wait(PATIENCE_S)
        for _ in range(5):
            ask(recording)

    assert recording.counts == RecordingCounts(begun=6, waiting=3, dropped=3)
    assert [record.message.split(":")[0] for record in caplog.records] == ["traces are dropped"]
    slow.gate.set()
    recording.close()
    assert recording.counts == RecordingCounts(begun=6, measured=3, dropped=3)


def test_a_judge_that_raises_costs_one_trace_its_result() -> None:
    with Recording(measures=["coverage"], models=Models(judge=BrokenScorer())) as recording:
        with recording.question(sub_questions=[QUESTION]):
            for answer in ("fine", "poison", "fine again"):
                ask(recording, answer=answer)
        assert recording.flush(PATIENCE_S)

        assert recording.counts == RecordingCounts(begun=3, measured=3, failed=1)
        failures = [dict(result.failures) for result in recording.results]
        assert [list(each) for each in failures] == [[], ["coverage"], []]
        assert (failures[1]["coverage"].kind, failures[1]["coverage"].message) == ("ZeroDivisionError", "the judge choked")


def test_models_that_cannot_be_opened_leave_the_traces_and_say_so() -> None:
    with Recording(models=Models(judge="embedded:no/such/folder")) as recording:
        for _ in range(3):
            ask(recording)
            recording.flush(PATIENCE_S)

        assert recording.counts == RecordingCounts(begun=3, unmeasured=3)
        assert len(recording.traces) == 3
        assert {error.kind for error in recording.errors} == {"InvalidValueError"}
        assert "measuring: there is no folder no/such/folder with a judge" in recording.errors[0].message


def test_a_disk_that_is_full_costs_the_file_a_line_and_the_trace_is_measured(tmp_path: Path) -> None:
    with Recording(measures=["groundedness"], models=MODELS, traces=tmp_path / "traces.jsonl") as recording:
        opened = recording._keeping._file
        recording._keeping._file = cast("BinaryIO", FullDisk())
        ask(recording)
        assert recording.flush(PATIENCE_S)
        assert opened is not None
        opened.close()

        assert recording.counts == RecordingCounts(begun=1, measured=1)
        assert ["No space left on device" in error.message for error in recording.errors] == [True]


def test_a_store_that_breaks_costs_what_it_would_have_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        message = "The store cannot be used: disk I/O error."
        raise StoreError(message)

    with Recording(measures=["groundedness"], models=MODELS, store=tmp_path / "results.sqlite") as recording:
        monkeypatch.setattr(Store, "extend", broken)
        ask(recording)
        assert recording.flush(PATIENCE_S)

        assert (len(recording.results), recording.counts.measured) == (1, 1)
        assert [error.message for error in recording.errors] == ["keeping results: The store cannot be used: disk I/O error."]


def test_whoever_is_told_may_raise() -> None:
    def raising(_: TraceResult) -> None:
        message = "not my day"
        raise KeyError(message)

    with Recording(measures=["groundedness"], models=MODELS, on_result=raising) as recording:
        for _ in range(2):
            ask(recording)
        assert recording.flush(PATIENCE_S)

        assert recording.counts.measured == len(recording.results) == len(recording.errors) == 2
        assert "telling of a result" in recording.errors[0].message


def test_a_plugin_that_watches_may_raise() -> None:
    class Watcher:
        @hook
        def on_result(self, result: TraceResult) -> None:
            raise LookupError(result.trace.question.text)

    heard: list[TraceResult] = []
    watcher = Watcher()
    plugins().register(watcher)
    try:
        with Recording(measures=["groundedness"], models=MODELS, on_result=heard.append) as recording:
            ask(recording)
    finally:
        plugins().unregister(watcher)

    assert [error.kind for error in recording.errors] == ["LookupError"]
    assert len(heard) == recording.counts.measured == 1


def test_a_question_without_words_makes_no_trace_and_is_counted() -> None:
    with Recording(measures=()) as recording:
        ask(recording, " ")
        ask(recording)
        assert recording.flush(PATIENCE_S)

        assert recording.counts == RecordingCounts(begun=2, unreadable=1, recorded=1)
        assert "no question was recorded" in recording.errors[0].message


def test_a_question_of_too_many_calls_is_left_out_whole() -> None:
    with Recording(measures=()) as recording:
        recording.gathering._most_calls = 10
        engine = begun(recording, "question", name="Looping", query=QUESTION)
        for _ in range(20):
            recording.gathering.settle(begun(recording, "retriever", parent=engine.id, query=QUESTION).id)
        recording.gathering.settle(engine.id)
        assert recording.flush(PATIENCE_S)

        assert (recording.traces, recording.counts.unreadable, recording.counts.lost) == ((), 1, 1)
        assert "one question (Looping) made more than 10 calls" in recording.errors[0].message


def test_closing_from_whoever_is_told_does_not_deadlock() -> None:
    recording = Recording(measures=["groundedness"], models=MODELS, on_result=lambda _: recording.close())
    ask(recording)

    assert recording.flush(PATIENCE_S)
    assert recording.counts.measured == 1


def test_errors_are_kept_up_to_a_thousand() -> None:
    with Recording(measures=()) as recording:
        for number in range(1100):
            recording.fail(ValueError(str(number)), "counting")

        assert (len(recording.errors), recording.errors[-1].message) == (1000, "counting: 1099")


def test_what_goes_wrong_again_and_again_is_warned_of_less_and_less(caplog: pytest.LogCaptureFixture) -> None:
    recording = Recording(measures=())
    caplog.clear()

    with caplog.at_level(logging.WARNING, "rag_cover.recording"):
        for number in range(150):
            recording.fail(ValueError(f"number {number}"), "noting a chain")
        recording.fail(KeyError("other"), "noting a chain")

    assert [record.message for record in caplog.records] == [
        "noting a chain: ValueError: number 0",
        "noting a chain: ValueError: number 9 (10 times by now)",
        "noting a chain: ValueError: number 99 (100 times by now)",
        "noting a chain: KeyError: 'other'",
    ]
    assert len(recording.errors) == 151
