from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Progress, evaluate, evaluate_files
from rag_cover.backends import ScoringItem
from rag_cover.errors import EvaluationError, InputError, InvalidValueError, RagCoverError, StoreError
from rag_cover.stores import read_traces
from rag_cover.stores.folders import ResultFolder
from rag_cover.stores.parts import read_part
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer
from tests.evaluation.files.files import MODELS, contents, line, write

pytest.importorskip("pyarrow", reason="needs pyarrow (extra parquet)")


@dataclass(frozen=True)
class MoodyScorer:
    """Fails where a text says so, as long as it is in the mood."""

    words: KeywordScorer = field(default_factory=KeywordScorer)
    moods: list[bool] = field(default_factory=lambda: [True])
    threshold: float = 0.5
    fingerprint: str = "moody"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if self.moods[-1] and any("FAIL" in item.text for item in items):
            message = "the judge broke"
            raise RuntimeError(message)
        return self.words.correctness(items)


def test_the_first_failure_stops_the_run_when_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [line(1, answer="FAIL")])

    with pytest.raises(EvaluationError, match="coverage failed: the judge broke"):
        evaluate_files(path, tmp_path / "out", models=Models(judge=MoodyScorer()), on_error="raise")


def test_a_resumed_run_measures_only_what_is_not_there(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate_files(traces, out, models=MODELS, part_bytes=4_000)
    before = contents(out)
    gone = sorted(before)[4]
    (out / gone).unlink()
    scorer, seen = KeywordScorer(), list[Progress]()

    again = evaluate_files(
        traces, out, models=Models(judge=scorer, locator=KeywordLocator(), entailer=KeywordEntailer()), part_bytes=4_000,
        resume=True, progress=seen.append,
    )  # fmt: skip

    assert contents(out) == before
    assert seen[-1].done == 120
    assert 0 < 120 - seen[-1].resumed < 20
    assert 0 < scorer.asked.items < 3 * 120  # of each trace its answer, and two that say nothing
    assert list(again.results) == list(evaluate(traces, models=MODELS).results)


def test_a_damaged_part_is_measured_again(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate_files(traces, out, models=MODELS, part_bytes=4_000)
    before = contents(out)
    first, second, *_ = sorted(before)
    middle = before[first].index(b"\x28\xb5\x2f\xfd") + 20  # zstd begins so
    (out / first).write_bytes(before[first][:middle] + bytes([before[first][middle] ^ 1]) + before[first][middle + 1 :])
    (out / second).write_bytes(b"")

    with pytest.raises(RagCoverError, match="run the same command with --resume to measure it again"):
        list(Evaluation.open(out).results)
    evaluate_files(traces, out, models=MODELS, part_bytes=4_000, resume=True)

    assert contents(out) == before


def test_a_part_with_a_failure_is_measured_again(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [line(n, answer="FAIL" if n == 30 else "Item is blue.") for n in range(60)])
    moody, seen = MoodyScorer(), list[Progress]()
    first = evaluate_files(path, tmp_path / "out", models=Models(judge=moody), part_bytes=2_000)
    failed = first.summary().failed
    moody.moods.append(False)

    second = evaluate_files(
        path, tmp_path / "out", models=Models(judge=moody), part_bytes=2_000, resume=True, progress=seen.append
    )

    assert failed == 1
    assert second.summary().failed == 0
    assert seen[-1].resumed > 40
    assert list(second.results) == list(evaluate(path, models=Models(judge=moody)).results)


def test_what_changes_in_the_input_is_measured_again_and_nothing_old_is_left(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate_files(traces, out, models=MODELS, part_bytes=4_000)
    lines = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    write(traces, [lines[1], *lines[:20], *lines[60:]])

    again = evaluate_files(traces, out, models=MODELS, part_bytes=4_000, resume=True)

    assert list(again.results) == list(evaluate(traces, models=MODELS).results)
    assert [row.ordinal for part in ResultFolder(out).parts() for row in read_part(part)] == list(range(81))


def test_parts_that_stay_are_numbered_anew_where_those_before_them_hold_fewer(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [line(n) for n in range(40)]
    path = write(tmp_path / "t.jsonl", lines)
    evaluate_files(path, tmp_path / "out", models=MODELS, part_bytes=1_000)
    lines[0] = "{" + " " * (len(json.dumps(lines[0])) - 1)
    write(path, lines)
    seen, skipped = list[Progress](), list[InputError]()

    again = evaluate_files(
        path, tmp_path / "out", models=MODELS, part_bytes=1_000, resume=True, skipped=skipped.append, progress=seen.append
    )

    assert seen[-1].resumed > 30
    assert len(skipped) == 1
    assert [row.ordinal for part in ResultFolder(tmp_path / "out").parts() for row in read_part(part)] == list(range(39))
    assert list(again.results) == list(
        evaluate(read_traces(path, on_error="skip", skipped=skipped.append), models=MODELS).results
    )


def test_ids_of_repeated_traces_follow_what_is_before_them(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [line(1), *(line(n) for n in range(2, 30)), line(1)]
    path = write(tmp_path / "t.jsonl", lines)
    first = evaluate_files(path, tmp_path / "out", models=MODELS, part_bytes=500).results[-1].trace.id
    lines[0] = "{" + " " * (len(json.dumps(lines[0])) - 1)
    write(path, lines)

    again = evaluate_files(path, tmp_path / "out", models=MODELS, part_bytes=500, resume=True, skipped=lambda _: None)

    assert first == f"{again.results[-1].trace.id}-2"


def test_skipped_lines_are_told_again_by_a_resumed_run(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [line(1, id="a"), "{", line(2, id="a"), line(3)])
    first, second = list[InputError](), list[InputError]()
    evaluate_files(path, tmp_path / "out", models=MODELS, skipped=first.append)

    evaluate_files(path, tmp_path / "out", models=MODELS, skipped=second.append, resume=True)

    assert [error.line for error in first] == [2, 3]
    assert list(map(str, first)) == list(map(str, second))
    assert "trace id 'a' was given on line 1 already" in first[1].problem
    with pytest.raises(InputError, match="line 2: not JSON"):
        evaluate_files(path, tmp_path / "out", models=MODELS, resume=True)


def test_an_unfinished_run_is_neither_thrown_away_nor_read(traces: Path, tmp_path: Path) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000, progress=stop)

    with pytest.raises(StoreError, match=r"holds an unfinished evaluation \(1 part done\); go on with it"):
        evaluate_files(traces, tmp_path / "out", models=MODELS)
    with pytest.raises(StoreError, match="holds an unfinished evaluation; run the same command with --resume"):
        Evaluation.open(tmp_path / "out")


def test_a_run_that_has_ended_is_neither_repeated_nor_lost_without_a_word(traces: Path, tmp_path: Path) -> None:
    evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000)
    before = contents(tmp_path / "out")

    with pytest.raises(StoreError, match="holds an evaluation .* replace it"):
        evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000)
    with pytest.raises(InvalidValueError, match="choose one"):
        evaluate_files(traces, tmp_path / "out", models=MODELS, resume=True, overwrite=True)

    assert contents(tmp_path / "out") == before


def test_a_run_that_has_ended_is_begun_anew_with_overwrite(traces: Path, tmp_path: Path) -> None:
    evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000)
    scorer = KeywordScorer()

    evaluate_files(traces, tmp_path / "out", measures=["coverage"], models=Models(judge=scorer), format="jsonl", overwrite=True)

    assert scorer.asked.items
    assert [Path(name).suffix for name in contents(tmp_path / "out")] == [".jsonl"]


_SLOW = """
import sys, time
from pathlib import Path
from rag_cover import Models, evaluate_files
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

class Slow(KeywordScorer):
    def correctness(self, items):
        time.sleep(0.01)
        return super().correctness(items)

models = Models(judge=Slow(), locator=KeywordLocator(), entailer=KeywordEntailer())
evaluate_files([Path(file) for file in sys.argv[2:]], sys.argv[1], models=models, workers=2, part_bytes=2_000, resume=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_a_run_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing(traces: Path, tmp_path: Path) -> None:
    packed = write(tmp_path / "more.jsonl.gz", [line(number) for number in range(60)])
    out, words = tmp_path / "out", [sys.executable, "-c", _SLOW, *map(str, (tmp_path / "out", traces, packed))]

    for least in (2, 9):
        run = subprocess.Popen(words)
        while run.poll() is None and len(list(out.glob("part-*[lt]"))) < least:
            time.sleep(0.003)
        os.kill(run.pid, signal.SIGKILL) if run.poll() is None else None
        assert run.wait() == -signal.SIGKILL
    subprocess.run(words, check=True)

    whole = [*evaluate(traces, models=MODELS).results, *evaluate(packed, models=MODELS).results]
    kept = Evaluation.open(out)
    assert list(kept.results) == whole
    assert [path.name for path in out.iterdir() if not path.name.startswith("part-")] == ["evaluation.json"]
