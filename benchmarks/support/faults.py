"""What faults are done to, and how their harm is counted: a run of its own process, and what an undisturbed one would hold."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks.support.faults_run import BEGUN, TOLD
from rag_cover import Evaluation, Models, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate, write_traces
from rag_cover.errors import RagCoverError
from rag_cover.testing import KeywordScorer

RUN = "benchmarks.support.faults_run"
TINTS = ("blue", "green", "red", "grey", "white", "black")


def traces(count: int) -> Iterator[Trace]:
    """Make traces that differ in what they cover."""
    for number in range(count):
        rng = random.Random(number)  # noqa: S311  # a sample, not a secret
        tint, other = rng.sample(TINTS, 2)
        yield Trace(
            id=f"t{number}",
            question=Question(f"Why is item {number} {tint}?"),
            steps=(
                RetrievalStep(passages=(Passage(f"Item {number} is {tint} because of light."), Passage(f"Grass is {other}."))),
            ),
            answer=f"Item {number} is {rng.choice(TINTS)}.",
            sub_questions=(SubQuestion(f"Is item {number} {tint}?", role="core"), SubQuestion(f"Is item {number} grass?")),
        )


@dataclass(slots=True)
class Harm:
    """What a fault did, over all the times that it was injected."""

    times: int = 0
    lost: int = 0
    doubled: int = 0
    intact: int = 0
    told: Counter[str] = field(default_factory=Counter)
    silent: str = "not at all: nothing is to be done"

    def row(self, fault: str) -> list[str]:
        """Write as a row of the table of faults."""
        told = "; ".join(f"{sentence} ({count}×)" for sentence, count in sorted(self.told.items())) or self.silent
        return [fault, f"{self.times}", f"{self.lost}", f"{self.doubled}", f"{self.intact} of {self.times}", told]


@dataclass(frozen=True)
class Stage:
    """A folder with a trace file, and what its evaluation holds when nothing disturbs it."""

    folder: Path
    count: int

    @cached_property
    def file(self) -> Path:
        """Return the trace file."""
        write_traces(self.folder / "traces.jsonl", traces(self.count))
        return self.folder / "traces.jsonl"

    @cached_property
    def expected(self) -> list[str]:
        """Return the results of one undisturbed run, in trace order."""
        models = Models(judge=KeywordScorer())
        return _written(evaluate(self.file, measures=["coverage"], models=models, workers=1))

    def command(self, store: Path, *options: object, log: Path | None = None) -> list[str]:
        """Return the command that goes on with a store."""
        where = [self.file, store, log or self.folder / "asked.txt"]
        return [sys.executable, "-m", RUN, *map(str, where), *map(str, options)]

    @contextmanager
    def running(self, store: Path, *options: object, log: Path | None = None) -> Iterator[subprocess.Popen[str]]:
        """Start a run in a process of its own, which is killed at the end if it still runs."""
        command = self.command(store, *options, log=log)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:  # noqa: S603  # our own
            try:
                yield run
            finally:
                run.kill()

    def go_on(self, store: Path, harm: Harm, *options: object) -> bool:
        """Run to the end, whichever it is; tell whether that was the evaluation's."""
        with self.running(store, *options) as run:
            return self.ended(run, harm)

    @staticmethod
    def wait_until_begun(run: subprocess.Popen[str]) -> None:
        """Wait until a run has imported what it needs."""
        if run.stdout is not None:
            run.stdout.readline()

    def ended(self, run: subprocess.Popen[str], harm: Harm) -> bool:
        """Wait for a run's end, and note what it told; one that ends with anything but a sentence stops the benchmark."""
        out, err = run.communicate()
        if run.returncode == TOLD:
            harm.told[self._plain(out.removeprefix(BEGUN))] += 1
        elif run.returncode:
            message = f"not told: {err or run.returncode}"
            raise SystemExit(message)
        return run.returncode == 0

    def count_harm(self, store: Path, harm: Harm) -> None:
        """Compare what a store holds in the end with an undisturbed run."""
        held = _written(Evaluation.open(store))
        ids = Counter(json.loads(result)["trace"]["id"] for result in held)
        harm.times += 1
        harm.lost += sum((Counter(self.expected) - Counter(held)).values())
        harm.doubled += sum(count - 1 for count in ids.values())
        harm.intact += is_intact(store) and held == self.expected

    def _plain(self, sentence: str) -> str:
        """Leave out what differs from time to time: paths and numbers."""
        return re.sub(r"\d[\d,]*", "N", re.sub(r"/\S+?(?=[ ;:,]|$)", "…", sentence.strip()))


@contextmanager
def stage(count: int) -> Iterator[Stage]:
    """Set up a stage in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Stage(Path(folder), count)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Make a folder a file system of so many bytes; tell whether that is allowed here."""
    folder.mkdir(exist_ok=True)
    options = ["-o", f"size={size}", "tmpfs", str(folder)]
    mounted = sys.platform == "linux" and _done(["mount", "-t", "tmpfs", *options])
    try:
        yield mounted
    finally:
        if mounted:
            _done(["umount", "-l", str(folder)])


def remount(folder: Path, options: str) -> None:
    """Change a small disk's size, or whether it can be written."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)  # noqa: S603, S607  # a folder of ours


def is_intact(store: Path) -> bool:
    """Tell whether SQLite finds the whole file sound."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(store)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    return False


def read(store: Path) -> list[str] | RagCoverError:
    """Read all results, or return the error that says why they cannot be read."""
    try:
        return _written(Evaluation.open(store))
    except RagCoverError as error:
        return error


def _written(evaluation: Evaluation) -> list[str]:
    return [json.dumps(result.to_dict(), sort_keys=True) for result in evaluation.results]


def _done(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603  # our own
    except OSError:
        return False
