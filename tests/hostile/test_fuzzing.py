"""A small fixed part of the fuzz run: every reader of foreign data takes it, or refuses it by a typed error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TARGETS = (
    *("trace files", "import ragas", "import deepeval", "import ragchecker", "import openinference", "import langsmith"),
    *("import tables", "import parquet", "import, format by sight", "passages", "documents", "labels", "labels for the page"),
    *("outcomes", "configuration", "nuggets", "assignments", "frames", "calls of agents"),
    *("replies: sub-questions", "replies: types", "replies: verdicts", "replies: set queries", "replies: preferences"),
    *("completions", "embeddings", "server errors", "set queries of questions", "set queries as text and data"),
    *("reports as pages", "reports in the terminal"),
)
NEEDS = {
    **dict.fromkeys(("completions", "embeddings", "server errors"), "openai"),
    "import parquet": "pyarrow",
    "documents": "bs4",
    "frames": "pandas",
}


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_cases_are_taken_or_refused(target: str, module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    pytest.importorskip(NEEDS.get(target, "json"))
    workers = module("support.fuzz_workers")
    first = workers.long_cases(target)
    count = 10 if target.startswith("reports") else 120

    ended = {number: workers.fed(target, number, 1, tmp_path) for number in range(first, first + count)}

    assert {number: words for number, words in ended.items() if words not in ("accepted", "refused")} == {}


@pytest.mark.parametrize("target", TARGETS)
def test_kept_cases_are_taken_or_refused(target: str, module: Callable[[str], ModuleType]) -> None:
    pytest.importorskip(NEEDS.get(target, "json"))
    corpus = module("support.fuzz_corpus")

    ended = corpus.replay(corpus.CORPUS, target)

    assert ended, "no case is kept"
    assert {path.parent.name: words for path, words in ended.items() if words not in ("accepted", "refused")} == {}


def test_every_reader_is_fuzzed_here_and_every_kept_case_has_one(module: Callable[[str], ModuleType]) -> None:
    corpus = module("support.fuzz_corpus")

    assert set(module("support.fuzz_targets").TARGETS) == set(TARGETS)
    kept = [path for target in TARGETS for path in corpus.list_cases(corpus.CORPUS, target)]
    assert sorted(kept) == sorted(each for each in corpus.CORPUS.rglob("*") if each.is_file())
    assert max(path.stat().st_size for path in kept) < 20_000


def test_a_kept_case_that_goes_wrong_again_is_told(module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    corpus = module("support.fuzz_corpus")
    corpus.keep_case(tmp_path, "labels", "1-2", "rows.csv", b"question,label\n")

    (kept,) = corpus.replay(tmp_path, "labels").items()

    assert kept == (tmp_path / "labels" / "1-2" / "rows.csv.case", "refused")


def test_a_corpus_grows_by_cases_of_which_something_else_is_said(module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    corpus = module("support.fuzz_corpus")

    first = corpus.grow(tmp_path, "nuggets", 5, 60)
    again = corpus.grow(tmp_path, "nuggets", 5, 60)

    assert first == len(corpus.list_cases(tmp_path, "nuggets")) > 1
    assert again == 0
