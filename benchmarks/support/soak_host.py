"""A host that answers questions at a fixed rate and is recorded, until its standard input is closed or it is killed.

    python -m benchmarks.support.soak_host FOLDER LIFE --measuring process

Each question is asked twice, in turn: by a LangChain chain that is recorded, and by the same chain without a handler, so that
what recording adds is measured beside what the machine does anyway. Once a question is answered its id and both times go to
``FOLDER/answered.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.support.handler_load_langchain import Chain
from rag_cover.recording import Recording
from rag_cover.testing import KeywordEntailer, KeywordScorer

__all__ = ["answered_in", "errors_in", "main", "store_in"]

_KEPT = 1000
"""How many traces and results stay in memory: what a host's memory grows by at first."""


def store_in(folder: Path) -> Path:
    """Name the store."""
    return folder / "results.sqlite"


def answered_in(folder: Path) -> Path:
    """Name the file of what was answered."""
    return folder / "answered.jsonl"


def errors_in(folder: Path) -> Path:
    """Name the file of what went wrong, one host a line, as far as hosts lived to tell."""
    return folder / "ended.jsonl"


def answer(
    recording: Recording, recorded: Callable[[str], object], plain: Callable[[str], object], *, life: str, rate: float, out: int
) -> None:
    """Answer questions until standard input is closed."""
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    start, number = time.perf_counter(), 0
    while not over.is_set():
        time.sleep(max(0.0, start + number / rate - time.perf_counter()))
        question, name = f"Why is sky number {number} of life {life} blue?", f"{life}-{number}"
        with recording.question(id=name):
            with_it = _timed(recorded, question)
        time.sleep(max(0.0, start + (number + 0.5) / rate - time.perf_counter()))
        without = _timed(plain, question)
        os.write(out, json.dumps([name, with_it, without]).encode() + b"\n")
        number += 1


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _timed(ask: Callable[[str], object], question: str) -> tuple[float, float]:
    """Return how long a question took, and how much of that its thread worked, in milliseconds."""
    began, worked = time.perf_counter(), time.thread_time()
    ask(question)
    return 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - worked)


def main() -> None:
    """Answer and record."""
    from rag_cover_langchain import RagCoverCallbackHandler

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("life")
    parser.add_argument("--measuring", choices=("thread", "process"), default="process")
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--embedded", action="store_true")
    options = parser.parse_args()
    models: dict[str, Any] = {} if options.embedded else {"judge": KeywordScorer(), "entailer": KeywordEntailer()}
    handler = RagCoverCallbackHandler(
        measures=["groundedness"],
        receiver=None,
        store=store_in(options.folder),
        measuring=options.measuring,
        keep=_KEPT,
        **models,
    )
    recorded, plain = Chain(), Chain()
    recorded._config = {"callbacks": [handler]}  # noqa: SLF001  # for good, where `Chain.recorded` takes it back
    for each in (plain, plain, plain):  # what is slow the first time alone
        each.ask("Why is the sky blue?")
    out = os.open(answered_in(options.folder), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with handler:
        answer(handler, recorded.ask, plain.ask, life=options.life, rate=options.rate, out=out)
    told = {"counts": str(handler.counts), "errors": [each.message for each in handler.errors]}
    with errors_in(options.folder).open("a", encoding="utf-8") as ended:
        ended.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
