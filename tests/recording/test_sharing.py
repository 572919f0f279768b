"""Recordings of equal options share a thread, and those that nobody holds are gone."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import pytest

from rag_cover import Evaluation, Models
from rag_cover.recording import Recording
from rag_cover.recording.worker import WorkerThread
from rag_cover.testing import KeywordEntailer, KeywordScorer
from tests.recording.parts import ask

PATIENCE_S = 20
MODELS = Models(judge=KeywordScorer(), entailer=KeywordEntailer())


def test_recordings_of_equal_options_share_a_thread_and_others_do_not() -> None:
    other = Models(judge=KeywordScorer(), entailer=KeywordEntailer())

    made = [Recording(measures=["coverage"], models=models) for models in (MODELS, MODELS, other)]
    made.append(Recording(measures=["coverage", "groundedness"], models=MODELS))

    threads = [recording._worker.shared for recording in made]
    assert threads[0] is threads[1]
    assert len(set(threads)) == 3
    for recording in made:
        recording.close()


def test_recordings_that_nobody_closes_leave_the_number_of_threads_flat() -> None:
    before = threading.active_count()

    for _ in range(200):
        ask(Recording(measures=["coverage"], models=MODELS))

    assert threading.active_count() <= before + 1


@pytest.mark.slow
def test_a_recording_that_nobody_holds_is_measured_and_gone(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    results: list[object] = []
    done = threading.Event()

    def take(result: object) -> None:
        results.append(result)
        done.set()

    recording = Recording(measures=["coverage"], models=MODELS, store=path, on_result=take)
    ask(recording)
    gone, thread = weakref.ref(recording), recording._worker.shared
    del recording

    assert done.wait(PATIENCE_S)
    until_idle(thread)
    gc.collect()
    assert gone() is None
    until_idle(thread)
    assert len(Evaluation.open(path).results) == len(results) == 1


def test_closing_one_recording_leaves_the_others_their_thread() -> None:
    one, other = (Recording(measures=["coverage"], models=MODELS) for _ in range(2))
    ask(one)

    one.close()
    ask(other)

    assert other.flush(PATIENCE_S)
    assert (one.counts.measured, other.counts.measured) == (1, 1)
    other.close()


def until_idle(thread: WorkerThread) -> None:
    """Wait until the thread is through with what it does."""
    through = threading.Event()
    thread.run_later(through.set)
    assert through.wait(PATIENCE_S)
