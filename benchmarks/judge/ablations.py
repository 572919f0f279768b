"""What does the judge learn from which data? Short training runs of equal length that leave some of it out.

    python -m benchmarks.judge.ablations --out runs/ablations   # trains what is missing, then prints the table
    python -m benchmarks.judge.ablations --out runs/ablations --runs all quarter --steps 1000

Every run starts from all-MiniLM-L6-v2, takes the same number of steps of about 512 tokens, and learns one thing: does a short
text (question and text have at most 45 words) answer the question, as a passage or as a reply. A pass of the whole data holds
as many natural as written examples, and four of five written ones are crossed:

- *all*; *without written* and *without natural*: the other half fills the run;
- *quarter* and *sixteenth*: so much of the topics of the crossed sub-questions, with as many examples of them.

Measured on texts that train nothing, by the network's logit (0 is the cut, nothing is fitted): crossed texts of held-out
domains, natural rows of held-out groups, and the second part of the probes. Differences to *all* are paired, with intervals by
resampled questions. Runs go on from their last checkpoint.

Data: shared folder; needs the extra 'train'.
Time: some 20 minutes of one CPU core without AVX-512.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.support.datasets import lines
from benchmarks.support.scores import auc, mean
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.training.crossed import make_crossed_examples
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.examples import SOURCES, STAGES
from rag_cover_embedded.training.network import JudgeNetwork, find_pretrained_folder
from rag_cover_embedded.training.schedule import Schedule
from rag_cover_embedded.training.splits import FITTING, LEARNING
from rag_cover_embedded.training.targets import encode_targets
from rag_cover_embedded.training.trainer import pad_batch, train_judge

Floats = NDArray[np.float64]
PROBES = Path(__file__).parent / "probes/second"
NATURAL = ("squad", "qed", "two_hop", "answers")
WRITTEN = ("written", "abstentions", "contrast", "cases")
LONGEST = 45
"""Words of question and text together."""
HALF = 2_000
"""Examples of natural, and of written data in a pass."""
CROSSED = 0.8
"""The share of the written examples that is crossed."""
BATCH = 512
MEASURED = 500
"""Examples of a set at most."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The data of a run: shares of a pass that are natural and written, and the share of the crossed topics that is read."""

    natural: float = 0.5
    written: float = 0.5
    topics: float = 1.0


RUNS: Mapping[str, Mix] = {
    "all": Mix(),
    "without written": Mix(1.0, 0.0),
    "without natural": Mix(0.0, 1.0),
    "quarter": Mix(topics=1 / 4),
    "sixteenth": Mix(topics=1 / 16),
}


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder of checkpoints, one folder a run")
    parser.add_argument("--runs", nargs="+", default=[*RUNS], choices=[*RUNS], help="which runs (default: all)")
    parser.add_argument("--steps", type=int, default=200, help="of about 512 tokens, of each run")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for name in options.runs:
        if finished_steps(options.out / name) < options.steps:
            print(f"training: {name}", flush=True)
            schedule = make_schedule(options.steps, options.seed)
            passes = [partial(draw_pass, options.data, RUNS[name])] * len(STAGES)
            train_judge(options.data, options.out / name, schedule, passes=passes)
    show_runs({name: options.out / name / "judge.pt" for name in options.runs}, options.data, options.seed)


def finished_steps(out: Path) -> int:
    """Return how many steps a run has taken by its last checkpoint."""
    path = out / "judge.pt"
    return int(torch.load(path, weights_only=True)["step"]) if path.exists() else 0


def make_schedule(steps: int, seed: int) -> Schedule:
    """Make one cycle of the learning rate, without the text mode."""
    warmup = max(1, steps // 10)
    every = max(1, steps // 6)
    stages = (steps, *(len(STAGES) - 1) * (0,))
    return Schedule(stages, warmup=warmup, batch_tokens=BATCH, text_tokens=0, checkpoint_every=every, seed=seed)


def draw_pass(data: Path, mix: Mix, seed: int) -> list[Example]:
    """Draw one pass of a run's examples."""
    rng = random.Random(seed)  # noqa: S311  # samples, not secrets
    natural = mix.natural and pool(data, NATURAL, seed)
    written = mix.written and pool(data, WRITTEN, seed)
    crossed = mix.written and short_ones(make_crossed_examples(data, rng, LEARNING, share=mix.topics))
    shares = (mix.natural, mix.written * (1 - CROSSED), mix.written * CROSSED)
    found: list[Example] = []
    for examples, share in zip((natural, written, crossed), shares, strict=True):
        if examples:
            found += rng.choices(examples, k=round(2 * HALF * share))
    return found


@cache
def pool(data: Path, names: tuple[str, ...], seed: int) -> list[Example]:
    """Gather the short examples of some sources, each at most `HALF` of them."""
    found: list[Example] = []
    for name in names:
        rng = random.Random(f"{seed} {name}")  # noqa: S311  # samples, not secrets
        examples = short_ones(SOURCES[name](data, rng, LEARNING))
        found += rng.sample(examples, min(HALF, len(examples)))
    return found


def short_ones(examples: Iterable[Example]) -> list[Example]:
    """Keep the examples that say whether a short text answers."""
    return [
        each
        for each in examples
        if each.task in (Task.ANSWERS, Task.REPLIES) and each.label is not None and words_in(each) <= LONGEST
    ]


def words_in(example: Example) -> int:
    """Count the words of question and text."""
    return len(f"{example.first} {example.second}".split())


def measured_sets(data: Path, seed: int) -> dict[str, list[Example]]:
    """Gather the examples that runs are measured on."""
    rng = random.Random(seed)  # noqa: S311  # samples, not secrets
    sets = {
        "crossed, held-out domains": short_ones(make_crossed_examples(data, rng, FITTING)),
        "natural, held-out groups": short_ones(SOURCES["answers"](data, rng, FITTING)),
    }
    sets = {name: rng.sample(found, min(MEASURED, len(found))) for name, found in sets.items()}
    for name, task in (("cells", Task.ANSWERS), ("replies", Task.REPLIES), ("contrast", Task.ANSWERS)):
        rows = lines(PROBES / f"{name}.jsonl")
        sets[f"probes: {name}"] = [Example(task, row["question"], row["text"], float(row["label"])) for row in rows]
    return sets


def show_runs(checkpoints: Mapping[str, Path], data: Path, seed: int) -> None:
    """Print the share of right verdicts and the ROC-AUC of each run on each set."""
    sets = measured_sets(data, seed)
    logits = {name: {title: judge(path, examples) for title, examples in sets.items()} for name, path in checkpoints.items()}
    header = ["run", "right %", "ROC-AUC", "right, difference to all"]
    for title, examples in sets.items():
        truth = np.array([bool(each.label) for each in examples])
        keys = [each.first for each in examples]
        table = []
        for name, found in logits.items():
            right = ((found[title] >= 0) == truth).astype(np.float64)
            row = [name, percent(mean(right, keys, seed=seed)), plain(auc(found[title], truth, keys, seed=seed))]
            if "all" in logits and name != "all":
                base = ((logits["all"][title] >= 0) == truth).astype(np.float64)
                row.append(percent(mean(right - base, keys, seed=seed)))
            table.append([*row, ""][:4])
        show(f"{title}: n = {len(examples)}, {truth.mean():.0%} answer", header, table)


@torch.no_grad()
def judge(checkpoint: Path, examples: Sequence[Example], *, batch: int = 16) -> Floats:
    """Return each example's logit."""
    network = JudgeNetwork.from_state(torch.load(checkpoint, weights_only=True)["network"]).eval()
    tokenizer = open_tokenizer(find_pretrained_folder() / "tokenizer.json")
    targets = [encode_targets(tokenizer, [each])[0] for each in examples]
    order = sorted(range(len(targets)), key=lambda place: len(targets[place].encoded))
    found = np.zeros(len(targets))
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        inputs = pad_batch([targets[place].encoded for place in places], torch.device("cpu"))
        lead = network.token_vectors(*inputs)[:, 0]
        for place, vector in zip(places, lead, strict=True):
            head = network.replies if targets[place].task is Task.REPLIES else network.answers
            found[place] = float(head(vector[None])[0, 0])
    return found


if __name__ == "__main__":
    main()
