from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rag_cover import Evaluation, Models
from rag_cover.errors import StoreError
from rag_cover.recording import Recording
from rag_cover.recording.sinks import RecordingSinks
from rag_cover.recording.worker import Worker
from rag_cover.testing import KeywordEntailer, KeywordScorer
from tests.recording.parts import ask

PATIENCE_S = 20

FORGETFUL = """
from rag_cover.recording import Call, Recording

recording = Recording(store="results.sqlite", traces="traces.jsonl")
for number in range(3):
    call = Call(f"root-{number}", "question", "Engine", query=f"Why is sky {number} blue?", answer="Air scatters blue light.")
    recording.gathering.begin(call.id, None, call)
    recording.gathering.settle(call.id)
"""


@pytest.mark.slow
def test_what_waits_is_measured_where_somebody_forgets_to_close(tmp_path: Path) -> None:
    pytest.importorskip("rag_cover_embedded.judge")

    done = subprocess.run([sys.executable, "-c", FORGETFUL], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    kept = Evaluation.open(tmp_path / "results.sqlite")
    assert [dict(result.failures) for result in kept.results] == [{}, {}, {}]
    assert len((tmp_path / "traces.jsonl").read_text().splitlines()) == 3


UNFINISHED = """
import time
from rag_cover import measure_of
from rag_cover.recording import Call, Recording, shutdown

def words(trace):
    time.sleep(0.5)
    return float(len(trace.answer.split()))

shutdown._PATIENCE_S = 0.2
recording = Recording(measures=[measure_of(words, name="words")])
for number in range(40):
    call = Call(f"root-{number}", "question", "Engine", query=f"Why is sky {number} blue?", answer="Air scatters blue light.")
    recording.gathering.begin(call.id, None, call)
    recording.gathering.settle(call.id)
"""


@pytest.mark.slow
def test_a_process_that_ends_before_all_is_measured_says_how_much_was_not() -> None:
    done = subprocess.run([sys.executable, "-c", UNFINISHED], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0
    assert re.match(r"\d+ answers were not measured: there was no time left", done.stderr)


def test_a_store_that_cannot_be_closed_does_not_hide_what_went_wrong_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: RecordingSinks) -> None:
        message = "the store is locked"
        raise StoreError(message)

    monkeypatch.setattr(RecordingSinks, "close", broken)
    models = Models(judge=KeywordScorer(), entailer=KeywordEntailer())

    recording = Recording(measures=["coverage"], models=models, store=tmp_path / "results.sqlite")

    def fails() -> None:
        with recording:
            ask(recording)
            message = "the user's own"
            raise KeyError(message)

    with pytest.raises(KeyError, match="the user's own"):
        fails()

    assert [error.message for error in recording.errors] == ["closing what is kept: the store is locked"]


def test_an_interrupt_while_it_is_closed_leaves_what_waits_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    recording = Recording(measures=(), models=Models(judge=KeywordScorer()))
    monkeypatch.setattr(Worker, "flush", interrupted)
    ask(recording)

    with pytest.raises(KeyboardInterrupt):
        recording.close()

    monkeypatch.undo()
    assert recording.flush(PATIENCE_S)
    assert recording.counts.recorded == 1


FORKED = """
import os, warnings
warnings.simplefilter("ignore")  # a process with threads that forks is warned; that is what happens here
from rag_cover import Models
from rag_cover.testing import KeywordScorer
from rag_cover.recording import Call, Recording

recording = Recording(measures=["coverage"], models=Models(judge=KeywordScorer()))

def ask(name):
    call = Call(name, "question", "Engine", query="Why is the sky blue?", answer="Air scatters blue light.")
    recording.gathering.begin(call.id, None, call)
    recording.gathering.settle(call.id)

ask("before")
recording.flush()
if os.fork() == 0:
    ask("in the child")
    print(recording.flush(20), recording.counts.measured, flush=True)
    os._exit(0)
os.wait()
recording.close()
print(recording.counts.measured)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_that_was_forked_goes_on_recording() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["True 1", "1"]
