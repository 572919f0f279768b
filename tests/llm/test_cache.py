"""The cache of answers: many threads, two processes, and files that are none."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_cover.errors import StoreError
from rag_cover.llm.cache import ResponseFile, cache_for

WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from rag_cover.llm.cache import ResponseFile
cache = ResponseFile(sys.argv[1])
def keep(number):
    cache.put({f"key {number}": f"{sys.argv[2]} {number}".encode()})
    return cache.get([f"key {number}"])[f"key {number}"]
with ThreadPoolExecutor(32) as pool:
    assert len(list(pool.map(keep, range(300)))) == 300
"""


@pytest.fixture
def cache(tmp_path: Path) -> ResponseFile:
    return ResponseFile(tmp_path / "answers.sqlite")


def test_what_was_kept_is_known_and_nothing_else(cache: ResponseFile) -> None:
    cache.put({"a": b"1", "b": b"\xff\x00"})

    assert cache.get(["a", "b", "c"]) == {"a": b"1", "b": b"\xff\x00"}
    assert len(cache) == 2


def test_a_cache_that_is_only_asked_leaves_no_file(cache: ResponseFile) -> None:
    assert cache.get(["a"]) == {}
    assert len(cache) == 0
    assert not cache.path.exists()


def test_the_first_answer_stays(cache: ResponseFile) -> None:
    cache.put({"a": b"first"})
    cache.put({"a": b"second"})

    assert cache.get(["a"]) == {"a": b"first"}


def test_more_keys_than_a_statement_takes_are_found(cache: ResponseFile) -> None:
    answers = {f"key {number}": str(number).encode() for number in range(1_700)}

    cache.put(answers)

    assert cache.get(list(answers)) == answers


def test_it_can_be_closed_and_used_again(cache: ResponseFile) -> None:
    cache.put({"a": b"1"})
    cache.close()
    cache.close()

    assert cache.get(["a"]) == {"a": b"1"}


def test_it_travels_as_the_same_file(cache: ResponseFile) -> None:
    cache.put({"a": b"1"})

    assert pickle.loads(pickle.dumps(cache)).get(["a"]) == {"a": b"1"}  # noqa: S301  # our own


def test_32_threads_keep_and_find_their_answers(cache: ResponseFile) -> None:
    def keep(number: int) -> bytes:
        cache.put({f"key {number}": str(number).encode()})
        return cache.get([f"key {number}"])[f"key {number}"]

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(keep, range(1_000)))

    assert found == [str(number).encode() for number in range(1_000)]
    assert len(cache) == 1_000


def test_two_processes_of_32_threads_share_a_file(cache: ResponseFile) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(cache.path), name], stderr=subprocess.PIPE, env=os.environ.copy())
        for name in ("one", "two")
    ]

    ended = [(process.communicate()[1], process.returncode) for process in processes]

    assert [code for _, code in ended] == [0, 0], ended
    found = cache.get([f"key {number}" for number in range(300)])
    assert len(found) == 300
    assert {answer.split()[0] for answer in found.values()} <= {b"one", b"two"}


def test_a_damaged_answer_is_not_known(cache: ResponseFile) -> None:
    cache.put({"a": b"1", "b": b"2"})
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE answers SET packed = x'00' WHERE key = 'a'")
    connection.close()

    assert cache.get(["a", "b"]) == {"b": b"2"}


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (name TEXT)")
    connection.close()

    with pytest.raises(StoreError, match="is another program's database"):
        ResponseFile(path).put({"a": b"1"})


def test_a_folder_is_told_to_be_unusable(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that its folder exists"):
        ResponseFile(tmp_path).put({"a": b"1"})


def test_a_full_disk_is_told_and_what_was_kept_stays(tmp_path: Path) -> None:
    cache = ResponseFile(tmp_path / "answers.sqlite")
    cache.put({"a": b"1"})
    with cache._open_connection() as connection:
        connection.execute("PRAGMA max_page_count = 4")

    with pytest.raises(StoreError, match="the disk is full; free some space"):
        cache.put({"b": os.urandom(50_000)})

    assert cache.get(["a", "b"]) == {"a": b"1"}


_FORKED = """
import os, sys
from rag_cover.llm.cache import ResponseFile
cache = ResponseFile(sys.argv[1])
cache.put({"a": b"1"})
child = os.fork()
if not child:
    cache.put({"b": b"2"})
    cache.close()
    os._exit(0)
os.waitpid(child, 0)
cache.put({"c": b"3"})
print(sorted(cache.get(["a", "b", "c"])))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_process_forked_off_opens_the_cache_anew(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _FORKED, str(tmp_path / "answers.sqlite")]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout == "['a', 'b', 'c']\n"


def test_a_run_without_store_keeps_nothing() -> None:
    assert cache_for(True, None) is None  # noqa: FBT003  # as evaluate is given it
    assert cache_for(False, Path("store.sqlite")) is None  # noqa: FBT003


def test_a_cache_may_be_a_file_of_its_own() -> None:
    chosen = cache_for(Path("mine.sqlite"), None)

    assert chosen is not None
    assert chosen.path == Path("mine.sqlite")
