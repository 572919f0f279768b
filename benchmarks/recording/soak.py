"""What a recording loses, doubles and costs over a long time, when the host is killed again and again.

    python -m benchmarks.recording.soak --minutes 30 --kills 10

A host answers ``--rate`` questions a second by a LangChain chain of the framework's fake model, which is recorded and measured
(groundedness: by words, or by the embedded entailer with ``--embedded``), by a process of its own or by a thread
(``--measuring``). In the first half of the time the host is killed ``--kills`` times with SIGKILL, and begun again at once; the
last host lives for the second half, and then closes its recording. Then the store is held against what was answered.

Lost: answered, and not in the store. Double: more than once in the store. Added: by how much the percentiles of a question
that is recorded lie above those of the same question without a handler, asked in turn by the same host: of the time that it
took, and of the processor's time that its thread took, on which other processes have no influence. Memory is resident, in MiB,
of the host that lives longest and of the process that measures for it: 20 s after its begin (or a fifth of its life), at the
middle and at the end of its life; a host keeps its last 1,000 traces and results.

Data: none.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.support.soak_host import answered_in, errors_in, store_in
from benchmarks.support.tables import show
from rag_cover import Evaluation

_MIB = 1024 * 1024
_PAGE = 4096
_WARM_S = 20.0
_EACH_S = 1.0


@dataclass
class Soaked:
    """What was answered, what is in the store, and the memory of the last host and its process, by seconds of its life."""

    answered: list[str] = field(default_factory=list)
    recorded_ms: list[tuple[float, float]] = field(default_factory=list)
    plain_ms: list[tuple[float, float]] = field(default_factory=list)
    stored: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float, float]] = field(default_factory=list)
    closing_s: float = 0.0
    ended: str = ""

    @property
    def lost(self) -> int:
        """Count what was answered and is not in the store."""
        return sum(not self.stored[name] for name in self.answered)

    @property
    def double(self) -> int:
        """Count what is in the store more than once."""
        return sum(times > 1 for times in self.stored.values())

    def memory_at(self) -> Iterator[tuple[float, float]]:
        """Yield the memory of the host and of its process at the start, in the middle and at the end."""
        if not self.memory:
            return
        last = self.memory[-1][0]
        for moment in (min(_WARM_S, last / 5), last / 2, last):
            _, host, process = min(self.memory, key=lambda each: abs(each[0] - moment))
            yield host, process


def soak(folder: Path, options: argparse.Namespace, measuring: str) -> Soaked:
    """Let hosts live and die, then read what they left."""
    soaked, half_s = Soaked(), 30.0 * options.minutes
    for number in range(options.kills):
        host = begin_host(folder, str(number), options, measuring)
        time.sleep(half_s / options.kills)
        host.send_signal(signal.SIGKILL)
        host.wait()
    host = begin_host(folder, "last", options, measuring)
    began = time.monotonic()
    while (lived_s := time.monotonic() - began) < (half_s if options.kills else 2 * half_s):
        time.sleep(_EACH_S)
        soaked.memory.append((lived_s, resident_mib(host.pid), sum(map(resident_mib, children_of(host.pid)))))
    closing = time.monotonic()
    host.communicate()
    soaked.closing_s = time.monotonic() - closing
    read_back(folder, soaked)
    return soaked


def begin_host(folder: Path, life: str, options: argparse.Namespace, measuring: str) -> subprocess.Popen[bytes]:
    """Begin a host."""
    how = ["--measuring", measuring, "--rate", str(options.rate), *(["--embedded"] if options.embedded else [])]
    command = [sys.executable, "-m", "benchmarks.support.soak_host", str(folder), life, *how]
    return subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603  # this interpreter


def read_back(folder: Path, soaked: Soaked) -> None:
    """Read what was answered, what is in the store, and what the last host said."""
    for line in answered_in(folder).read_text(encoding="utf-8").splitlines():
        name, recorded_ms, plain_ms = json.loads(line)
        soaked.answered.append(name)
        soaked.recorded_ms.append(recorded_ms)
        soaked.plain_ms.append(plain_ms)
    soaked.stored = Counter(str(result.trace.question.id) for result in Evaluation.open(store_in(folder)).results)
    soaked.ended = (
        errors_in(folder).read_text(encoding="utf-8") if errors_in(folder).exists() else "no host closed its recording"
    )


def resident_mib(process: int) -> float:
    """Return the resident memory of a process (Linux); 0 where it is over."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * _PAGE / _MIB
    except (OSError, IndexError):
        return 0.0


def children_of(process: int) -> Iterator[int]:
    """Yield the processes that a process began (Linux)."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = status.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == process:
            yield int(status.parent.name)


def row_of(measuring: str, soaked: Soaked, kills: int) -> list[str]:
    """Write what became of the questions, and what it cost."""
    memory = list(soaked.memory_at())
    return [
        measuring,
        f"{len(soaked.answered):,}",
        f"{sum(soaked.stored.values()):,}",
        str(kills),
        str(soaked.lost),
        str(soaked.double),
        " / ".join(f"{host:.0f}" for host, _ in memory),
        " / ".join(f"{process:.0f}" for _, process in memory),
        *percentiles(soaked.recorded_ms, soaked.plain_ms, 0),
        *percentiles(soaked.recorded_ms, soaked.plain_ms, 1),
        f"{soaked.closing_s:.1f}",
    ]


def percentiles(recorded: Sequence[tuple[float, float]], plain: Sequence[tuple[float, float]], which: int) -> list[str]:
    """Write the 50th and 99th percentile of a question without a handler, and what recording adds to each."""
    sides = [np.percentile([times[which] for times in side], [50, 99]) for side in (plain, recorded)]
    return [f"{without:.2f} / {with_it - without:+.2f}" for without, with_it in zip(*sides, strict=True)]


def main() -> None:
    """Soak, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=20.0, help="questions a second")
    parser.add_argument("--minutes", type=float, default=30.0, help="for each way of measuring")
    parser.add_argument("--kills", type=int, default=10, help="of the host, in the first half of the time")
    parser.add_argument("--measuring", choices=("process", "thread"), help="one of the two only")
    parser.add_argument("--embedded", action="store_true", help="measure by the embedded entailer, not by words")
    options = parser.parse_args()
    rows, load = [], []
    for measuring in [options.measuring] if options.measuring else ["process", "thread"]:
        with tempfile.TemporaryDirectory() as folder:
            soaked = soak(Path(folder), options, measuring)
        load.append(f"{os.getloadavg()[1]:.1f}")
        rows.append(row_of(measuring, soaked, options.kills))
        print(f"{measuring}: {soaked.ended.strip()}")
    header = ["measuring", "answered", "in the store", "kills", "lost", "double", "host MiB", "process MiB"]
    columns = [
        *header,
        *(f"{share} {kind} without / added" for kind in ("ms", "CPU ms") for share in ("p50", "p99")),
        "closing s",
    ]
    what = (
        f"{options.minutes:g} minutes at {options.rate:g} questions a second, {os.cpu_count()} cores, load {' and '.join(load)}"
    )
    show(what, columns, rows)


if __name__ == "__main__":
    main()
