from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.redaction import Redaction

pytest.importorskip("pyarrow", reason="needs pyarrow (extra parquet)")

JUDGE = ("--judge", "words")


def test_files_are_evaluated_into_a_folder(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    done = command("evaluate-files", traces, traces, "--into", "results", *JUDGE)

    assert done.exit_code == 0
    assert "Answers cover 62% of the core sub-questions" in done.stdout
    assert "Results: results\n" in done.stdout
    assert len(Evaluation.open(folder / "results").results) == 8
    assert "<html" in (folder / "results.html").read_text(encoding="utf-8")


def test_the_figures_are_those_of_evaluate(command: Callable[..., Any], traces: Path) -> None:
    one = json.loads(command("evaluate", traces, *JUDGE, "--json", "--no-report").stdout)

    many = json.loads(
        command("evaluate-files", traces, "--into", "r", *JUDGE, "--json", "--no-report", "--workers", "2").stdout
    )

    assert many["summary"] == one["summary"]
    assert many["store"] == "r"


def test_a_folder_is_reported_and_compared_like_a_store(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    command("evaluate-files", traces, "--into", "r", "--format", "jsonl", *JUDGE, "--no-report", "--quiet")

    reported = command("report", "r")
    compared = command("compare", "r", traces, *JUDGE, "--json")

    assert reported.exit_code == 0
    assert (folder / "r.html").exists()
    assert compared.exit_code == 0


def test_lines_that_are_no_traces_are_left_out_and_told(
    command: Callable[..., Any], make: Callable[..., Path], one: Callable[..., Any], folder: Path
) -> None:
    path = make(folder / "some.jsonl", [one(1), "{", one(2)])

    stopped = command("evaluate-files", path, "--into", "r", *JUDGE)
    done = command("evaluate-files", path, "--into", "r", *JUDGE, "--on-bad-line", "skip", "--resume", "--json", "--no-report")

    assert stopped.exit_code == 3
    assert "some.jsonl, line 2: not JSON" in stopped.stderr
    assert "1 trace was left out, the first because: " in done.stderr
    assert "some.jsonl, line 2: not JSON" in done.stderr
    assert json.loads(done.stdout)["summary"]["traces"] == 2
    assert len(json.loads(done.stdout)["skipped"]) == 1


def test_an_interrupted_run_is_gone_on_with(
    command: Callable[..., Any], make: Callable[..., Path], one: Callable[..., Any], folder: Path
) -> None:
    path = make(folder / "some.jsonl", [one(1), one(2, answer="ctrl-c")])

    done = command("evaluate-files", path, "--into", "r", "--judge", "moody")
    again = command("evaluate-files", path, "--into", "r", *JUDGE, "--quiet", "--no-report")

    assert done.exit_code == 130
    assert "What was done is kept in r; run the same command with --resume to go on." in done.stderr
    assert again.exit_code == 0


def test_an_engine_that_is_not_installed_is_told(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate-files", traces, "--into", "r", *JUDGE, "--engine", "raj")

    assert done.exit_code in (2, 3)
    assert "No engine is called 'raj'" in done.stderr


@pytest.mark.parametrize("option", ["address", "gpus"])
def test_what_only_other_engines_have_is_refused(command: Callable[..., Any], traces: Path, option: str, folder: Path) -> None:
    done = command("evaluate-files", traces, "--into", "r", *JUDGE, f"--{option}", "1")

    assert done.exit_code == 2
    assert f"--{option}: this is for an engine that runs elsewhere" in " ".join(done.stderr.replace("│", " ").split())
    assert not (folder / "r").exists()


@pytest.mark.parametrize("way", [["--redact"], ["--redact-key", "key"]])
def test_a_redacted_folder_holds_no_text_and_quotes_none(
    command: Callable[..., Any], make: Callable[..., Path], one: Callable[..., Any], folder: Path, way: list[str]
) -> None:
    (folder / "key").write_text("a key of thirty-two bytes or so.")
    path = make(folder / "some.jsonl", [one(1, id="Erika"), '{"Erika"', one(2, answer="Erika is blue")])

    stopped = command("evaluate-files", path, "--into", "r", *JUDGE, *way)
    done = command(
        "evaluate-files", path, "--into", "r", *JUDGE, *way, "--on-bad-line", "skip", "--resume", "--format", "jsonl"
    )

    assert (stopped.exit_code, done.exit_code) == (3, 0)
    assert "some.jsonl, line 2: something is wrong here" in stopped.stderr
    assert "some.jsonl, line 2: something is wrong here" in done.stderr
    written = [*(folder / "r").iterdir(), folder / "r.html"]
    shown = [stopped.stdout, stopped.stderr, done.stdout, done.stderr, *(path.read_text() for path in written)]
    assert not [text for text in shown if "Erika" in text]
    by = Redaction() if way == ["--redact"] else Redaction.from_file(folder / "key")
    assert Evaluation.open(folder / "r").results[0].trace.id == by.identifier("Erika")
