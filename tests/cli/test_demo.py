"""The demo shows in seconds what the judge says of its answers, and judges where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Progress, evaluate
from rag_cover.demo import kept_results_paths, trace_paths

pytest.importorskip("onnxruntime", reason="the embedded judge runs on it")


@pytest.mark.parametrize(
    ("traces", "kept"), [*zip(trace_paths(), kept_results_paths(), strict=True)], ids=["narrow", "forgetful"]
)
def test_what_is_kept_is_what_the_judge_that_ships_says(tmp_path: Path, traces: Path, kept: Path) -> None:
    seen: list[Progress] = []
    store = tmp_path / kept.name
    store.write_bytes(kept.read_bytes())

    evaluate(traces, store=store, resume=True, progress=seen.append)

    assert seen[-1].resumed == 20, "the judge or its results changed: keep those of 'rag-cover demo --fresh' (CONTRIBUTING.md)"


def test_it_takes_what_is_kept_and_says_so(command: Callable[..., Any], folder: Path) -> None:
    done = command("demo", "--out", "demo")

    assert done.exit_code == 0
    assert "--fresh judges anew" in done.stdout
    assert (folder / "demo" / "narrow.html").exists()


@pytest.mark.slow
def test_another_judge_judges_anew(command: Callable[..., Any]) -> None:
    done = command("demo", "--out", "demo", "--judge", "words")

    assert done.exit_code == 0
    assert "--fresh" not in done.stdout
