"""``rag-cover train judge``, ``train entailment`` and ``train replies`` say what they lack before they begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover_embedded.training.schedule import Schedule


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make a folder that looks like training data."""
    for name in ("nli/train.jsonl.gz", "judge/answers.jsonl.gz"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    return tmp_path


def test_without_the_written_texts_it_names_the_source_distribution(
    command: Callable[..., Any], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_cover_embedded.command_line.TEXTS", data / "no-texts")  # as a wheel leaves them out

    done = command("train", "judge", "--data", str(data), "--out", str(data / "out"))

    assert done.exit_code != 0
    assert "in the source distribution: pip download --no-deps --no-binary rag-cover rag-cover" in done.stderr
    assert not (data / "out").exists()


def test_without_training_data_it_names_the_missing_file(command: Callable[..., Any], tmp_path: Path) -> None:
    done = command("train", "judge", "--data", str(tmp_path), "--out", str(tmp_path / "out"))

    assert done.exit_code != 0
    assert "nli/train.jsonl.gz is missing" in done.stderr


@pytest.mark.parametrize("steps", ["many", "1,2", "1,2,3,4,5,6,-7"])
def test_steps_that_are_not_one_number_for_each_stage_are_refused(command: Callable[..., Any], data: Path, steps: str) -> None:
    done = command("train", "judge", "--data", str(data), "--out", str(data / "out"), "--steps", steps)

    assert done.exit_code != 0
    assert f"give {len(Schedule().steps)} whole numbers with commas between them" in done.stderr


@pytest.mark.parametrize("network", ["entailment", "replies"])
def test_a_network_of_its_own_needs_a_trained_judge(command: Callable[..., Any], data: Path, network: str) -> None:
    options = ["--data", str(data), "--start", str(data / "judge.pt"), "--out", str(data / "out"), "--judge", str(data)]

    done = command("train", network, *options)

    assert done.exit_code != 0
    assert "judge.pt: there is no such file; train a judge first (rag-cover train judge)" in " ".join(done.stderr.split())
