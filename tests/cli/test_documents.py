"""Folders of documents that commands read: what cannot be read is left out, counted and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.cli.inputs import read_document_folder
from rag_cover.errors import InputError


def test_documents_that_cannot_be_read_are_counted_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = folder / "docs"
    docs.mkdir()
    (docs / "kept.txt").write_text("Rain falls.")
    for number in range(5):
        (docs / f"old{number}.txt").write_bytes(b"caf\xe9")

    passages, unread = read_document_folder(docs)

    said = capsys.readouterr().err
    assert ([each.id for each in passages], len(unread)) == (["kept.txt#1"], 5)
    assert "5 documents were left out: " in said
    assert "old0.txt: this is no UTF-8 text" in said
    assert "; and 2 more" in said


def test_a_folder_of_which_no_document_can_be_read_is_an_error(folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "old.txt").write_bytes(b"caf\xe9")

    with pytest.raises(InputError, match=r"old\.txt: this is no UTF-8 text"):
        read_document_folder(folder / "docs")


def test_questions_are_made_of_the_documents_that_can_be_read(command: Callable[..., Any], folder: Path) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "old.txt").write_bytes(b"caf\xe9")
    (docs / "kept.txt").write_text("The Eiffel Tower was built by Gustave Eiffel in 1889.\n\nThe Pantheon was built in Rome.")

    done = command("questions", "--corpus", docs, "--out", folder / "made.jsonl", "--n", "1", "--quiet")
    strict = command("questions", "--corpus", docs, "--out", folder / "more.jsonl", "--n", "1", "--quiet", "--strict")

    assert "1 document was left out: " in done.stderr
    assert (done.exit_code, strict.exit_code) == (0, 4)
    assert (folder / "made.jsonl").is_file()


def test_documents_that_no_question_is_about_are_named(command: Callable[..., Any], folder: Path) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "prices.txt").write_text("The day pass costs 12 euros and is sold on the bus.")
    (docs / "hello.txt").write_text("Welcome to our home page, and enjoy your stay with us!")

    done = command("questions", "--corpus", docs, "--out", folder / "made.jsonl", "--n", "1", "--multi", "0")

    assert "No question is about 1 of 2 documents: hello.txt." in " ".join(done.stdout.split())
