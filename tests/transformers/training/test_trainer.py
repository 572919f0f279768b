"""Training: it learns, it stops early, and an interrupted run ends with the weights of one that was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from rag_cover.backends import ScoringItem
from rag_cover.errors import CorruptFileError, InvalidValueError
from rag_cover.registry import open_relevance, open_scorer
from rag_cover_transformers.training.trainer import Plan, train_checkpoint

PLAN = Plan(steps=12, learning_rate=3e-3, warmup=2, batch_tokens=400, check_every=3, max_tokens=64)


class _StoppedError(Exception):
    pass


def _silent(_: Mapping[str, float]) -> None:
    return


def _same(a: Path, b: Path) -> bool:
    names = ("model.safetensors", "heads.safetensors")
    pairs = [(load_file(a / name), load_file(b / name)) for name in names]
    return all(set(one) == set(other) and all((one[key] == other[key]).all() for key in one) for one, other in pairs)


@pytest.fixture(params=["t5_folder", "bert_folder"])
def base(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_an_interrupted_run_ends_with_the_same_weights(base: str, judgments: Path, tmp_path: Path) -> None:
    def stop_at_six(numbers: Mapping[str, float]) -> None:
        if numbers["step"] == 6:
            raise _StoppedError

    straight = train_checkpoint(base, judgments, judgments, tmp_path / "straight", PLAN, device="cpu", report=_silent)
    with pytest.raises(_StoppedError):
        train_checkpoint(base, judgments, judgments, tmp_path / "halting", PLAN, device="cpu", report=stop_at_six)
    resumed_from: list[float] = []
    halting = train_checkpoint(
        base, judgments, judgments, tmp_path / "halting", PLAN, device="cpu", report=lambda n: resumed_from.append(n["step"])
    )

    assert resumed_from == [9, 12]
    assert _same(straight, halting)
    assert (straight / "geneval.json").read_text() == (halting / "geneval.json").read_text()


def test_what_is_trained_is_learnt_and_opens_by_path(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    areas: list[float] = []
    plan = replace(PLAN, steps=150, check_every=50, patience=10)
    model = train_checkpoint(
        str(bert_folder), judgments, judgments, tmp_path, plan, device="cpu", report=lambda n: areas.append(n["auroc"])
    )

    judge = open_scorer(f"transformers:{model}")
    right, wrong = judge.correctness(
        [ScoringItem("Where is the tower?", f"The tower {rest}") for rest in ("is in Paris.", "was sold.")]
    )
    relevance = open_relevance(f"transformers:{model}").token_relevance("Where is the tower?", ["The tower is in Paris."])

    assert max(areas) > 0.9
    assert right > wrong
    assert np.isclose(relevance.values.sum(), 1)


def test_a_run_that_gains_nothing_ends_early(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    steps: list[float] = []
    plan = replace(PLAN, learning_rate=0.0, steps=100, check_every=1, patience=2)

    train_checkpoint(
        str(bert_folder), judgments, judgments, tmp_path, plan, device="cpu", report=lambda n: steps.append(n["step"])
    )

    assert steps == [1, 2, 3]


def test_another_plan_does_not_go_on_with_a_run(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, steps=2, check_every=1)
    train_checkpoint(str(bert_folder), judgments, judgments, tmp_path, plan, device="cpu", report=_silent)

    with pytest.raises(InvalidValueError, match="of a run with other data or settings"):
        train_checkpoint(str(bert_folder), judgments, judgments, tmp_path, replace(plan, seed=1), device="cpu", report=_silent)


def test_a_damaged_state_says_how_to_start_anew(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    (tmp_path / "state.safetensors").write_bytes(b"damaged")

    with pytest.raises(CorruptFileError, match="Delete it to train from the start"):
        train_checkpoint(str(bert_folder), judgments, judgments, tmp_path, PLAN, device="cpu", report=_silent)


def test_an_encoder_has_no_decoder_to_read(bert_folder: Path, judgments: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="has no decoder to read"):
        train_checkpoint(
            str(bert_folder), judgments, judgments, tmp_path, replace(PLAN, reading="decoder"), device="cpu", report=_silent
        )
