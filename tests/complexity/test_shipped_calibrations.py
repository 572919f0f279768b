"""The thresholds that ship: there for the judge that ships, one for each way of asking, and of the kind they say they are."""

from itertools import product
from typing import get_args

import pytest

from rag_cover.complexity import calibration_for, complexity_of
from rag_cover.complexity.choices import AnswerSource, Constraints
from rag_cover.complexity.shipped_calibrations import NUMBERS, load_calibrations
from rag_cover.questions import Passage
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.weights import FOLDER, Weights

REMEDY = "the judge was trained anew; run 'python -m benchmarks.complexity.retrieval_complexity --fit' and commit presets.json"


@pytest.fixture(scope="module")
def fingerprint() -> str:
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return Weights.open().fingerprint


@pytest.mark.parametrize(("source", "constraints"), list(product(["gold", "none"], get_args(Constraints))))
def test_the_shipped_judge_has_thresholds(fingerprint: str, source: AnswerSource, constraints: Constraints) -> None:
    found = calibration_for(fingerprint, source, constraints)

    assert found is not None, f"no thresholds ship for {fingerprint} ({source}, {constraints}): {REMEDY}"
    assert (found.references, found.constraints) == (source, constraints)
    assert found.twofold is (source == "gold")
    assert 0 < found.t_ans < 1
    assert 0 <= found.t_com < 1
    assert len(found.weights) == (3 if constraints == "both" else 2)
    assert found.n >= 500
    assert "train" in found.name


def test_a_draft_goes_by_what_was_fitted_with_gold_answers(fingerprint: str) -> None:
    assert calibration_for(fingerprint, "draft") == calibration_for(fingerprint, "gold")


def test_another_judge_has_none() -> None:
    assert calibration_for("openai:a-model", "none") is None


def test_only_judges_that_are_named_have_thresholds() -> None:
    assert NUMBERS.exists()
    assert all(name.startswith("embedded:") for name in load_calibrations())


def test_the_shipped_judge_tells_one_hop_from_two(fingerprint: str) -> None:
    judge = EmbeddedJudge(threads=1)
    passages = [
        Passage("Emma is a novel written by Jane Austen. It was published in 1815.", title="Emma"),
        Passage("Pride and Prejudice is the second novel by Jane Austen.", title="Pride and Prejudice"),
        Passage("Jane Austen was born on 16 December 1775 in Steventon, Hampshire.", title="Jane Austen"),
    ]

    simple = complexity_of("Who wrote the novel Emma?", passages, judge)
    hard = complexity_of("Where was the author of the novel Emma born?", passages, judge)

    assert simple.calibration is not None
    assert judge.fingerprint == fingerprint
    assert (simple.is_complex, hard.is_complex) == (False, True)
    assert simple.probability is not None
    assert hard.probability is not None
    assert simple.probability < 0.5 < hard.probability
