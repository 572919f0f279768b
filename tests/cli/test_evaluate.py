from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.stores import Store
from rag_cover.stores.locks import hold

JUDGE = ("--judge", "words")


def test_an_evaluation_says_where_results_and_report_are(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    done = command("evaluate", traces, *JUDGE)

    assert done.exit_code == 0
    assert "Answers cover 62% of the core sub-questions" in done.stdout
    assert "Results: traces-coverage.sqlite" in done.stdout
    assert "Report: traces-coverage.html" in done.stdout
    assert len(Evaluation.open(folder / "traces-coverage.sqlite").results) == 4
    assert "<html" in (folder / "traces-coverage.html").read_text(encoding="utf-8")


def test_results_and_report_go_where_they_are_told(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    command("evaluate", traces, *JUDGE, "--store", "kept.sqlite", "--report", "page.html")

    assert (folder / "kept.sqlite").exists()
    assert (folder / "page.html").exists()
    assert not list(folder.glob("traces-coverage.*"))


def test_nothing_is_written_where_nothing_is_wanted(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    command("evaluate", traces, *JUDGE, "--no-store", "--no-report")

    assert list(folder.iterdir()) == [traces]


def test_json_is_one_document_and_nothing_else(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--json", "--fail-under", "core_coverage=0.5")

    document = json.loads(done.stdout)
    assert done.stderr == ""
    assert document["summary"]["metrics"]["core_coverage"]["estimate"] == 0.625
    assert document["summary"]["metrics"]["rating"]["n"] == 4
    assert document["summary"]["metrics"]["order_alignment"]["undefined_because"]
    assert document["store"] == "traces-coverage.sqlite"
    assert document["gates"] == [{"option": "--fail-under core_coverage=0.5", "value": 0.625, "passed": True, "problem": None}]


def test_json_tells_what_the_answers_are_like(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--json")

    summary = json.loads(done.stdout)["summary"]
    assert summary["answers"]["answers"] == 4
    assert {"declined", "declined_partly", "repetitions", "empty", "short"} <= set(summary["answers"])
    assert summary["single_sub_questions"] == 0


def test_quiet_prints_nothing_when_all_is_well(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--quiet")

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_a_limit_reads_only_the_first_traces(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--limit", "1", "--json")

    assert json.loads(done.stdout)["summary"]["traces"] == 1


def test_a_measure_can_be_chosen(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--measure", "groundedness", "--json")

    assert list(json.loads(done.stdout)["summary"]["outcomes"]) == ["groundedness"]


def test_a_threshold_is_used(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--threshold", "0.0", "--json")

    assert json.loads(done.stdout)["summary"]["metrics"]["core_coverage"]["estimate"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--threshold", "0.5", "--measure", "groundedness"], "a threshold is for the measure 'coverage'"),
        (["--measure", "coverge"], "Did you mean 'coverage'?"),
        (["--judge", "wrods"], "Did you mean 'words'?"),
        (["--fail-under", "core_coverge=0.5"], "Did you mean 'core_coverage'?"),
        (["--fail-under", "core_coverge=0.5"], "order_alignment, rating"),
        (["--fail-under", "rating=high"], "is not METRIC=NUMBER"),
        (["--fail-under-lower", "rating"], "--fail-under-lower"),
        (["--fail-over", "echo_coverage=high"], "is not METRIC=NUMBER"),
        (["--fail-over", "hallucination=-0.1"], "hallucination is never below 0, so hallucination=-0.1 always fails"),
        (["--fail-over", "hallucination=5"], "hallucination is never above 1, so hallucination=5 never fails; give a lower"),
        (["--fail-over", "hallucination=5"], "maximum, such as 0.05 for 5%"),
        (["--fail-over", "abstentions=1"], "abstentions is never above 1, so abstentions=1 never fails"),
        (["--fail-over-upper", "abstentions=30"], "so abstentions=30 never fails; give a lower maximum, such as 0.3 for 30%"),
        (["--fail-under", "core_coverage=-0.1"], "core_coverage is never below 0, so core_coverage=-0.1 never fails"),
        (["--fail-under-lower", "utility=-1"], "utility is never below -1, so utility=-1 never fails; give a higher minimum"),
        (["--fail-under", "core_coverage=60"], "so core_coverage=60 always fails; give a lower minimum, such as 0.6 for 60%"),
        (["--fail-over", "core_coverage=0.6"], "more of core_coverage is better, so this fails a build that got better"),
        (["--fail-over", "core_coverage=0.6"], "give --fail-under core_coverage=0.6"),
        (["--fail-under", "hallucination=0.1"], "give --fail-over hallucination=0.1"),
        (["--column", "question"], "is not FIELD=COLUMN"),
        (["--limit", "0"], "--limit"),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(
    command: Callable[..., Any], traces: Path, folder: Path, words: list[str], said: str
) -> None:
    done = command("evaluate", traces, *JUDGE, *words)

    assert done.exit_code == 2
    assert said in done.stderr
    assert list(folder.iterdir()) == [traces]


def test_a_gate_that_holds_exits_with_0(command: Callable[..., Any], traces: Path) -> None:
    assert command("evaluate", traces, *JUDGE, "--fail-under", "core_coverage=0.625").exit_code == 0


def test_a_failed_gate_says_which_and_by_how_much(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--quiet", "--fail-under", "core_coverage=0.9", "--fail-under", "core_use=0.1")

    assert done.exit_code == 1
    assert done.stderr == ("Gate failed: core_coverage is 0.625, which is 0.28 below 0.9 (--fail-under core_coverage=0.9).\n")


def test_a_gate_on_the_lower_end_fails_where_the_estimate_would_not(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--fail-under-lower", "core_coverage=0.6")

    assert done.exit_code == 1
    assert "the lower end of core_coverage's 95% interval is 0.263" in done.stderr


def test_a_gate_on_the_lower_end_fails_without_an_interval(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--limit", "1", "--fail-under-lower", "core_coverage=0.1")

    assert done.exit_code == 1
    assert "core_coverage has no interval" in done.stderr


def test_an_undefined_metric_fails_its_gate_and_says_why(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--measure", "groundedness", "--fail-under", "core_coverage=0.1")

    assert done.exit_code == 1
    assert "core_coverage is undefined: coverage was not measured" in done.stderr


def test_a_maximum_fails_a_build_whose_figure_is_above_it(command: Callable[..., Any], traces: Path) -> None:
    over, kept = (
        command("evaluate", traces, *JUDGE, "--no-store", "--no-report", "--json", "--fail-over", f"echo_coverage={most}")
        for most in (0.4, 0.5)
    )

    assert (over.exit_code, kept.exit_code) == (1, 0)
    assert over.stderr == "Gate failed: echo_coverage is 0.5, which is 0.1 above 0.4 (--fail-over echo_coverage=0.4).\n"
    (gate,) = json.loads(over.stdout)["gates"]
    assert (gate["option"], gate["value"], gate["passed"]) == ("--fail-over echo_coverage=0.4", 0.5, False)


def test_a_maximum_of_the_upper_end_fails_where_the_estimate_would_not(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--quiet", "--fail-over-upper", "echo_coverage=0.6")

    assert done.exit_code == 1
    assert "the upper end of echo_coverage's 95% interval is 0.923, which is 0.32 above 0.6" in done.stderr


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (
            "--fail-under claim_recall=0.5",
            "claims' measures it, where traces have a gold answer (references) and retrieval steps",
        ),
        (
            "--fail-over hallucination=0.5",
            "claims' measures it, where traces have an answer, a gold answer (references) and a p",
        ),
        ("--fail-under citation_recall=0.5", "citations' measures it, where traces have an answer and a prompt or retrieval s"),
        (
            "--fail-under utility=0.5",
            "utility --receiver NAME' measures it, where traces have references and retrieval steps (",
        ),
    ],
)
def test_a_gate_on_what_was_not_measured_says_all_that_measures_it(
    command: Callable[..., Any], traces: Path, gate: str, said: str
) -> None:
    done = command("evaluate", traces, *JUDGE, "--quiet", *gate.split())

    assert done.exit_code == 1
    assert f"it was not measured; 'rag-cover evaluate --measure {said}" in done.stderr


def test_a_metric_that_is_named_as_a_measure_is_told_with_its_measure(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--measure", "hallucination")

    assert done.exit_code == 2
    assert "No measure is called 'hallucination': it is a metric of the measure 'claims', so name that one." in done.stderr


def test_a_measure_without_its_receiver_says_what_else_its_traces_lack(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "-q", "--measure", "utility", "--fail-under", "utility=0.1")

    assert "no receiver was named, and the trace has no recorded samples; utility needs references (" in done.stderr


def test_a_gate_on_claims_without_gold_answers_says_what_is_missing(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, "--entailer", "words", "-q", "--measure", "claims", "--fail-over", "hallucination=0.05")

    assert done.exit_code == 1
    assert "hallucination is undefined: it takes an answer, a gold answer (references) and a prompt or retrie" in done.stderr


def test_a_bad_line_exits_with_3_and_names_its_place(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    make(folder / "traces.jsonl", [one(0), '{"question": 7}'])

    done = command("evaluate", "traces.jsonl", *JUDGE)

    assert done.exit_code == 3
    assert done.stderr.startswith("Error: traces.jsonl, line 2, at $.question: ")
    assert "Traceback" not in done.stderr
    assert not (folder / "traces-coverage.sqlite").exists()


def test_bad_lines_may_be_skipped_and_are_counted(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    make(folder / "traces.jsonl", [one(0), "{", one(1), '{"question": 7}'])

    done = command("evaluate", "traces.jsonl", *JUDGE, "--on-bad-line", "skip")

    assert done.exit_code == 0
    assert "2 traces were left out, the first because: traces.jsonl, line 2" in done.stderr


def test_a_missing_file_exits_with_3(command: Callable[..., Any]) -> None:
    done = command("evaluate", "nowhere.jsonl", *JUDGE)

    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "Error: nowhere.jsonl: there is no such file; check the path\n"


def test_a_store_is_no_file_of_traces(command: Callable[..., Any], traces: Path) -> None:
    command("evaluate", traces, *JUDGE)

    done = command("evaluate", "traces-coverage.sqlite", *JUDGE)

    assert done.exit_code == 3
    assert "'rag-cover report traces-coverage.sqlite' shows it" in done.stderr


def test_a_store_that_is_none_exits_with_3(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--store", traces)

    assert done.exit_code == 3
    assert "is not a store" in done.stderr


def test_a_report_that_cannot_be_written_exits_with_3(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, *JUDGE, "--report", "no/such/folder/page.html")

    assert done.exit_code == 3
    assert "cannot be written" in done.stderr


def test_failures_count_only_when_strict(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    make(folder / "traces.jsonl", [one(0), one(1, answer="an earthquake")])
    words = ("evaluate", "traces.jsonl", "--judge", "moody", "--measure", "coverage")

    lenient, strict = command(*words), command(*words, "--strict", "--force")

    assert (lenient.exit_code, strict.exit_code) == (0, 4)
    assert "the judge fell over" in strict.stdout
    assert "Error: 1 measurement failed; --resume repeats them." in strict.stderr
    assert "Error" not in lenient.stderr


def test_a_measure_that_failed_on_every_trace_is_a_failure(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any]
) -> None:
    make(folder / "traces.jsonl", [one(0, answer="an earthquake"), one(1, answer="an earthquake")])

    done = command("evaluate", "traces.jsonl", "--judge", "moody", "--measure", "coverage", "--quiet")

    assert (done.exit_code, done.stdout) == (4, "")
    assert "Error: nothing was measured for coverage: " in done.stderr
    assert "the judge fell over" in done.stderr


def test_an_interrupted_evaluation_keeps_what_is_done_and_says_how_to_go_on(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Callable[..., Any], moody: Any
) -> None:
    lines = [one(number) for number in range(100)]
    path = make(folder / "traces.jsonl", [*lines[:90], one(90, answer="ctrl-c"), *lines[91:]])
    words = ("evaluate", path, "--judge", "moody", "--measure", "coverage", "--workers", "1")

    interrupted = command(*words)
    make(path, lines)
    refused = command(*words)
    before = moody.words.asked.items
    resumed = command(*words, "--resume")
    between = moody.words.asked.items
    command(*words[:1], make(folder / "rest.jsonl", lines[64:]), *words[2:])
    after = moody.words.asked.items

    assert interrupted.exit_code == 130
    assert "64 traces are kept in traces-coverage.sqlite; run the same command with --resume to go on" in interrupted.stderr
    assert refused.exit_code == 3
    assert "--resume" in refused.stderr
    assert resumed.exit_code == 0
    with Store.open(folder / "traces-coverage.sqlite") as store:
        assert (len(store), store.finished) == (100, True)
    assert between - before == after - between > 0  # the judge was asked about the rest, and only about it


def test_a_store_that_another_process_writes_is_refused_with_who_it_is_and_can_be_read(
    command: Callable[..., Any], traces: Path, folder: Path
) -> None:
    command("evaluate", traces, *JUDGE)

    with hold(folder / "traces-coverage.sqlite"):
        refused = command("evaluate", traces, *JUDGE)
        read = command("report", "traces-coverage.sqlite", "--force")

    assert (refused.exit_code, read.exit_code) == (3, 0)
    assert f"is being written by process {os.getpid()} on" in " ".join(refused.stderr.split())
