"""The process that faults are done to: an evaluation by judges of words, as slow as real ones, into a store.

    python -m benchmarks.support.faults_run TRACES STORE LOG [--pause S] [--clock SEED] [--largest BYTES] [--engine ray]

It goes on with what the store holds. Every trace that is judged adds a line to LOG. ``--clock`` sets the wall clock by hours
and days, back and forth, whenever it is read; ``--largest`` lets no file grow beyond so many bytes. An error that
rag_cover raises on purpose is printed after the first line, and the exit code is 3.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TOLD = 3
BEGUN = "begun\n"
_DAY_S = 86_400.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("traces", "store", "log"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that each call of the judge takes")
    parser.add_argument("--clock", type=int, help="seed of the wall clock's jumps")
    parser.add_argument("--largest", type=int, help="bytes that no file may grow beyond")
    parser.add_argument("--engine", choices=["local", "ray"], default="local", help="what runs the judge")
    return parser.parse_args()


def _jumping(seed: int) -> Callable[[], float]:
    rng, real = random.Random(seed), time.time  # noqa: S311  # a clock, not a secret
    return lambda: real() + rng.choice((-1, 1)) * rng.uniform(0, 30 * _DAY_S)


def _disturb(options: argparse.Namespace) -> None:
    """Do to this process what is asked, before anything of rag_cover is imported."""
    if options.clock is not None:
        clock = _jumping(options.clock)
        time.time, time.time_ns = clock, lambda: int(clock() * 1e9)
    if options.largest is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (options.largest, options.largest))


def _evaluate(options: argparse.Namespace) -> None:
    from rag_cover import Models, evaluate
    from rag_cover.backends import ScoringItem
    from rag_cover.errors import RagCoverError
    from rag_cover.testing import KeywordScorer

    @dataclass(frozen=True)
    class Slow(KeywordScorer):
        def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
            with options.log.open("a", encoding="utf-8") as log:
                log.write("".join(f"{question}\n" for question in sorted({item.question for item in items})))
            time.sleep(options.pause)
            return super().correctness(items)

    print(BEGUN, end="", flush=True)
    models, engine = Models(judge=Slow()), options.engine
    try:
        evaluate(
            options.traces, measures=["coverage"], models=models, store=options.store, resume=True, workers=1, engine=engine
        )
    except RagCoverError as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(TOLD)


if __name__ == "__main__":
    given = _arguments()
    _disturb(given)
    _evaluate(given)
