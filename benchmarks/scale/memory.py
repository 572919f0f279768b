"""How much memory each further trace costs: while measuring, when summing up, in the report.

    python -m benchmarks.scale.memory --sizes 2000 20000 100000

Synthetic traces, each with its own question and the judges of `rag_cover.testing` (which remember nothing), are written to a
trace file and evaluated into a store (`evaluate`) or into a folder of parts (`evaluate_files`), in a process of its own for
each size; then they are summed up, and the HTML report is written. Printed is the process's peak resident memory after each
of these steps, in MB; and in bytes what a trace more costs: the difference between the largest size and the one before it,
by the traces between them.

Data: none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.support.peak_memory import peak_bytes
from benchmarks.support.tables import show
from rag_cover import Evaluation, Models, evaluate, evaluate_files
from rag_cover.reports import write_report
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

WAYS = ("evaluate", "evaluate_files")
STEPS = ("measured", "summed up", "reported")
MODELS = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())


def written(path: Path, size: int) -> Path:
    """Write so many traces, half of them with ids."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(size):
            own = {"id": f"trace-{number:09d}"} if number % 2 else {}
            file.write(json.dumps({**own, **trace(number)}) + "\n")
    return path


def trace(number: int) -> Mapping[str, object]:
    """Make a trace of two passages and two core sub-questions, of which the answer covers one."""
    return {
        "question": f"Why is item {number} blue, and who was the first to see it?",
        "answer": f"Item {number} is blue because of the light.",
        "steps": [{"passages": [f"Item {number} is blue because of light. " * 3, f"Ada saw item {number} first."]}],
        "sub_questions": [
            {"text": f"Why is item {number} blue?", "role": "core"},
            {"text": f"Who saw item {number} first?", "role": "core"},
        ],
    }


def peaks(way: str, size: int) -> list[int]:
    """Go through the steps in this process, and return its peak memory after each, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "traces.jsonl", size)
        found = [peak_bytes()]
        evaluation = evaluated(way, path, Path(folder) / "results")
        found.append(peak_bytes())
        summary = evaluation.summary()
        found.append(peak_bytes())
        write_report(Path(folder) / "page.html", evaluation.results, summary)
        found.append(peak_bytes())
    return found


def evaluated(way: str, path: Path, into: Path) -> Evaluation:
    """Evaluate a file in one of the ways."""
    if way == "evaluate":
        return evaluate(path, models=MODELS, store=into)
    return evaluate_files(path, into, models=MODELS)


def in_a_process(way: str, size: int) -> list[int]:
    """Measure in a process of its own: a peak never goes down again."""
    words = [sys.executable, "-m", __spec__.name, "--way", way, "--sizes", str(size)]
    return list(json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout))  # noqa: S603  # this script


def rows_of(sizes: Sequence[int]) -> list[list[str]]:
    """Measure both ways at every size."""
    rows = []
    for way in WAYS:
        found = {size: in_a_process(way, size)[1:] for size in sizes}
        rows += [[way, f"{size:,}", *(f"{each / 1e6:.0f}" for each in found[size])] for size in sizes]
        if len(sizes) > 1:
            before, last = sizes[-2:]
            each = [(b - a) / (last - before) for a, b in zip(found[before], found[last], strict=True)]
            rows.append([way, "bytes a trace", *(f"{value:.0f}" for value in each)])
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 20_000, 100_000], help="how many traces")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(peaks(options.way, options.sizes[0])))
        return
    show("Peak resident memory, in MB", ["way", "traces", *STEPS], rows_of(sorted(options.sizes)))


if __name__ == "__main__":
    main()
