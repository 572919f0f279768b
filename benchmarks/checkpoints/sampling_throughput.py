"""How much faster ten samples are that share one prefill than ten that are drawn apart.

    python -m benchmarks.checkpoints.sampling_throughput                  # a small Llama shape, 1,000 tokens of context
    python -m benchmarks.checkpoints.sampling_throughput --model path/to/checkpoint --device cuda

Both ways run the same network through the same sampler, round by round in one process, taking turns at going first: one call
for n samples, and n calls for one sample each. Samples run to their full length, so that both draw as many tokens. Weights are
random unless a model is named: that changes no time.

Data: none.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any

import numpy as np

from benchmarks.support.scores import ratio
from benchmarks.support.shapes import at, small_llama, timed, tokenizer
from benchmarks.support.tables import plain, show
from rag_cover.backends import Sampling
from rag_cover.stats.intervals import bootstrap
from rag_cover_transformers.checkpoints import find_checkpoint
from rag_cover_transformers.devices import CACHED_TOKENS, Placement, choose_placement
from rag_cover_transformers.sampling.sampler import CausalSampler


def sampler_of(options: argparse.Namespace, placement: Placement) -> tuple[CausalSampler, int]:
    """Open the named model, or make a small one; with the size of its vocabulary."""
    if not options.model:
        words = tokenizer()
        network = at(placement, small_llama, seed=options.seed)
    else:
        from transformers import AutoModelForCausalLM

        checkpoint = find_checkpoint(options.model)
        words, network = checkpoint.tokenizer(), checkpoint.network(AutoModelForCausalLM, placement)
    network.generation_config.eos_token_id = None  # so that every sample runs to its full length
    words.eos_token = None
    return CausalSampler(network, words, placement, longest=1_000_000, fingerprint="measured"), network.config.vocab_size


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a checkpoint to measure instead, by path")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--context", type=int, default=1000, help="tokens of the prompt")
    parser.add_argument("--answer", type=int, default=32, help="tokens of each sample")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    placement = choose_placement(options.device, options.precision, None, usual=CACHED_TOKENS)
    sampler, vocabulary = sampler_of(options, placement)
    rng = random.Random(options.seed)  # noqa: S311  # a prompt, not a secret
    prompt: Any = np.array([rng.randrange(vocabulary) for _ in range(options.context)], np.int64)

    def draw(n: int, seed: int) -> None:
        how = Sampling(n=n, temperature=1.0, max_tokens=options.answer, seed=seed)
        sampler.draw([prompt], how)

    draw(1, 0)
    rows = []
    for number in range(options.rounds):
        ways = {
            "shared": lambda: draw(options.samples, 0),
            "apart": lambda: [draw(1, seed) for seed in range(options.samples)],
        }
        taken = {name: timed(ways[name]) for name in (sorted(ways) if number % 2 else sorted(ways, reverse=True))}
        rows.append((taken["apart"], taken["shared"]))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    seconds = np.array(rows)
    faster = bootstrap(seconds, lambda sums: ratio(sums[..., 0], sums[..., 1]), seed=options.seed)
    name = options.model or "a Llama of 8 layers, 512 wide"
    title = (
        f"{name}, {placement.device}, {placement.precision}: {options.context} tokens of context, {options.answer} an answer"
    )
    apart, shared = (f"{value:.2f}" for value in seconds.mean(axis=0))
    header = [f"{options.samples} apart, s", f"{options.samples} from one prefill, s", "times as fast"]
    show(title, header, [[apart, shared, plain(faster, digits=1)]])


if __name__ == "__main__":
    main()
