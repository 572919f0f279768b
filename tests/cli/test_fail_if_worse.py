"""`rag-cover compare --fail-if-worse`: a build fails where answers became worse, and says what was lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

JUDGE = ("--judge", "words")
Make = Callable[..., Path]


def _lines(number: int, *, worse: int) -> list[dict[str, Any]]:
    """Make questions that are answered but for the last ``worse``, whose passages are not retrieved either."""
    sky = "The sky is blue since air scatters."
    return [
        {
            "question": f"Why is sky {each} blue?",
            "sub_questions": [{"text": "Why is the sky blue?", "role": "core"}],
            "steps": [{"passages": [{"text": sky if each < number - worse else "Grass."}]}],
            "answer": sky if each < number - worse else "Grass.",
        }
        for each in range(number)
    ]


@pytest.fixture
def good(folder: Path, make: Make) -> Path:
    return make(folder / "good.jsonl", _lines(12, worse=0))


@pytest.fixture
def bad(folder: Path, make: Make) -> Path:
    return make(folder / "bad.jsonl", _lines(12, worse=8))


def test_a_metric_that_is_worse_fails_the_build_and_names_the_loss(command: Callable[..., Any], good: Path, bad: Path) -> None:
    done = command("compare", good, bad, *JUDGE, "--fail-if-worse", "core_coverage")

    assert done.exit_code == 1
    assert "Gate failed: Cause: 8 more core sub-questions lost: not retrieved (0 before, 8 now). core_coverage" in done.stderr
    assert "core_coverage went from 1 to 0.333 (-0.67, 95% interval -0.98 to -0.35, p = 0.008, " in done.stderr
    assert "12 questions) (--fail-if-worse core_coverage)." in done.stderr


def test_a_gate_that_is_repeated_is_one_gate(command: Callable[..., Any], good: Path, bad: Path) -> None:
    gate = ("--fail-if-worse", "core_coverage")

    once, twice = (command("compare", good, bad, *JUDGE, *options, "--json") for options in (gate, gate * 2))

    assert json.loads(once.stdout)["gates"] == json.loads(twice.stdout)["gates"]


def test_a_metric_that_is_better_or_the_same_passes_and_says_what_would_show(
    command: Callable[..., Any], good: Path, bad: Path
) -> None:
    better = command("compare", bad, good, *JUDGE, "--fail-if-worse", "core_coverage")
    same = command("compare", good, good, *JUDGE, "--fail-if-worse", "core_coverage=0")

    assert (better.exit_code, same.exit_code) == (0, 0)
    assert "Gate passed: --fail-if-worse core_coverage; a difference of about 0." in better.stdout


def test_with_a_margin_it_must_be_shown_to_be_no_worse(
    command: Callable[..., Any], folder: Path, good: Path, make: Make
) -> None:
    little = make(folder / "little.jsonl", _lines(12, worse=1))
    words = ("compare", good, little, *JUDGE, "--fail-if-worse")

    assert command(*words, "core_coverage").exit_code == 0
    assert command(*words, "core_coverage=0.5").exit_code == 0
    strict = command(*words, "core_coverage=0.05")
    assert strict.exit_code == 1
    assert "it may be 0.27 worse, which is more than 0.05" in strict.stderr


def test_more_of_what_is_bad_is_worse(command: Callable[..., Any], folder: Path, make: Make) -> None:
    lines = {name: _lines(12, worse=worse) for name, worse in (("wordy", 0), ("terse", 8))}
    for line in (line for each in lines.values() for line in each):
        line["sub_questions"].append({"text": "Is the sky blue?", "role": "follow-up"})
    wordy, terse = (make(folder / f"{name}.jsonl", each) for name, each in lines.items())

    worse, better = (
        command("compare", *sides, *JUDGE, "--fail-if-worse", gate)
        for sides, gate in (((terse, wordy), "follow_up_coverage"), ((wordy, terse), "follow_up_coverage=0.01"))
    )

    assert (worse.exit_code, better.exit_code) == (1, 0)
    assert "follow_up_coverage went from 0.333 to 1 (+0.67" in worse.stderr


def test_json_tells_the_gates(command: Callable[..., Any], good: Path, bad: Path) -> None:
    done = command("compare", good, bad, *JUDGE, "--fail-if-worse", "core_coverage", "--json")

    (gate,) = json.loads(done.stdout)["gates"]
    assert done.exit_code == 1
    assert (gate["option"], gate["passed"]) == ("--fail-if-worse core_coverage", False)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["core"], 2, "Did you mean 'core_coverage'?"),
        (["unsure_answers"], 2, "neither more nor less of it is better"),
        (["core_coverage=-1"], 2, "is not METRIC or METRIC=MARGIN"),
        (["core_coverage=x"], 2, "is not METRIC or METRIC=MARGIN"),
        (
            ["core_coverage=5"],
            2,
            "core_coverage lies between 0 and 1, so a margin of 5 never fails; give a smaller margin, such as",
        ),
        (["core_coverage=1"], 2, "a margin of 1 never fails; give a smaller margin, such as 0.01 for 1%"),
        (["rating=2.5"], 2, "rating lies between -1 and 1.5, so a margin of 2.5 never fails; give a smaller margin"),
        (["utility"], 1, "utility is undefined on a side"),
        (["core_coverage", "--pairwise"], 2, "leave one of --pairwise and --fail-if-worse out"),
    ],
)
def test_what_cannot_be_a_gate_is_told(
    command: Callable[..., Any], good: Path, bad: Path, words: list[str], code: int, said: str
) -> None:
    done = command("compare", good, bad, *JUDGE, "--fail-if-worse", *words)

    assert done.exit_code == code
    assert said in done.stderr
