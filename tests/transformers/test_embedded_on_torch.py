"""The embedded judge on a device of torch: the verdicts of the same weights in floats."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs the extra gpu")
pytest.importorskip("rag_cover_embedded.judge")

from rag_cover.backends import IN_FLOATS, ScoringItem
from rag_cover.complexity.shipped_calibrations import calibration_for
from rag_cover.errors import InvalidValueError
from rag_cover.routing.evidence import evidence_rule_for
from rag_cover_embedded import open_entailer, open_judge, open_receiver
from rag_cover_embedded.judge import EmbeddedJudge

PARAGRAPH = (
    "The Velmar tram opened in 1904. Its four lines have 61 stops, and line 4, to the university, went into service in 2018. A "
    "day ticket costs 7.20, a single one 2.80. Dogs ride in a bag, and bicycles stay off between seven and nine in the morning."
)
ITEMS = [
    ScoringItem("When did the tram in Velmar open?", PARAGRAPH),
    ScoringItem("Who drives the night trams?", PARAGRAPH),
    ScoringItem("What is the capital of France?", "Paris.", user_question="What is the capital of France?"),
    ScoringItem("What is the capital of France?", "I do not know.", user_question="What is the capital of France?"),
    ScoringItem("Who wrote Emma?", "It was Jane Austen.", ("Jane Austen",)),
    ScoringItem("When did the tram in Velmar open?", f"{PARAGRAPH} " * 12),
    ScoringItem("Who wrote Emma?", ""),
]
PAIRS = [(PARAGRAPH, "Velmar has had a tram since 1904."), (PARAGRAPH, "The tram runs on steam."), ("It rains.", "")]


@pytest.fixture(scope="module")
def floats() -> EmbeddedJudge:
    return open_judge(device="cpu")


def test_verdicts_are_those_of_the_same_weights_in_bytes(floats: EmbeddedJudge) -> None:
    judge = open_judge()

    np.testing.assert_allclose(floats.correctness(ITEMS), judge.correctness(ITEMS), atol=0.1)
    np.testing.assert_allclose(floats.entail(PAIRS), judge.entail(PAIRS), atol=0.1)
    assert (floats.embed([PARAGRAPH]) @ judge.embed([PARAGRAPH]).T).item() == pytest.approx(1.0, abs=0.01)
    assert floats.locate(ITEMS[:1]) == judge.locate(ITEMS[:1])
    assert floats.abstains(ITEMS) == judge.abstains(ITEMS)
    relevance, expected = (each.token_relevance("Who wrote Emma?", ["Emma is by Austen."]) for each in (floats, judge))
    assert relevance.tokens == expected.tokens
    np.testing.assert_allclose(relevance.values, expected.values, atol=0.1)


def test_a_text_gets_the_same_verdict_alone_and_among_others(floats: EmbeddedJudge) -> None:
    alone = [float(EmbeddedJudge(device="cpu").correctness([item])[0]) for item in ITEMS]

    np.testing.assert_allclose(floats.correctness(ITEMS), alone, atol=1e-4)


def test_another_arithmetic_is_another_judge_with_the_same_fitted_numbers(floats: EmbeddedJudge) -> None:
    judge = open_judge()

    assert floats.fingerprint == judge.fingerprint + IN_FLOATS
    assert open_receiver(device="cpu").fingerprint != open_receiver().fingerprint
    assert evidence_rule_for(floats.fingerprint) == evidence_rule_for(judge.fingerprint) is not None
    assert calibration_for(floats.fingerprint, "gold") == calibration_for(judge.fingerprint, "gold") is not None


def test_it_travels_to_another_process_with_its_device(floats: EmbeddedJudge) -> None:
    travelled = pickle.loads(pickle.dumps(floats))  # noqa: S301  # its own

    assert travelled.fingerprint == floats.fingerprint
    np.testing.assert_allclose(travelled.correctness(ITEMS[:2]), floats.correctness(ITEMS[:2]), atol=1e-6)


def test_a_reader_and_an_entailer_run_there_too() -> None:
    entailed = open_entailer(device="cpu").entail(PAIRS[:2])
    read = open_receiver(device="cpu").read([("When did the tram open?", ())])

    assert entailed[0, 0] > entailed[1, 0]
    assert read == [[]]


@pytest.mark.parametrize("device", ["cuda:97", "no such device"])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(InvalidValueError, match="torch has no device .* Give 'cpu', 'cuda', 'cuda:1' or 'mps'"):
        open_judge(device=device)
