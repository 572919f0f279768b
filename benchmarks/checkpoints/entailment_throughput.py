"""How many pairs a second the entailer judges, in batches and one pair at a time, and how much of the device that uses.

    python -m benchmarks.checkpoints.entailment_throughput                                      # MiniLM-shaped on the CPU
    python -m benchmarks.checkpoints.entailment_throughput --shape deberta-xlarge --device cuda # on a GPU, in half precision
    python -m benchmarks.checkpoints.entailment_throughput --model path/to/checkpoint

Pairs are the demo's passages with its sub-questions. Both ways run the same network through the same entailer, round by round
in one process, taking turns at going first: all pairs in one call, and ``--single`` of them one call each. Operations are
counted by torch on the batched way, padding included; the peak is that of one large matrix product, measured in the same
process. Weights are random unless a model is named: that changes no time.

Data: none (the demo's corpus).
"""

from __future__ import annotations

import argparse
import json
import random
import sys

import numpy as np
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.support.scores import ratio
from benchmarks.support.shapes import CLASSIFIERS, at, peak_flops, timed, tokenizer
from benchmarks.support.tables import plain, show
from rag_cover import demo
from rag_cover.stats.intervals import bootstrap
from rag_cover_transformers.classifiers import classifier_of, open_classifier
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.encodings import TextEncoder
from rag_cover_transformers.entailer import NliEntailer
from rag_cover_transformers.labels import THREE_CLASSES
from rag_cover_transformers.model_source import Source

Pair = tuple[str, str]


def pairs_of(count: int, seed: int) -> list[Pair]:
    """Draw pairs of the demo's passages and sub-questions."""
    passages, asked = (
        [json.loads(line)[name] for line in path.read_text(encoding="utf-8").splitlines()]
        for path, name in ((demo.corpus_path(), "text"), (demo.labels_path(), "sub_question"))
    )
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    return [(rng.choice(passages), rng.choice(asked)) for _ in range(count)]


def entailer_of(options: argparse.Namespace) -> tuple[NliEntailer, Placement]:
    """Open the named model, or make one of the shape."""
    placement = choose_placement(options.device, options.precision, options.batch_tokens)
    if options.model:
        source = Source(options.model, None, options.device, options.precision, None, options.batch_tokens)
        return NliEntailer(open_classifier(source), THREE_CLASSES), placement
    network = at(placement, CLASSIFIERS[options.shape], seed=options.seed)
    encoder = TextEncoder(tokenizer(), 512)
    return NliEntailer(
        classifier_of(network, encoder, placement, name="random", fingerprint="random"), THREE_CLASSES
    ), placement


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(CLASSIFIERS), default="minilm")
    parser.add_argument("--model", help="a checkpoint to measure instead, by path")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--pairs", type=int, help="judged in one call, each round; by default 256, on a GPU 4,096")
    parser.add_argument("--single", type=int, default=64, help="of them judged one call each, each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    entailer, placement = entailer_of(options)
    pairs = pairs_of(options.pairs or (4_096 if placement.device.type == "cuda" else 256), options.seed)
    with FlopCounterMode(display=False) as counter:
        entailer.entail(pairs)
    entailer.entail(pairs)  # warm, and without the counter
    entailer.entail(pairs[:1])
    rows = []
    for number in range(options.rounds):
        single = pairs[: options.single]
        ways = {"batch": lambda: entailer.entail(pairs), "single": lambda: [entailer.entail([pair]) for pair in single]}  # noqa: B023  # called before the next round
        taken = {name: timed(ways[name]) for name in (sorted(ways) if number % 2 else sorted(ways, reverse=True))}
        rows.append((taken["single"] / len(single), taken["batch"] / len(pairs)))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    seconds = np.array(rows)
    achieved = counter.get_total_flops() / len(pairs) / seconds[:, 1].mean()
    peak = peak_flops(placement)
    faster = bootstrap(seconds, lambda sums: ratio(sums[..., 0], sums[..., 1]), seed=options.seed)
    title = (
        f"{options.model or options.shape}, {placement.device}, {placement.precision}, {len(pairs)} pairs, {len(rows)} rounds"
    )
    header = ["one at a time, pairs/s", "batched, pairs/s", "times as fast", "TFLOP/s", "peak TFLOP/s", "share of peak %"]
    one, batch = 1 / seconds.mean(axis=0)
    cells = [f"{one:,.1f}", f"{batch:,.1f}", plain(faster, digits=1), f"{achieved / 1e12:,.3f}", f"{peak / 1e12:,.3f}"]
    show(title, header, [[*cells, f"{100 * achieved / peak:.0f}"]])


if __name__ == "__main__":
    main()
