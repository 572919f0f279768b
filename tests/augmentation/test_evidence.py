"""A pair is judged once; what was not judged covers nothing and has no probability."""

import math

import numpy as np
import pytest

from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage
from rag_cover.testing import ScriptedScorer

WHY = "Why is the sky blue?"
AIR, SEA, BLANK = Passage("Air scatters light."), Passage("The sea is wet."), Passage(" \n")
SCRIPT = {(WHY, AIR.text): 0.9, (WHY, SEA.text): 0.2}


def test_a_pair_is_judged_once_however_often_it_is_asked_for() -> None:
    scorer = ScriptedScorer(SCRIPT)
    evidence = PassageEvidence(scorer)

    evidence.judge([WHY, WHY], [AIR, AIR])
    evidence.judge([WHY], [AIR])
    evidence.judge([WHY], [AIR, SEA])

    assert (scorer.asked.calls, scorer.asked.items) == (2, 2)


def test_nobody_is_asked_about_nothing() -> None:
    scorer = ScriptedScorer(SCRIPT)
    evidence = PassageEvidence(scorer)

    evidence.judge([], [AIR])
    evidence.judge([WHY], [])
    evidence.judge([WHY], [BLANK])

    assert scorer.asked.calls == 0


def test_a_passage_is_judged_with_its_title() -> None:
    evidence = PassageEvidence(ScriptedScorer({(WHY, "Sky\nIt is blue."): 0.7}))

    evidence.judge([WHY], [Passage("It is blue.", title="Sky")])

    assert evidence.best(WHY, [Passage("It is blue.", title="Sky")]) == 0.7


def test_the_best_of_no_judgment_is_none() -> None:
    evidence = PassageEvidence(ScriptedScorer(SCRIPT))

    evidence.judge([WHY], [AIR, SEA, BLANK])

    assert evidence.best(WHY, [BLANK, SEA, AIR]) == 0.9
    assert evidence.best(WHY, [BLANK]) is None
    assert evidence.best(WHY, []) is None
    assert evidence.best("Why is grass green?", [AIR]) is None


def test_what_was_not_judged_is_no_number() -> None:
    evidence = PassageEvidence(ScriptedScorer(SCRIPT))

    evidence.judge([WHY], [AIR, BLANK])

    np.testing.assert_array_equal(evidence.probabilities([WHY], [AIR, BLANK]), [[0.9, math.nan]])
    assert evidence.probabilities([], [AIR]).shape == (0, 1)
    assert evidence.probabilities([WHY], []).shape == (1, 0)


def test_a_probability_at_the_cut_covers() -> None:
    evidence = PassageEvidence(ScriptedScorer(SCRIPT), threshold=0.9)

    evidence.judge([WHY], [AIR, SEA])

    assert evidence.covers(WHY, [AIR])
    assert not evidence.covers(WHY, [SEA])
    assert evidence.covers(WHY, [SEA], cut=0.2)
    assert not evidence.covers(WHY, [AIR], cut=0.91)


def test_a_passage_without_a_text_covers_nothing_by_any_cut() -> None:
    evidence = PassageEvidence(ScriptedScorer(default=1.0), threshold=0)

    evidence.judge([WHY], [BLANK])

    assert not evidence.covers(WHY, [BLANK])
    assert not evidence.covers(WHY, [])


def test_the_cut_is_the_scorer_s_unless_given() -> None:
    assert PassageEvidence(ScriptedScorer(threshold=0.3)).threshold == 0.3
    assert PassageEvidence(ScriptedScorer(threshold=0.3), 0.0).threshold == 0.0


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_cut_that_is_no_probability_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidValueError, match="threshold is"):
        PassageEvidence(ScriptedScorer(), threshold)


def test_a_scorer_that_returns_no_probability_has_failed() -> None:
    with pytest.raises(ModelFailedError, match="no probability"):
        PassageEvidence(ScriptedScorer(default=math.nan)).judge([WHY], [AIR])


def test_where_one_surely_covers_those_that_may_do_not_count() -> None:
    evidence = PassageEvidence(ScriptedScorer({(WHY, AIR.text): 0.9, (WHY, SEA.text): 0.6}))
    evidence.judge([WHY], [AIR, SEA, BLANK])

    assert evidence.covering([WHY], [AIR, SEA, BLANK]).tolist() == [[True, True, False]]
    assert evidence.covering([WHY], [AIR, SEA, BLANK], sure=0.85).tolist() == [[True, False, False]]
    assert evidence.covering([WHY], [SEA, BLANK], sure=0.85).tolist() == [[True, False]]
    assert evidence.covering([WHY], [BLANK], sure=0.0).tolist() == [[False]]
    assert evidence.covering([WHY], [], sure=0.85).shape == (1, 0)
