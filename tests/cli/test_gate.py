"""`rag-cover gate`: what fails a build, what its first line says, what other programs read of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from rag_cover.cli.gate_causes import find_cause
from rag_cover.cli.gate_outcome import MARKER
from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.summaries import Comparison
from rag_cover.summaries.result import MetricComparison

JUDGE = ("--judge", "words")
Make = Callable[..., Path]
SKY, GRASS = "The sky is blue since air scatters.", "Grass."


def _lines(number: int, *, found: int, said: int, told: str = "") -> list[dict[str, Any]]:
    """Make questions; the passage is found for the first ``found``, and the answer has it for the first ``said``."""
    return [
        {
            "question": f"Why is sky {each} blue?{told}",
            "sub_questions": [{"text": "Why is the sky blue?", "role": "core"}],
            "steps": [{"passages": [{"text": SKY if each < found else GRASS}]}],
            "answer": SKY if each < said else GRASS,
        }
        for each in range(number)
    ]


@pytest.fixture
def main(folder: Path, make: Make) -> Path:
    return make(folder / "main.jsonl", _lines(12, found=12, said=12))


@pytest.fixture
def gate(command: Callable[..., Any], main: Path, make: Make, folder: Path) -> Callable[..., Any]:
    def run(lines: list[dict[str, Any]], *words: str | Path) -> Any:
        pr = make(folder / "pr.jsonl", lines)
        return command("gate", "--baseline", main, "--candidate", pr, *JUDGE, *words)

    return run


@pytest.mark.parametrize(
    ("found", "said", "cause"),
    [
        (4, 4, "8 more core sub-questions lost: not retrieved (0 before, 8 now)"),
        (12, 4, "8 more core sub-questions lost: in the prompt, not used (0 before, 8 now)"),
    ],
)
def test_a_worse_candidate_fails_and_the_first_line_names_the_cause(
    gate: Callable[..., Any], found: int, said: int, cause: str
) -> None:
    done = gate(_lines(12, found=found, said=said))

    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith(f"Gate failed: Cause: {cause}. core_coverage went from 1 to 0.333")


def test_the_same_again_passes_and_says_what_would_have_shown(gate: Callable[..., Any]) -> None:
    done = gate(_lines(12, found=11, said=11))

    assert done.exit_code == 0
    assert "Gate passed: 2 gates, 12 questions." in done.stdout
    assert "core_coverage: 0.083 worse, p = 1.00: to fail, below 0.0" in done.stdout


def test_two_files_of_one_name_are_two_evaluations_and_nothing_is_left_behind(
    command: Callable[..., Any], folder: Path, make: Make
) -> None:
    for name, said in (("main", 12), ("pr", 4)):
        (folder / name).mkdir()
        make(folder / name / "answers.jsonl", _lines(12, found=12, said=said))

    done = command("gate", "--baseline", "main/answers.jsonl", "--candidate", "pr/answers.jsonl", *JUDGE)

    assert done.exit_code == 1
    assert [path for path in folder.iterdir() if path.is_file()] == []


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_candidate_without_answers_fails(gate: Callable[..., Any], blank: str | None) -> None:
    lines = _lines(12, found=12, said=12)
    for line in lines[3:]:
        line["answer"] = blank

    done = gate(lines)

    assert done.exit_code == 1
    assert "failed  answers: 9 of the baseline's answers are missing in the candidate" in done.stdout


def test_questions_that_the_candidate_lacks_are_told_in_the_first_line(gate: Callable[..., Any]) -> None:
    done = gate(_lines(12, found=12, said=12)[:5])

    assert "5 questions, 7 of the baseline missing in the candidate" in done.stdout.splitlines()[0]


def test_a_floor_holds_the_candidate_alone(gate: Callable[..., Any]) -> None:
    done = gate(_lines(12, found=11, said=11), "--fail-under", "core_coverage=0.95")

    assert done.exit_code == 1
    assert "core_coverage is 0.917" in done.stderr


def test_a_ceiling_holds_the_candidate_alone_and_stands_in_every_output(gate: Callable[..., Any], folder: Path) -> None:
    option = "--fail-over echo_coverage=0.5"  # the questions hold the words of their sub-questions

    done = gate(
        _lines(12, found=12, said=12),
        *option.split(),
        "--junit",
        folder / "gate.xml",
        "--markdown",
        folder / "gate.md",
        "--json",
    )

    assert done.exit_code == 1
    (row,) = json.loads(done.stdout)["gates"]
    assert (row["option"], row["passed"]) == (option, False)
    assert row["problem"] == "echo_coverage is 1, which is 0.5 above 0.5"
    assert f'name="{option}"' in (folder / "gate.xml").read_text(encoding="utf-8")
    assert f"| `{option}` | echo_coverage is 1" in (folder / "gate.md").read_text(encoding="utf-8").replace("\\", "")


@pytest.mark.parametrize(("questions", "code"), [(6, 0), (7, 1)])
def test_the_gates_that_nobody_names_can_fail_from_7_questions_on(
    command: Callable[..., Any], folder: Path, make: Make, questions: int, code: int
) -> None:
    sides = (make(folder / f"{name}.jsonl", _lines(questions, found=7, said=said)) for name, said in (("a", 7), ("b", 0)))
    baseline, candidate = sides

    done = command("gate", "--baseline", baseline, "--candidate", candidate, *JUDGE)

    assert done.exit_code == code
    assert ("too few questions to fail 2 of them" in done.stdout) is (code == 0)


def test_a_store_that_cannot_be_read_exits_with_3_and_nothing_is_written(
    command: Callable[..., Any], main: Path, folder: Path
) -> None:
    (folder / "broken.sqlite").write_bytes(bytes(range(256)))
    files = ("--junit", folder / "gate.xml", "--markdown", folder / "gate.md", "--report", folder / "gate.html")

    for name in ("missing.sqlite", "broken.sqlite"):
        done = command("gate", "--baseline", main, "--candidate", folder / name, *JUDGE, *files)

        assert done.exit_code == 3
        assert name in done.stderr
    assert not list(folder.glob("gate.*"))


@pytest.mark.parametrize(
    ("said", "again", "code"),
    [
        (6, 6, 0),  # the baseline, too, answers 6 of 12 at its second run
        (4, 11, 1),
        (4, 4, 1),  # only 4 questions are left without the flaky ones, which is too few: all count
    ],
)
def test_what_two_runs_of_the_baseline_differ_by_is_no_change(
    gate: Callable[..., Any], folder: Path, make: Make, said: int, again: int, code: int
) -> None:
    repeat = make(folder / "again.jsonl", _lines(12, found=12, said=again))

    done = gate(_lines(12, found=12, said=said), "--repeat", repeat, "--fail-if-worse", "core_coverage", "--json")

    outcome = json.loads(done.stdout)
    assert (done.exit_code, len(outcome["flaky"])) == (code, 12 - again)


def test_flaky_questions_are_named(gate: Callable[..., Any], folder: Path, make: Make) -> None:
    repeat = make(folder / "again.jsonl", _lines(12, found=12, said=11))

    done = gate(_lines(12, found=12, said=12), "--repeat", repeat, "--markdown", folder / "comment.md")

    told = done.stdout.split("1 question differ between two runs of the baseline:\n")[1].splitlines()[0].strip()
    assert told
    assert f"- `{told}`" in (folder / "comment.md").read_text(encoding="utf-8")


def test_a_candidate_is_not_excused_where_every_question_is_flaky(gate: Callable[..., Any], folder: Path, make: Make) -> None:
    repeat = make(folder / "again.jsonl", _lines(12, found=12, said=0))

    assert gate(_lines(12, found=12, said=0), "--repeat", repeat).exit_code == 1


def test_too_few_questions_to_fail_are_told_in_the_first_line(command: Callable[..., Any], folder: Path, make: Make) -> None:
    main, pr = (make(folder / f"{said}.jsonl", _lines(5, found=5, said=said)) for said in (5, 0))

    done = command("gate", "--baseline", main, "--candidate", pr, *JUDGE, "--fail-if-worse", "core_coverage")

    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert said.startswith("Gate passed, though core_coverage fell by 100 points (p = 0.0")
    assert "to tell whether it is worse; 1 gate, 5 questions; too few questions to fail it." in said
    assert "6 or more can" in done.stdout


def test_two_judges_fail(command: Callable[..., Any], main: Path) -> None:
    for judge in ("words", "embedded"):
        command("evaluate", main, "--judge", judge, "--store", f"{judge}.sqlite", "--report", f"{judge}.html")

    done = command("gate", "--baseline", "words.sqlite", "--candidate", "embedded.sqlite")

    assert done.exit_code == 1
    assert "use one judge" in done.stderr


def test_gates_share_the_level(gate: Callable[..., Any]) -> None:
    lines = _lines(12, found=12, said=6)  # p = 2 / 2^6 = 0.031

    both = gate(lines, "--fail-if-worse", "core_coverage", "--fail-if-worse", "core_retrieved")

    assert gate(lines, "--fail-if-worse", "core_coverage", "--force").exit_code == 1
    assert both.exit_code == 0


def test_a_loss_that_is_near_to_failing_stands_in_the_first_line(gate: Callable[..., Any], folder: Path) -> None:
    comment = folder / "comment.md"
    done = gate(_lines(12, found=12, said=6), "--markdown", comment)

    assert done.exit_code == 0
    first = "core_coverage fell by 50 points (p = 0.03"
    assert done.stdout.startswith(f"Gate passed, though {first}")
    assert "; fails below 0.025): too few questions to tell whether it is worse; 2 gates, 12 questions." in done.stdout
    assert (
        comment.read_text("utf-8").splitlines()[1].startswith("### rag_cover: passed, though core\\_coverage fell by 50 points")
    )


def test_junit_has_a_case_for_each_gate_and_each_question_that_lost(gate: Callable[..., Any], folder: Path) -> None:
    path = folder / "gate.xml"

    gate(_lines(12, found=4, said=4), "--junit", path, "--fail-under", "core_coverage=0.6")

    suite = ET.parse(path).getroot()[0]  # noqa: S314  # our own file
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9",
        "failures": "1",
        "errors": "0",
        "skipped": "8",
    }
    assert suite[0].get("name") == "--fail-under core_coverage=0.6"


def test_junit_is_well_formed_whatever_a_question_holds(command: Callable[..., Any], folder: Path, make: Make) -> None:
    odd = "\ufffe\x0b\u0085 \U0001f600 ]]> &"
    main, pr = (make(folder / f"{said}.jsonl", _lines(12, found=12, said=said, told=odd)) for said in (12, 0))
    path = folder / "gate.xml"

    command("gate", "--baseline", main, "--candidate", pr, *JUDGE, "--junit", path)

    names = [case.get("name", "") for case in ET.parse(path).getroot()[0]]  # noqa: S314  # our own file
    assert any("\U0001f600 ]]> &" in name for name in names)


def test_the_comment_is_short_and_texts_make_no_markup(command: Callable[..., Any], folder: Path, make: Make) -> None:
    hostile = " <img src=x> [a](http://evil) www.evil.example @everyone `x`"
    main = make(folder / "one.jsonl", _lines(30, found=30, said=30, told=hostile))
    pr = make(folder / "two.jsonl", _lines(30, found=4, said=4, told=hostile))
    path = folder / "comment.md"

    done = command("gate", "--baseline", main, "--candidate", pr, *JUDGE, "--markdown", path)

    text = path.read_text(encoding="utf-8")
    assert done.exit_code == 1
    assert text.startswith(f"{MARKER}\n### rag_cover: failed\n")
    assert len(text.splitlines()) <= 40
    shown = MarkdownIt().render(text.removeprefix(MARKER))
    assert not {tag for tag in ("<img", "<a ", "<p>@", "<em>") if tag in shown}
    assert shown.count("@everyone `x`</code>") == shown.count("www.evil.example") == 10
    assert "\n- and 16 more\n" in text


def test_a_file_that_is_there_is_not_written_over(gate: Callable[..., Any], folder: Path) -> None:
    kept = folder / "gate.xml"
    kept.write_text("mine")

    done = gate(_lines(12, found=12, said=12), "--junit", kept)

    assert done.exit_code == 3
    assert kept.read_text() == "mine"


def _comparison(before: dict[Loss, int], after: dict[Loss, int], *, retrieved: float, unclear: int = 0) -> Comparison:
    metric = MetricComparison("core_retrieved", "", None, None, retrieved, None, 10, higher_is_better=True)
    return Comparison("a", "b", 10, 0, 0, {"core_retrieved": metric}, before, after, (), (), 0, unclear)


def _answers(declined: int) -> AnswerCounts:
    return AnswerCounts(answers=10, declined=declined)


@pytest.mark.parametrize(
    ("retrieved", "lost", "unclear", "declined", "cause"),
    [
        (-0.5, {Loss.NOT_RETRIEVED: 8}, 0, 8, "8 more core sub-questions lost: not retrieved (0 before, 8 now)"),
        (0.0, {Loss.NOT_RETRIEVED: 8}, 0, 8, "8 more answers decline (0 before, 8 now)"),
        (
            0.0,
            {Loss.NOT_RETRIEVED: 2},
            3,
            0,
            "5 more core sub-questions lost in the answers: what was retrieved covers no less",
        ),
        (0.0, {Loss.DROPPED: 2, Loss.NOT_RETRIEVED: 2}, 3, 0, "2 more core sub-questions lost: retrieved, then dropped"),
        (-0.5, {Loss.FAILED: 1}, 0, 0, "1 more core sub-question lost: retrieval failed (0 before, 1 now)"),
        (-0.5, {Loss.NOT_RETRIEVED: 1}, 5, 0, "5 more core sub-questions lost at a stage that is unclear (0 before, 5 now)"),
        (-0.5, {}, 0, 1, "1 more answer declines (0 before, 1 now)"),
        (-0.5, {}, 0, 0, None),
    ],
)
def test_the_cause_is_where_most_more_is_lost(
    retrieved: float, lost: dict[Loss, int], unclear: int, declined: int, cause: str | None
) -> None:
    found = find_cause(_comparison({}, lost, retrieved=retrieved, unclear=unclear), _answers(0), _answers(declined))

    assert (found is None) if cause is None else (found or "").startswith(cause)


def test_a_gate_that_holds_says_how_near_it_came(gate: Callable[..., Any]) -> None:
    near = gate(_lines(12, found=12, said=7), "--fail-if-worse", "core_coverage", "--fail-if-worse", "rating")
    wide = gate(_lines(12, found=12, said=11), "--fail-if-worse", "core_coverage=0.9", "--force")

    assert "worse, p = 0.06" in near.stdout
    assert "no more than 0." in wide.stdout


def test_a_default_gate_fails_where_only_the_candidate_does_not_define_its_metric(gate: Callable[..., Any]) -> None:
    declining = [{**line, "answer": "I do not know."} for line in _lines(12, found=12, said=12)]

    done = gate(declining, "--json")

    gates = {each["option"]: each for each in json.loads(done.stdout)["gates"]}
    assert done.exit_code == 1
    assert set(gates) == {"--fail-if-worse core_coverage", "--fail-if-worse groundedness"}
    assert "undefined" in gates["--fail-if-worse groundedness"]["problem"]
