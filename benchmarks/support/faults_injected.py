"""The faults of one machine: each is done to a run, which is gone on with when the fault is over."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from benchmarks.support.faults import Harm, Stage, is_intact, read, remount, small_disk
from benchmarks.support.faults_damages import DAMAGES, move_away
from rag_cover.errors import RagCoverError

Injected = Mapping[str, Harm]
Fault = Callable[[Stage, random.Random, int], Injected]

BLOCK_S = 0.4
LIFE_S = 1.2
GRACE_S = 60.0


def killed(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Kill one run with SIGKILL so many times, at any moment, and go on with it each time."""
    harm, store = Harm(silent="it cannot: the same command with --resume goes on"), stage.folder / "killed.sqlite"
    struck = broken = 0
    while struck < times and not _is_finished(store):
        struck += _killed_once(stage, store, rng.uniform(0, LIFE_S), harm)
        broken += store.exists() and not is_intact(store)
    held = read(store)
    harm.silent += f" ({len(held) if isinstance(held, list) else 0:,} of {stage.count:,} traces were done at the last kill)"
    stage.go_on(store, harm)
    stage.count_harm(store, harm)
    harm.times, harm.intact = struck, (struck - broken) if harm.intact else 0
    return {"killed (SIGKILL) and resumed, one run": harm}


def disk_full(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Fill the disk of a store, or let its file grow no further where no disk can be mounted, and make room again."""
    harm, whole = Harm(), _whole_size(stage)
    for number in range(times):
        folder, size = stage.folder / f"full-{number}", rng.randrange(whole // 8, whole)
        with small_disk(folder, size) as mounted:
            store = folder / "run.sqlite"
            over = stage.go_on(store, harm, *([] if mounted else ["--largest", size]))
            broken = store.exists() and not is_intact(store)
            if mounted:
                remount(folder, f"size={64 * whole}")
            _gone_on(stage, store, harm, undone=not over, sound=not broken)
    return {"disk full" if mounted else "file may not grow (as disk full)": harm}


def read_only(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Go on with an unfinished store that can only be read, and then with one that can be written."""
    harm = Harm()
    for number in range(times):
        folder = stage.folder / f"read-only-{number}"
        with small_disk(folder, 1 << 26) as mounted:
            store = folder / "run.sqlite"
            _begun(stage, store, rng)
            _forbid(folder, mounted=mounted)
            over = stage.go_on(store, harm)
            _allow(folder, mounted=mounted)
            _gone_on(stage, store, harm, undone=not over, sound=is_intact(store))
    return {"read-only folder and file": harm}


def locked(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Let another program lock the store in the middle of a run, for longer than the run waits."""
    harm = Harm()
    for number in range(times):
        store = stage.folder / f"locked-{number}.sqlite"
        with stage.running(store, "--pause", BLOCK_S) as run:
            _wait_for_results(store)
            time.sleep(rng.uniform(0, BLOCK_S))
            with closing(sqlite3.connect(store, timeout=GRACE_S)) as other:
                other.execute("BEGIN EXCLUSIVE")
                over = stage.ended(run, harm)
        _gone_on(stage, store, harm, undone=not over, sound=is_intact(store))
    return {"locked by another program": harm}


def clock(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Let the wall clock jump by hours and days, back and forth, in a process that is killed, and in one that goes on."""
    harm = Harm(silent="not at all: nothing goes by it")
    for number in range(times):
        store = stage.folder / f"clock-{number}.sqlite"
        with stage.running(store, "--pause", BLOCK_S, "--clock", rng.randrange(1 << 30)):
            _wait_for_results(store)
        over = stage.go_on(store, harm, "--clock", rng.randrange(1 << 30))
        _gone_on(stage, store, harm, undone=over, sound=is_intact(store))
    return {"wall clock jumps by up to 30 days": harm}


def damaged(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Overwrite bytes, cut the file off, or take the log away; go on, and where that is refused, do as the error says."""
    harms = {name: Harm(silent="not at all: what is damaged is measured again") for name in DAMAGES}
    for number in range(times):
        for name, damage in DAMAGES.items():
            store = stage.folder / f"{damage.__name__.strip('_')}-{number}.sqlite"
            _begun(stage, store, rng)
            damage(store, rng)
            _refuse_wrong_results(stage, store, harms[name])
            over = stage.go_on(store, harms[name])
            if not over:
                move_away(store)
                harms[name].told["(then moved away and measured again)"] += 1
            _gone_on(stage, store, harms[name], undone=True, sound=True)
    return harms


def two_processes(stage: Stage, rng: random.Random, times: int) -> Injected:
    """Start a second process on a store that a first one writes, or holds while it is stopped; kill the first, and go on."""
    running, stopped = Harm(), Harm()
    for number in range(times):
        _refused(stage, f"running-{number}", running, rng, stop=False)
        _refused(stage, f"stopped-{number}", stopped, rng, stop=True)
    return {
        "two processes on one store, the first killed": running,
        "two processes, the first stopped (SIGSTOP), then killed": stopped,
    }


def _refused(stage: Stage, name: str, harm: Harm, rng: random.Random, *, stop: bool) -> None:
    store = stage.folder / f"{name}.sqlite"
    with stage.running(store, "--pause", BLOCK_S) as first:
        _wait_for_results(store)
        time.sleep(rng.uniform(0, BLOCK_S))
        if stop:
            first.send_signal(signal.SIGSTOP)
        refused = not stage.go_on(store, harm)
    _gone_on(stage, store, harm, undone=refused, sound=is_intact(store))


def _killed_once(stage: Stage, store: Path, after_s: float, harm: Harm) -> bool:
    """Kill a run so many seconds after it has begun; tell whether it was still running."""
    with stage.running(store, "--pause", BLOCK_S) as run:
        stage.wait_until_begun(run)
        time.sleep(after_s)
        if run.poll() is not None:
            stage.ended(run, harm)
            return False
        run.kill()
    return True


def _gone_on(stage: Stage, store: Path, harm: Harm, *, undone: bool, sound: bool) -> None:
    """Go on when the fault is over, and count its harm; a fault that disturbed nothing does not count."""
    over = stage.go_on(store, harm)
    if over and undone:
        stage.count_harm(store, harm)
        harm.intact -= not sound


def _begun(stage: Stage, store: Path, rng: random.Random) -> None:
    """Leave an unfinished store, its log beside it."""
    with stage.running(store, "--pause", BLOCK_S / 8):
        _wait_for_results(store)
        time.sleep(rng.uniform(0, BLOCK_S * 2))


def _wait_for_results(store: Path) -> None:
    give_up = time.monotonic() + GRACE_S
    while time.monotonic() < give_up:
        if isinstance(held := read(store), list) and held:
            return
        time.sleep(0.05)
    message = f"no results in {store} after {GRACE_S:g} s"
    raise SystemExit(message)


def _is_finished(store: Path) -> bool:
    from rag_cover import Store

    try:
        with Store.open(store, create=False) as kept:
            return kept.finished
    except RagCoverError:
        return False


def _whole_size(stage: Stage) -> int:
    """Return the bytes that an undisturbed run's files take while it runs."""
    store = stage.folder / "whole.sqlite"
    stage.go_on(store, Harm())
    return store.stat().st_size


def _forbid(folder: Path, *, mounted: bool) -> None:
    if mounted:
        remount(folder, "ro")
    else:
        _set_modes(folder, 0o500, 0o400)


def _allow(folder: Path, *, mounted: bool) -> None:
    if mounted:
        remount(folder, "rw")
    else:
        _set_modes(folder, 0o700, 0o600)


def _set_modes(folder: Path, of_folder: int, of_files: int) -> None:
    folder.chmod(0o700)
    for file in folder.iterdir():
        file.chmod(of_files)
    folder.chmod(of_folder)


def _refuse_wrong_results(stage: Stage, store: Path, harm: Harm) -> None:
    """Count what a damaged store shows for a result and is none, before anybody goes on with it."""
    shown = read(store)
    if isinstance(shown, list):
        harm.doubled += sum((Counter(shown) - Counter(stage.expected)).values())


FAULTS: Mapping[str, Fault] = {
    "killed": killed,
    "disk-full": disk_full,
    "read-only": read_only,
    "locked": locked,
    "clock": clock,
    "damaged": damaged,
    "two-processes": two_processes,
}
"""Each fault with how it is done, so many times, to runs on a stage; it returns what it did, by the name of its row."""
