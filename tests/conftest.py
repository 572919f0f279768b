"""What all tests share: no network, the same random examples every time, and where the data is."""

from __future__ import annotations

import gc
import os
import shutil
import socket
from collections.abc import Callable, Generator, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

from rag_cover.belief import Belief, SampledAnswer, StepUtility, TraceUtility, Utility
from rag_cover.belief.gold_strings import holds_reference
from rag_cover.measures import TraceResult
from rag_cover.stats.intervals import Interval
from rag_cover.traces import Trace

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

hypothesis.settings.register_profile("many", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("rag_cover", parent=hypothesis.settings.get_profile("many"), max_examples=40)
hypothesis.settings.register_profile("few", parent=hypothesis.settings.get_profile("many"), max_examples=10)
hypothesis.settings.load_profile("rag_cover")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect no doctests here: where they may not be importable, pytest skips a test file with a broken import unseen."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        absent = pytest.mark.skip(reason="needs the data folder 'shared' beside the checkout")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(absent)


def pytest_collection_finish() -> None:
    """Leave what is imported and collected by now out of every later search for garbage: with it, one takes over a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_socket: socket.socket, address: object) -> NoReturn:
        message = f"a test tried to connect to {address}"
        raise AssertionError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Open a headless Chromium, that on the path or the one that CHROMIUM names; tests of pages are skipped without one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("needs Chromium on the path")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder with data and vectors; tests that use it are marked ``shared``."""
    return SHARED


@pytest.fixture(scope="session")
def source_tree() -> Path:
    """Return the checkout, where the tests run in one and not against an installed wheel alone."""
    if not (ROOT / "rag_cover").is_dir():
        pytest.skip("needs the checkout; these tests run against an installed wheel")
    return ROOT


@pytest.fixture
def make_utility() -> Callable[..., TraceResult]:
    """Make the result of a trace whose steps moved a belief from ``prior`` by so much each, sure to ``half_width``."""

    def made(trace: Trace, prior: float, *changes: float, half_width: float = 0.05) -> TraceResult:
        return TraceResult(trace, {"utility": _utility_of(trace, prior, changes, half_width)})

    return made


def _utility_of(trace: Trace, prior: float, changes: tuple[float, ...], half_width: float) -> TraceUtility:
    def moved(before: Belief, after: Belief) -> Utility:
        change = after.score - before.score
        return Utility(change, before, after, Interval(change, change - half_width, change + half_width, 2))

    beliefs = [_belief(score) for score in accumulate(changes, initial=prior)]
    steps = tuple(
        StepUtility(step.id, step.kind, step.query, moved(beliefs[0], after) if step.passages else None, moved(before, after))
        for step, (before, after) in zip(trace.steps, pairwise(beliefs), strict=True)
    )
    return TraceUtility(
        receiver="a test receiver",
        references="gold",
        kind="soft",
        preset="official",
        prior=beliefs[0],
        steps=steps,
        total=moved(beliefs[0], beliefs[-1]),
        samples=2 * len(beliefs),
        holds_reference=holds_reference(trace),
    )


def _belief(score: float) -> Belief:
    answers = SampledAnswer("a right answer", score, None, 1.0), SampledAnswer("a wrong answer", 1 - score, None, 0.0)
    return Belief(score, "soft", "official", answers)
