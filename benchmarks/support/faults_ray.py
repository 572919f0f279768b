"""The faults of a cluster: actors or the driver are killed, or a whole node is taken away, in the middle of a run on Ray."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.faults import Harm, Stage
from rag_cover import Evaluation, Models, Progress, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.errors import RagCoverError
from rag_cover.testing import KeywordScorer
from rag_cover_ray import RayEngine
from rag_cover_ray.environment import prepare

BLOCK_S = 0.5
NODES = 2


@dataclass(frozen=True)
class Tracked(KeywordScorer):
    """A judge of words that takes so many seconds a call, and leaves its process id in a folder."""

    folder: Path = Path()
    pause_s: float = BLOCK_S

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Judge, and leave a mark."""
        (self.folder / str(os.getpid())).touch()
        time.sleep(self.pause_s)
        return super().correctness(items)


def actor_killed(stage: Stage, rng: random.Random, times: int) -> Mapping[str, Harm]:
    """Kill one of the processes that judge with SIGKILL, at any block."""
    harm = Harm(silent="by lines of Ray's: another actor does its blocks again")
    with cluster():
        for number in range(times):
            pids = stage.folder / f"actors-{number}"
            pids.mkdir()
            _disturbed(stage, f"actor-{number}", pids, rng, partial(_kill_one, pids, rng), harm)
    return {"Ray: an actor (MapWorker) killed (SIGKILL)": harm}


def actors_killed(stage: Stage, rng: random.Random, times: int) -> Mapping[str, Harm]:
    """Kill so many of the processes that judge, one after the other, in a single long run of traces that take no time."""
    harm = Harm(silent="by lines of Ray's: another actor does their blocks again")
    store, pids = stage.folder / "actors.sqlite", stage.folder / "actors"
    pids.mkdir()
    moments, struck = sorted(rng.sample(range(stage.count // 2), times)), 0
    started = time.perf_counter()

    def watch(progress: Progress) -> None:
        nonlocal struck
        if struck < times and progress.done >= moments[struck]:
            struck += _kill_one(pids, rng)

    with cluster():
        engine, models = RayEngine(workers=NODES), Models(judge=Tracked(folder=pids, pause_s=0.0))
        evaluate(stage.file, measures=["coverage"], models=models, store=store, engine=engine, progress=watch)
    took_s = time.perf_counter() - started
    stage.count_harm(store, harm)
    harm.times, harm.intact = struck, struck * harm.intact
    row = f"Ray, {NODES} nodes, one run of {stage.count:,} traces ({stage.count / took_s:,.0f} a second): actors killed"
    return {row: harm}


def driver_killed(stage: Stage, rng: random.Random, times: int) -> Mapping[str, Harm]:
    """Kill the process that runs the evaluation, with its cluster, once some blocks are done, and go on with the store."""
    harm = Harm(silent="it cannot: the same command with --resume goes on")
    for number in range(times):
        store, moment = stage.folder / f"driver-{number}.sqlite", rng.randrange(1, stage.count // 2)
        with stage.running(store, "--engine", "ray", "--pause", BLOCK_S / 2) as run:
            while run.poll() is None and _count_kept(store) < moment:
                time.sleep(0.1)
        stage.go_on(store, harm, "--engine", "ray")
        stage.count_harm(store, harm)
    return {"Ray: the driver killed (SIGKILL) and resumed": harm}


def _count_kept(store: Path) -> int:
    try:
        return len(Evaluation.open(store).results)
    except RagCoverError:  # not begun
        return 0


def node_removed(stage: Stage, rng: random.Random, times: int) -> Mapping[str, Harm]:
    """Take one of two nodes away, at any block, and put another in its place before the next run."""
    harm = Harm(silent="by lines of Ray's: the nodes that are left do its blocks again")
    with cluster() as (nodes, taken):
        second = taken
        for number in range(times):
            pids = stage.folder / f"nodes-{number}"
            pids.mkdir()
            take = partial(nodes.remove_node, second, allow_graceful=False)
            _disturbed(stage, f"node-{number}", pids, rng, take, harm)
            if number + 1 < times:
                second = nodes.add_node(num_cpus=1)
                nodes.wait_for_nodes()
    return {f"Ray: one of {NODES} nodes removed": harm}


@contextmanager
def cluster() -> Iterator[tuple[Any, Any]]:
    """Simulate a cluster of two nodes of one processor each on this machine; yield it and the node that is not its head."""
    prepare(None)
    import ray
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    ray.init(address=nodes.address, logging_level="ERROR", log_to_driver=False)
    try:
        yield nodes, second
    finally:
        ray.shutdown()
        nodes.shutdown()


def _disturbed(stage: Stage, name: str, pids: Path, rng: random.Random, disturb: Callable[[], object], harm: Harm) -> None:
    """Evaluate on both nodes, do the harm after some block, and compare what the store holds in the end."""
    store, moment = stage.folder / f"{name}.sqlite", rng.randrange(stage.count // 2)
    done: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done >= moment and not done:
            done.append(progress.done)
            disturb()

    engine, models = RayEngine(workers=NODES), Models(judge=Tracked(folder=pids))
    evaluate(stage.file, measures=["coverage"], models=models, store=store, engine=engine, progress=watch)
    stage.count_harm(store, harm)


def _kill_one(pids: Path, rng: random.Random) -> bool:
    """Kill one of the processes that left their ids; tell whether there was one."""
    running = sorted(int(each.name) for each in pids.iterdir() if _is_map_worker(each.name))
    if not running:
        return False
    with suppress(ProcessLookupError):
        os.kill(rng.choice(running), signal.SIGKILL)
        return True
    return False


def _is_map_worker(pid: str) -> bool:
    """Tell whether a process runs, and is one of Ray Data's, which are named after their class."""
    try:
        return b"MapWorker" in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False
