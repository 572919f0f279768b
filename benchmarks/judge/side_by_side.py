"""How fast are two versions of the judge's weights, each with the code that belongs to them?

    python -m benchmarks.judge.side_by_side --second 83d1d57~1            # the shipped judge and the second weights
    python -m benchmarks.judge.side_by_side --second path/to/weights      # and weights that this code can open
    python -m benchmarks.judge.side_by_side --first cde43b4 --second 83d1d57~1

A version is the shipped judge (``shipped``), a folder with ``judge.json``, or a revision of this repository: weights of another
graph or of other fitted numbers can only be opened by their own code, so that a revision is run whole, code and weights.

The pairs are those of the demo: every sub-question with every passage of the corpus, and with both answers to its question.
They are the same for both versions, and are judged by ``Scorer.correctness`` without references. Every round starts a new
process for each version, which opens the judge, warms it up on ``--warm-up`` other pairs and times the rest; the versions take
turns at going first. A ratio is of two times of the same round; its range over the rounds shows how steady the machine was. The
processor time, of all threads together, says what the work costs where other programs use the processors too.

Data: none (the demo's corpus).
Time: about a minute for 3,000 pairs and a round, on two free cores.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.tables import show
from rag_cover import demo, read_traces

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("rag_cover", "plugins")
SHIPPED = "shipped"
ROUND = """
import json, sys, time
import rag_cover
from rag_cover.backends import ScoringItem
from rag_cover_embedded import open_judge
file, weights, warm_up = sys.argv[1], sys.argv[2], int(sys.argv[3])
replies = "user_question" in ScoringItem.__dataclass_fields__
with open(file, encoding="utf-8") as pairs:
    items = [
        ScoringItem(question, text, user_question=asked) if replies else ScoringItem(question, text)
        for question, text, asked in json.load(pairs)
    ]
judge = open_judge(weights)
judge.correctness(items[:warm_up])
started, began = time.perf_counter(), time.process_time()
probabilities = judge.correctness(items[warm_up:])
taken = time.perf_counter() - started, time.process_time() - began
print(json.dumps([*taken, int((probabilities >= judge.threshold).sum()), rag_cover.__file__]))
"""

Pair = tuple[str, str, str]
"""A sub-question, a text, and the question that the text replies to: empty for a passage."""


@dataclass(frozen=True, slots=True)
class Version:
    """Weights, and the tree whose code opens them; ``weights`` is empty for those that come with the tree."""

    name: str
    tree: Path
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Timed:
    """What one process measured for the timed pairs: seconds, seconds of all processors, and how many pairs were positive."""

    seconds: float
    processor_s: float
    positives: int


class UnknownVersionError(ValueError):
    """A name is neither a folder of weights nor a revision."""


@contextmanager
def version_of(name: str) -> Iterator[Version]:
    """Find a version by its name; the files of a revision are unpacked for as long as they are needed.

    Raises:
        UnknownVersionError: it is neither ``shipped``, a folder with ``judge.json`` nor a revision of this repository.
    """
    if name == SHIPPED:
        yield Version(name, ROOT)
    elif (Path(name) / "judge.json").is_file():
        yield Version(name, ROOT, str(Path(name).resolve()))
    else:
        with tempfile.TemporaryDirectory() as folder:
            unpack_revision(name, Path(folder))
            yield Version(name, Path(folder))


def unpack_revision(name: str, folder: Path) -> None:
    """Write the packages of a revision of this repository into a folder."""
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", "--end-of-options", name, *PACKAGES]
    done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - git, and a revision that the user names
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        message = f"{name!r} is neither {SHIPPED!r}, a folder with judge.json nor a revision of this repository (git: {said})."
        raise UnknownVersionError(message)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def demo_pairs() -> list[Pair]:
    """Pair every sub-question of the demo with every passage of the corpus and with the answers to its question."""
    passages = [str(row["text"]) for row in lines(demo.corpus_path())]
    traces = [trace for path in demo.trace_paths() for trace in read_traces(path)]
    replies = {(trace.question.id, trace.answer, trace.question.text) for trace in traces if trace.answer}
    pairs: list[Pair] = []
    for row in lines(demo.labels_path()):
        asked = str(row["sub_question"])
        pairs += [(asked, text, "") for text in passages]
        pairs += sorted((asked, answer, question) for key, answer, question in replies if key == row["question_id"])
    return pairs


def run_round(version: Version, pairs: Path, warm_up: int) -> Timed:
    """Time a version in a process of its own."""
    path = os.pathsep.join(str(version.tree / folder) for folder in ("", "plugins"))
    words = [sys.executable, "-c", ROUND, str(pairs), version.weights, str(warm_up)]
    done = subprocess.run(  # noqa: S603 - Python itself
        words, check=True, stdout=subprocess.PIPE, text=True, cwd=pairs.parent, env={**os.environ, "PYTHONPATH": path}
    )
    *found, module = json.loads(done.stdout.splitlines()[-1])
    if not Path(module).resolve().is_relative_to(version.tree.resolve()):
        message = f"{version.name} was run by the code of {module}, not of {version.tree}."
        raise RuntimeError(message)
    timed = Timed(*found)
    print(f"{version.name}: {timed.seconds:.1f} s, {timed.processor_s:.1f} s of processor time", flush=True)
    return timed


def run_rounds(versions: Sequence[Version], rounds: int, run: Callable[[Version], Timed]) -> Mapping[str, list[Timed]]:
    """Run every version once a round, each going first in every other round."""
    found: dict[str, list[Timed]] = {version.name: [] for version in versions}
    for number in range(rounds):
        for version in versions if number % 2 == 0 else reversed(versions):
            found[version.name].append(run(version))
    return found


def speed_ratio(first: Sequence[float], second: Sequence[float]) -> str:
    """Write how many times as fast the first is as the second, by their seconds in each round: the median, and the range.

    >>> speed_ratio([10.0, 12.0, 10.0], [20.0, 18.0, 16.0])
    '1.60 (1.50–2.00)'
    """
    ratios = [other / one for one, other in zip(first, second, strict=True)]
    return f"{np.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", default=SHIPPED, help="a folder of weights or a revision (default: the shipped judge)")
    parser.add_argument("--second", required=True, help="likewise; not the same as --first")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, help="time a sample of so many pairs (default: all)")
    parser.add_argument("--warm-up", type=int, default=64, help="pairs that are judged first and not timed")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    return parser


def main() -> None:
    """Run the benchmark."""
    parser = make_parser()
    options = parser.parse_args()
    if options.first == options.second:
        parser.error("--first and --second name the same version; name another one.")
    pairs = demo_pairs()
    random.Random(options.seed).shuffle(pairs)  # noqa: S311 - a sample, not a secret
    chosen = pairs[: options.warm_up + (options.limit or len(pairs))]
    try:
        with tempfile.TemporaryDirectory() as folder, version_of(options.first) as first, version_of(options.second) as second:
            file = Path(folder) / "pairs.json"
            file.write_text(json.dumps(chosen), encoding="utf-8")
            found = run_rounds((first, second), options.rounds, lambda version: run_round(version, file, options.warm_up))
    except UnknownVersionError as error:
        parser.error(str(error))
    show_speed(found, len(chosen) - options.warm_up)


def show_speed(found: Mapping[str, Sequence[Timed]], pairs: int) -> None:
    """Print pairs a second of both versions, and how many times as fast the first is."""
    rows = []
    for name, runs in found.items():
        seconds, processor_s = (np.median([[each.seconds, each.processor_s] for each in runs], axis=0)).tolist()
        rows.append([name, f"{pairs / seconds:.0f}", f"{pairs / processor_s:.0f}", f"{runs[0].positives / pairs:.1%}"])
    first, second = found.values()
    by_clock = speed_ratio([each.seconds for each in first], [each.seconds for each in second])
    by_processor = speed_ratio([each.processor_s for each in first], [each.processor_s for each in second])
    rows.append(["times as fast (range)", by_clock, by_processor, ""])
    title = f"{pairs:,} pairs of the demo, medians of {len(first)} rounds in turn"
    show(title, ["version", "pairs/s", "pairs per second of processor time", "positive"], rows)


if __name__ == "__main__":
    main()
