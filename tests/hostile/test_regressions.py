"""Faults that hostile cases found, each refused or read now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rag_cover.backends import Sampling
from rag_cover.cli.mcp_server import OpenFolder
from rag_cover.errors import InputError, InvalidValueError, MalformedReplyError
from rag_cover.importers import import_traces, read_outcomes
from rag_cover.importers.timestamps import moment_of
from rag_cover.labelling import import_labels
from rag_cover.setqueries import SetQuery, notation
from rag_cover.stores import read_traces


def _import(folder: Path, content: str, name: str = "x.jsonl") -> list[Any]:
    (folder / name).write_bytes(content.encode())
    return list(import_traces(folder / name))


def test_a_list_with_an_open_bracket_in_it_is_an_input_error(tmp_path: Path) -> None:
    row = {"question": "Why?", "contexts": "['a' (]"}

    with pytest.raises(InputError, match="neither JSON nor a Python literal"):
        _import(tmp_path, json.dumps(row))


def test_a_header_with_a_carriage_return_in_it_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not CSV that can be read"):
        _import(tmp_path, "question\rx,answer\nWhy?,No\n", "x.csv")


def test_results_within_results_without_end_are_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _import(tmp_path, '{"testRunData": ' * 900 + "{}" + "}" * 900, "x.json")


def test_a_time_behind_many_spaces_is_read() -> None:
    assert moment_of(" " * 60 + "1581452772000") == moment_of("1581452772000")


def test_a_trace_with_many_named_steps_is_read(tmp_path: Path) -> None:
    steps = [{"id": f"s{number}"} for number in range(30_000)]
    (tmp_path / "x.jsonl").write_text(json.dumps({"question": "Why?", "steps": steps}), encoding="utf-8")

    assert len(next(read_traces(tmp_path / "x.jsonl")).steps) == 30_000


def test_a_set_query_of_more_than_a_megabyte_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="at most 1,000,000 characters"):
        SetQuery.from_text("(" * 1_000_001)


@pytest.mark.parametrize("unit", ["a | b & c - d \\ ", "(", "a ", "'a' | "])
def test_a_set_query_of_very_many_parts_is_refused_before_all_of_them_are_read(unit: str) -> None:
    made: list[str] = []

    with pytest.raises(InvalidValueError, match="at most 20,000 words, signs and brackets"):
        notation.read(unit * (1_000_000 // len(unit)), made.append, lambda *_: None)

    assert len(made) <= notation.MOST_PARTS


def test_the_data_of_a_set_query_of_very_many_atoms_is_refused_before_all_of_them_are_made() -> None:
    made: list[str] = []

    with pytest.raises(InvalidValueError, match="at most 20,000 atoms"):
        notation.read_data({"union": [{"intersection": ["a", "b"]}] * 100_000}, made.append, lambda *_: None)

    assert len(made) == notation.MOST_PARTS


def test_an_outcome_beyond_all_floats_is_an_input_error(tmp_path: Path) -> None:
    row = {"question": "Why?", "model": "a", "outcome": 10**400}
    (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    with pytest.raises(InputError, match="line 1"):
        read_outcomes(tmp_path / "x.jsonl")


def test_a_superscript_is_no_count_in_a_table_of_labels(tmp_path: Path) -> None:
    head = "question,sub_question,answer,label,annotator,labelled_at,draw\n"
    (tmp_path / "x.csv").write_text(f"{head}Why?,Why?,So.,true,me,2026-01-02T03:04:05Z,²\n", encoding="utf-8")

    with pytest.raises(InputError, match="draw"):
        import_labels(tmp_path / "x.csv", "me")


def test_a_path_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="name a path that list_files gives"):
        OpenFolder(tmp_path).read("case\ud800.jsonl")


def test_a_log_probability_beyond_all_floats_is_none() -> None:
    completions = pytest.importorskip("rag_cover_openai.completions", exc_type=ImportError)
    tokens = [{"token": "a", "logprob": -(10**400)}]
    choice = {"message": {"content": "a"}, "logprobs": {"content": tokens}}

    (sample,) = completions.parse_completion({"choices": [choice]}, Sampling(logprobs=True)).samples

    assert sample.token_logprobs is None


@pytest.mark.parametrize("row", [{"index": [], "embedding": [10**400]}, {"index": {}, "embedding": None}])
def test_vectors_with_odd_places_or_numbers_are_malformed(row: dict[str, object]) -> None:
    pytest.importorskip("openai")
    from rag_cover_openai.embedder import _vectors

    with pytest.raises(MalformedReplyError):
        _vectors({"data": [row]}, 1, "openai:m")


@pytest.mark.parametrize("text", ["a\x00", "\x1b[31m", "\u202e", "a" * 20_000])
def test_nothing_that_is_printed_moves_a_cursor(module: Callable[[str], ModuleType], text: str) -> None:
    printed = module("support.hostile_results").hostile_screens(text)

    assert not set(printed) & set("\x1b\x00\u202e\r")
