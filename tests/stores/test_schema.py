"""Stores and results of other versions."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Evaluation, Models, Question, Store, Trace, evaluate
from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.measures import RESULT_SCHEMA
from rag_cover.stores.parts import PartResults, PartRow, write_part
from rag_cover.testing import KeywordScorer

GOLDEN = Path(__file__).parent / "golden"

VERSION_1 = """
CREATE TABLE results (ordinal INTEGER PRIMARY KEY, key TEXT NOT NULL, trace_id TEXT, json BLOB NOT NULL);
CREATE INDEX results_key ON results (key);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = 1380009795;
PRAGMA user_version = 1;
"""
TRACES = [
    Trace(
        id=f"t{number}",
        question=Question("Why is the sky blue?"),
        answer="The sky is blue.",
        sub_questions=("Is the sky blue?",),
    )
    for number in range(3)
]


def _written_by_version_1(path: Path, source: Store) -> None:
    rows = [
        (ordinal, key, f"t{ordinal}", zlib.compress(json.dumps(source.result(ordinal).to_dict()).encode()))
        for ordinal, key in source.keys().items()
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(VERSION_1)
        connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
        about = {name: source.meta["evaluation"][name] for name in ("judge", "measures", "seed")}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", [("evaluation", json.dumps(about)), ("finished", "false")])


def test_a_store_of_version_1_is_read_and_gone_on_with(tmp_path: Path) -> None:
    models = Models(judge=KeywordScorer())
    new = evaluate(TRACES[:2], measures=["coverage"], models=models, store=tmp_path / "new.sqlite")
    path = tmp_path / "old.sqlite"
    with Store(tmp_path / "new.sqlite") as source:
        _written_by_version_1(path, source)
    scorer = KeywordScorer()

    read = Evaluation.open(path)
    resumed = evaluate(TRACES, measures=["coverage"], models=Models(judge=scorer), store=path, resume=True)

    assert list(read.results)[:2] == list(new.results)
    assert [result.trace.id for result in resumed.results] == ["t0", "t1", "t2"]
    assert scorer.asked.items == 3  # of one trace: its answer, and two that say nothing
    with Store(path) as store:
        assert store.rows("PRAGMA user_version") == [(3,)]
        assert store.rows("PRAGMA integrity_check") == [("ok",)]


def _with_results(path: Path, *results: object) -> Path:
    with Store(path) as store, store.transaction() as connection:
        rows = [(number, "k", None, zlib.compress(json.dumps(result).encode())) for number, result in enumerate(results)]
        connection.executemany("INSERT INTO results (ordinal, key, trace_id, json) VALUES (?, ?, ?, ?)", rows)
    return path


def _unnumbered() -> list[dict[str, Any]]:
    """Results as they were written before they named their schema, which was 2."""
    return [json.loads(line) for line in (GOLDEN / "results_unnumbered.jsonl").read_text("utf-8").splitlines()]


def test_results_that_do_not_name_their_schema_are_read(tmp_path: Path) -> None:
    path = _with_results(tmp_path / "old.sqlite", *_unnumbered())

    with Store(path, create=False) as store:
        full, small = store.results()

    assert (full.trace.id, small.trace.answer) == ("full", "Because.")
    assert full.coverage is not None
    assert [result.to_dict() for result in (full, small)] == [{"schema": RESULT_SCHEMA, **data} for data in _unnumbered()]


def test_results_of_an_older_schema_that_is_not_read_say_what_to_do(tmp_path: Path) -> None:
    trace = {"question": {"text": "Why?"}}
    nameless = {"trace": trace, "outcomes": {"coverage": {"result": {"share": 0.5}}}}
    path = _with_results(tmp_path / "old.sqlite", nameless, nameless | {"schema": 1})

    with Store(path, create=False) as store:
        for number, what in enumerate(("of a schema that they do not name", "of schema 1")):
            with pytest.raises(StoreError) as refused:
                store.result(number)
            assert str(refused.value) == (
                f"{path} holds results {what}, which an older version of rag_cover wrote; this one reads {RESULT_SCHEMA}. Read "
                "them with the version that wrote them, or run the command that made them again with --resume: they are "
                "measured again"
            )


def test_results_of_an_older_schema_are_measured_again_where_a_run_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    models = Models(judge=KeywordScorer())
    new = evaluate(TRACES, measures=["coverage"], models=models, store=path)
    with Store(path) as store, store.transaction() as connection:
        old = zlib.compress(json.dumps({"trace": {"question": "Why?"}, "outcomes": {"coverage": {"result": {}}}}).encode())
        connection.execute("UPDATE results SET json = ?, key = 'of another schema'", (old,))

    resumed = evaluate(TRACES, measures=["coverage"], models=models, store=path, resume=True)

    assert list(resumed.results) == list(new.results)


def test_results_of_a_newer_schema_say_what_to_upgrade(tmp_path: Path) -> None:
    path = _with_results(tmp_path / "new.sqlite", _unnumbered()[1] | {"schema": RESULT_SCHEMA + 1})

    with (
        Store(path, create=False) as store,
        pytest.raises(StoreError, match=r"newer version .* pip install --upgrade rag-cover"),
    ):
        list(store.results())


def test_results_in_parts_are_refused_alike(tmp_path: Path) -> None:
    newer = PartRow(0, 1, "k", "t", "", failed=False, result=json.dumps(_unnumbered()[1] | {"schema": RESULT_SCHEMA + 1}))
    older = PartRow(1, 2, "k", "t", "", failed=False, result='{"schema": 1, "trace": {}, "outcomes": {}}')
    write_part(tmp_path / "part.jsonl", [newer, older])

    results = PartResults([tmp_path / "part.jsonl"])

    for number, who in enumerate(("a newer version", "an older version")):
        with pytest.raises(StoreError, match=who):
            results[number]


def test_a_damaged_result_of_this_schema_is_damaged(tmp_path: Path) -> None:
    path = _with_results(tmp_path / "run.sqlite", {"schema": RESULT_SCHEMA, "trace": {"question": 3}, "outcomes": {}}, [])

    with Store(path, create=False) as store:
        for number in range(2):
            with pytest.raises(CorruptFileError, match="cannot be read"):
                store.result(number)
