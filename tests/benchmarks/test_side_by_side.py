"""Two versions of the judge take turns, on the same pairs, each by its own code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Import = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def script(module: Import) -> ModuleType:
    """Return the benchmark."""
    return module("judge.side_by_side")


def test_every_sub_question_meets_every_passage_and_the_answers_to_its_question(script: ModuleType) -> None:
    pairs = script.demo_pairs()

    assert len(pairs) == 148 * 81 + 296
    assert len(set(pairs)) == len(pairs)
    assert sum(bool(asked) for _, _, asked in pairs) == 296


def test_versions_take_turns_at_going_first(script: ModuleType) -> None:
    versions = [script.Version(name, Path()) for name in "ab"]
    order: list[Any] = []

    def run(version: object) -> object:
        order.append(version)
        return script.Timed(len(order), 1.0, 0)

    found = script.run_rounds(versions, 3, run)

    assert [version.name for version in order] == ["a", "b", "b", "a", "a", "b"]
    assert [[timed.seconds for timed in found[name]] for name in "ab"] == [[1, 4, 5], [2, 3, 6]]


def test_a_folder_of_weights_is_opened_by_this_code(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "judge.json").touch()

    with script.version_of(str(tmp_path)) as version:
        assert (version.tree, version.weights) == (script.ROOT, str(tmp_path))


def test_a_name_of_nothing_is_refused(script: ModuleType) -> None:
    with pytest.raises(
        script.UnknownVersionError, match="'no-such' is neither 'shipped', a folder with judge.json nor a revision"
    ):
        script.version_of("no-such").__enter__()


def test_a_version_beside_itself_is_refused(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["side_by_side", "--second", "shipped"])

    with pytest.raises(SystemExit):
        script.main()

    assert "name the same version" in capsys.readouterr().err


@pytest.mark.slow
def test_a_round_is_timed_in_a_process_of_its_own(script: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps(script.demo_pairs()[:6]), encoding="utf-8")

    timed = script.run_round(script.Version("shipped", script.ROOT), pairs, 2)

    assert min(timed.seconds, timed.processor_s) > 0
    assert 0 <= timed.positives <= 4
