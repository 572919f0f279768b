"""Scores of sets, averages and thresholds: numbers worked by hand, their laws, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.metrics import (
    GRID,
    RANKS,
    Mean,
    MeanScores,
    SetScores,
    average,
    average_scores,
    best_threshold,
    candidates_above,
    mrecall_at_k,
    recall_at_k,
    set_scores,
)

BIRDS = ("Kea", "Kaka", "Weka", "Kiwi", "Takahe", "Kakapo", "kea", "Kea ")  # two differ from the first in case or space alone

RANKINGS = st.lists(st.sampled_from(BIRDS), max_size=12)
SETS = st.frozensets(st.sampled_from(BIRDS))
GOLD = st.frozensets(st.sampled_from(BIRDS), min_size=1)
SCORES = st.builds(set_scores, GOLD, SETS)
PROBABILITIES = st.one_of(st.floats(0, 1), st.sampled_from(GRID))


@st.composite
def judged_queries(draw: st.DrawFn) -> tuple[list[frozenset[str]], list[list[str]], list[list[float]]]:
    """Make validation queries: gold titles, candidates, and their probabilities, some of them exactly on the grid."""
    gold = draw(st.lists(GOLD, min_size=1, max_size=4))
    candidates = [draw(RANKINGS) for _ in gold]
    probabilities = [[draw(PROBABILITIES) for _ in some] for some in candidates]
    return gold, candidates, probabilities


@st.composite
def scores_with_templates(draw: st.DrawFn) -> tuple[list[SetScores], list[str | None]]:
    scores = draw(st.lists(SCORES, max_size=8))
    return scores, [draw(st.sampled_from(("A", "A ∩ B", None))) for _ in scores]


def test_scores_are_those_worked_by_hand() -> None:
    gold, predicted = {"Kea", "Kaka", "Kiwi", "Takahe"}, ["Kea", "Weka", "Kaka"]

    scores = set_scores(gold, predicted)

    assert scores == SetScores(precision=2 / 3, recall=0.5, f1=4 / 7)


def test_an_empty_prediction_scores_nothing() -> None:
    assert set_scores({"Kea"}, []) == SetScores(0.0, 0.0, 0.0)


def test_titles_are_compared_exactly() -> None:
    assert set_scores({"Kea"}, ["kea", "Kea ", "Kéa"]).f1 == 0.0


def test_a_ranking_is_cut_before_titles_that_repeat_are_dropped() -> None:
    gold, ranked = {"Kea", "Kaka"}, ["Kea", "Kea", "Kaka"]

    at_two = recall_at_k(gold, ranked, k=2), mrecall_at_k(gold, ranked, k=2)
    at_three = recall_at_k(gold, ranked, k=3), mrecall_at_k(gold, ranked, k=3)

    assert at_two == (0.5, 0.0)
    assert at_three == (1.0, 1.0)


def test_more_gold_titles_than_ranks_are_never_all_found() -> None:
    gold = [f"Bird {number}" for number in range(21)]

    assert mrecall_at_k(gold, gold, k=20) == 0.0
    assert recall_at_k(gold, gold, k=20) == pytest.approx(20 / 21)
    assert mrecall_at_k(gold, gold, k=21) == 1.0


def test_the_ranks_are_the_papers() -> None:
    assert RANKS == (20, 50, 100, 1000)


def test_averages_weigh_every_query_alike() -> None:
    scores = [SetScores(1.0, 0.5, 0.625), SetScores(0.5, 1.0, 0.625), SetScores(0.0, 0.0, 0.0), SetScores(1.0, 1.0, 1.0)]

    averages = average_scores(scores, ["A", "A ∪ B", "A ∪ B", "A"])

    assert averages.overall == MeanScores(precision=0.625, recall=0.625, f1=0.5625, n=4)
    assert averages.by_template == {
        "A": MeanScores(precision=1.0, recall=0.75, f1=0.8125, n=2),
        "A ∪ B": MeanScores(precision=0.25, recall=0.5, f1=0.3125, n=2),
    }


def test_without_queries_there_is_no_average() -> None:
    assert average_scores([]).overall is None
    assert average([], []).overall is None
    assert average_scores([], []).by_template == {}


def test_a_template_without_queries_is_absent() -> None:
    averages = average([1.0, 0.5], ["A", "A"])

    assert averages.by_template == {"A": Mean(0.75, 2)}


def test_queries_whose_template_is_not_known_are_averaged_by_themselves() -> None:
    averages = average([1.0, 0.5, 0.0], [None, "A", None])

    assert averages.by_template == {None: Mean(0.5, 2), "A": Mean(0.5, 1)}


def test_without_templates_there_is_nothing_by_template() -> None:
    averages = average([1.0, 0.0])

    assert averages.overall == Mean(0.5, 2)
    assert averages.by_template == {}


def test_what_is_exactly_as_probable_as_the_threshold_is_not_kept() -> None:
    above = math.nextafter(0.5, 1.0)

    assert candidates_above(["Kea", "Kaka"], [0.5, above], threshold=0.5) == ["Kaka"]
    assert candidates_above(["Kea", "Kaka"], [0.0, 1.0], threshold=0.0) == ["Kaka"]


def test_the_grid_is_read_from_decimals() -> None:
    assert GRID[3] == 0.15
    assert candidates_above(["Kea"], [0.15], threshold=GRID[3]) == []
    assert (GRID[0], GRID[-1], len(GRID)) == (0.0, 0.95, 20)


@pytest.mark.parametrize("grid", [(0.2, 0.25, 0.3), (0.3, 0.2, 0.25)])
def test_of_equally_good_thresholds_the_lowest_is_taken(grid: tuple[float, ...]) -> None:
    fit = best_threshold([{"Kea"}], [["Kea", "Weka"]], [[0.9, 0.1]], grid=grid)

    assert {scores.f1 for scores in fit.tried.values()} == {1.0}
    assert fit.threshold == 0.2


def test_f1s_that_differ_by_rounding_are_equally_good() -> None:
    gold = [{"Kea"}, {"Kaka"}, {"Kiwi", "Weka", "Takahe"}]
    candidates = [["Kea", "Tui"], ["Kaka", "Tui", "Mopoke", "Moa", "Huia"], ["Kiwi", "Weka", "Takahe", "Moa"]]
    probabilities = [[0.3, 0.9], [0.9, 0.3, 0.3, 0.3, 0.3], [0.9] * 4]

    fit = best_threshold(gold, candidates, probabilities, grid=(0.2, 0.5))

    assert fit.tried[0.2].f1 < fit.tried[0.5].f1  # (2/3 + 1/3 + 6/7) / 3 and (0 + 1 + 6/7) / 3
    assert fit.threshold == 0.2


def test_a_query_that_keeps_nothing_counts_as_any_other() -> None:
    fit = best_threshold([{"Kea"}, {"Kaka"}], [["Kea"], ["Kaka"]], [[0.9], [0.3]], grid=(0.5,))

    assert fit.scores == MeanScores(precision=0.5, recall=0.5, f1=0.5, n=2)


def test_a_gold_title_that_is_no_candidate_counts_against_every_threshold() -> None:
    fit = best_threshold([{"Kea", "Kaka"}], [["Kea"]], [[0.9]])

    assert fit.scores.recall == 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: set_scores([], ["Kea"]), "without gold titles .* leave it out"),
        (lambda: set_scores("Kea", ["Kea"]), r"gold is the string 'Kea'.* such as \['Kea'\]"),
        (lambda: set_scores(["Kea"], "Kea"), "predicted is the string 'Kea'"),
        (lambda: recall_at_k(["Kea"], "Kea", k=2), "ranked is the string 'Kea'"),
        (lambda: recall_at_k(["Kea"], {"Kea"}, k=2), "a set has no order .* best first"),  # type: ignore[arg-type]
        (lambda: mrecall_at_k(["Kea"], ["Kea"], k=0), "k is 0"),
        (lambda: recall_at_k(["Kea"], ["Kea"], k=-1), "k is -1"),
        (lambda: average([1.0], ["A", "A"]), "pass one for each query"),
        (lambda: average([1.0], []), "pass one for each query"),
        (lambda: average([1.0], "A"), "templates 'A'; pass one for each query"),
        (lambda: candidates_above("Kea", [0.1, 0.2, 0.3], threshold=0.5), "candidates is the string 'Kea'"),
        (lambda: candidates_above(["Kea"], [], threshold=0.5), "1 candidates and 0 probabilities"),
        (lambda: candidates_above(["Kea"], [-0.1], threshold=0.5), r"probability is -0\.1; .* exp\(\)"),
        (lambda: candidates_above(["Kea"], [math.nan], threshold=0.5), "probability is nan"),
        (lambda: candidates_above(["Kea"], [0.5], threshold=1.5), r"threshold is 1\.5"),
        (lambda: best_threshold([], [], []), "at least one query"),
        (lambda: best_threshold([{"Kea"}], [["Kea"]], [[0.5]], grid=()), "at least one query and threshold"),
        (lambda: best_threshold([{"Kea"}], [["Kea"]], []), "1 gold sets, 1 lists of candidates and 0 of probabilities"),
        (lambda: best_threshold([set()], [["Kea"]], [[0.5]]), "without gold titles"),
    ],
)
def test_what_has_no_score_is_refused_with_what_to_do(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        wrong()


@given(GOLD, RANKINGS)
def test_scores_lie_between_0_and_1_and_f1_between_the_other_two(gold: frozenset[str], predicted: list[str]) -> None:
    scores = set_scores(gold, predicted)

    assert 0 <= min(scores.precision, scores.recall) <= scores.f1 + 1e-12
    assert scores.f1 <= max(scores.precision, scores.recall) + 1e-12 <= 1 + 1e-12


@given(GOLD, GOLD)
def test_gold_and_prediction_change_places_without_changing_f1(gold: frozenset[str], predicted: frozenset[str]) -> None:
    there, back = set_scores(gold, predicted), set_scores(predicted, gold)

    assert there.f1 == back.f1
    assert (there.precision, there.recall) == (back.recall, back.precision)


@given(GOLD, RANKINGS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(gold: frozenset[str], predicted: list[str]) -> None:
    scores = set_scores(gold, predicted)

    total = scores.precision + scores.recall
    expected = 2 * scores.precision * scores.recall / total if total else 0.0

    assert scores.f1 == pytest.approx(expected, abs=1e-12)


@given(GOLD)
def test_a_perfect_prediction_scores_1(gold: frozenset[str]) -> None:
    assert set_scores(gold, gold) == SetScores(1.0, 1.0, 1.0)
    assert mrecall_at_k(gold, list(gold), k=len(gold)) == 1.0


@given(GOLD, SETS)
def test_only_a_perfect_prediction_has_an_f1_of_1(gold: frozenset[str], predicted: frozenset[str]) -> None:
    assert (set_scores(gold, predicted).f1 == 1.0) == (gold == predicted)


@given(GOLD, st.data())
def test_neither_order_nor_repetition_changes_the_scores_of_sets(gold: frozenset[str], data: st.DataObject) -> None:
    predicted = data.draw(SETS)
    repeated = list(predicted) + (data.draw(st.lists(st.sampled_from(sorted(predicted)))) if predicted else [])

    shuffled = data.draw(st.permutations(repeated))

    assert set_scores(gold, shuffled) == set_scores(gold, predicted)
    assert set_scores([*gold, *gold], shuffled) == set_scores(gold, predicted)


@given(GOLD, RANKINGS, st.integers(1, 15))
def test_recall_grows_with_the_rank(gold: frozenset[str], ranked: list[str], k: int) -> None:
    assert recall_at_k(gold, ranked, k=k) <= recall_at_k(gold, ranked, k=k + 1)
    assert mrecall_at_k(gold, ranked, k=k) <= mrecall_at_k(gold, ranked, k=k + 1)


@given(GOLD, RANKINGS, st.integers(1, 15))
def test_mrecall_is_at_most_recall_and_1_exactly_where_recall_is(gold: frozenset[str], ranked: list[str], k: int) -> None:
    recall, mrecall = recall_at_k(gold, ranked, k=k), mrecall_at_k(gold, ranked, k=k)

    assert 0 <= mrecall <= recall <= 1
    assert (mrecall == 1) == (recall == 1)


@given(GOLD, RANKINGS)
def test_at_the_last_rank_recall_is_that_of_the_set(gold: frozenset[str], ranked: list[str]) -> None:
    assert recall_at_k(gold, ranked, k=max(1, len(ranked))) == set_scores(gold, ranked).recall


@given(GOLD, RANKINGS, st.integers(1, 15), st.data())
def test_the_order_within_the_first_k_does_not_matter(
    gold: frozenset[str], ranked: list[str], k: int, data: st.DataObject
) -> None:
    reordered = [*data.draw(st.permutations(ranked[:k])), *ranked[k:]]

    assert recall_at_k(gold, reordered, k=k) == recall_at_k(gold, ranked, k=k)


@given(scores_with_templates())
def test_the_templates_averages_add_up_to_that_of_all(given_: tuple[list[SetScores], list[str | None]]) -> None:
    scores, templates = given_

    averages = average_scores(scores, templates)

    assert sum(each.n for each in averages.by_template.values()) == len(scores)
    if averages.overall is not None:
        total = sum(each.f1 * each.n for each in averages.by_template.values())
        assert total / len(scores) == pytest.approx(averages.overall.f1, abs=1e-12)


@given(st.lists(SCORES, min_size=1), st.data())
def test_the_order_of_queries_does_not_change_their_average(scores: list[SetScores], data: st.DataObject) -> None:
    assert average_scores(data.draw(st.permutations(scores))) == average_scores(scores)


@given(judged_queries())
def test_no_threshold_tried_is_better_than_the_best_and_none_as_good_is_lower(
    queries: tuple[list[frozenset[str]], list[list[str]], list[list[float]]],
) -> None:
    fit = best_threshold(*queries)

    assert tuple(fit.tried) == GRID
    for threshold, scores in fit.tried.items():
        assert scores.f1 <= fit.scores.f1 + 1e-11
        assert threshold >= fit.threshold or scores.f1 < fit.scores.f1


@given(judged_queries(), st.sampled_from(GRID))
def test_what_a_threshold_scores_is_what_its_kept_candidates_score(
    queries: tuple[list[frozenset[str]], list[list[str]], list[list[float]]], threshold: float
) -> None:
    gold, candidates, probabilities = queries
    kept = [candidates_above(some, likely, threshold=threshold) for some, likely in zip(candidates, probabilities, strict=True)]

    fit = best_threshold(*queries)

    assert fit.tried[threshold] == average_scores(list(map(set_scores, gold, kept))).overall


@given(judged_queries(), PROBABILITIES, PROBABILITIES)
def test_a_higher_threshold_keeps_no_more(
    queries: tuple[list[frozenset[str]], list[list[str]], list[list[float]]], one: float, other: float
) -> None:
    _, (candidates, *_), (probabilities, *_) = queries

    few = candidates_above(candidates, probabilities, threshold=max(one, other))
    many = candidates_above(candidates, probabilities, threshold=min(one, other))

    assert all(title in many for title in few)
    assert len(few) <= len(many)
