"""A recording with ``redact=``: its results hold no text, wherever they go."""

from __future__ import annotations

import logging
import sqlite3
import zlib
from pathlib import Path

import pytest

from rag_cover import Evaluation, Models, Redaction, evaluate
from rag_cover.errors import InvalidValueError, StoreError
from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.recording import Recording
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver
from tests.recording.parts import ANSWER, ask, record

BY = Redaction(b"a key of thirty-two bytes or so.")
PERSON = "Erika Mustermann"
RECEIVER = ScriptedReceiver({"scatters": (ANSWER,)}, prior=(f"Because of {PERSON}.",))
MODELS = Models(judge=KeywordScorer(), entailer=KeywordEntailer(), receiver=RECEIVER)
PATIENCE_S = 20


def asked_about_a_person(recording: Recording) -> None:
    about = record(f"{PERSON}.pdf", f"Air scatters light, writes {PERSON}", metadata={PERSON: 1}, title=PERSON)
    with recording.question(sub_questions=[f"Why, {PERSON}?"], references=[PERSON], id=PERSON, metadata={"customer": PERSON}):
        ask(recording, f"Why is the sky of {PERSON} blue?", f"{ANSWER} Says {PERSON}.", found=[about])
    ask(recording, f"And the sea, {PERSON}?", None, error=f"timeout of {PERSON}")
    assert recording.flush(PATIENCE_S)


def test_results_are_those_of_evaluate_and_hold_no_text_wherever_they_go(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = list[TraceResult]()
    measures = ["coverage", "groundedness"]

    with (
        caplog.at_level(logging.INFO, "rag_cover.recording"),
        Recording(measures=measures, models=MODELS, store=tmp_path / "s.sqlite", on_result=told.append, redact=BY) as recording,
    ):
        asked_about_a_person(recording)

    kept = Evaluation.open(tmp_path / "s.sqlite").results
    assert list(kept) == list(recording.results) == told
    assert told == list(evaluate(recording.traces, measures=measures, models=MODELS, redact=BY).results)
    assert "Erika" not in f"{told}{caplog.text}"
    assert "core sub-questions of '[text redacted" in caplog.text
    assert PERSON in recording.traces[0].question.text
    assert not any(b"Erika" in content for content in _contents(tmp_path))


def test_utility_is_measured_as_without_redaction(tmp_path: Path) -> None:
    worths = []
    for way in (False, True):
        with Recording(measures=["utility"], models=MODELS, store=tmp_path / f"{way}.sqlite", redact=way) as recording:
            asked_about_a_person(recording)
        worths.append([result.utility and result.utility.total.value for result in recording.results])

    assert worths[0] == worths[1]
    assert worths[0][0] is not None
    assert not (tmp_path / "True.sqlite").read_bytes().count(b"Erika")


def test_a_store_is_not_gone_on_with_in_another_way(tmp_path: Path) -> None:
    for path, way in (("plain.sqlite", False), ("redacted.sqlite", BY)):
        with Recording(measures=["coverage"], models=MODELS, store=tmp_path / path, redact=way) as recording:
            asked_about_a_person(recording)

    assert any(b"Erika" in content for content in _contents(tmp_path))
    with pytest.raises(StoreError, match="holds results with their texts"):
        Recording(measures=["coverage"], models=MODELS, store=tmp_path / "plain.sqlite", redact=BY)
    with pytest.raises(StoreError, match="redacted by another key"):
        Recording(measures=["coverage"], models=MODELS, store=tmp_path / "redacted.sqlite", redact=True)
    with Recording(measures=["coverage"], models=MODELS, store=tmp_path / "redacted.sqlite", redact=BY):
        pass


def test_a_trace_file_of_what_is_redacted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="a trace file keeps texts, and these are to be redacted"):
        Recording(traces=tmp_path / "t.jsonl", models=MODELS, redact=True)

    assert not (tmp_path / "t.jsonl").exists()


def test_what_goes_wrong_is_told_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    with Recording(measures=["coverage"], models=MODELS, redact=BY) as recording:
        recording.fail(ValueError(f"no number: {PERSON}"), "noting a chain")
        recording.fail(StoreError("the disk is full"), "keeping results")

    where, _, said = recording.errors[0].message.partition(": ")
    assert (recording.errors[0].kind, where) == ("ValueError", "noting a chain")
    assert Placeholder.read(said)
    assert recording.errors[1].message == "keeping results: the disk is full"
    assert "Erika" not in caplog.text


def _contents(folder: Path) -> list[bytes]:
    """Return the bytes of every file, and what a store holds packed."""
    found = [path.read_bytes() for path in folder.iterdir()]
    for path in folder.glob("*.sqlite"):
        with sqlite3.connect(path) as connection:
            rows = [*connection.execute("SELECT * FROM results"), *connection.execute("SELECT * FROM meta")]
        connection.close()
        found += [zlib.decompress(cell) if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row]
    return found
