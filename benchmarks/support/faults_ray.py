"""The faults of a cluster: an actor is killed, or a whole node is taken away, in the middle of a run on Ray."""

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
from rag_cover import Models, Progress, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.testing import KeywordScorer
from rag_cover_ray import RayEngine
from rag_cover_ray.environment import prepare

BLOCK_S = 0.5
NODES = 2


@dataclass(frozen=True)
class Tracked(KeywordScorer):
    """A judge of words, as slow as a real one, that leaves its process id in a folder."""

    folder: Path = Path()

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Judge, and leave a mark."""
        (self.folder / str(os.getpid())).touch()
        time.sleep(BLOCK_S)
        return super().correctness(items)


def actor_killed(stage: Stage, rng: random.Random, times: int) -> Mapping[str, Harm]:
    """Kill one of the processes that judge with SIGKILL, at any block."""
    harm = Harm(silent="by lines of Ray's: another actor does its blocks again")
    with cluster():
        for number in range(times):
            pids = stage.folder / f"actors-{number}"
            pids.mkdir()
            _disturbed(stage, f"actor-{number}", pids, rng, partial(_kill_one, pids, rng), harm)
    return {"Ray: an actor killed (SIGKILL)": harm}


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
    store, moment, done = stage.folder / f"{name}.sqlite", rng.randrange(stage.count // 2), []

    def watch(progress: Progress) -> None:
        if progress.done >= moment and not done:
            done.append(progress.done)
            disturb()

    engine, models = RayEngine(workers=NODES), Models(judge=Tracked(folder=pids))
    evaluate(stage.file, measures=["coverage"], models=models, store=store, engine=engine, progress=watch)
    stage.count_harm(store, harm)


def _kill_one(pids: Path, rng: random.Random) -> None:
    running = sorted(int(each.name) for each in pids.iterdir())
    with suppress(ProcessLookupError):
        os.kill(rng.choice(running), signal.SIGKILL)
