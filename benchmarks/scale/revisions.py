"""Is this revision faster than another one, and are its verdicts the same?

    git worktree add ../before COMMIT
    python -m benchmarks.scale.revisions --before ../before --rounds 5

Each revision runs in a process of its own, from its own source tree, and evaluates the same traces with the embedded judge:
coverage, groundedness and complexity of ``--limit`` traces of five sub-questions, six passages and an answer of four sentences,
three of which say with a word left out what a passage says. The processes take turns, the first one by turns as well, with
new traces each round, so that nothing is remembered; a round that nobody counts warms them up.

Printed are the traces per second of wall time and of processor time, their ratios with 95% intervals over rounds, and which
share of verdicts on sub-questions and on sentences is the same. ``--load`` keeps so many other processes busy meanwhile.

Data: shared folder.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.datasets import hops_of, multihop_rows, paragraphs_of
from benchmarks.support.scores import ratio
from benchmarks.support.tables import arguments, plain, show
from rag_cover.stats.intervals import bootstrap
from rag_cover.texts import sentences

ROOT = Path(__file__).resolve().parents[2]
PASSAGES, SUB_QUESTIONS, SUPPORTED, LONGEST = 6, 5, 3, 130
_WORKER = """
import json, sys, time
from rag_cover import evaluate, open_scorer

open_scorer("embedded")
for line in sys.stdin:
    traces = json.loads(line)
    wall, cpu = time.perf_counter(), time.process_time()
    evaluation = evaluate(traces, measures=("coverage", "groundedness", "complexity"))
    taken = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps([*taken, [result.to_dict() for result in evaluation.results]]), flush=True)
"""
_BUSY = "while True: pass"


@dataclass(frozen=True, slots=True)
class Round:
    """What one revision made of a round's traces, and in how many seconds."""

    wall_s: float
    cpu_s: float
    verdicts: Mapping[tuple[str | int, ...], bool]


class Revision:
    """A revision at work in a process of its own."""

    def __init__(self, tree: Path) -> None:
        folders = (tree, tree / "plugins", tree / "adapters")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(folder.resolve()) for folder in folders)}
        command = [sys.executable, "-c", _WORKER]
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603  # this interpreter

    def evaluate(self, traces: Sequence[Mapping[str, Any]]) -> Round:
        """Evaluate traces."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError
        self._process.stdin.write(json.dumps(traces) + "\n")
        self._process.stdin.flush()
        wall, cpu, results = json.loads(self._process.stdout.readline())
        return Round(wall, cpu, dict(_verdicts(results)))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _verdicts(data: object, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], bool]]:
    """List what was decided about texts and sentences, by where it stands in the results."""
    if isinstance(data, dict):
        yield from (((*path, key), data[key]) for key in ("covered", "supported") if isinstance(data.get(key), bool))
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, each in items:
        yield from _verdicts(each, *path, key)


def made_traces(data: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Make traces of multi-hop questions, one for each."""
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    rows = multihop_rows(data, "test")
    rng.shuffle(rows)
    hops = [hop.question for row in rows for hop in hops_of(row)]
    paragraphs = [text for row in rows for _, text in paragraphs_of(row)]
    for number, row in enumerate(rows):
        passages = [text for _, text in paragraphs_of(row)][:PASSAGES]
        passages += rng.sample(paragraphs, PASSAGES - len(passages))
        passages = [" ".join(text.split()[:LONGEST]) for text in passages]
        said = [_shortened(_sentence(text, rng), rng) for text in rng.sample(passages, SUPPORTED)]
        said.insert(rng.randrange(len(said) + 1), _sentence(rng.choice(paragraphs), rng))
        asked = [hop.question for hop in hops_of(row)]
        asked = list(dict.fromkeys([*asked, *rng.sample(hops, SUB_QUESTIONS)]))[:SUB_QUESTIONS]
        yield {
            "id": str(number),
            "question": f"{row['question']} ({number})",
            "steps": [{"passages": [{"text": text} for text in passages]}],
            "sub_questions": [{"text": text, "role": "core"} for text in asked],
            "answer": " ".join(said),
        }


def _sentence(text: str, rng: random.Random) -> str:
    return rng.choice(sentences(text)).of(text)


def _shortened(sentence: str, rng: random.Random) -> str:
    words = sentence.split()
    if len(words) > PASSAGES:
        del words[rng.randrange(2, len(words) - 1)]
    return " ".join(words)


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--before", type=Path, required=True, help="the source tree of the other revision")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--load", type=int, default=0, help="so many other busy processes")
    given = parser.parse_args()
    count = given.limit or 50
    made = made_traces(given.data, given.seed)
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(given.load)]  # noqa: S603  # this interpreter
    revisions = Revision(given.before), Revision(ROOT)
    try:
        rounds = [_round(revisions, [next(made) for _ in range(count)], number) for number in range(given.rounds + 1)][1:]
    finally:
        for revision in revisions:
            revision.close()
        for process in busy:
            process.kill()
            process.wait()
    _show(rounds, count, given.seed)


def _round(revisions: tuple[Revision, Revision], traces: Sequence[Mapping[str, Any]], number: int) -> tuple[Round, Round]:
    order = (0, 1) if number % 2 else (1, 0)
    found = {place: revisions[place].evaluate(traces) for place in order}
    time.sleep(1)  # until threads have gone to sleep
    return found[0], found[1]


def _show(rounds: Sequence[tuple[Round, Round]], count: int, seed: int) -> None:
    rows = []
    for kind, name in (("wall time", "wall_s"), ("processor time", "cpu_s")):
        seconds = np.array([[getattr(each, name) for each in pair] for pair in rounds])
        before, now = count * len(rounds) / seconds.sum(axis=0)
        gain = bootstrap(seconds, lambda sums: ratio(sums[..., 0], sums[..., 1]), seed=seed)
        rows.append([kind, f"{before:.2f}", f"{now:.2f}", plain(gain, digits=2)])
    show(
        f"Traces per second, {count} traces a round, {len(rounds)} rounds",
        ["of", "before", "this revision", "ratio (95% interval)"],
        rows,
    )
    pairs = [(before.verdicts, now.verdicts) for before, now in rounds]
    both = [(before[place], now[place]) for before, now in pairs for place in before.keys() & now.keys()]
    same, single = sum(before == now for before, now in both), sum(len(before.keys() ^ now.keys()) for before, now in pairs)
    print(f"\nThe same verdict: {same} of {len(both)} ({same / len(both):.2%}); given by one revision only: {single}")


if __name__ == "__main__":
    main()
