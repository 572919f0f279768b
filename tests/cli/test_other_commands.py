from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from rag_cover.augmentation import Augmentation
from rag_cover.cli.commands.demo import fetch_for_question
from rag_cover.demo import labels_path
from rag_cover.errors import ModelFailedError
from rag_cover.stores import read_traces


def test_the_version_is_shown(command: Callable[..., Any]) -> None:
    assert command("--version").stdout == f"rag-cover {version('rag-cover')}\n"


def test_every_command_has_a_summary_and_an_example(command: Callable[..., Any]) -> None:
    listed = command("--help").stdout

    for name in ("demo", "evaluate", "compare", "judge", "convert", "decompose", "augment", "set-query", "report", "backends"):
        assert name in listed
        assert f"rag-cover {name}" in command(name, "--help").stdout


def test_an_unknown_command_exits_with_2(command: Callable[..., Any]) -> None:
    assert command("evalute").exit_code == 2


def test_backends_lists_what_each_one_offers(command: Callable[..., Any]) -> None:
    shown = command("backends").stdout
    listed = {backend["scheme"]: backend for backend in json.loads(command("backends", "--json").stdout)}

    assert "judges by words" in shown
    assert "Engines: local" in shown
    assert listed["moody"]["offers"] == ["scorer"]
    assert listed["embedded"]["missing"] == []


def test_a_report_is_made_from_a_store(command: Callable[..., Any], traces: Path, folder: Path) -> None:
    command("evaluate", traces, "--judge", "words", "--no-report")

    done = command("report", "traces-coverage.sqlite", "-o", "page.html")

    assert (done.exit_code, done.stderr) == (0, "")
    assert "Report: page.html" in done.stdout
    assert "Why is sky 3 blue?" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["nowhere.sqlite", "traces.jsonl"])
def test_a_report_needs_a_store(command: Callable[..., Any], traces: Path, folder: Path, name: str) -> None:
    done = command("report", name)

    assert done.exit_code == 3
    assert done.stderr.startswith("Error: ")
    assert list(folder.iterdir()) == [traces]


def test_a_table_with_names_of_its_own_is_converted(command: Callable[..., Any], folder: Path) -> None:
    (folder / "fragen.csv").write_text("Frage,Antwort\nWarum ist der Himmel blau?,Streuung\n", encoding="utf-8")

    done = command("convert", "fragen.csv", "traces.jsonl", "--column", "question=Frage", "--column", "answer=Antwort")

    assert done.exit_code == 0, done.stderr
    assert "1 trace written to traces.jsonl. Next: rag-cover evaluate traces.jsonl" in done.stdout
    (trace,) = read_traces(folder / "traces.jsonl")
    assert (trace.question.text, trace.answer) == ("Warum ist der Himmel blau?", "Streuung")


def test_traces_are_not_written_as_a_table(command: Callable[..., Any], folder: Path) -> None:
    (folder / "table.csv").write_text("question,answer\nIs it blue?,It is.\n", encoding="utf-8")

    done = command("convert", "table.csv", "out.csv")

    assert done.exit_code == 2
    assert "traces are written as JSON Lines; name the file out.jsonl" in done.stderr
    assert not (folder / "out.csv").exists()


def test_a_column_that_is_kept_as_metadata_is_named(command: Callable[..., Any], folder: Path) -> None:
    (folder / "table.csv").write_text("question,anwser\nIs it blue?,It is.\n", encoding="utf-8")
    (folder / "right.csv").write_text("question,answer\nIs it blue?,It is.\n", encoding="utf-8")

    misspelt, right = command("convert", "table.csv", "a.jsonl"), command("convert", "right.csv", "b.jsonl")

    assert "Kept as metadata, which no measure reads: anwser." in misspelt.stdout
    assert "metadata" not in right.stdout


def test_another_format_may_be_evaluated_directly(command: Callable[..., Any], folder: Path) -> None:
    (folder / "table.csv").write_text("question,answer\nIs the sky blue?,The sky is blue.\n", encoding="utf-8")

    done = command("evaluate", "table.csv", "--judge", "words", "--json")

    assert json.loads(done.stdout)["summary"]["traces"] == 1


def test_an_unknown_format_is_refused(command: Callable[..., Any], traces: Path) -> None:
    done = command("convert", traces, "out.jsonl", "--format", "rags")

    assert done.exit_code in (2, 3)
    assert "ragas" in done.stderr


@pytest.mark.slow
def test_the_demo_tells_a_story_and_where_the_reports_are(command: Callable[..., Any], folder: Path) -> None:
    done = command("demo", "--judge", "words", "--retriever", "words", "--out", "shown")

    assert done.exit_code == 0
    assert "narrow: Answers cover" in done.stdout
    assert "forgetful: Answers cover" in done.stdout
    for name in ("narrow", "forgetful"):
        assert f"shown/{name}.html" in done.stdout
        assert (folder / "shown" / f"{name}.html").exists()


@pytest.mark.slow
def test_the_demo_shows_a_question_before_and_after_its_sub_questions_were_searched_for(
    command: Callable[..., Any], embedded_judge: str
) -> None:
    shown = fetch_for_question(embedded_judge, embedded_judge, Path())

    assert [(row.before, row.after) for row in shown.rows] == [(True, True), (True, True), (False, True), (False, True)]
    told = command("demo", "--judge", "words", "--retriever", "words").stdout
    assert "Should I choose a ground-source or an air-source heat pump?" in told
    assert "rag-cover augment " in told


@pytest.mark.slow
def test_the_demo_counts_no_more_than_its_labels_do(embedded_judge: str) -> None:
    labels = [json.loads(line) for line in labels_path().read_text(encoding="utf-8").splitlines()]
    answering = {each["sub_question"]: set(each["passages"]) for each in labels if each["question_id"] == "q07"}

    made = fetch_for_question(embedded_judge, embedded_judge, Path()).made

    assert isinstance(made, Augmentation)
    kept = {passage.id for passage in made.passages}
    assert all(each.covered == bool(answering[each.text] & kept) for each in made.sub_questions)


@pytest.mark.slow
def test_a_judge_that_fails_costs_the_demo_only_what_it_would_have_fetched(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "the judge fell over"
        raise ModelFailedError(message)

    monkeypatch.setattr("rag_cover.cli.commands.demo.Augmenter.augment", fail)

    done = command("demo", "--judge", "words", "--retriever", "words")

    assert done.exit_code == 0
    assert "What is missing could not be fetched: the judge fell over" in done.stdout
    assert "Open a report in your browser" in done.stdout


@pytest.mark.slow
def test_a_quiet_demo_fetches_nothing(command: Callable[..., Any]) -> None:
    done = command("demo", "--judge", "words", "--retriever", "no such", "--quiet")

    assert (done.exit_code, done.stdout) == (0, "")


def test_a_folder_that_cannot_be_made_is_told(command: Callable[..., Any], traces: Path) -> None:
    done = command("demo", "--judge", "words", "--out", traces / "inside")

    assert done.exit_code == 3
    assert "name another one with --out" in done.stderr


HELLO = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str, loudly: bool = False) -> None:
    '''Greet someone.'''
    print(f"Hello {name}{'!' * loudly}")
"""


def test_a_plugin_s_command_is_listed_but_imported_only_when_called(
    command: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = command("--help")
    (folder / "hello_app.py").write_text(HELLO, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)

    assert "hello_app" in listed.stdout
    assert command("hello", "world", "--loudly").stdout == "Hello world!\n"
    assert "Greet someone." in command("hello", "--help").stdout


def test_commands_of_two_words_stand_in_a_group(
    command: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "hello_app.py").write_text(HELLO, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)

    assert "greet" in command("--help").stdout
    help_of_group = " ".join(command("greet", "--help").stdout.split())
    assert "kindly Greet someone." in help_of_group
    assert "oddly A plugin's command (no_such_module)." in help_of_group
    assert command("greet", "kindly", "world", "--loudly").stdout == "Hello world!\n"
    assert "The command 'greet oddly' of a plugin (no_such_module:app)" in command("greet", "oddly").stderr
    assert command("greet", "rudely").exit_code == 2


def test_a_plugin_cannot_replace_a_command(command: Callable[..., Any]) -> None:
    assert "Measure what answers cover" in command("evaluate", "--help").stdout


def test_a_broken_plugin_s_command_is_named(command: Callable[..., Any]) -> None:
    done = command("broken")

    assert done.exit_code == 2
    assert "The command 'broken' of a plugin (no_such_module:app) could not be loaded" in done.stderr
