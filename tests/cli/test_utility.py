from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation

Command = Callable[..., Any]
MODELS = ("--receiver", "words", "--entailer", "words")


def line(number: int, *, harmful: bool = False, **fields: Any) -> dict[str, Any]:
    """Make a trace whose first step teaches the receiver the answer; a harmful second step misleads it."""
    second = "the sea mirrors light" if harmful else "air scatters light, says Rayleigh"
    return {
        "question": {"text": "Why?", "id": str(number), "references": ["air scatters light"]},
        "steps": [
            {"id": "bm25", "query": "sky", "passages": ["air scatters light"]},
            {"id": "tiny", "kind": "rerank", "passages": [second], "input_ids": ["bm25"]},
        ],
        "pipeline": "hybrid",
        **fields,
    }


@pytest.fixture
def traces(folder: Path, make: Callable[..., Path]) -> Path:
    lines = [line(0), line(1, harmful=True, metadata={"hops": 2}), line(2, metadata={"hops": 1})]
    return make(folder / "traces.jsonl", lines)


def test_steps_that_hurt_come_first_then_the_aggregates_and_every_trace(command: Command, traces: Path) -> None:
    done = command("utility", traces, *MODELS)

    assert done.exit_code == 0
    shown = done.stdout
    assert shown.index("2. rerank tiny hybrid") < shown.index("Retrieval moved belief in the right answer by +0.67")
    assert shown.index("By step") < shown.index("Belief: before, by step, after")
    assert "0.00 +1.00 \N{MINUS SIGN}1.00 → 0.00" in shown
    assert "1 of 6 steps hurt, 1 with a whole 95% interval over the samples below 0." in shown


def test_results_and_report_are_kept_beside_those_of_other_measures(command: Command, traces: Path, folder: Path) -> None:
    done = command("utility", traces, *MODELS)

    assert "Results: traces-utility.sqlite" in done.stdout
    assert "Report: traces-utility.html" in done.stdout
    assert [result.utility is not None for result in Evaluation.open(folder / "traces-utility.sqlite").results] == [True] * 3
    assert "What each retrieval step was worth" in (folder / "traces-utility.html").read_text(encoding="utf-8")


def test_json_is_one_document_with_every_trace(command: Command, traces: Path) -> None:
    done = command("utility", traces, *MODELS, "--json", "--query-type", "hops")

    document = json.loads(done.stdout)
    assert document["summary"]["metrics"]["utility"]["estimate"] == pytest.approx(2 / 3)
    assert document["summary"]["judge"] == "testing:keyword-entailer"
    assert [group["name"] for group in document["summary"]["utility"]["by_query_type"]] == ["2", "1"]
    worst = document["traces"][1]
    assert (worst["prior"], worst["posterior"], worst["total"]["value"]) == (0, 0, 0)
    assert [step["marginal"]["value"] for step in worst["steps"]] == [1, -1]
    assert (worst["references"], worst["kind"], worst["preset"]) == ("gold", "soft", "unbiased")


def test_passages_get_their_worth_on_request(command: Command, traces: Path) -> None:
    done = command("utility", traces, *MODELS, "--json", "--per-passage", "leave-one-out")

    steps = json.loads(done.stdout)["traces"][0]["steps"]
    assert [passage["value"] for passage in steps[0]["passages"]] == [1]


def test_how_belief_is_measured_can_be_told(command: Command, traces: Path) -> None:
    options = ("--kind", "hard", "--samples", "3", "--approximate", "normalised", "--adaptive", "0.1")

    first = json.loads(command("utility", traces, *MODELS, "--json", *options).stdout)["traces"][0]

    assert (first["kind"], first["approximations"]) == ("hard", ["normalised"])


def test_an_unknown_approximation_is_wrong_usage(command: Command, traces: Path) -> None:
    done = command("utility", traces, *MODELS, "--approximate", "normal")

    assert done.exit_code == 2
    assert "Did you mean 'normalised'?" in done.stderr


def test_samples_in_the_traces_need_no_receiver(command: Command, folder: Path, make: Callable[..., Path]) -> None:
    one = line(0)
    one["steps"] = one["steps"][:1]
    one["samples"] = [
        {"receiver": "theirs", "context": "none", "samples": ["nobody knows"]},
        {"receiver": "theirs", "context": "after", "step": "bm25", "samples": ["air scatters light"]},
    ]
    make(folder / "recorded.jsonl", [one])

    done = command("utility", "recorded.jsonl", "--entailer", "words", "--samples", "1")

    assert done.exit_code == 0
    assert "receiver theirs" in done.stdout


def test_without_a_receiver_and_without_samples_one_is_to_be_named(command: Command, traces: Path, folder: Path) -> None:
    done = command("utility", traces, "--entailer", "words")

    assert done.exit_code == 2
    assert "--receiver: the traces hold no recorded answers, so a receiver has to be named" in done.stderr
    assert list(folder.glob("*.sqlite")) == []


def test_own_answers_may_stand_in_for_references(command: Command, folder: Path, make: Callable[..., Path]) -> None:
    make(folder / "bare.jsonl", [line(0, question="Why?", answer="air scatters light")])

    done = command("utility", "bare.jsonl", *MODELS, "--references", "answer")

    assert "belief in the pipeline’s own answer by +1.00" in done.stdout
    assert "self-consistency, not correctness" in done.stdout


def test_a_gate_on_utility_fails_the_build(command: Command, traces: Path) -> None:
    kept, failed = (
        command("utility", traces, *MODELS, "-q", "--fail-under", f"utility={least}", "--force") for least in (0.5, 0.9)
    )

    assert (kept.exit_code, failed.exit_code) == (0, 1)
    assert "Gate failed: utility is 0.667, which is 0.23 below 0.9" in failed.stderr


def test_a_gate_on_what_was_not_measured_fails_and_says_so(command: Command, traces: Path) -> None:
    done = command("evaluate", traces, "--judge", "words", "-q", "--fail-under", "utility=0.1")

    assert done.exit_code == 1
    assert "utility is undefined: it was not measured" in done.stderr


def test_evaluate_measures_utility_too_where_a_receiver_is_named(command: Command, folder: Path, traces: Path) -> None:
    done = command("evaluate", traces, "--judge", "words", "--receiver", "words")

    assert "Utility of retrieval (ΔSePer)" in done.stdout
    page = (folder / "traces-coverage.html").read_text(encoding="utf-8")
    assert "What each retrieval step was worth" in page
    assert "core sub-question" in page


def test_the_report_of_a_kept_evaluation_shows_its_utilities(command: Command, traces: Path, folder: Path) -> None:
    command("utility", traces, *MODELS, "--no-report")

    done = command("report", "traces-utility.sqlite", "-o", "again.html")

    assert "Retrieval moved belief in the right answer by +0.67" in done.stdout
    assert "What each retrieval step was worth" in (folder / "again.html").read_text(encoding="utf-8")


def test_two_pipelines_are_compared_by_utility_too(
    command: Command, folder: Path, traces: Path, make: Callable[..., Path]
) -> None:
    make(folder / "worse.jsonl", [line(number, harmful=True, pipeline="worse") for number in range(3)])
    for file in (traces, Path("worse.jsonl")):
        command("utility", file, *MODELS, "--no-report")

    done = command("compare", "traces-utility.sqlite", "worse-utility.sqlite", "--json")

    metrics = json.loads(done.stdout)["metrics"]
    assert list(metrics) == ["utility", "hurting_steps"]
    assert metrics["utility"]["difference"] == pytest.approx(-2 / 3)
