from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.cli.json_output import summary_document
from rag_cover.evaluation import Evaluation
from rag_cover.stores import read_traces

JUDGE = ("--judge", "words", "--no-report")


@pytest.fixture
def stores(command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]) -> tuple[Path, Path]:
    """Keep two evaluations of one pipeline: the later one answers all."""
    before = [one(number, tags=["beta"] if number else [], thread_id=f"t{number}", pipeline="p") for number in range(6)]
    answers = [f"sky {number} is blue because air scatters light" for number in range(6)]
    after = [one(number, answer=answer, metadata={"top": 5}, pipeline="p") for number, answer in enumerate(answers)]
    kept = []
    for time, (name, lines) in enumerate((("before", before), ("after", after)), 1):
        command("evaluate", make(folder / f"{name}.jsonl", lines), *JUDGE, "--store", f"{name}.sqlite")
        os.utime(folder / f"{name}.sqlite", (time * 86_400 * 30,) * 2)
        kept.append(folder / f"{name}.sqlite")
    return kept[0], kept[1]


@pytest.fixture
def document(command: Callable[..., Any], stores: tuple[Path, Path]) -> Callable[..., Any]:
    return lambda *words: json.loads(command("dashboard", *stores, "--json", *words).stdout)


def test_figures_are_those_of_each_store_s_own_summary(document: Callable[..., Any], stores: tuple[Path, Path]) -> None:
    shown = document()

    own = [summary_document(Evaluation.open(path).summary()) for path in stores]
    assert [each["summary"] for each in shown["stores"]] == json.loads(json.dumps(own))
    assert [each["pipelines"]["p"]["summary"] for each in shown["stores"]] == json.loads(json.dumps(own))


def test_stores_stand_in_order_of_time_whatever_the_order_of_the_words(
    command: Callable[..., Any], stores: tuple[Path, Path]
) -> None:
    shown = json.loads(command("dashboard", stores[1], stores[0], stores[0], "--json").stdout)

    assert [(Path(each["store"]).name, each["time"][:10]) for each in shown["stores"]] == [
        ("before.sqlite", "1970-01-31"),
        ("after.sqlite", "1970-03-02"),
    ]
    assert {each["time_source"] for each in shown["stores"]} == {"file"}


def test_the_time_that_traces_record_counts_before_that_of_the_file(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    step = {"query": "sky", "passages": ["sky"], "started_at": "2026-03-01T12:00:00+02:00", "duration_s": 1.5}
    calls = [
        {"model": "small", "started_at": "2026-03-01T10:00:01Z", "latency_s": 2, "prompt_tokens": 900, "completion_tokens": 100}
    ]
    command("evaluate", make(folder / "t.jsonl", [one(0, steps=[step], calls=calls)]), *JUDGE, "--store", "t.sqlite")
    make(folder / "prices.json", ['{"small": {"prompt": 1, "completion": 1}}'])

    shown = json.loads(command("dashboard", "t.sqlite", "--prices", "prices.json", "--json").stdout)["stores"][0]

    assert (shown["time"], shown["time_source"]) == ("2026-03-01T10:00:01+00:00", "traces")
    assert shown["latency_s"] == {"median": 3.0, "upper": 3.0, "mean": 3.0, "n": 1}
    assert (shown["tokens"]["mean"], shown["cost"]["mean"]) == (1000, pytest.approx(0.001))


def test_what_no_trace_tells_is_null_and_never_0(document: Callable[..., Any]) -> None:
    shown = document()["stores"][0]

    assert (shown["latency_s"], shown["tokens"], shown["cost"], shown["agreement"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("words", "traces"),
    [
        (["--tag", "beta"], [5, 0]),
        (["--session", "t1", "--session", "t2"], [2, 0]),
        (["--where", "top=5"], [0, 6]),
        (["--where", "top=4", "--where", "top=5", "--tag", "beta"], [0, 0]),
    ],
)
def test_traces_are_selected(document: Callable[..., Any], words: list[str], traces: list[int]) -> None:
    assert [each["traces"] for each in document(*words)["stores"]] == traces


def test_a_selection_without_traces_says_so(command: Callable[..., Any], stores: tuple[Path, Path], folder: Path) -> None:
    done = command("dashboard", *stores, "--tag", "nobody", "--html", "page.html")

    assert done.exit_code == 0
    assert "No trace has tag nobody (of 12)" in done.stdout
    assert "No trace has tag nobody" in (folder / "page.html").read_text(encoding="utf-8")


def test_a_condition_without_a_value_is_refused(command: Callable[..., Any], stores: tuple[Path, Path]) -> None:
    done = command("dashboard", *stores, "--where", "top")

    assert (done.exit_code, "'top' is not KEY=VALUE" in done.stderr) == (2, True)


def test_stores_that_cannot_be_read_are_named_and_do_not_stop_the_page(
    command: Callable[..., Any], stores: tuple[Path, Path], folder: Path
) -> None:
    (folder / "empty.sqlite").touch()
    (folder / "text.sqlite").write_text("no database")
    shutil.copy(stores[0], folder / "newer.sqlite")
    shutil.copy(stores[0], folder / "meta.sqlite")
    shutil.copy(stores[0], folder / "torn.sqlite")
    for name, statement in (
        ("newer", "PRAGMA user_version = 99"),
        ("meta", "UPDATE meta SET value = '[]' WHERE name = 'evaluation'"),
        ("torn", "UPDATE results SET json = x'00' WHERE ordinal = 3"),
    ):
        with sqlite3.connect(folder / f"{name}.sqlite") as connection:
            connection.execute(statement)
    bad = [folder / f"{name}.sqlite" for name in ("empty", "text", "newer", "meta", "torn", "absent")]

    done = command("dashboard", *stores, *bad, "--html", "page.html", "--json")

    shown = json.loads(done.stdout)
    assert done.exit_code == 0
    assert {Path(each["name"]).name for each in shown["refused"]} == {path.name for path in bad}
    assert shown["traces"] == 12
    assert shown["causes"] == json.loads(command("dashboard", *stores, "--json").stdout)["causes"]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "6 stores could not be read" in page
    assert (folder / "empty.sqlite").stat().st_size == 0


def test_without_a_store_that_can_be_read_nothing_is_written(command: Callable[..., Any], folder: Path) -> None:
    (folder / "text.sqlite").write_text("no database")

    done = command("dashboard", "text.sqlite", "--html", "page.html")

    assert done.exit_code == 3
    assert "None of the 1 stores can be read" in done.stderr
    assert not (folder / "page.html").exists()


def test_test_questions_are_made_of_the_worst_traces(
    command: Callable[..., Any], stores: tuple[Path, Path], folder: Path
) -> None:
    done = command("dashboard", stores[0], "--to-dataset", "worst.jsonl", "--worst", "3")

    written = list(read_traces(folder / "worst.jsonl"))
    assert "Test questions: worst.jsonl (3)" in done.stdout
    assert [each.answer for each in written] == [None] * 3
    assert all(not each.steps and each.pipeline is None and len(each.sub_questions or ()) == 2 for each in written)
    assert command("evaluate", "worst.jsonl", *JUDGE, "--no-store").exit_code == 0


def test_a_question_that_its_latest_trace_answers_is_not_among_the_worst(
    command: Callable[..., Any], document: Callable[..., Any], stores: tuple[Path, Path], folder: Path
) -> None:
    shown = document()["causes"]
    done = command("dashboard", *stores, "--to-dataset", "worst.jsonl")

    assert [(each["in_latest"], each["worst"]) for each in shown] == [(0, [])] * len(shown)
    assert "There is no test question to write" in done.stderr
    assert not (folder / "worst.jsonl").exists()


def test_inputs_are_never_written_over_and_other_files_with_force_alone(
    command: Callable[..., Any], stores: tuple[Path, Path], folder: Path
) -> None:
    (folder / "page.html").write_text("mine")

    over = command("dashboard", *stores, "--html", stores[0], "--force")
    same = command("dashboard", *stores, "--html", "x", "--to-dataset", "x", "--force")
    there = command("dashboard", *stores, "--html", "page.html")
    forced = command("dashboard", *stores, "--html", "page.html", "--force")

    assert [each.exit_code for each in (over, same, there, forced)] == [3, 3, 3, 0]
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Evaluation.open(stores[0]).summary().traces == 6


def test_the_judge_s_agreement_with_labels_is_told_by_store(
    document: Callable[..., Any],
    command: Callable[..., Any],
    stores: tuple[Path, Path],
    make: Callable[..., Path],
    folder: Path,
) -> None:
    rows = [
        {
            "question": f"Why is sky {number} blue?",
            "sub_question": "does air scatter light",
            "answer": f"The sky {number} is blue",
            "label": int(number > 1),
        }
        for number in range(1, 6)
    ]

    labels = make(folder / "labels.jsonl", rows)
    shown = document("--labels", labels)["stores"]
    told = " ".join(command("dashboard", *stores, "--labels", labels).stdout.split())

    assert (shown[0]["labels"], shown[0]["agreement"]["estimate"]) == (5, pytest.approx(0.2))
    assert (shown[1]["labels"], shown[1]["agreement"]) == (0, None)
    assert told.count("People’s labels: the judge agrees with 20% of 5 labelled core verdicts in ") == 1


def test_of_redacted_traces_no_test_questions_are_made(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    traces = make(folder / "t.jsonl", [one(number) for number in range(1, 3)])
    command("evaluate", traces, *JUDGE, "--redact", "--store", "t.sqlite")

    done = command("dashboard", "t.sqlite", "--to-dataset", "worst.jsonl", "--json")

    assert json.loads(done.stdout)["dataset"] is None
    assert "Of 2 of the worst 2 questions the texts are redacted" in done.stderr


def test_pipelines_of_one_store_are_told_apart_and_add_up(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    lines = [one(number, pipeline=name) for number, name in enumerate(("a", "a", "b", None))]
    command("evaluate", make(folder / "t.jsonl", lines), *JUDGE, "--store", "t.sqlite")

    shown = json.loads(command("dashboard", "t.sqlite", "--json").stdout)["stores"][0]

    assert {name: each["summary"]["traces"] for name, each in shown["pipelines"].items()} == {"a": 2, "b": 1, "": 1}
    assert shown["summary"]["traces"] == 4
