from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_cover.importers import read_labels
from rag_cover.stores import Label, append_labels, read_label_file

Command = Callable[..., Any]


@pytest.fixture
def store(command: Command, traces: Path, folder: Path) -> Path:
    done = command("evaluate", traces, "--judge", "words", "--measure", "coverage", "--store", "run.sqlite", "--no-report")
    assert done.exit_code == 0, done.stderr
    return folder / "run.sqlite"


RUN = "run.labels.jsonl"
LABEL = Label(question="Why?", sub_question="is sky 1 blue", answer="The sky 1 is blue", label=True, annotator="ada")


def test_labels_are_imported_and_exported_without_a_page(command: Command, store: Path, folder: Path) -> None:
    (folder / "theirs.csv").write_text("question,answer,label\nWhy blue?,Air.,1\nWhy red?,Air.,0\n", "utf-8")

    taken = command("label", store, "--import", "theirs.csv", "--annotator", "ada")
    given = command("label", store, "--export", "labels.csv")

    assert (taken.exit_code, given.exit_code) == (0, 0), taken.stderr + given.stderr
    assert "2 labels added to" in taken.stdout
    assert "2 of 2 labels are of no text in" in taken.stderr
    assert "of no use there: 2 are of questions that are not here." in taken.stderr
    assert [label.label for label in read_label_file(folder / "run.labels.jsonl")] == [True, False]
    assert read_labels(folder / "labels.csv") == read_labels(folder / "run.labels.jsonl")


def test_a_table_imported_again_adds_nothing_and_a_changed_label_replaces(command: Command, store: Path, folder: Path) -> None:
    words = ("label", store, "--import", "theirs.csv", "--annotator", "ada")
    table = folder / "theirs.csv"
    table.write_text("question,answer,label\nWhy blue?,Air.,1\nWhy red?,Air.,0\n", "utf-8")
    command(*words)

    again = command(*words)
    table.write_text("question,answer,label\nWhy blue?,Air.,0\nWhy red?,Air.,0\nWhy grey?,Air.,1\n", "utf-8")
    changed = command(*words)
    other = command(*words[:-1], "bob")

    assert f"0 labels added to {folder / RUN}; 2 held already." in again.stdout
    assert f"1 label added to {folder / RUN}; 1 replaced; 1 held already." in changed.stdout
    assert f"3 labels added to {folder / RUN}." in other.stdout
    rows = read_labels(folder / "run.labels.jsonl")
    assert [(row.annotator, row.question, row.label) for row in rows] == [
        (name, f"Why {colour}?", label)
        for name in ("ada", "bob")
        for colour, label in (("blue", False), ("red", False), ("grey", True))
    ]


def test_rows_that_repeat_each_other_are_not_held_already(command: Command, store: Path, folder: Path) -> None:
    (folder / "theirs.csv").write_text("question,answer,label\nWhy blue?,Air.,1\nWhy blue?,Air.,1\n", "utf-8")

    done = command("label", store, "--import", "theirs.csv", "--annotator", "ada")

    assert f"1 label added to {folder / RUN}; 1 row repeats another." in done.stdout


def test_imported_labels_of_texts_that_are_not_here_are_counted_by_reason(command: Command, store: Path, folder: Path) -> None:
    rows = [
        "Why is sky 1 blue?,is sky 1 blue,The sky 1 is blue",
        "Who?,Who?,Me.",
        "Why is sky 1 blue?,does it rain,The sky 1 is blue",
        "Why is sky 1 blue?,is sky 1 blue,Dust.",
    ]
    lines = "".join(f"{row},1\n" for row in rows)
    (folder / "theirs.csv").write_text(f"question,sub_question,answer,label\n{lines}", "utf-8")

    done = command("label", store, "--import", "theirs.csv", "--annotator", "ada")

    assert "4 labels added to" in done.stdout
    assert "3 of 4 labels are of no text in" in done.stderr
    assert "1 is of a question that is not here, 1 is of a sub-question that is not asked here, 1 is of a text" in done.stderr


def test_an_older_export_takes_back_no_label(command: Command, store: Path, folder: Path) -> None:
    first = LABEL.model_copy(update={"labelled_at": datetime(2026, 1, 1, tzinfo=UTC), "trace_id": "t1"})
    append_labels(folder / "run.labels.jsonl", [first])
    command("label", store, "--export", "older.csv")
    later = first.model_copy(update={"label": False, "labelled_at": datetime(2026, 1, 2, tzinfo=UTC)})
    append_labels(folder / "run.labels.jsonl", [later])

    done = command("label", store, "--import", "older.csv")

    assert f"0 labels added to {folder / RUN}; 1 older than what it says now, left out." in done.stdout
    assert read_label_file(folder / "run.labels.jsonl") == (first, later)


def test_a_table_that_names_annotators_keeps_them(command: Command, store: Path, folder: Path) -> None:
    (folder / "ours.csv").write_text("question,answer,label,annotator\nWhy?,Air.,1,bob\nWhy?,Air.,0,eve\n", "utf-8")
    (folder / "theirs.csv").write_text("question,text,label,annotator,note\nWhy?,Air.,1,bob,x\nWho?,Air.,0,,y\n", "utf-8")

    refused = command("label", store, "--import", "ours.csv", "--annotator", "ada")
    taken = command("label", store, "--import", "theirs.csv", "--annotator", "ada")

    assert refused.exit_code == 2
    assert "ours.csv says itself who labelled (bob, eve): leave --annotator ada out" in refused.stderr
    assert taken.exit_code == 0, taken.stderr
    assert [label.annotator for label in read_label_file(folder / "run.labels.jsonl")] == ["bob", "ada"]


def test_an_export_of_one_annotator_holds_no_other_labels(command: Command, store: Path, folder: Path) -> None:
    append_labels(folder / "run.labels.jsonl", [LABEL, LABEL.model_copy(update={"annotator": "bob"})])

    given = command("label", store, "--export", "bob.jsonl", "--annotator", "bob")
    nobody = command("label", store, "--export", "bib.jsonl", "--annotator", "bib")

    assert given.exit_code == 0
    assert [label.annotator for label in read_label_file(folder / "bob.jsonl")] == ["bob"]
    assert nobody.exit_code == 2
    assert "holds no label of bib. Did you mean 'bob'?" in nobody.stderr


def test_an_export_before_any_label_says_how_to_label(command: Command, store: Path) -> None:
    given = command("label", store, "--export", "labels.csv")

    assert given.exit_code == 3
    assert "does not exist: nothing was labelled yet. 'rag-cover label " in given.stderr


def test_an_export_writes_over_nothing(command: Command, store: Path, folder: Path) -> None:
    append_labels(folder / "run.labels.jsonl", [LABEL])
    (folder / "labels.csv").write_text("mine", "utf-8")

    refused = command("label", store, "--export", "labels.csv")
    itself = command("label", store, "--export", "run.labels.jsonl", "--force")
    forced = command("label", store, "--export", "labels.csv", "--force")

    assert (refused.exit_code, itself.exit_code, forced.exit_code) == (3, 3, 0)
    assert "exists already" in refused.stderr
    assert (folder / "labels.csv").read_text("utf-8").startswith("question,")
    assert read_label_file(folder / "run.labels.jsonl") == (LABEL,)


def test_what_is_no_store_is_refused_with_the_reason(command: Command, traces: Path, folder: Path) -> None:
    (folder / "empty.sqlite").write_bytes(b"")
    (folder / "binary.sqlite").write_bytes(bytes(range(256)))

    for name in ("no-such.sqlite", traces, "empty.sqlite", "binary.sqlite"):
        done = command("label", name, "--no-browser")

        assert done.exit_code == 3, name
        assert str(Path(name).name) in done.stderr


def test_a_store_without_coverage_has_nothing_to_label(command: Command, traces: Path) -> None:
    command("evaluate", traces, "--judge", "words", "--measure", "groundedness", "--store", "other.sqlite", "--no-report")

    done = command("label", "other.sqlite", "--no-browser")

    assert done.exit_code == 2
    assert "--measure coverage" in done.stderr


def test_a_file_that_holds_no_labels_is_named(command: Command, store: Path, folder: Path) -> None:
    (folder / "run.labels.jsonl").write_text('{"question": "Why?", "label": true}\n', "utf-8")

    done = command("label", store, "--no-browser")
    wrong_name = command("label", store, "--no-browser", "--out", "labels.csv")

    assert done.exit_code == 3
    assert "run.labels.jsonl, line 1" in done.stderr
    assert wrong_name.exit_code == 3
    assert ".jsonl" in wrong_name.stderr


def test_a_port_that_is_taken_is_named(command: Command, store: Path) -> None:
    pytest.importorskip("starlette", reason="needs the extra label")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = command("label", store, "--no-browser", "--port", str(port))

    assert done.exit_code == 2
    assert f"port {port} cannot be used" in done.stderr


def test_a_blank_annotator_is_refused(command: Command, store: Path) -> None:
    done = command("label", store, "--no-browser", "--annotator", " ")

    assert done.exit_code == 2
    assert "--annotator NAME" in done.stderr


def test_what_cannot_be_written_is_told_before_the_page_opens(command: Command, store: Path) -> None:
    nowhere = command("label", store, "--no-browser", "--out", "no/such/labels.jsonl")
    other = command("label", store, "--export", "labels.txt")

    assert (nowhere.exit_code, other.exit_code) == (3, 2)
    assert "there is no such folder" in nowhere.stderr
    assert ".csv or .jsonl" in other.stderr


def test_the_file_of_another_annotator_is_looked_at_before_the_page_opens(command: Command, store: Path, folder: Path) -> None:
    (folder / "bob.jsonl").write_text("[]\n", "utf-8")

    missing = command("label", store, "--no-browser", "--beside", "none.jsonl")
    broken = command("label", store, "--no-browser", "--beside", "bob.jsonl")

    assert (missing.exit_code, broken.exit_code) == (3, 3)
    assert "bob.jsonl, line 1" in broken.stderr


def test_a_missing_extra_is_named(command: Command, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.delitem(sys.modules, "rag_cover.labelling.application", raising=False)

    done = command("label", store, "--no-browser")

    assert done.exit_code == 2
    assert "pip install 'rag-cover[label]'" in done.stderr
