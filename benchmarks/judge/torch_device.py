"""Are the embedded judge's verdicts on a device of torch those of the CPU, and how near is its speed to the device's limit?

    python -m benchmarks.judge.torch_device --device cuda

The passages and replies of the held-out written cases are asked every sub-question of their case, by the shipped weights in
bytes (ONNX Runtime, CPU) and in floats on ``--device``. Printed are the share of equal verdicts and how far probabilities lie
apart; then pairs of 128 tokens a second on both, and which share of the device's own product of two square matrices in fp32 the
network's multiplications and additions are (`ops_of_token`).

Data: none (texts written for training).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

from benchmarks.support.tables import arguments, percent, show
from rag_cover.backends import ScoringItem
from rag_cover.stats.intervals import wilson
from rag_cover_embedded import open_judge
from rag_cover_embedded.inputs import Encoded, Task, join
from rag_cover_embedded.session import Network
from rag_cover_embedded.torch_session import TorchSession
from rag_cover_embedded.training.cases import case_texts
from rag_cover_embedded.weights import Weights

LENGTH, WIDTH, LAYERS = 128, 384, 6
SQUARE = 4096


def main() -> None:
    """Compare verdicts, then speeds."""
    parser = arguments(__doc__)
    parser.add_argument("--device", default="cuda", help="a device of torch (default: cuda)")
    options = parser.parse_args()
    compare_verdicts(options.device, options.limit or 2_000)
    compare_speed(options.device)


def compare_verdicts(device: str, most: int) -> None:
    """Print how many verdicts are the same."""
    asked = [each for mode in ("passage", "reply") for each, _ in [*case_texts(mode)][: most // 2]]
    items = [ScoringItem(question, text, user_question=user_question) for question, text, user_question in asked]
    ours, theirs = (judge.correctness(items).astype(np.float64) for judge in (open_judge(), open_judge(device=device)))
    same = int(np.sum((ours >= 0.5) == (theirs >= 0.5)))  # noqa: PLR2004  # the cut of both modes
    apart = np.abs(ours - theirs)
    row = [f"{len(items):,}", percent(wilson(same, len(items))), f"{apart.mean():.3f}"]
    row += [f"{np.quantile(apart, 0.99):.3f}"]
    show(f"Verdicts on {device} against the CPU", ["pairs", "the same %", "mean distance", "99th percentile"], [row])


def compare_speed(device: str) -> None:
    """Print pairs a second, and the share of the device's limit."""
    weights = Weights.open()
    networks: dict[str, Network] = {"CPU, bytes": weights.session(), device: TorchSession(weights.network, device)}
    generator = np.random.default_rng(0)
    first, second = (generator.integers(1_000, 20_000, size=length).tolist() for length in (20, LENGTH - 23))
    pairs = [join(Task.ANSWERS, first, second)] * 512
    rows = []
    for name, network in networks.items():
        taken = _fastest(lambda network=network: network.run(pairs, ["answers"]))  # type: ignore[misc]  # bound at once
        rate = len(pairs) / taken
        share = f"{rate * _ops_of(pairs[0]) / limit_of(device):.0%}" if name == device else ""
        rows.append([name, f"{rate:,.0f}", share])
    show("Speed", ["network", f"pairs of {LENGTH} tokens a second", "of the device's matrix product in fp32"], rows)


def limit_of(device: str) -> float:
    """Measure how many multiplications and additions a second a device does in one large product."""
    square = torch.ones(SQUARE, SQUARE, device=device)

    def multiply() -> None:
        (square @ square)[0, 0].item()

    return 2 * SQUARE**3 / _fastest(multiply)


def _ops_of(pair: Encoded) -> float:
    tokens = len(pair)
    return tokens * ops_of_token(tokens)


def ops_of_token(tokens: int) -> float:
    """Count a token's multiplications and additions in the encoder: products with weights, and attention to all tokens."""
    return 2.0 * LAYERS * (12 * WIDTH * WIDTH + 2 * tokens * WIDTH)


def _fastest(run: Callable[[], object], rounds: int = 4) -> float:
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return min(taken)


if __name__ == "__main__":
    main()
