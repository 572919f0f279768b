from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rag_cover import Models, evaluate
from rag_cover.backends import Failure
from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.llm.usage import Usage, UsageReport
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Question
from rag_cover.stores import Store, schema
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace


def _result(number: int) -> TraceResult:
    return TraceResult(Trace(question=Question(text=f"q{number}"), id=f"t{number}"), {"coverage": NotApplicable("no answer")})


def _items(numbers: Sequence[int]) -> list[tuple[int, str, TraceResult]]:
    return [(number, f"key{number}", _result(number)) for number in numbers]


def _filled(path: Path, count: int) -> Store:
    store = Store(path)
    store.append(_items(range(count)))
    return store


def test_results_come_back_equal_and_in_the_order_of_their_ordinals(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        store.append(_items([3, 1]))
        store.append(_items([2]))

        assert list(store.results()) == [_result(1), _result(2), _result(3)]
        assert store.keys() == {1: "key1", 2: "key2", 3: "key3"}
        assert store.result(2) == _result(2)


def test_appending_an_ordinal_again_replaces_it(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 2) as store:
        store.append([(1, "other", _result(7))])

        assert len(store) == 2
        assert store.keys()[1] == "other"
        assert store.result(1) == _result(7)


def test_a_batch_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 1) as store:
        batch = [*_items([1]), (2, None, _result(2))]

        with pytest.raises(StoreError):
            store.append(batch)  # type: ignore[arg-type]  # a missing key is what is tried

        assert store.keys() == {0: "key0"}


def test_the_results_are_a_sequence_that_can_be_read_again(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 150) as store:
        results = store.results()

        assert len(results) == 150
        assert results[-1] == _result(149)
        assert results[0:4:2] == [_result(0), _result(2)]
        assert results[::-1][0] == _result(149)
        assert results[200:] == []
        assert list(results) == list(results) == [_result(number) for number in range(150)]
        with pytest.raises(IndexError):
            results[150]


def test_positions_do_not_depend_on_gaps_between_ordinals(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        store.append(_items([-5, 10, 1000]))

        results = store.results()

        assert results[1] == _result(10)
        assert [result.trace.id for result in results] == ["t-5", "t10", "t1000"]


def test_results_are_removed_and_put_in_another_order(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite") as store:
        store.append([(number, f"k{number}", TraceResult(Trace(question=Question(f"q{number}")))) for number in range(5)])

        store.remove([1, 7])
        store.arrange([4, 0, 3, 2])

        assert store.keys() == {0: "k4", 1: "k0", 2: "k3", 3: "k2"}
        assert [result.trace.question.text for result in store.results()] == ["q4", "q0", "q3", "q2"]


def test_an_ordinal_that_is_not_there_is_a_key_error(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 1) as store, pytest.raises(KeyError):
        store.result(5)


def test_meta_keeps_json_values_and_whether_the_run_finished(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        store.meta["measures"] = {"coverage": [0.5, None, "é"]}
        assert not store.finished
        store.finished = True

    with Store.open(tmp_path / "run.db", create=False) as again:
        assert again.finished
        assert dict(again.meta) == {"finished": True, "measures": {"coverage": [0.5, None, "é"]}}
        del again.meta["measures"]
        assert "measures" not in again.meta
        with pytest.raises(KeyError):
            del again.meta["measures"]


def test_clearing_removes_results_and_meta(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 3) as store:
        store.finished = True

        store.clear()

        assert (len(store), len(store.results()), store.finished) == (0, 0, False)


def test_an_empty_store_is_still_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        assert store


def test_many_threads_append_and_read_at_once(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:

        def work(thread: int) -> None:
            for number in range(thread * 20, thread * 20 + 20):
                store.append(_items([number]))
                assert store.result(number) == _result(number)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [result.trace.id for result in store.results()] == [f"t{number}" for number in range(160)]


_WRITER = """
import sys
from rag_cover.questions import Question
from rag_cover.measures import TraceResult
from rag_cover.stores import Store
from rag_cover.traces import Trace
store = Store(sys.argv[1])
for block in range(100_000):
    result = TraceResult(Trace(question=Question(text="q" * 999)))
    store.append([(ordinal, "k", result) for ordinal in range(block * 7, block * 7 + 7)])
    print(block, flush=True)
"""


def test_a_process_killed_while_appending_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        committed = [int(writer.stdout.readline()) for _ in range(10)]

        writer.kill()
        committed += [int(line) for line in writer.stdout.read().split()]

    with Store(path) as store:
        assert store.rows("PRAGMA integrity_check") == [("ok",)]
        assert len(store) % 7 == 0
        assert len(store) >= len(committed) * 7
        assert len(list(store.results())) == len(store)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look like one" * 10)

    with pytest.raises(StoreError, match="not a store"):
        Store(path)

    assert path.read_text().startswith("not a database")


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE results (x)")
    connection.close()

    with pytest.raises(StoreError, match="another program's"):
        Store(path)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    _filled(path, 1).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(StoreError, match="upgrade rag-cover"):
        Store(path)


def test_a_store_of_an_older_version_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    _filled(path, 2).close()
    newer = (*schema.MIGRATIONS, ("ALTER TABLE results ADD COLUMN seconds REAL",))

    monkeypatch.setattr(schema, "MIGRATIONS", newer)

    with Store(path) as store:
        assert store.rows("SELECT ordinal, seconds FROM results") == [(0, None), (1, None)]
        assert store.rows("PRAGMA user_version") == [(len(newer),)]


def test_a_store_in_use_by_another_process_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with _filled(path, 1), Store(path, timeout_s=0.01) as ours:
        other = sqlite3.connect(path)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreError, match="in use by another process"):
            ours.append(_items([1]))

        other.close()
        ours.append(_items([1]))
        assert len(ours) == 2


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 1) as store:
        store.rows("PRAGMA max_page_count = 5")
        big = TraceResult(Trace(question=Question(text=os.urandom(50_000).hex())))

        with pytest.raises(StoreError, match="disk is full"):
            store.append([(1, "k", big)])

        assert list(store.results()) == [_result(0)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="every folder is writable to root")
def test_a_folder_without_write_permission_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(StoreError, match="writable"):
        Store(tmp_path / "run.db")


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)


@pytest.mark.usefixtures("read_only")
def test_a_store_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    _filled(tmp_path / "what #? 100%.db", 3).close()

    with Store.open(tmp_path / "what #? 100%.db", create=False) as store:
        assert list(store.results()) == [_result(0), _result(1), _result(2)]
        store.check()
        with pytest.raises(StoreError, match="cannot be written; make it and its folder writable"):
            store.append(_items([3]))
    assert [path.name for path in tmp_path.iterdir()] == ["what #? 100%.db"]


@pytest.mark.usefixtures("read_only")
def test_a_store_that_cannot_be_written_is_read_with_its_log(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 3), Store.open(tmp_path / "run.db", create=False) as store:
        assert (tmp_path / "run.db-wal").stat().st_size > 0
        assert len(store) == 3


@pytest.mark.usefixtures("read_only")
def test_a_strangers_database_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE things (name TEXT)")

    with pytest.raises(StoreError, match="another program's database"):
        Store.open(tmp_path / "other.db", create=False)


def test_a_folder_a_missing_folder_and_a_missing_store_are_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="folder exists"):
        Store(tmp_path / "none" / "run.db")
    with pytest.raises(StoreError, match="no store at"):
        Store.open(tmp_path / "run.db", create=False)

    assert not (tmp_path / "run.db").exists()


def test_two_writers_that_add_at_the_end_take_no_ordinal_twice(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as one, Store(tmp_path / "run.db") as other:
        one.extend([("a", _result(0)), ("b", _result(1))])
        other.extend([("c", _result(2))])
        one.extend([("d", _result(3))])

        assert one.keys() == {0: "a", 1: "b", 2: "c", 3: "d"}
        assert list(other.results()) == [_result(number) for number in range(4)]


def test_meta_that_is_damaged_is_a_corrupt_file_error(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        with store.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES ('spending', '{junk')")

        with pytest.raises(CorruptFileError, match="'spending' that cannot be read"):
            _ = store.spending


_FORKED = """
import gc, os, sys
from rag_cover.errors import StoreError
from rag_cover.stores import Store
store = Store(sys.argv[1])
store.meta["before"] = 1
child = os.fork()
if not child:
    try:
        store.meta["in the child"] = 1
    except StoreError as error:
        print(error, flush=True)
    del store
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
store.meta["after"] = 1
print(sorted(store.meta), store.rows("PRAGMA integrity_check"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_store_is_not_used_by_a_process_forked_off(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _FORKED, str(tmp_path / "run.db")]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    refusal, after = done.stdout.splitlines()
    assert refusal.endswith("was opened before this process was forked off; open it anew in this process")
    assert after == "['after', 'before'] [('ok',)]"


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = _filled(tmp_path / "run.db", 1)
    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        len(store)


def test_a_damaged_result_is_a_corrupt_file_error(tmp_path: Path) -> None:
    with _filled(tmp_path / "run.db", 1) as store:
        with store.transaction() as connection:
            connection.execute("UPDATE results SET json = ?", (b"junk",))

        with pytest.raises(CorruptFileError, match="cannot be read"):
            store.result(0)


@pytest.mark.slow
def test_a_store_that_is_forgotten_closes_its_file(tmp_path: Path) -> None:
    _filled(tmp_path / "run.db", 1)

    gc.collect()

    assert sorted(found.name for found in tmp_path.iterdir()) == ["run.db"]


def test_what_is_kept_under_its_key_is_present_but_for_failures_and_damage(tmp_path: Path) -> None:
    failed = TraceResult(_result(1).trace, {"coverage": Failure("timeout", "no answer")})
    with Store(tmp_path / "run.db") as store:
        store.keep([(0, "key0", _result(0)), (1, "key1", failed), (2, "key2", _result(2))], UsageReport())
        with store.transaction() as connection:
            connection.execute("UPDATE results SET json = x'00' WHERE ordinal = 2")

        assert store.present({0: "key0", 1: "key1", 2: "key2", 3: "key3"}) == {0}
        assert store.present({0: "another key"}) == set()
        store.keep([(1, "key1", _result(1)), (2, "key2", _result(2))], UsageReport())
        assert store.present({0: "key0", 1: "key1", 2: "key2"}) == {0, 1, 2}
        assert list(store.results()) == [_result(number) for number in range(3)]


def test_an_evaluation_begun_anew_forgets_results_and_spending_and_one_gone_on_with_keeps_them(tmp_path: Path) -> None:
    spent = UsageReport((Usage("openai:small", "judge", calls=1),))
    with Store(tmp_path / "run.db") as store:
        store.begin({"judge": "me"}, resume=False)
        store.keep(_items([0, 1, 2]), spent)
        with pytest.raises(StoreError, match=r"unfinished evaluation \(3 traces done\)"):
            store.begin({"judge": "you"}, resume=False)
        store.begin({"judge": "me"}, resume=True)
        store.keep([], spent)
        store.finish(2)

        assert (len(store), store.spending.usage[0].calls, store.finished) == (2, 2, True)
        with pytest.raises(StoreError, match=r"holds an evaluation \(2 traces done\); go on with it .*, replace it"):
            store.begin({"judge": "you"}, resume=False)
        store.begin({"judge": "you"}, resume=False, overwrite=True)
        assert (len(store), store.spending, store.finished, store.meta["evaluation"]) == (
            0,
            UsageReport(),
            False,
            {"judge": "you"},
        )


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
@pytest.mark.parametrize(
    ("change", "said"), [("remove", "was removed while"), ("replace", "was replaced by another file|cannot be used")]
)
def test_a_store_that_is_gone_ends_the_run_that_writes_it(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "run.sqlite"

    def vanishing() -> Iterator[Trace]:
        for number in range(200):
            if number == 100:
                path.unlink()
                if change == "replace":
                    Store.open(path, create=True).close()
            yield Trace(question=Question(f"Why is sky {number} blue?"), answer="Air.")

    with pytest.raises(StoreError, match=said):
        evaluate(vanishing(), models=Models(judge=KeywordScorer()), measures=["coverage"], store=path)
