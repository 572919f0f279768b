"""Stores of older versions."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from rag_cover import Evaluation, Models, Question, Store, Trace, evaluate
from rag_cover.testing import KeywordScorer

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
    assert scorer.asked.items == 1
    with Store(path) as store:
        assert store.rows("PRAGMA user_version") == [(3,)]
        assert store.rows("PRAGMA integrity_check") == [("ok",)]
