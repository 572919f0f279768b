"""The nugget scores: equal to the authors' program on shared assignments, and to the published formulas worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_cover.coverage.nugget_assignments import score_assignments, scores_by_run
from rag_cover.coverage.nugget_scores import NuggetScores, mean_scores, score_nuggets
from rag_cover.nuggets import Assignment, Importance
from rag_cover.stores.nugget_files import AssignedNuggets

VECTORS = json.loads((Path(__file__).parent / "vectors" / "nugget_scores.json").read_text(encoding="utf-8"))
NAMES = {"all_score": "all", "strict_all_score": "all_strict", "vital_score": "vital", "strict_vital_score": "vital_strict"}
VITAL, OKAY = Importance.VITAL, Importance.OKAY
FULL, PART, NONE = Assignment.SUPPORT, Assignment.PARTIAL_SUPPORT, Assignment.NOT_SUPPORT


def assigned(answer: dict[str, Any]) -> AssignedNuggets:
    return AssignedNuggets.model_validate(answer["assigned"])


@pytest.mark.parametrize("answer", VECTORS["answers"], ids=lambda answer: answer["assigned"]["qid"])
def test_scores_equal_those_of_the_authors_program(answer: dict[str, Any]) -> None:
    scores = score_assignments(assigned(answer))

    for theirs, ours in NAMES.items():
        found = getattr(scores, ours)
        assert (0.0 if found is None else found) == answer["scores"][theirs]  # they write 0.0 where it is undefined


def test_means_equal_those_of_the_authors_program() -> None:
    with_vital = [answer for answer in VECTORS["answers"] if score_assignments(assigned(answer)).vital is not None]

    ((_, (means, count)),) = scores_by_run(map(assigned, with_vital)).items()

    assert count == len(with_vital) == 39
    assert {name: getattr(means, ours) for name, ours in NAMES.items()} == pytest.approx(
        VECTORS["means_of_answers_with_vital_nuggets"], abs=1e-12
    )


@pytest.mark.parametrize(
    ("nuggets", "weighted", "strict"),
    [
        ([(VITAL, FULL), (OKAY, FULL)], 1.0, 1.0),
        ([(VITAL, FULL), (OKAY, NONE)], 1 / 1.5, 1 / 1.5),
        ([(VITAL, PART), (VITAL, FULL), (OKAY, PART), (OKAY, FULL)], (1.5 + 0.5 * 1.5) / (2 + 0.5 * 2), (1 + 0.5) / 3),
        ([(OKAY, PART), (OKAY, NONE)], 0.25, 0.0),
    ],
)
def test_a_vital_nugget_weighs_as_much_as_two_okay_ones(
    nuggets: list[tuple[Importance, Assignment]], weighted: float, strict: float
) -> None:
    scores = score_nuggets(nuggets)

    assert [scores.weighted, scores.weighted_strict] == pytest.approx([weighted, strict])


def test_an_answer_without_nuggets_has_no_scores() -> None:
    assert score_nuggets([]) == NuggetScores(None, None, None, None, None, None)


def test_an_answer_without_vital_nuggets_has_no_vital_score() -> None:
    scores = score_nuggets([(OKAY, FULL), (None, NONE)])

    assert (scores.vital, scores.vital_strict) == (None, None)
    assert (scores.all, scores.weighted) == (0.5, 1.0)  # one without an importance counts among all alone


def test_a_failed_assignment_leaves_undefined_what_its_nugget_counts_in() -> None:
    scores = score_nuggets([(OKAY, None), (VITAL, FULL)])

    assert (scores.all, scores.weighted, scores.vital) == (None, None, 1.0)


def test_undefined_scores_are_left_out_of_means_and_are_no_zeros() -> None:
    scores = [score_nuggets([(VITAL, FULL)]), score_nuggets([(OKAY, NONE)])]

    means = mean_scores(scores)

    assert (means.all, means.vital) == (0.5, 1.0)
    assert mean_scores([]).all is None
