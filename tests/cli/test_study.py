from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
MODELS = ("--receiver", "words", "--entailer", "words")
GOOD, BAD, LONG = "air scatters light", "the sea mirrors light", "grass is green all summer"


def line(number: int, k: int, *passages: str) -> dict[str, Any]:
    return {
        "question": {"text": "Why?", "id": str(number), "references": ["air scatters light"]},
        "steps": [{"passages": passages}],
        "metadata": {"k": k},
        "pipeline": f"hybrid k={k}",
    }


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    """Make four questions under k=1, which helps one of them, and k=2, which helps three and misleads on the first."""
    small = [line(number, 1, GOOD if number == 0 else LONG) for number in range(4)]
    large = [line(number, 2, LONG, BAD if number == 0 else GOOD) for number in range(4)]
    return [*small, *large]


@pytest.fixture
def traces(folder: Path, make: Callable[..., Path], lines: list[dict[str, Any]]) -> Path:
    return make(folder / "traces.jsonl", lines)


def test_settings_are_laid_side_by_side(command: Command, traces: Path) -> None:
    done = command("study", traces, "--by", "k", *MODELS)

    assert done.exit_code == 0
    assert "Retrieval is worth most with k=2: +0.75" in done.stdout
    assert "Baseline: k=1" in done.stdout
    assert "Questions served worse than by the baseline" in done.stdout


def test_json_holds_the_whole_study(command: Command, traces: Path) -> None:
    document = json.loads(command("study", traces, "--by", "k", *MODELS, "--json").stdout)

    assert [setting["utility"]["estimate"] for setting in document["settings"]] == [0.25, 0.75]
    assert [setting["on_frontier"] for setting in document["settings"]] == [True, True]
    assert [each["change"] for each in document["settings"][1]["hurt"]] == [-1]
    assert document["length_unit"] == "words"


def test_a_setting_in_each_file_is_a_study_too(
    command: Command, folder: Path, make: Callable[..., Path], lines: list[Any]
) -> None:
    make(folder / "small.jsonl", lines[:4])
    make(folder / "large.jsonl", lines[4:])

    done = command("study", "small.jsonl", "large.jsonl", *MODELS, "--baseline", "pipeline=hybrid k=2", "--json")

    document = json.loads(done.stdout)
    assert document["baseline"] == {"pipeline": "hybrid k=2"}
    assert document["questions"] == 4


def test_kept_utilities_are_studied_without_any_model(command: Command, traces: Path) -> None:
    command("utility", traces, *MODELS, "--no-report")

    done = command("study", "traces-utility.sqlite", "--by", "k", "--entailer", "nobody")

    assert done.exit_code == 0
    assert "k=2: +0.75" in done.stdout


def test_the_picture_goes_where_it_is_told(command: Command, traces: Path, folder: Path) -> None:
    done = command("study", traces, "--by", "k", *MODELS, "--report", "study.html")

    assert "Report: study.html" in done.stdout
    assert "Utility against the length of the prompt" in (folder / "study.html").read_text(encoding="utf-8")


def test_a_component_that_no_trace_names_is_bad_input(command: Command, traces: Path) -> None:
    done = command("study", traces, "--by", "kk", *MODELS)

    assert done.exit_code == 3
    assert "no trace says under which 'kk' it was recorded. Did you mean 'k'?" in done.stderr


def test_a_single_setting_is_bad_input(command: Command, folder: Path, make: Callable[..., Path], lines: list[Any]) -> None:
    make(folder / "small.jsonl", lines[:4])

    done = command("study", "small.jsonl", "--by", "k", *MODELS)

    assert done.exit_code == 3
    assert "a study needs two settings at least" in done.stderr


def test_files_that_would_share_a_store_are_refused(command: Command, traces: Path) -> None:
    done = command("study", traces, traces, "--by", "k", *MODELS)

    assert done.exit_code == 2
    assert "would be kept in traces-utility.sqlite" in done.stderr
