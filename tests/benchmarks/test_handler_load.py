"""The handlers of both adapters under a little load: nothing that was sent is lost without being counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Import = Callable[[str], ModuleType]

FRAMEWORKS = {"langchain": "langchain_core", "llama-index": "llama_index.core"}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_all_that_is_sent_below_the_queues_capacity_is_recorded(module: Import, tmp_path: Path, framework: str) -> None:
    fates, kept = _loaded(module, framework, tmp_path, capacity=1000, slow_s=0.0)

    assert (fates.sent, fates.begun, fates.kept, fates.dropped) == (80, 80, 80, 0)
    assert (fates.lost(kept), fates.errors) == (0, 0)
    assert len(kept.traces.read_text(encoding="utf-8").splitlines()) == 80


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_only_recorded_is_in_the_trace_file(module: Import, tmp_path: Path, framework: str) -> None:
    fates, kept = _loaded(module, framework, tmp_path, measured=False)

    assert (fates.sent, fates.kept, fates.dropped, fates.lost(kept)) == (80, 80, 0, 0)
    assert not kept.store.exists()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_process_of_its_own_measures_is_in_the_store(module: Import, tmp_path: Path, framework: str) -> None:
    fates, kept = _loaded(module, framework, tmp_path, measuring="process")

    assert (fates.sent, fates.kept, fates.dropped) == (80, 80, 0)
    assert (fates.lost(kept), fates.errors) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_full_queue_drops_is_counted(module: Import, tmp_path: Path, framework: str) -> None:
    fates, kept = _loaded(module, framework, tmp_path, capacity=2, slow_s=0.3)

    assert fates.dropped > 0
    assert fates.most_waiting == 2
    assert fates.sent == fates.kept + fates.dropped == 80
    assert fates.lost(kept) == 0


def _loaded(module: Import, framework: str, folder: Path, **how: Any) -> tuple[Any, Any]:
    pytest.importorskip(FRAMEWORKS[framework])
    load, script = module("support.handler_load"), module("recording.load")
    kept, fates = load.Kept(folder, **how), load.Fates()
    stretch = load.recorded(script.built(framework), kept, rate=40.0, seconds=2.0, threads=4, fates=fates)
    assert stretch.failed == 0
    return fates, kept
