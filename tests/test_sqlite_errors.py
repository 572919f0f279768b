"""SQLite files that several processes open at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from rag_cover.errors import StoreError
from rag_cover.sqlite_errors import refuse_strangers, write_ahead

OURS = 7


def lay_out(path: Path, application: int) -> None:
    with closing(sqlite3.connect(path, timeout=0)) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE things (name TEXT)")
        connection.execute(f"PRAGMA application_id = {application}")


def refuse(connection: sqlite3.Connection, path: Path) -> None:
    refuse_strangers(connection, path, application=OURS, kind="a thing")


def test_an_empty_file_and_our_own_are_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "ours.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        refuse(connection, path)
        lay_out(path, OURS)
        refuse(connection, path)


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    lay_out(path, 0)
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(StoreError, match="another program's database, not a thing"),
    ):
        refuse(connection, path)


@pytest.mark.parametrize("wal", [False, True])
@pytest.mark.parametrize("moment", ["BEGIN", "PRAGMA application_id", "SELECT COUNT"])
def test_a_file_that_another_process_lays_out_at_any_moment_is_not_refused(tmp_path: Path, moment: str, *, wal: bool) -> None:
    path = tmp_path / "new.sqlite"

    def interfere(statement: str) -> None:
        if statement.startswith(moment):
            with suppress(sqlite3.OperationalError):  # locked out: it would wait
                lay_out(path, OURS)

    with closing(sqlite3.connect(path)) as connection:
        if wal:
            write_ahead(connection, patience_s=0)
        connection.set_trace_callback(interfere)
        refuse(connection, path)


def test_whoever_holds_the_file_is_waited_for_and_then_told_of(tmp_path: Path) -> None:
    path = tmp_path / "held.sqlite"
    with closing(sqlite3.connect(path)) as holder, closing(sqlite3.connect(path, timeout=0)) as connection:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            write_ahead(connection, patience_s=0.05)
        holder.rollback()
        write_ahead(connection, patience_s=0)
