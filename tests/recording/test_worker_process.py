"""Recordings whose traces a process of its own measures."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Evaluation, Models, Trace
from rag_cover.errors import InvalidValueError, StoreError
from rag_cover.measures import Measure, measure_of
from rag_cover.recording import Recording, worker_process
from rag_cover.recording.worker_process import WorkerProcess
from rag_cover.stores.journals import JournalWriter
from rag_cover.testing import KeywordScorer
from tests.recording.parts import ask

PATIENCE_S = 60

COUNTING = """
import os
from pathlib import Path
from rag_cover.measures import measure_of

HERE = Path(__file__).parent
if (HERE / "unusable").exists():
    os._exit(3)

def count(trace):
    if trace.question.text == "Deadly?":
        os._exit(4)
    return float(len(trace.answer.split()))

MEASURE = measure_of(count, name="words")
"""


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """A measure in a module that another process can import."""
    (tmp_path / "counting.py").write_text(COUNTING)
    monkeypatch.syspath_prepend(tmp_path)
    measure: Measure = import_module("counting").MEASURE
    yield measure
    del sys.modules["counting"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


def _recording(measure: Measure, store: Path, **options: Any) -> Recording:
    return Recording(measures=[measure], store=store, measuring="process", **options)


def _ids(store: Path) -> list[str | None]:
    return [result.trace.id for result in Evaluation.open(store).results]


def _process_of(recording: Recording) -> int:
    assert recording._process is not None
    assert recording._process._process is not None
    return recording._process._process.pid


@pytest.mark.slow
def test_a_process_measures_what_is_recorded_and_closing_waits_for_it(measure: Measure, store: Path) -> None:
    with _recording(measure, store, traces=store.with_name("traces.jsonl")) as recording:
        asked = [ask(recording, f"Why {number}?") for number in range(40)]
        process = _process_of(recording) if recording.flush(PATIENCE_S) else 0
        counts = recording.counts
        on_disk = len(store.with_name("traces.jsonl").read_text().splitlines())

    results = Evaluation.open(store).results
    assert (counts.measured, counts.waiting, counts.lost, counts.process_deaths) == (40, 0, 0, 0)
    assert ([result.trace.id for result in results], on_disk) == (asked, 40)
    assert [result.trace for result in results] == list(recording.traces)
    assert results[0].measured["words"].values == {"value": 4.0}
    assert recording.errors == ()
    assert not store.with_name("results.sqlite.parts").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals")
@pytest.mark.slow
def test_a_process_that_is_killed_is_begun_again_and_nothing_is_lost_or_double(
    measure: Measure, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with _recording(measure, store) as recording:
        recording.open_models()
        asked = [ask(recording, f"Why {number}?") for number in range(30)]
        os.kill(_process_of(recording), signal.SIGKILL)
        asked += [ask(recording, f"Why {number}?") for number in range(30, 60)]
        assert recording.flush(PATIENCE_S)
        counts = recording.counts

    assert _ids(store) == asked
    assert (counts.measured, counts.process_deaths) == (60, 1)
    told = "the process that measures was ended by SIGKILL; it is begun again, and goes on where it was"
    assert [error.message for error in recording.errors] == [f"measuring: {told}"]
    assert told in caplog.text


@pytest.mark.slow
def test_a_trace_that_ends_the_process_fails_and_all_others_are_measured(measure: Measure, store: Path) -> None:
    with _recording(measure, store) as recording:
        for text in ("First?", "Deadly?", "Last?"):
            ask(recording, text)
        assert recording.flush(PATIENCE_S)
        counts = recording.counts

    failures = {result.trace.question.text: list(result.failures) for result in Evaluation.open(store).results}
    assert failures == {"First?": [], "Deadly?": ["words"], "Last?": []}
    assert (counts.measured, counts.failed, counts.process_deaths) == (3, 1, 4)
    assert {error.message.partition(";")[0] for error in recording.errors} == {
        "measuring: the process that measures ended with status 4"
    }


@pytest.mark.slow
def test_a_process_that_cannot_begin_is_given_up_and_what_waits_is_left_to_the_next_recording(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_process, "_MOST_DEATHS", 2)
    unusable = store.with_name("unusable")
    unusable.touch()
    with _recording(measure, store) as recording:
        asked = [ask(recording), ask(recording)]
        flushed = recording.flush(PATIENCE_S)
        counts = recording.counts
    unusable.unlink()

    assert (flushed, counts.waiting, counts.measured, counts.process_deaths) == (False, 2, 0, 2)
    assert "2 times by now without having measured anything: it is not begun again" in recording.errors[-1].message
    assert "2 answers were not measured when the recording was closed: they wait at" in caplog.text

    with _recording(measure, store) as following:
        following.open_models()
    assert _ids(store) == asked
    assert following.errors == ()


@pytest.mark.slow
def test_a_recording_that_nobody_holds_is_measured_and_gone(measure: Measure, store: Path) -> None:
    recording = _recording(measure, store)
    recording.open_models()
    asked = ask(recording)
    gone, process = weakref.ref(recording), recording._process
    del recording
    gc.collect()

    assert gone() is None
    assert process is not None
    assert process._watcher is not None
    process._watcher.join(PATIENCE_S)
    assert not process._watcher.is_alive()
    assert _ids(store) == [asked]


@pytest.mark.slow
def test_more_than_may_wait_is_dropped_and_counted(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_process, "_MOST_DEATHS", 1)
    store.with_name("unusable").touch()  # so that nothing is measured meanwhile
    recording = _recording(measure, store, capacity=3)

    for _ in range(5):
        ask(recording)

    assert (recording.counts.waiting, recording.counts.dropped, recording.counts.lost) == (3, 2, 2)
    assert "traces are dropped" in caplog.text
    recording.close(PATIENCE_S)


HOST = """
import os, sys, time, warnings
warnings.simplefilter("ignore")  # a process with threads that forks is warned; that is what happens here
import counting
from rag_cover.recording import Call, Recording

recording = Recording(measures=[counting.MEASURE], store="results.sqlite", measuring="process")

def ask(name):
    with recording.question(id=name):
        call = Call(name, "question", "Engine", query="Why is the sky blue?", answer="Air scatters blue light.")
        recording.gathering.begin(call.id, None, call, recording.asked)
        recording.gathering.settle(call.id)
"""

KILLED = (
    HOST
    + """
for number in range(10_000):
    ask(f"{sys.argv[1]} {number}")
    print(f"{sys.argv[1]} {number}", flush=True)
    time.sleep(0.002)
"""
)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals")
@pytest.mark.slow
def test_hosts_that_are_killed_and_begun_again_lose_nothing_that_was_answered_and_double_nothing(
    measure: Measure, store: Path
) -> None:
    answered: list[str] = []
    for host, kill in (("first", os.kill), ("second", os.killpg), ("third", os.killpg), ("fourth", os.kill)):
        begun = [sys.executable, "-c", KILLED, host]
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
        with subprocess.Popen(begun, cwd=store.parent, **how) as running:
            assert running.stdout is not None
            for line in running.stdout:
                answered.append(line.strip())
                if line.split()[-1] == "600":
                    kill(running.pid, signal.SIGKILL)  # in the group is the process that measures, too

    with _recording(measure, store) as recording:
        recording.open_models()

    times = Counter(_ids(store))
    assert len(answered) >= 2400
    assert [name for name in answered if times[name] != 1] == []
    assert max(times.values()) == 1
    assert len(times) <= len(answered) + 4  # each may have been killed between writing and saying so
    parts, latest = store.with_name("results.sqlite.parts"), time.monotonic() + PATIENCE_S
    while parts.exists() and time.monotonic() < latest:  # the process of the fourth host may be ending yet
        time.sleep(0.05)
    assert not parts.exists()


FORKING = (
    HOST
    + """
ask("parent before")
children = []
for child in range(2):
    if not (pid := os.fork()):
        ask(f"child {child}")
        flushed = recording.flush(60)
        measured = recording.counts.measured
        recording.close()
        os._exit(0 if (flushed, measured) == (True, 1) else 1)
    children.append(pid)
ask("parent after")
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
recording.close()
print(recording.counts.measured)
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.slow
@pytest.mark.usefixtures("measure")
def test_a_process_that_is_forked_off_has_its_traces_measured_by_a_process_of_its_own(store: Path) -> None:
    begun = [sys.executable, "-c", FORKING]
    done = subprocess.run(begun, cwd=store.parent, capture_output=True, text=True, check=False, timeout=120)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", "2\n")
    assert sorted(map(str, _ids(store))) == ["child 0", "child 1", "parent after", "parent before"]
    assert not store.with_name("results.sqlite.parts").exists()


PREFORK = (
    HOST
    + """
if not os.fork():
    time.sleep(60)
    os._exit(0)
ask("parent")
print(recording._process._process.pid if recording.flush(60) else "", flush=True)
time.sleep(60)
"""
)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.slow
@pytest.mark.usefixtures("measure")
def test_the_process_ends_with_its_host_though_a_fork_of_that_lives(store: Path) -> None:
    begun = [sys.executable, "-c", PREFORK]
    with subprocess.Popen(begun, cwd=store.parent, stdout=subprocess.PIPE, text=True, start_new_session=True) as host:
        assert host.stdout is not None
        process = int(host.stdout.readline())
        host.kill()
        host.wait()
        try:
            _wait_until_gone(process)
        finally:
            os.killpg(host.pid, signal.SIGKILL)

    assert _ids(store) == ["parent"]


def _wait_until_gone(process: int) -> None:
    status = Path(f"/proc/{process}/stat")
    for _ in range(300):
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.1)
    pytest.fail(f"process {process} lives on")


def test_results_are_in_the_store_alone(measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkerProcess, "begin", lambda _: None)

    with _recording(measure, store) as recording:
        for what in (
            lambda: recording.results,
            lambda: recording.evaluation,
            lambda: recording.send_scores(lambda *_: None),
        ):
            with pytest.raises(InvalidValueError, match="rag_cover.Evaluation.open"):
                what()


def _count(trace: Trace) -> float:
    return float(len(trace.answer or ""))


class _Local(KeywordScorer):
    def __reduce__(self) -> Any:
        message = "it has a connection"
        raise TypeError(message)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"measuring": "proces"}, "measuring is 'proces'; it is 'thread' or 'process'. Did you mean 'process'"),
        ({"measuring": None}, "measuring is None; it is 'thread' or 'process'"),
        ({"store": None}, "keeps results in a store, and none is named"),
        ({"measures": [], "store": None}, "keeps results in a store, and none is named"),
        ({"redact": True}, "keeps the texts of traces in files until they are measured"),
        ({"on_result": print}, "measures where on_result cannot be called"),
        ({"measures": [measure_of(lambda _: 1.0, name="own")]}, "The measure 'own' cannot be sent to another process"),
        ({"measures": ["coverage"], "models": Models(judge=_Local())}, "The model given as judge cannot be sent"),
    ],
)
def test_what_a_process_cannot_do_is_refused_with_what_to_do(store: Path, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        Recording(**{"store": store, "measures": ["coverage"], "measuring": "process", **options})

    assert not store.exists()


def test_what_is_defined_in_the_program_itself_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_count, "__module__", "__main__")

    with pytest.raises(InvalidValueError, match="defined in the program that runs, not in a module"):
        _recording(measure_of(_count, name="own"), store)


def test_a_second_recording_into_the_same_store_is_refused_until_the_first_is_closed(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "begin", lambda _: None)
    first = _recording(measure, store)

    with pytest.raises(InvalidValueError, match="attach once, and use that recording, or close it before"):
        _recording(measure, store)

    first.close(PATIENCE_S)
    _recording(measure, store).close(PATIENCE_S)


def test_a_thread_does_not_measure_what_waits_for_a_process_and_says_so(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_process, "_MOST_DEATHS", 1)
    store.with_name("unusable").touch()
    with _recording(measure, store) as recording:
        ask(recording)
    caplog.clear()

    Recording(measures=[measure], store=store).close()

    assert "to be measured: record with measuring='process'" in caplog.text


def test_a_store_of_other_measures_is_refused_at_the_start(measure: Measure, store: Path) -> None:
    with Recording(measures=["groundedness"], models=Models(judge=KeywordScorer()), store=store) as other:
        ask(other)

    with pytest.raises(StoreError, match="holds results of another kind"):
        _recording(measure, store)


@pytest.mark.slow
def test_a_trace_that_cannot_be_written_is_dropped_told_and_counted(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        message = "No space left on device"
        raise OSError(message)

    with _recording(measure, store) as recording, caplog.at_level(logging.WARNING):
        monkeypatch.setattr(JournalWriter, "append", full)
        ask(recording)
        assert recording.counts.dropped == 1

    assert [error.message for error in recording.errors] == ["writing a trace to be measured: No space left on device"]


def test_a_process_that_cannot_be_begun_is_tried_again_and_then_given_up(
    measure: Measure, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        message = "half of a module"
        raise ImportError(message)

    monkeypatch.setattr(worker_process, "get_executable", broken)
    monkeypatch.setattr(worker_process, "_PAUSE_S", 0.001)
    recording = _recording(measure, store)
    ask(recording)

    assert not recording.flush(PATIENCE_S)
    recording.close(PATIENCE_S)
    told = [error.message for error in recording.errors]
    assert "the process that measures cannot be begun: half of a module; it is begun again" in told[0]
    assert any("it is not begun again" in each for each in told)
