"""What importing rag_cover takes: the package alone, a value, the main job, the command.

    python -m benchmarks.scale.importing

Each row is a process of its own, run in turn with the others, so that what disturbs the machine disturbs them alike; printed is
the least processor time of all rounds, in milliseconds, and how many of rag_cover's modules were loaded. numpy and pydantic,
which the values and the arithmetic need, are measured too: they are a part of each row that follows.

Data: none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.support.tables import show

IMPORTS = (
    "import rag_cover",
    "import numpy, pydantic.main",
    "from rag_cover import Trace",
    "from rag_cover import evaluate",
    "from rag_cover import *",
    "from rag_cover.cli import app",
)
MEASURED = """
import sys, time
started = time.process_time()
{statement}
print(time.process_time() - started, sum(name.partition(".")[0] == "rag_cover" for name in sys.modules))
"""


def taken(statement: str) -> tuple[float, int]:
    """Run an import in a new process; returns its processor time in seconds and the number of our modules it loaded."""
    command = [sys.executable, "-c", MEASURED.format(statement=statement)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - one of the statements above
    seconds, modules = done.stdout.split()
    return float(seconds), int(modules)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    runs = [[taken(statement) for statement in IMPORTS] for _ in range(rounds)]
    rows = [
        [statement, f"{1000 * min(run[0] for run in found):.0f}", str(found[0][1])]
        for statement, found in zip(IMPORTS, zip(*runs, strict=True), strict=True)
    ]
    show(f"Processor time of importing, the least of {rounds} rounds", ["import", "ms", "modules"], rows)


if __name__ == "__main__":
    main()
