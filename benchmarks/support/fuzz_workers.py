"""Workers of `robustness.fuzzing`: processes that feed cases to a target, and the watch over their time and memory."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.support.fuzz_mutations import LONG, case_of, long_case
from benchmarks.support.fuzz_targets import TARGETS, seeds_of
from benchmarks.support.peak_memory import known_peak_bytes
from rag_cover.errors import RagCoverError

__all__ = ["Ending", "Fault", "Tally", "case_for", "ending_of", "fed", "long_cases", "watched"]

_WALL = 12  # times as long by the clock is a hang, too: it may wait for something


@dataclass(frozen=True, slots=True)
class Fault:
    """A case that went wrong, and how."""

    target: str
    case: int
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a case (accepted, refused, or what was raised that should not be), and the words of its refusal."""

    kind: str
    words: str = ""


@dataclass(slots=True)
class Tally:
    """What became of a target's cases."""

    cases: int = 0
    accepted: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    slowest: int = 0
    peak_mb: float = 0.0
    faults: list[Fault] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Count the faults of a kind."""
        return sum(fault.kind == kind for fault in self.faults)


def long_cases(target: str) -> int:
    """Tell how many of a target's first cases are long ones: every run as a whole and in a field; of reports, as a field."""
    return len(LONG) * (1 if target.startswith("reports") else 2)


def case_for(target: str, number: int, seed: int) -> tuple[str, bytes]:
    """Make a case again."""
    seeds = seeds_of(TARGETS[target])
    if number < long_cases(target):
        return long_case(seeds, number)
    return case_of(seeds, random.Random(f"{seed}/{target}/{number}"))  # noqa: S311 -- no secret


def fed(target: str, number: int, seed: int, folder: Path) -> str:
    """Feed one case; return what became of it: accepted, refused, or what was raised that should not be."""
    return ending_of(target, *case_for(target, number, seed), folder).kind


def ending_of(target: str, name: str, content: bytes, folder: Path) -> Ending:
    """Feed a file's content; say what became of it, and what was said of it."""
    try:
        return Ending("accepted" if TARGETS[target].feed(name, content, folder) else "refused")
    except RagCoverError as refused:
        return Ending("refused", f"{type(refused).__name__}: {refused}")
    except Exception as wrong:  # noqa: BLE001 -- whatever else is raised is what is looked for
        return Ending(_words(wrong))


def _words(wrong: BaseException) -> str:
    frames = traceback.extract_tb(wrong.__traceback__)
    ours = [frame for frame in frames if "rag_cover" in frame.filename] or list(frames)
    return f"{type(wrong).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}: {str(wrong)[:120]!r}"


def _work(target: str, start: int, stop: int, seed: int, sent: Connection) -> None:
    """Feed cases, and tell of each before and after."""
    warnings.simplefilter("error")  # a warning would be seen by users whom it tells nothing
    with tempfile.TemporaryDirectory() as folder:
        for number in range(start, stop):
            sent.send(("began", number, "", 0.0))
            began = time.process_time()
            ended = fed(target, number, seed, Path(folder))
            sent.send(("ended", number, ended, time.process_time() - began))
    sent.send(("done", stop, "", (known_peak_bytes() or 0) / 2**20))


def watched(target: str, start: int, stop: int, seed: int, *, longest_s: float, most_mb: float) -> Tally:
    """Feed a target's cases in a process of their own; one that takes too long or too much is ended, and the next begun."""
    tally = Tally()
    while start < stop:
        start = _run(target, start, stop, seed, tally, longest_s, most_mb)
    return tally


def _run(target: str, start: int, stop: int, seed: int, tally: Tally, longest_s: float, most_mb: float) -> int:
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(target, start, stop, seed, sending), daemon=True)
    process.start()
    sending.close()
    now, watch = start, _Watch(process)
    try:
        for message in _messages(receiving):
            if message is None:
                if (fault := watch.fault(longest_s, most_mb)) is None:
                    continue
                tally.cases += 1
                tally.faults.append(Fault(target, now, *fault))
                return now + 1
            kind, number, words, seconds = message
            match kind:
                case "began":
                    now = number
                    watch.begin()
                case "ended":
                    _note(tally, target, number, words, seconds)
                case _:
                    tally.peak_mb = max(tally.peak_mb, seconds)
                    return stop
        process.join()
        tally.cases += 1
        tally.faults.append(Fault(target, now, "crash", f"the process ended with {process.exitcode}"))
        return now + 1
    finally:
        process.kill()
        process.join()
        receiving.close()


def _messages(receiving: Connection) -> Iterator[tuple[str, int, str, float] | None]:
    """Yield a worker's messages, None now and then while it says nothing, and end with it."""
    while True:
        try:
            yield receiving.recv() if receiving.poll(0.2) else None
        except EOFError:
            return


class _Watch:
    """Knows how long a process has been at a case, by the processor's time: a busy machine makes no hang."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self._began: tuple[float, float] | None = None

    def begin(self) -> None:
        """Begin a case; its time is taken when the process is first found silent."""
        self._began = None

    def fault(self, longest_s: float, most_mb: float) -> tuple[str, str] | None:
        """Say what is wrong with a process that has said nothing for a moment."""
        if not self._process.is_alive():
            return None
        used_s, now = _processor_s(self._process), time.monotonic()
        self._began = self._began or (used_s, now)
        if used_s - self._began[0] > longest_s or now - self._began[1] > _WALL * longest_s:
            return "hang", f"longer than {longest_s:g} s"
        if (used := _resident_mb(self._process)) > most_mb:
            return "memory", f"{used:,.0f} MB"
        return None


def _processor_s(process: BaseProcess) -> float:
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):  # it has just ended, or the system has no such file
        return 0.0


def _resident_mb(process: BaseProcess) -> float:
    try:
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError):  # it has just ended, or the system has no such file
        return 0.0


def _note(tally: Tally, target: str, number: int, words: str, seconds: float) -> None:
    tally.cases += 1
    if seconds > tally.slowest_s:
        tally.slowest_s, tally.slowest = seconds, number
    match words:
        case "accepted":
            tally.accepted += 1
        case "refused":
            tally.refused += 1
        case _:
            tally.faults.append(Fault(target, number, "crash", words))
