"""How fast does the judge's network run, and how fast would it run in torch?

    python -m benchmarks.judge.speed --checkpoint judge.pt        # needs pip install 'rag-cover[train]'

Pairs per second at ``--tokens`` tokens a pair and ``--threads`` threads, for batches of each of ``--batches`` pairs:

- *torch, fp32*: the checkpoint, in eval and inference mode, attention by ``scaled_dot_product_attention``;
- *onnxruntime*: the shipped graph alone, one batch at a time, the threads inside each operation;
- *the judge's session*: the same graph as the judge runs it, the batch cut into small ones that the threads share.

Interleaved: every round times each way once, after a run that warms it up; a ratio is of two times of the same round. Printed
are medians with the quartiles. Then the time one thread spends in each kind of operation.

Data: none; a training checkpoint.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.judges import opened_weights
from benchmarks.support.originals import Original
from benchmarks.support.tables import arguments, show
from rag_cover_embedded.inputs import Encoded, Task, join
from rag_cover_embedded.runtime import onnxruntime
from rag_cover_embedded.session import Session, feed

Floats = NDArray[np.float64]

OUTPUTS = ("answers", "span")
WORDS = range(1_000, 29_000)  # of the vocabulary: words and parts of words
PROFILED = 20


def pairs(count: int, tokens: int, seed: int) -> list[Encoded]:
    """Make pairs of random words, all of the same length."""
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    first = tokens // 4
    lengths = (first, tokens - 3 - first)
    return [join(Task.ANSWERS, *([rng.choice(WORDS) for _ in range(length)] for length in lengths)) for _ in range(count)]


def opened(path: Path, threads: int, *, profile: str = "") -> onnxruntime.InferenceSession:
    """Open the graph alone."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def timed(ways: dict[str, Callable[[], object]], rounds: int, pause: float) -> dict[str, Floats]:
    """Time each way once a round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            time.sleep(pause)  # until the threads of the way before have gone to sleep
            run()
            began = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - began)
    return {name: np.array(seconds) for name, seconds in taken.items()}


def _quartiles(values: Floats, digits: int) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def show_speed(taken: dict[str, Floats], size: int, title: str) -> None:
    """Print pairs per second and how many times torch's they are."""
    base, *_ = taken.values()
    rows = [
        [name, _quartiles(size / seconds, 0), f"{size / seconds.min():.0f}", _quartiles(base / seconds, 2)]
        for name, seconds in taken.items()
    ]
    show(title, ["way", "pairs/s: median (quartiles)", "best", "times torch's: median (quartiles)"], rows)


def show_operations(path: Path, batch: Sequence[Encoded]) -> None:
    """Print where one thread's time goes."""
    with tempfile.TemporaryDirectory() as folder:
        session = opened(path, 1, profile=str(Path(folder) / "profile"))
        for _ in range(PROFILED):
            session.run(list(OUTPUTS), feed(batch))
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    taken: Counter[str] = Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            taken[event["args"]["op_name"]] += event["dur"]
    whole = taken.total()
    rows = [[kind, f"{each / PROFILED / 1000:.2f}", f"{each / whole:.1%}"] for kind, each in taken.most_common(12)]
    show(f"Operations, one thread, a batch of {len(batch)} pairs", ["operation", "ms", "share"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="judge.pt of the training that made the judge")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--batches", default="32,64", help="how many pairs at once")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    path = opened_weights(options.judge).network
    graph, session = opened(path, options.threads), Session(path, threads=options.threads)
    for size in map(int, options.batches.split(",")):
        batch = pairs(size, options.tokens, options.seed)
        original = Original(options.checkpoint, threads=options.threads, batch=size)
        ways = {
            "torch, fp32": partial(original.run, batch, OUTPUTS),
            "onnxruntime": partial(graph.run, list(OUTPUTS), feed(batch)),
            "the judge's session": partial(session.run, batch, OUTPUTS),
        }
        taken = timed(ways, options.rounds, 0.2)
        show_speed(taken, size, f"{size} pairs of {options.tokens} tokens, {options.threads} threads")
    print(f"\nThe graph is {path.stat().st_size / 1e6:.1f} MB.")
    show_operations(path, pairs(8, options.tokens, options.seed))


if __name__ == "__main__":
    main()
