"""What do 50 stores of 2,000 traces each take on one page, to build and to open?

    python -m benchmarks.reports.dashboard --stores 50 --traces 2000

Stores are made of traces of words drawn at random (`benchmarks.support.synthetic`), each with a verdict of its own drawn, too:
an answer that covers its sub-question, or one of the losses; a fifth of the questions is asked in every store. The dashboard is
built in a process of its own, as the command does it. Beside it stands what one store alone takes: the stores are read one
after the other, so memory should not grow with their number.

Printed are seconds, the peak of the process's memory, the page's size and its number of elements; and, with a Chromium, seconds
until the page is loaded with all of it unfolded, and the most memory that the browser, one process, had.

Data: none.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.support.chromium import counting_proxy, found_chromium, opened_chromium
from benchmarks.support.peak_memory import peak_bytes
from benchmarks.support.synthetic import synthetic
from benchmarks.support.tables import show
from rag_cover.cli import app
from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.measures import TraceResult
from rag_cover.questions import Role
from rag_cover.stores import Store

__all__ = ["build_page", "make_store"]

_SHARED = 5  # one question of so many is asked in every store
_LOST = 0.4
_CHUNK = 200


def make_store(path: Path, traces: int, *, seed: int) -> None:
    """Write a store of an evaluation of synthetic traces."""
    with Store.open(path) as store:
        store.begin({"judge": "drawn", "measures": ["coverage"], "seed": 0}, resume=False)
        items: list[tuple[int, str, TraceResult]] = []
        for ordinal, result in enumerate(_results(traces, seed)):
            items.append((ordinal, f"{ordinal}", result))
            if len(items) == _CHUNK:
                store.append(items)
                items = []
        store.append(items)
        store.finish(traces)


def build_page(paths: list[Path], page: Path) -> None:
    """Run the command; it ends with the command's exit code where that is not 0."""
    try:
        app(["dashboard", *map(str, paths), "--html", str(page), "--force", "--quiet"])
    except SystemExit as ended:
        if ended.code:
            raise


def _results(traces: int, seed: int) -> Iterator[TraceResult]:
    shared, own = synthetic(traces, seed=0), synthetic(traces, seed=seed + 1)
    draw = random.Random(seed)  # noqa: S311  # verdicts, not secrets
    for number, (everywhere, here) in enumerate(zip(shared, own, strict=True)):
        trace = (everywhere if number % _SHARED == 0 else here).model_copy(
            update={"id": f"{seed}-{number}", "pipeline": f"p{number % 2}"}
        )
        loss = draw.choice(list(Loss)) if draw.random() < _LOST else None
        verdict = Verdict(0.1 if loss else 0.9, covered=loss is None)
        chunks = tuple(
            Verdict(0.9, covered=True) if at == 0 else Verdict(0.1, covered=False) for at in range(len(trace.chunks))
        )
        text = (trace.sub_questions or ())[0].text
        each = SubQuestionCoverage(text, Role.CORE, "given", verdict, chunks=chunks, loss=loss)
        keys = tuple(passage.key for passage in trace.chunks)
        found = CoverageResult((each,), keys, 0.5, None, prompt_assumed=True, decomposed_by="given", abstained="no")
        yield TraceResult(trace, {"coverage": found})


def main() -> None:
    """Make the stores, build the page of one and of all, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=int, default=50)
    parser.add_argument("--traces", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=None, help="where stores are kept between runs (default: nowhere)")
    parser.add_argument("--build", nargs="+", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        *paths, page = options.build
        build_page(paths, page)
        print(peak_bytes())
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"store-{number:03}-{options.traces}.sqlite" for number in range(options.stores)]
        for seed, path in enumerate(paths):
            if not path.exists():
                make_store(path, options.traces, seed=seed)
        rows = [_row(paths[:count], options.traces, folder / f"page-{count}.html") for count in (1, options.stores)]
    header = ["stores", "traces each", "built in s", "peak MB", "page kB", "elements", "opened in s", "browser MB"]
    show("Dashboards of synthetic stores", header, rows)


def _row(paths: list[Path], traces: int, page: Path) -> list[str]:
    begun = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.reports.dashboard", "--build", *map(str, paths), str(page)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # this module
    seconds = time.perf_counter() - begun
    text = page.read_text(encoding="utf-8")
    peak = int(done.stdout.split()[-1]) / 1e6
    elements = len(re.findall(r"<[a-z]", text))
    kilobytes = page.stat().st_size / 1e3
    return [
        f"{len(paths)}",
        f"{traces:,}",
        f"{seconds:.1f}",
        f"{peak:.0f}",
        f"{kilobytes:.0f}",
        f"{elements:,}",
        *_opened(page),
    ]


def _opened(page: Path) -> tuple[str, str]:
    """Tell how many seconds a browser takes to load the page and unfold all of it, and its memory; dashes without one."""
    if (path := found_chromium()) is None:
        return "–", "–"
    with counting_proxy() as (port, _), opened_chromium(path, port) as browser:
        begun = time.perf_counter()
        browser.visited(page, wait_ms=0)
        seconds, peak = time.perf_counter() - begun, browser.peak_bytes
        return f"{seconds:.1f}", "–" if peak is None else f"{peak / 1e6:.0f}"


if __name__ == "__main__":
    main()
