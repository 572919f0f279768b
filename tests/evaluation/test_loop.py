"""Runs that are disturbed: what the store holds in the end is what one undisturbed run gives; one process writes it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Passage, Progress, Question, RetrievalStep, Store, SubQuestion, Trace, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.errors import StoreError, StoreInUseError
from rag_cover.llm.session import LLMSession
from rag_cover.llm.usage import Usage
from rag_cover.measures import TraceResult
from rag_cover.stores import write_traces
from rag_cover.testing import KeywordScorer

Item = TypeVar("Item")
Made = TypeVar("Made")


def _traces(count: int) -> list[Trace]:
    return [
        Trace(
            id=f"t{number}",
            question=Question(f"Why is item {number} blue?"),
            steps=(RetrievalStep(passages=(Passage(f"Item {number} is blue because of light."),)),),
            answer=f"Item {number} is blue." if number % 2 else "Nobody knows.",
            sub_questions=(SubQuestion(f"Is item {number} blue?", role="core"),),
        )
        for number in range(count)
    ]


def _undisturbed(count: int) -> list[TraceResult]:
    return list(evaluate(_traces(count), measures=["coverage"], models=Models(judge=KeywordScorer())).results)


_RUN = """
import sys, time
from pathlib import Path
from rag_cover import Models, evaluate
from rag_cover.testing import KeywordScorer

class Slow(KeywordScorer):
    def correctness(self, items):
        with open(sys.argv[3], "a") as log:
            log.write("".join(sorted({f"{item.question}\\n" for item in items})))
        time.sleep(float(sys.argv[4]))
        return super().correctness(items)

evaluate(Path(sys.argv[1]), measures=["coverage"], models=Models(judge=Slow()), store=Path(sys.argv[2]), resume=True, workers=1)
"""


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a run of a trace file into a store in a process of its own."""

    def started(log: str, *, pause_s: float) -> subprocess.Popen[str]:
        files = [tmp_path / name for name in ("traces.jsonl", "run.sqlite", log)]
        command = [sys.executable, "-c", _RUN, *map(str, files), str(pause_s)]
        return subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE, text=True
        )

    return started


def _wait_for(log: Path, lines: int) -> None:
    for _ in range(1500):
        with suppress(FileNotFoundError):
            if len(log.read_text(encoding="utf-8").splitlines()) >= lines:
                return
        time.sleep(0.02)
    message = f"{log.name} has no {lines} lines after half a minute"
    raise AssertionError(message)


@pytest.mark.slow
def test_a_second_process_is_refused_with_who_holds_the_store_and_reading_is_allowed(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    write_traces(tmp_path / "traces.jsonl", _traces(200))

    with start("a.txt", pause_s=4) as first:
        _wait_for(tmp_path / "a.txt", 65)  # the third block is asked: the first is kept
        with start("b.txt", pause_s=0) as second:
            refusal = second.communicate()[1]
        read = Evaluation.open(tmp_path / "run.sqlite")
        with pytest.raises(StoreInUseError, match=rf"run\.sqlite is being written by process {first.pid} on .* since .*; wait"):
            evaluate(_traces(3), models=Models(judge=KeywordScorer()), store=tmp_path / "run.sqlite")
        kept = len(read.results)
        first.kill()

    assert second.returncode == 1
    assert f"StoreInUseError: {tmp_path / 'run.sqlite'} is being written by process {first.pid} on " in refusal
    assert not (tmp_path / "b.txt").exists()
    assert 0 < kept <= len(read.results) == read.summary().traces < 200


@pytest.mark.nightly
def test_a_run_killed_again_and_again_ends_with_what_an_undisturbed_one_gives(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    write_traces(tmp_path / "traces.jsonl", _traces(400))
    rng = random.Random(0)

    for number in range(3):
        with start(f"{number}.txt", pause_s=0.1) as run:
            _wait_for(tmp_path / f"{number}.txt", rng.randrange(65, 160))  # the third block is asked: the first is kept
            time.sleep(rng.uniform(0, 0.1))
            run.kill()
    with Store(tmp_path / "run.sqlite") as store:
        kept = {result.trace.question.text.replace("Why is", "Is") for result in store.results()}
    with start("last.txt", pause_s=0) as run:
        error = run.communicate()[1]

    assert run.returncode == 0, error
    assert 0 < len(kept) < 400
    assert not kept & set((tmp_path / "last.txt").read_text(encoding="utf-8").splitlines())
    assert list(Evaluation.open(tmp_path / "run.sqlite").results) == _undisturbed(400)
    with Store(tmp_path / "run.sqlite") as store:
        assert store.rows("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.slow
def test_a_killed_process_holds_nothing(tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    write_traces(tmp_path / "traces.jsonl", _traces(100))

    with start("a.txt", pause_s=60) as stuck:
        _wait_for(tmp_path / "a.txt", 32)
        stuck.kill()
    again = evaluate(
        _traces(100), measures=["coverage"], models=Models(judge=KeywordScorer()), store=tmp_path / "run.sqlite", resume=True
    )

    assert list(again.results) == _undisturbed(100)
    assert not (tmp_path / "run.sqlite.lock.json").exists()


class _Greedy:
    """An engine that reads all there is before it measures anything."""

    def run(self, function: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        return iter([function(item) for item in list(items)])


def test_an_engine_that_reads_far_ahead_gives_the_same(tmp_path: Path) -> None:
    models = Models(judge=KeywordScorer())

    ahead = evaluate(_traces(100), measures=["coverage"], models=models, store=tmp_path / "run.sqlite", engine=_Greedy())

    assert list(ahead.results) == _undisturbed(100)


@pytest.mark.slow
def test_a_full_disk_is_told_and_the_run_can_be_gone_on_with(tmp_path: Path) -> None:
    models, seen = Models(judge=KeywordScorer()), list[Progress]()
    with Store(tmp_path / "run.sqlite") as store:
        store.rows("PRAGMA max_page_count = 40")

        with pytest.raises(StoreError, match="the disk is full; free some space and run again with --resume"):
            evaluate(_traces(400), measures=["coverage"], models=models, store=store, resume=True)
        held = len(store)
        assert store.rows("PRAGMA integrity_check") == [("ok",)]
        store.rows("PRAGMA max_page_count = 100000")
        evaluate(_traces(400), measures=["coverage"], models=models, store=store, resume=True, progress=seen.append)

        assert 0 < held < 400
        assert seen[-1].resumed == held
        assert list(store.results()) == _undisturbed(400)


class _Interrupting(KeywordScorer):
    """Is interrupted at the text that says so."""

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("item 50 " in item.question for item in items):
            raise KeyboardInterrupt
        return super().correctness(items)


def test_an_interrupted_run_holds_nothing_and_is_gone_on_with(tmp_path: Path) -> None:
    with Store(tmp_path / "run.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            evaluate(_traces(100), measures=["coverage"], models=Models(judge=_Interrupting()), store=store)

        evaluate(_traces(100), measures=["coverage"], models=Models(judge=KeywordScorer()), store=store, resume=True)
        assert list(store.results()) == _undisturbed(100)


class _Paid(KeywordScorer):
    """Costs one call a block, and counts it in the run's ledger."""

    ledger = None

    def for_run(self, run: LLMSession) -> _Paid:
        bound = _Paid()
        object.__setattr__(bound, "ledger", run.ledger)
        return bound

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        assert self.ledger is not None
        self.ledger.add(Usage("openai:small", "judge", calls=1))
        return super().correctness(items)


def test_what_runs_spend_adds_up(tmp_path: Path) -> None:
    models, path = Models(judge=_Paid()), tmp_path / "run.sqlite"
    first = evaluate(_traces(64), measures=["coverage"], models=models, store=path)

    second = evaluate(_traces(96), measures=["coverage"], models=models, store=path, resume=True)

    assert [usage.calls for usage in second.spending.usage] == [first.spending.usage[0].calls * 3 // 2]
    assert Evaluation.open(path).spending == second.spending


def test_a_store_whose_file_is_damaged_is_not_gone_on_with(tmp_path: Path) -> None:
    path, models = tmp_path / "run.sqlite", Models(judge=KeywordScorer())
    with Store(path) as store:
        evaluate(_traces(300), measures=["coverage"], models=models, store=store)
    os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(StoreError, match="is damaged.*move it away"):
        evaluate(_traces(300), measures=["coverage"], models=models, store=path, resume=True)
    with pytest.raises(StoreError, match="is damaged.*move it away"):
        Evaluation.open(path)
