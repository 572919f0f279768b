"""Recordings of several processes into one store: each writes a part of its own, and opening the store shows them all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from rag_cover import Evaluation, Question, Store, Trace
from rag_cover.errors import StoreError
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.recording.sinks import PartWriter
from rag_cover.redaction import Redaction
from rag_cover.stores.locks import hold
from rag_cover.stores.store_parts import make_parts_folder

PATIENCE_S = 20

_RECORD = """
import sys, time
from rag_cover import Models
from rag_cover.recording import Call, Recording
from rag_cover.testing import KeywordScorer

recording = Recording(measures=["coverage"], models=Models(judge=KeywordScorer()), store=sys.argv[1])
for number in range(50):
    name = f"{sys.argv[2]} {number}"
    with recording.question(id=name):
        call = Call(name, "question", "Engine", query="Why is the sky blue?", answer="Air scatters blue light.")
        recording.gathering.begin(call.id, None, call, recording.asked)
        recording.gathering.settle(call.id)
    if number % 10 == 9 or sys.argv[3] == "each":
        assert recording.flush(60)
        assert not recording.errors, recording.errors
        print(name, flush=True)
if sys.argv[3] == "stay":
    time.sleep(300)
recording.close()
assert not recording.errors, recording.errors
"""


def _result(text: str) -> tuple[str, TraceResult]:
    return f"key of {text}", TraceResult(Trace(question=Question(text), id=text), {"coverage": NotApplicable("no answer")})


def _writer(path: Path, measures: Sequence[str] = ("coverage",), redaction: Redaction | None = None) -> PartWriter:
    return PartWriter(path, measures=measures, seed=0, redaction=redaction)


def _add(writer: PartWriter, *texts: str) -> None:
    writer.add([_result(text) for text in texts], judged_by={"judge": "me"})


def _ids(results: Sequence[TraceResult]) -> list[str | None]:
    return [result.trace.id for result in results]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


@pytest.fixture
def live(path: Path) -> Iterator[PartWriter]:
    """A recording that goes on."""
    writer = _writer(path)
    _add(writer, "First?")
    yield writer
    writer.close()


@pytest.mark.slow
def test_four_processes_record_into_one_store_and_whatever_was_acknowledged_is_there(path: Path) -> None:
    acknowledged: set[str] = set()
    with ExitStack() as stack:
        runs = {
            name: stack.enter_context(
                subprocess.Popen([sys.executable, "-c", _RECORD, str(path), name, how], stdout=subprocess.PIPE, text=True)
            )
            for name, how in (("closed", "close"), ("also closed", "close"), ("living", "stay"), ("killed", "each"))
        }
        for name, run in runs.items():
            assert run.stdout is not None
            for line in run.stdout:
                number = int(line.split()[-1])
                acknowledged |= {f"{name} {each}" for each in range(number + 1)}
                if name == "killed" and number == 22:
                    run.kill()
                if name == "living" and number == 49:
                    break
        for name in ("closed", "also closed", "killed"):
            runs[name].wait()

        seen = _ids(Evaluation.open(path).results)
        again = _ids(Evaluation.open(path).results)
        parts = list(path.with_name("results.sqlite.parts").glob("*.sqlite"))
        runs["living"].kill()

    assert acknowledged <= set(seen)
    assert len(acknowledged) >= 173
    assert len(seen) == len(set(seen)) <= 200
    assert again == seen
    assert [f"-{runs['living'].pid}-" in part.name for part in parts] == [True]
    assert _ids(Evaluation.open(path).results) == seen
    assert not path.with_name("results.sqlite.parts").exists()


def test_a_living_recordings_results_are_merged_as_they_come_each_once(path: Path, live: PartWriter) -> None:
    first = Evaluation.open(path)
    _add(live, "Second?")
    second = Evaluation.open(path)
    _add(live, "Third?")
    live.close()

    assert (_ids(second.results)[:2], first.judge, first.measures) == (["First?", "Second?"], "me", ("coverage",))
    assert _ids(Evaluation.open(path).results) == ["First?", "Second?", "Third?"]
    assert not path.with_name("results.sqlite.parts").exists()


def test_what_cannot_be_merged_while_another_process_writes_is_read_all_the_same(path: Path, live: PartWriter) -> None:
    Evaluation.open(path)
    _add(live, "Second?", "Third?")

    with hold(path):
        read = Evaluation.open(path).results
        stored = Store(path).rows("SELECT COUNT(*) FROM results")
    merged = Evaluation.open(path).results

    assert stored == [(1,)]
    assert _ids(read) == _ids(merged) == ["First?", "Second?", "Third?"]
    assert (len(read), read[-1], list(read[1:]), list(read[::-2])) == (3, merged[2], list(merged[1:]), list(merged[::-2]))


def test_a_store_that_is_full_is_read_with_its_parts(path: Path, live: PartWriter) -> None:
    with Store(path) as store:
        store.rows("PRAGMA max_page_count = 1")
        _add(live, *(f"Question {number}?" * 50 for number in range(300)))

        store.merge_parts()

        assert len(store) == len(store.results()) == 301
        assert store.rows("SELECT COUNT(*) FROM results") == [(1,)]
        store.rows("PRAGMA max_page_count = 100000")
        store.merge_parts()
        assert store.rows("SELECT COUNT(*) FROM results") == [(301,)]
        assert len(store) == 301


def test_what_a_process_that_died_at_once_left_is_cleared_away(path: Path) -> None:
    _writer(path).close()
    folder = make_parts_folder(path)
    for name in ("host-1-00.sqlite", "host-1-00.sqlite.lock", "host-1-00.sqlite-wal"):
        (folder / name).touch()

    with Store(path) as store:
        assert len(store) == 0
    assert not folder.exists()


def test_a_part_that_is_damaged_is_told_by_its_name(path: Path) -> None:
    _writer(path).close()
    (make_parts_folder(path) / "host-1-00.sqlite").write_bytes(b"no database" * 100)

    with pytest.raises(StoreError, match=r"results\.sqlite\.parts/host-1-00\.sqlite is not a store"):
        Evaluation.open(path)


def test_a_part_of_another_judge_is_refused_and_left_as_it_is(path: Path, live: PartWriter) -> None:
    with Store(path, create=False) as store:
        store.meta["evaluation"] = {"judge": "you", "measures": ["coverage"], "seed": 0}

        with pytest.raises(StoreError, match="judge: you, not me"):
            _add(live, "Second?")
        with store.transaction() as connection:
            connection.execute("DELETE FROM results")
            connection.execute("DELETE FROM parts")

        with pytest.raises(StoreError, match="was recorded by other measures or another judge than the results of"):
            store.merge_parts()
        store.meta["evaluation"] = {"judge": "me", "measures": ["coverage"], "seed": 0}
        store.merge_parts()
        assert _ids(store.results()) == ["First?"]


def test_a_folder_that_cannot_be_written_is_told_at_the_start(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened; check that its folder exists and is writable"):
        _writer(tmp_path / "none" / "results.sqlite")
    path.with_name("results.sqlite.parts").touch()
    with pytest.raises(StoreError, match=r"results\.sqlite\.parts cannot be made"):
        _writer(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="every folder is writable to root")
def test_a_folder_that_may_only_be_read_is_told_at_the_start(tmp_path: Path, path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="check"):
            _writer(path)
    finally:
        tmp_path.chmod(0o700)


_PREFORK = """
import os, sys
from rag_cover import Question, Trace
from rag_cover.measures import TraceResult
from rag_cover.recording.sinks import PartWriter

def add(writer, text):
    writer.add([(text, TraceResult(Trace(question=Question(text), id=text)))], judged_by={"judge": "me"})

from pathlib import Path
writer = PartWriter(Path(sys.argv[1]), measures=["coverage"], seed=0)
add(writer, "parent 0")
children = []
for child in range(3):
    if not (pid := os.fork()):
        add(writer, f"child {child}")
        if child:
            writer.close()
        os._exit(0)
    children.append(pid)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
add(writer, "parent 1")
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_processes_that_are_forked_off_write_parts_of_their_own(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _PREFORK, str(path)], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (-9, "")
    parts, latest = path.with_name("results.sqlite.parts"), time.monotonic() + PATIENCE_S
    while True:
        ids = sorted(map(str, _ids(Evaluation.open(path).results)))
        if not parts.exists() or time.monotonic() > latest:  # a busy system may hold a dead process's files for a moment
            break
    assert ids == ["child 0", "child 1", "child 2", "parent 0", "parent 1"]
    assert not parts.exists()
