"""``rag-cover nuggets``: make, assign, score, export; and ``evaluate --nuggets``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_cover.backends import Backend, Failure
from rag_cover.hooks import hook
from rag_cover.llm.nugget_prompts import SHIPPED_PROMPTS
from rag_cover.nuggets import Nugget, NuggetSource
from rag_cover.plugin_manager import plugins
from rag_cover.stores import read_traces
from rag_cover.stores.nugget_files import read_assignments
from rag_cover.testing import ScriptedGenerator

MADE = '{"nuggets": [{"text": "Air scatters blue light", "passages": [1]}, {"text": "The sea is blue"}]}'
WEIGHED = '{"importance": [{"number": 1, "importance": "vital"}, {"number": 2, "importance": "okay"}]}'
ASSIGNED = '{"assignments": [{"number": 1, "assignment": "partial_support"}, {"number": 2, "assignment": "not_support"}]}'
GENERATOR = ScriptedGenerator(
    {
        "storms": Failure("timeout", "no answer in 60 s"),
        "My own words.": '{"nuggets": ["Whose words"]}',
        "purpose: nuggetize": MADE,
        "purpose: weigh": WEIGHED,
        "purpose: judge": ASSIGNED,
    },
    name="scripted:small",
)
SKY = {"text": "Why is the sky blue?", "id": "sky"}


class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [Backend("scripted", "writes by a script", generator=lambda _model: GENERATOR)]


@pytest.fixture(autouse=True)
def _scripted() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-generator")
    yield
    plugins().unregister(plugin)


def steps(*ids: str) -> list[dict[str, Any]]:
    return [{"query": "sky", "passages": [{"id": each, "text": f"Passage {each} on air."} for each in ids]}]


@pytest.fixture
def traces(folder: Path, make: Callable[..., Path]) -> Path:
    lines = [
        {"question": SKY, "answer": "Air scatters light.", "steps": steps("p1"), "pipeline": "one"},
        {"question": SKY, "answer": "It is so.", "steps": steps("p1", "p2"), "pipeline": "two"},
        {"question": "Why do storms form?", "answer": "Heat.", "steps": steps("p3"), "pipeline": "one"},
        {"question": "Why is it?", "answer": "So.", "pipeline": "one"},
    ]
    return make(folder / "traces.jsonl", lines)


def test_nuggets_are_made_of_the_passages_of_all_pipelines(command: Callable[..., Any], traces: Path) -> None:
    done = command("nuggets", "make", traces, "--out", "nuggets.jsonl", "--generator", "scripted:small")

    one, two, storms, bare = read_traces("nuggets.jsonl")
    assert done.exit_code == 0
    assert "Nuggets of 1 of 3 questions made, written to nuggets.jsonl." in done.stdout
    assert one.nuggets == two.nuggets
    assert one.nuggets is not None
    assert one.nuggets[0] == Nugget(
        "Air scatters blue light",
        importance="vital",
        importance_source="model:scripted:small",
        sources=(NuggetSource(kind="passage", id="p1"),),
    )
    assert (storms.nuggets, bare.nuggets) == (None, None)
    assert "1 could not be made: timeout: its nuggets could not be made: no answer in 60 s" in done.stderr
    assert "1 could not be made: no passages: there are no passages to make nuggets of" in done.stderr


def test_only_questions_without_nuggets_are_made_again(command: Callable[..., Any], traces: Path) -> None:
    command("nuggets", "make", traces, "--out", "nuggets.jsonl", "--generator", "scripted:small")
    done = command(
        "nuggets", "make", "nuggets.jsonl", "--out", "nuggets.jsonl", "--generator", "scripted:small", "--strict", "--force"
    )

    assert "Nuggets of 0 of 2 questions made" in done.stdout
    assert done.exit_code == 4


def test_nuggets_are_written_as_nuggetizer_writes_them(command: Callable[..., Any], traces: Path) -> None:
    command("nuggets", "make", traces, "--out", "n.jsonl", "--generator", "scripted:small", "--as", "nuggetizer", "--keep", "1")

    (line,) = Path("n.jsonl").read_text().splitlines()
    written = json.loads(line)
    assert (written["query"], written["qid"]) == (SKY["text"], SKY["id"])
    assert [(each["text"], each["importance"]) for each in written["nuggets"]] == [("Air scatters blue light", "vital")]


def test_the_instructions_can_be_printed_and_changed(command: Callable[..., Any], traces: Path) -> None:
    Path("prompts.toml").write_text('create = "My own words."\n')

    shown = command("nuggets", "make", "--show-prompts").stdout
    command("nuggets", "make", traces, "--out", "n.jsonl", "--generator", "scripted:small", "--prompts", "prompts.toml")

    assert shown == SHIPPED_PROMPTS.read_text(encoding="utf-8")
    first = next(read_traces("n.jsonl"))
    assert first.nuggets is not None
    assert [each.text for each in first.nuggets] == ["Whose words"]


def test_answers_are_assigned_and_scored(command: Callable[..., Any], traces: Path, make: Callable[..., Path]) -> None:
    nuggets = make(
        Path("nuggets.jsonl"),
        [
            {
                "query": SKY["text"],
                "qid": "sky",
                "nuggets": [{"text": "a", "importance": "vital"}, {"text": "b", "importance": "okay"}],
            }
        ],
    )

    done = command("nuggets", "assign", traces, "--nuggets", nuggets, "--out", "a.jsonl", "--generator", "scripted:small")
    scored = command("nuggets", "score", "a.jsonl", "--json")
    shown = command("nuggets", "score", "a.jsonl").stdout

    assert "2 answers assigned, written to a.jsonl." in done.stdout
    assert "2 traces left out: without an answer, or without nuggets" in done.stderr
    assert [each.run for each in read_assignments("a.jsonl")] == ["one", "two"]
    assert json.loads(scored.stdout)["runs"]["one"] == {
        "answers": 1,
        "all": 0.25,
        "all_strict": 0.0,
        "vital": 0.5,
        "vital_strict": 0.0,
        "weighted": pytest.approx(1 / 3),
        "weighted_strict": 0.0,
    }
    assert "0.333" in shown


def test_an_assignment_that_failed_is_written_as_failed_and_scores_nothing(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path]
) -> None:
    traces = make(folder / "t.jsonl", [{"question": "Why do storms form?", "answer": "Heat.", "nuggets": ["storms need heat"]}])

    done = command("nuggets", "assign", traces, "--out", "a.jsonl", "--generator", "scripted:small", "--strict")

    (assigned,) = read_assignments("a.jsonl")
    assert (done.exit_code, assigned.nuggets[0].assignment, assigned.nuggets[0].label) == (4, "failed", None)
    assert json.loads(command("nuggets", "score", "a.jsonl", "--json").stdout)["runs"][""]["all"] is None


def test_an_evaluation_on_nuggets_is_exported(command: Callable[..., Any], traces: Path, make: Callable[..., Path]) -> None:
    asked = {"text": "Air scatters light.", "importance": "vital", "question": "Does air scatter light?"}
    nuggets = make(Path("nuggets.jsonl"), [{"question_id": "sky", "nuggets": [asked]}])

    done = command(
        "evaluate",
        traces,
        "--nuggets",
        nuggets,
        "--measure",
        "coverage",
        "--judge",
        "words",
        "--store",
        "r.sqlite",
        "--no-report",
    )
    exported = command("nuggets", "export", "r.sqlite", "--out", "a.jsonl")

    one, two = read_assignments("a.jsonl")
    assert done.exit_code == 0
    assert "2 answers written to a.jsonl" in exported.stdout
    assert [(each.run, str(each.nuggets[0].assignment)) for each in (one, two)] == [("one", "support"), ("two", "not_support")]
    assert one.nuggets[0].text == "Air scatters light."


def test_a_store_without_nuggets_exports_none_and_says_so(command: Callable[..., Any], traces: Path) -> None:
    command("evaluate", traces, "--measure", "coverage", "--judge", "words", "--store", "r.sqlite", "--no-report")

    exported = command("nuggets", "export", "r.sqlite", "--out", "a.jsonl")

    assert "No result of this store was measured on nuggets" in exported.stderr


@pytest.mark.parametrize(("option", "value"), [("--sub-questions", "s.jsonl"), ("--generator", "scripted:small")])
def test_nuggets_and_sub_questions_are_not_taken_together(
    command: Callable[..., Any], traces: Path, option: str, value: str
) -> None:
    done = command("evaluate", traces, "--nuggets", "nuggets.jsonl", option, value)

    assert done.exit_code == 2
    assert f"leave --nuggets or {option} out" in done.stderr


def test_files_of_any_size_are_measured_on_nuggets(
    command: Callable[..., Any], traces: Path, make: Callable[..., Path]
) -> None:
    asked = {"text": "Air scatters light.", "importance": "vital", "question": "Does air scatter light?"}
    nuggets = make(Path("nuggets.jsonl"), [{"question_id": "sky", "nuggets": [asked]}])

    done = command(
        *("evaluate-files", traces, "--into", "r", "--format", "jsonl", "--nuggets", nuggets),
        *("--measure", "coverage", "--judge", "words", "--no-report", "--json"),
    )

    assert done.exit_code == 0
    assert json.loads(done.stdout)["summary"]["nuggets"]["traces"] == 2


def test_a_bad_file_of_nuggets_is_bad_input(command: Callable[..., Any], traces: Path, make: Callable[..., Path]) -> None:
    nuggets = make(Path("nuggets.jsonl"), [{"query": "Why?", "nuggets": [{"importance": "vital"}]}])

    done = command("evaluate", traces, "--nuggets", nuggets)

    assert done.exit_code == 3
    assert "nuggets.jsonl, line 1, at $.nuggets[0].text: this field is missing" in done.stderr
