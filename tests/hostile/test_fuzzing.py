"""A small fixed part of the fuzz run: every reader of foreign data takes it, or refuses it by a typed error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TARGETS = (
    *("trace files", "import ragas", "import deepeval", "import ragchecker", "import openinference", "import langsmith"),
    *("import tables", "import, format by sight", "passages", "replies: sub-questions", "replies: types", "replies: verdicts"),
    *("replies: set queries", "replies: preferences", "completions", "embeddings", "server errors"),
    *("set queries of questions", "set queries as text and data", "reports as pages", "reports in the terminal"),
)


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_cases_are_taken_or_refused(target: str, module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    if target in ("completions", "embeddings", "server errors"):
        pytest.importorskip("openai")
    workers = module("support.fuzz_workers")
    first = workers.long_cases(target)
    count = 10 if target.startswith("reports") else 120

    ended = {number: workers.fed(target, number, 1, tmp_path) for number in range(first, first + count)}

    assert {number: words for number, words in ended.items() if words not in ("accepted", "refused")} == {}
