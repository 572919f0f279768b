from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rag_cover import Evaluation, Models, Question, Trace, read_traces
from rag_cover.errors import InputError, InvalidValueError, StoreError
from rag_cover.measures import TraceResult
from rag_cover.recording import Recording
from rag_cover.recording.sinks import RecordingSinks
from rag_cover.testing import KeywordScorer


def _result(text: str) -> tuple[str, TraceResult]:
    return f"key of {text}", TraceResult(Trace(question=Question(text), id=text))


def test_a_later_recording_goes_on_with_the_files_of_an_earlier_one(tmp_path: Path) -> None:
    for text in ("First?", "Second?"):
        keeping = RecordingSinks(tmp_path / "traces.jsonl", tmp_path / "results.sqlite", measures=["coverage"], seed=0)
        keeping.add_trace(Trace(question=Question(text), id=text))
        keeping.add_results([_result(text)], judged_by={"judge": "me"})
        keeping.close()

    kept = Evaluation.open(tmp_path / "results.sqlite")
    assert [trace.id for trace in read_traces(tmp_path / "traces.jsonl")] == ["First?", "Second?"]
    assert [result.trace.id for result in kept.results] == ["First?", "Second?"]
    assert (kept.judge, kept.measures) == ("me", ("coverage",))


def test_two_recordings_into_one_store_lose_nothing(tmp_path: Path) -> None:
    keepings = [RecordingSinks(None, tmp_path / "results.sqlite", measures=["coverage"], seed=0) for _ in range(2)]

    for text in ("First?", "Second?"):
        for number, keeping in enumerate(keepings):
            keeping.add_results([_result(f"{text} {number}")], judged_by={"judge": "me"})
    for keeping in keepings:
        keeping.close()

    kept = Evaluation.open(tmp_path / "results.sqlite").results
    ids = [result.trace.id for result in kept]
    assert sorted(map(str, ids)) == ["First? 0", "First? 1", "Second? 0", "Second? 1"]
    assert all(ids.index(f"First? {number}") < ids.index(f"Second? {number}") for number in range(2))


_ON_A_FULL_DISK = """
import resource, sys
from rag_cover import Question, Trace
from rag_cover.recording.sinks import RecordingSinks
keeping = RecordingSinks(sys.argv[1], None, measures=(), seed=0)
for number, limit in enumerate((10_000, 1_500, 10_000)):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, 10_000))
    try:
        keeping.add_trace(Trace(id=f"t{number}", question=Question("q" * 999)))
    except OSError as full:
        print(full.strerror)
keeping.close()
"""


def test_a_trace_that_a_full_disk_cuts_off_costs_no_later_one_its_line(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="this system limits no files")
    path, bad = tmp_path / "traces.jsonl", list[InputError]()
    command = [sys.executable, "-c", _ON_A_FULL_DISK, str(path)]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.startswith("the disk is full")
    assert [trace.id for trace in read_traces(path, on_error="skip", skipped=bad.append)] == ["t0", "t2"]
    assert [error.line for error in bad] == [2]


def test_a_store_of_other_measures_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    keeping = RecordingSinks(None, tmp_path / "results.sqlite", measures=["coverage"], seed=0)
    keeping.add_results([_result("First?")], judged_by={"judge": "me"})
    keeping.close()

    with pytest.raises(StoreError, match=r"measures: \['coverage'\], not \['utility'\]\); name another"):
        RecordingSinks(None, tmp_path / "results.sqlite", measures=["utility"], seed=0)

    assert len(Evaluation.open(tmp_path / "results.sqlite").results) == 1


def test_results_of_another_judge_are_not_mixed_in(tmp_path: Path) -> None:
    keeping = RecordingSinks(None, tmp_path / "results.sqlite", measures=["coverage"], seed=0)
    keeping.add_results([_result("First?")], judged_by={"judge": "me"})

    with pytest.raises(StoreError, match="judge: me, not you"):
        keeping.add_results([_result("Second?")], judged_by={"judge": "you"})

    keeping.close()
    assert len(Evaluation.open(tmp_path / "results.sqlite").results) == 1


def test_a_store_without_anything_to_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="name a trace file instead"):
        Recording(measures=(), models=Models(judge=KeywordScorer()), store=tmp_path / "results.sqlite")

    assert not (tmp_path / "results.sqlite").exists()
