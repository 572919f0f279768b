from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.errors import ModelFailedError
from rag_cover.judge_check.sanity_checks import canary_verdicts, explain_canary_failure
from rag_cover.testing import KeywordScorer, ScriptedEntailer, ScriptedScorer

RIGHT = ScriptedScorer(
    {(canary.given, canary.text): 0.9 if canary.expected == "covered" else 0.1 for canary in canary_verdicts(KeywordScorer())}
)


@dataclass(frozen=True)
class OrderedEntailer:
    """Knows what follows, and writes its classes in an order of its own."""

    order: tuple[int, int, int] = (0, 1, 2)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        asked = {(canary.given, canary.text): canary.expected for canary in canary_verdicts(RIGHT, ScriptedEntailer())}
        classes = [[0.8, 0.15, 0.05] if asked[pair] == "entailment" else [0.05, 0.15, 0.8] for pair in pairs]
        return np.array(classes, dtype=np.float32)[:, self.order]


@dataclass(frozen=True)
class Inverted:
    """Means the opposite of what it says."""

    threshold: float = 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return 1 - RIGHT.correctness(items)


def test_a_judge_that_knows_passes_every_one() -> None:
    verdicts = canary_verdicts(RIGHT, OrderedEntailer())

    assert all(verdict.passed for verdict in verdicts)
    assert {"answering", "entailment", "short replies", "refusals in the question's words"} <= {each.kind for each in verdicts}
    assert explain_canary_failure(verdicts) is None


def test_every_question_and_premise_has_both_sides() -> None:
    verdicts = [each for each in canary_verdicts(RIGHT, OrderedEntailer()) if each.kind in ("answering", "entailment")]

    for given in {verdict.given for verdict in verdicts}:
        assert len({verdict.expected for verdict in verdicts if verdict.given == given}) == 2


def test_a_judge_that_is_no_entailer_is_not_asked_to_be_one() -> None:
    assert "entailment" not in {verdict.kind for verdict in canary_verdicts(RIGHT)}


def test_labels_in_the_opposite_order_are_caught() -> None:
    failure = explain_canary_failure(canary_verdicts(RIGHT, OrderedEntailer((2, 1, 0))))

    assert failure == "10 of 10 plain cases of entailment are judged wrongly; its labels seem to be exchanged"


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)])
def test_any_other_order_is_caught_too(order: tuple[int, int, int]) -> None:
    assert explain_canary_failure(canary_verdicts(RIGHT, OrderedEntailer(order))) is not None


def test_a_scorer_that_means_the_opposite_is_caught() -> None:
    failure = explain_canary_failure(canary_verdicts(Inverted()))

    assert failure is not None
    assert failure.startswith("16 of 16 plain cases of answering are judged wrongly; its labels seem to be exchanged")


@pytest.mark.parametrize("always", [0.0, 1.0])
def test_a_scorer_that_always_says_the_same_is_caught(always: float) -> None:
    failure = explain_canary_failure(canary_verdicts(ScriptedScorer(default=always)))

    assert failure is not None
    assert failure.startswith("8 of 16 plain cases of answering are judged wrongly; ")


def test_counting_words_fails_most_kinds() -> None:
    failure = explain_canary_failure(canary_verdicts(KeywordScorer()))

    assert failure is not None
    assert "5 of 5 plain cases of refusals in the question's words" in failure
    assert "5 of 5 plain cases of short replies" in failure


def test_a_small_judge_may_err_now_and_then() -> None:
    script = dict(RIGHT.script)
    for pair in list(script)[:3]:
        script[pair] = 1 - script[pair]

    verdicts = canary_verdicts(ScriptedScorer(script))

    assert sum(not verdict.passed for verdict in verdicts) == 3
    assert explain_canary_failure(verdicts) is None


def test_the_probability_is_that_of_what_is_expected() -> None:
    assert {round(verdict.probability, 3) for verdict in canary_verdicts(RIGHT)} == {0.9}


def test_a_scorer_that_returns_no_probability_is_an_error() -> None:
    with pytest.raises(ModelFailedError, match="no probability"):
        canary_verdicts(ScriptedScorer(default=1.5))
