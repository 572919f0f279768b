"""``rag-cover train geneval`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from rag_cover.cli import app
from rag_cover.registry import find_commands, open_scorer


def test_two_plugins_add_to_one_group() -> None:
    listed = CliRunner().invoke(app, ["train", "--help"])

    assert {"train judge", "train geneval"} <= set(find_commands())
    assert "judge" in listed.output
    assert "geneval" in listed.output


def test_the_command_trains_logs_and_says_how_to_use_the_model(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    given = ["--data", judgments, "--validation", judgments, "--base", bert_folder, "--out", tmp_path, "--device", "cpu"]
    sizes = ["--steps", 2, "--check-every", 1, "--max-tokens", 64, "--batch-tokens", 300]

    done = CliRunner().invoke(app, ["train", "geneval", *map(str, given + sizes)])

    assert done.exit_code == 0, done.output
    assert f"use it with --judge transformers:{tmp_path / 'model'}" in done.output.replace("\n", "")
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in logged] == [1, 2]
    assert open_scorer(f"transformers:{tmp_path / 'model'}").threshold > 0


def test_a_bad_line_ends_in_its_place_and_exit_code_three(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "Who?", "text": "Ada.", "correct": "yes"}\n', encoding="utf-8")
    given = ["--data", bad, "--validation", judgments, "--base", bert_folder, "--out", tmp_path / "out", "--device", "cpu"]

    done = CliRunner().invoke(app, ["train", "geneval", *map(str, given)])

    assert done.exit_code == 3
    assert "line 1, at correct" in done.output.replace("\n", " ")
