"""Traces that wait for another process, in segments of a journal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_cover import Question, Store, Trace
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.stores.journals import (
    JournalReader,
    JournalWriter,
    clear_journal,
    find_segments,
    is_abandoned,
    lock_abandoned,
    part_of,
)
from rag_cover.stores.store_parts import parts_folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


def test_what_was_written_is_read_once_in_order_and_a_line_that_is_not_whole_is_waited_for(store: Path) -> None:
    writer = JournalWriter(store)
    for number in range(5):
        writer.append(b"line %d\n" % number)
    (segment,) = find_segments(store, writer.name)
    reader = JournalReader(segment, position=0)

    reader.skip(first := reader.read(2))
    reader.skip(rest := reader.read(16))
    os.write(torn := os.open(segment, os.O_WRONLY | os.O_APPEND), b"line")
    nothing = reader.read(16)
    os.write(torn, b" 5\n")

    assert [*first, *rest] == [b"line %d\n" % number for number in range(5)]
    assert (list(nothing), list(reader.read(16))) == ([], [b"line 5\n"])
    os.close(torn)
    reader.close()
    writer.release()


def test_a_line_that_is_longer_than_what_is_read_at_once_is_whole(store: Path) -> None:
    writer = JournalWriter(store)
    writer.append(long := b"x" * 1_000_000 + b"\n")
    reader = JournalReader(find_segments(store)[0], position=0)

    assert reader.read(16) == [long]
    reader.close()
    writer.release()


def test_a_full_segment_is_followed_by_another(store: Path) -> None:
    writer = JournalWriter(store, segment_bytes=20)
    for number in range(7):
        writer.append(b"line %d\n" % number)

    segments = find_segments(store, writer.name)
    assert [segment.read_bytes().count(b"\n") for segment in segments] == [3, 3, 1]
    assert [segment.name.removeprefix(writer.name) for segment in segments] == [
        "-000000.jsonl",
        "-000001.jsonl",
        "-000002.jsonl",
    ]
    writer.release()


def test_a_line_that_the_disk_cut_off_is_taken_back(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JournalWriter(store)
    writer.append(b"whole\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:3]))
    with pytest.raises(OSError, match="the disk is full: 3 of 7 bytes were written"):
        writer.append(b"broken\n")
    monkeypatch.undo()

    writer.append(b"whole again\n")

    assert find_segments(store)[0].read_bytes() == b"whole\nwhole again\n"
    writer.release()


def test_a_journal_is_abandoned_once_its_process_is_over_or_has_let_go_of_it(store: Path) -> None:
    writer = JournalWriter(store)
    writer.append(b"line\n")
    living = (is_abandoned(store, writer.name), list(lock_abandoned(store, besides="")))

    writer.release()

    assert living == (False, [])
    assert is_abandoned(store, writer.name)
    ((segment, lock),) = lock_abandoned(store, besides="")
    assert list(lock_abandoned(store, besides="")) == []  # somebody has it already
    assert list(lock_abandoned(store, besides=writer.name)) == []
    lock.release()
    segment.unlink()
    clear_journal(store, writer.name)
    assert not parts_folder(store).exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_texts_that_wait_are_read_by_their_owner_alone(store: Path) -> None:
    writer = JournalWriter(store)
    writer.append(b"line\n")

    assert find_segments(store)[0].stat().st_mode & 0o077 == 0
    writer.release()


def test_a_part_stays_as_long_as_traces_wait_for_it_and_is_merged_once(store: Path) -> None:
    writer = JournalWriter(store)
    writer.append(b"line\n")
    (segment,) = find_segments(store)
    with Store(part_of(segment)) as part:
        part.extend([("key", TraceResult(Trace(question=Question("Why?"), id="a"), {"coverage": NotApplicable("")}))])
    for _ in range(2):
        with Store(store) as merged:
            assert len(merged) == 1
        assert part_of(segment).exists()

    segment.unlink()

    with Store(store) as merged:
        assert len(merged) == 1
    assert not part_of(segment).exists()
    writer.release()
    assert not parts_folder(store).exists()
