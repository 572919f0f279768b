from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

JUDGE = ("--judge", "words")


@pytest.fixture
def better(folder: Path, make: Callable[..., Path], one: Callable[..., Any]) -> Path:
    answers = [f"sky {number} is blue because air scatters light" for number in range(4)]
    return make(folder / "better.jsonl", [one(number, answer=answer) for number, answer in enumerate(answers)])


def test_two_trace_files_are_evaluated_and_compared(
    command: Callable[..., Any], traces: Path, better: Path, folder: Path
) -> None:
    done = command("compare", traces, better, *JUDGE)

    assert done.exit_code == 0
    assert "b covers 100% of the core sub-questions, a 62%" in done.stdout
    assert "+ does air scatter light" in done.stdout
    assert (folder / "traces-coverage.sqlite").exists()
    assert (folder / "better-coverage.sqlite").exists()


def test_stores_are_compared_without_a_judge(command: Callable[..., Any], traces: Path, better: Path) -> None:
    command("compare", traces, better, *JUDGE)

    done = command("compare", "traces-coverage.sqlite", "better-coverage.sqlite", "--judge", "nobody", "--json")

    document = json.loads(done.stdout)
    assert document["metrics"]["core_coverage"]["difference"] == pytest.approx(0.375)
    assert 0 < document["metrics"]["core_coverage"]["p_value"] <= 1
    assert [change["gained"] for change in document["changed"]] == [["does air scatter light"]] * 3


def test_a_report_is_written_where_it_is_wanted(command: Callable[..., Any], traces: Path, better: Path, folder: Path) -> None:
    done = command("compare", traces, better, *JUDGE, "--report", "page.html")

    assert "Report: page.html" in done.stdout
    assert "<html" in (folder / "page.html").read_text(encoding="utf-8")


def test_other_sub_questions_are_refused_unless_told(
    command: Callable[..., Any], traces: Path, folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    other = make(folder / "other.jsonl", [one(0, sub_questions=[{"text": "is it blue", "role": "core"}])])

    refused = command("compare", traces, other, *JUDGE)
    told = command("compare", traces, other, *JUDGE, "--sub-questions", "any")

    assert (refused.exit_code, told.exit_code) == (3, 0)
    assert "different sub-questions" in refused.stderr


def test_files_of_one_name_in_two_folders_do_not_share_a_store(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    for name in ("before", "after"):
        (folder / name).mkdir()
        make(folder / name / "traces.jsonl", [one(0)])

    done = command("compare", "before/traces.jsonl", "after/traces.jsonl", *JUDGE)

    assert done.exit_code == 0
    assert sorted(path.name for path in folder.glob("*.sqlite")) == [
        "after-traces-coverage.sqlite",
        "before-traces-coverage.sqlite",
    ]


def test_answers_are_compared_pair_by_pair(
    command: Callable[..., Any], traces: Path, better: Path, folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    same = make(folder / "same.jsonl", [one(number, pipeline="copy") for number in range(4)])

    done = command("compare", traces, better, same, *JUDGE, "--pairwise", "--report", "page.html")

    assert done.exit_code == 0
    assert "better wins 88% against the others (95% interval" in done.stdout
    assert "4 questions on all 3 sides. Judged by the coverage rating." in done.stdout
    assert "Position bias: not applicable: ratings do not see an order." in done.stdout
    assert "Report: page.html" in done.stdout
    assert "copy" in (folder / "page.html").read_text(encoding="utf-8")


def test_pairs_are_printed_as_one_json_document(command: Callable[..., Any], traces: Path, better: Path) -> None:
    done = command("compare", traces, better, *JUDGE, "--pairwise", "--json")

    document = json.loads(done.stdout)
    (rate,) = document["win_rates"]
    assert document["pipelines"] == ["traces", "better"]
    assert (rate["rate"]["estimate"], rate["wins"], rate["ties"], rate["losses"]) == (0.125, 0, 1, 3)
    assert document["position_bias"]["undefined_because"] == "not applicable: ratings do not see an order"
    assert document["report"] is None
    assert "spending" not in document


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["traces.jsonl"], "a comparison takes two files"),
        (["traces.jsonl", "--pairwise"], "a comparison takes two files"),
        (["traces.jsonl", "better.jsonl", "traces.jsonl"], "takes two files, not 3"),
        (["traces.jsonl", "better.jsonl", "--generator", "openai:small"], "add --pairwise"),
        (["traces.jsonl", "better.jsonl", "--prices", "prices.json"], "add --pairwise"),
        (["traces.jsonl", "better.jsonl", "--pairwise", "--generator", "nobody:small"], "No backend is called 'nobody'"),
    ],
)
@pytest.mark.usefixtures("traces", "better")
def test_wrong_usage_is_told_before_anything_is_measured(
    command: Callable[..., Any], folder: Path, words: list[str], problem: str
) -> None:
    done = command("compare", *words, *JUDGE)

    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.replace("│", " ").split())
    assert not list(folder.glob("*.sqlite"))


def test_of_many_files_only_those_of_one_name_are_kept_under_their_folders(
    command: Callable[..., Any], folder: Path, traces: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    for name in ("before", "after"):
        (folder / name).mkdir()
        make(folder / name / "other.jsonl", [one(0)])

    done = command("compare", "before/other.jsonl", traces, "after/other.jsonl", *JUDGE, "--pairwise")

    assert done.exit_code == 0
    assert sorted(path.name for path in folder.glob("*.sqlite")) == [
        "after-other-coverage.sqlite",
        "before-other-coverage.sqlite",
        "traces-coverage.sqlite",
    ]


def test_an_unfinished_store_is_told(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    lines = [one(number) for number in range(80)]
    make(folder / "traces.jsonl", [*lines, one(80, answer="ctrl-c")])
    command("evaluate", "traces.jsonl", "--judge", "moody", "--measure", "coverage", "--workers", "1")

    done = command("compare", "traces-coverage.sqlite", "traces-coverage.sqlite")

    assert done.exit_code == 0
    assert "holds an unfinished evaluation: 64 of its traces are used" in done.stderr


def test_a_comparison_says_what_became_of_labels(command: Callable[..., Any], traces: Path, better: Path, folder: Path) -> None:
    rows = ["Why is sky 1 blue?,is sky 1 blue,The sky 1 is blue,1", "Why is sky 1 blue?,is sky 1 blue,Dust.,0"]
    (folder / "labels.csv").write_text("\n".join(["question,sub_question,answer,label", *rows]), "utf-8")
    words = ("compare", traces, better, *JUDGE, "--labels", "labels.csv")

    shown, document = " ".join(command(*words).stdout.split()), json.loads(command(*words, "--json").stdout)

    assert "Labels of people, a: 1 of 2 are used; 1 is of an answer that is not here." in shown
    assert "Labels of people, b: 0 of 2 are used; 2 are of answers that are not here." in shown
    assert "rest on the labels of a, too" in shown
    assert [document["labels"][side]["used"] for side in "ab"] == [1, 0]
    assert document["labels"]["b"]["texts"] == 2
