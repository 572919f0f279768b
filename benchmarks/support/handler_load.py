"""Requests that arrive on a fixed schedule, whether or not earlier ones are answered, and what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_cover import Store, read_traces
from rag_cover.recording import Recording
from rag_cover.testing import KeywordEntailer, KeywordScorer

__all__ = ["PASSAGES", "Fates", "Kept", "Pipeline", "Stretch", "offered", "recorded"]

PASSAGES = ("The sky is blue because air scatters light.", "At sunset the sky is red.", "Grass is green.")


@dataclass(frozen=True)
class Kept:
    """Where a recording keeps what it saw, how many may wait for it, and whether it measures them, and where."""

    folder: Path
    capacity: int = 1000
    slow_s: float = 0.0
    measured: bool = True
    measuring: Literal["thread", "process"] = "thread"

    @property
    def store(self) -> Path:
        """Return the store of results."""
        return self.folder / "results.sqlite"

    @property
    def traces(self) -> Path:
        """Return the trace file."""
        return self.folder / "traces.jsonl"

    @property
    def settings(self) -> dict[str, Any]:
        """Return what a recording is attached with."""
        return {
            "measures": ["groundedness"] if self.measured else (),
            "judge": KeywordScorer(),
            "entailer": SlowEntailer(takes_s=self.slow_s),
            "receiver": None,
            "store": self.store if self.measured else None,
            "traces": self.traces,
            "capacity": self.capacity,
            "measuring": self.measuring,
        }

    def held(self) -> int:
        """Count what is in the store, or in the trace file where nothing is measured."""
        if not self.measured:
            return len(list(read_traces(self.traces)))
        with Store.open(self.store, create=False) as store:
            return len(store)


class Pipeline(Protocol):
    """Does next to nothing with a question, and can be recorded."""

    def ask(self, question: str) -> object:
        """Answer a question."""
        ...

    def recorded(self, kept: Kept) -> AbstractContextManager[Recording]:
        """Record what is asked within."""
        ...


@dataclass(frozen=True)
class SlowEntailer(KeywordEntailer):
    """Judges by words, after a while."""

    takes_s: float = 0.0

    def entail(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:  # type: ignore[override]  # lists are what it gets
        """Wait, then judge."""
        if self.takes_s:
            time.sleep(self.takes_s)
        return super().entail(pairs)


@dataclass
class Stretch:
    """What a stretch of requests saw, in milliseconds: from when each was due to its answer; how late it was sent off."""

    latencies: list[float] = field(default_factory=list)
    lateness: list[float] = field(default_factory=list)
    failed: int = 0

    def __add__(self, other: Stretch) -> Stretch:
        return Stretch(self.latencies + other.latencies, self.lateness + other.lateness, self.failed + other.failed)


def offered(ask: Callable[[str], object], *, rate: float, seconds: float, threads: int) -> Stretch:
    """Ask so many questions a second, each at its time; a late answer delays no other question while a thread is free."""
    stretch = Stretch()

    def answered(question: str, due: float) -> None:
        try:
            ask(question)
        except Exception:  # noqa: BLE001  # whatever it is, it must not go unseen
            stretch.failed += 1
        stretch.latencies.append(1000 * (time.perf_counter() - due))

    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter() + 0.1
        for number in range(round(rate * seconds)):
            due = start + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            stretch.lateness.append(1000 * (time.perf_counter() - due))
            pool.submit(answered, f"Why is sky number {number} blue?", due)
    return stretch


@dataclass
class Fates:
    """What became of the requests of several stretches: what the handler counts, and what its files hold."""

    sent: int = 0
    begun: int = 0
    kept: int = 0
    dropped: int = 0
    unreadable: int = 0
    most_waiting: int = 0
    errors: int = 0

    def add(self, sent: int, recording: Recording) -> None:
        """Add a stretch that is over."""
        counts = recording.counts
        self.sent += sent
        self.begun += counts.begun
        self.kept += counts.measured + counts.recorded + counts.unmeasured
        self.dropped += counts.dropped
        self.unreadable += counts.unreadable
        self.most_waiting = max(self.most_waiting, recording._worker.most_waiting)  # noqa: SLF001  # of no use but here
        self.errors += len(recording.errors)

    def lost(self, kept: Kept) -> int:
        """Count what was sent and is neither kept nor counted as dropped."""
        return self.sent - kept.held() - self.dropped - self.unreadable


def recorded(pipeline: Pipeline, kept: Kept, *, rate: float, seconds: float, threads: int, fates: Fates) -> Stretch:
    """Offer a stretch of requests to a recorded pipeline, and add up what became of them once the queue is worked off."""
    with pipeline.recorded(kept) as recording:
        stretch = offered(pipeline.ask, rate=rate, seconds=seconds, threads=threads)
    fates.add(len(stretch.lateness), recording)
    return stretch
