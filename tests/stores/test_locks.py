"""One writer at a time, told who it is; whoever dies holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_cover.errors import StoreError, StoreInUseError
from rag_cover.stores.locks import acquire, hold, lock_beside

_HOLD = """
import sys, time
from pathlib import Path
from rag_cover.stores.locks import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    with hold(path), pytest.raises(StoreInUseError, match=rf"is being written by process {os.getpid()} on .*; wait for it, or"):
        hold(path).__enter__()

    with hold(path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_link_to_a_store_has_the_lock_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "run.sqlite").touch()
    try:
        (tmp_path / "link.sqlite").symlink_to(tmp_path / "run.sqlite")
    except OSError:
        pytest.skip("this system makes no links")

    with hold(tmp_path / "run.sqlite"), pytest.raises(StoreInUseError):
        hold(tmp_path / "link.sqlite").__enter__()


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    command = [sys.executable, "-c", _HOLD, str(path)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StoreInUseError, match=rf"process {other.pid} on .* since 2.* UTC"):
            hold(path).__enter__()
        other.kill()
    with hold(path):
        pass


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that is what happens here
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_that_is_forked_off_neither_takes_nor_frees_a_lock(tmp_path: Path) -> None:
    lock = lock_beside(tmp_path / "run.sqlite")
    held = acquire(lock)
    assert held is not None
    beside, told = os.pipe()
    go_on, goes_on = os.pipe()

    if not (child := os.fork()):
        del held
        os.write(told, b"1" if acquire(lock) is None else b"0")
        os.read(go_on, 1)
        os._exit(0)
    assert os.read(beside, 1) == b"1"
    held.release()
    free = acquire(lock)
    os.write(goes_on, b"1")
    os.waitpid(child, 0)
    for end in (beside, told, go_on, goes_on):
        os.close(end)

    assert free is not None
    free.release()


def test_a_note_that_cannot_be_read_costs_the_name_only(tmp_path: Path) -> None:
    with hold(tmp_path / "run.sqlite"):
        (tmp_path / "run.sqlite.lock.json").write_text("{", encoding="utf-8")

        with pytest.raises(StoreInUseError, match="is being written by another process; wait"):
            hold(tmp_path / "run.sqlite").__enter__()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="cannot be made"):
        hold(tmp_path / "file" / "run.sqlite").__enter__()
