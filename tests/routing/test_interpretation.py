"""What dimensions mean, and questions that are hard in the same way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.routing.interpretation.clusters import cluster_questions
from rag_cover.routing.interpretation.dimensions import interpret_dimensions
from rag_cover.routing.interpretation.features import form_of, readable_features
from rag_cover.stats.logistic import fit_logistic

N = 300


def when_and_who(seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Make questions whose first dimension is about times, and the second about people."""
    rng = np.random.default_rng(seed)
    things = rng.choice(["king", "land", "town", "river", "song"], N)
    kinds = rng.choice(["largest", "old", "old"], N)
    texts = [f"{'when' if n % 2 else 'who'} made the {kinds[n]} {things[n]} number {n}" for n in range(N)]
    first = np.clip(np.array([0.7 if n % 2 else 0.3 for n in range(N)]) + rng.normal(0, 0.05, N), 0, 1)
    return np.column_stack([first, 1 - first]), texts


def test_a_dimension_is_told_by_the_feature_that_makes_it() -> None:
    relevance, texts = when_and_who()

    first, second = interpret_dimensions(relevance, texts)

    told = {effect.feature: effect for effect in first.clear_effects}
    assert told["asks when"].weight > 0
    assert told["asks who"].weight < 0
    assert told["asks when"].odds_ratio > 2
    assert {effect.feature: effect.weight > 0 for effect in second.effects}["asks who"]


def test_the_most_relevant_questions_come_first() -> None:
    relevance, texts = when_and_who()

    dimension = interpret_dimensions(relevance, texts, shown=3)[0]

    assert dimension.questions[0] == (texts[int(relevance[:, 0].argmax())], relevance[:, 0].max())
    assert [value for _, value in dimension.questions] == sorted(relevance[:, 0], reverse=True)[:3]


def test_relevance_by_chance_is_told_by_nothing() -> None:
    _, texts = when_and_who()

    dimensions = interpret_dimensions(np.random.default_rng(5).dirichlet(np.ones(4), N), texts)

    assert [dimension.clear_effects for dimension in dimensions] == [()] * 4


def test_a_single_dimension_is_equally_relevant_to_all_and_told_by_nothing() -> None:
    (only,) = interpret_dimensions(np.ones((N, 1)), when_and_who()[1])

    assert only.effects == ()
    assert only.mean_relevance == 1.0


def test_the_papers_own_cut_may_be_asked_for() -> None:
    relevance, texts = when_and_who()

    (first, _) = interpret_dimensions(relevance, texts, high=0.6)

    assert "asks when" in {effect.feature for effect in first.clear_effects}


def test_relevance_of_other_questions_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"\(300, 2\) for 299 questions"):
        interpret_dimensions(when_and_who()[0], when_and_who()[1][:-1])


def test_p_values_are_corrected_for_all_dimensions_together() -> None:
    relevance, texts = when_and_who()

    effects = [effect for dimension in interpret_dimensions(relevance, texts) for effect in dimension.effects]

    least = min(effects, key=lambda effect: effect.p_value)
    assert least.adjusted_p_value == pytest.approx(min(1.0, len(effects) * least.p_value))


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Who wrote Emma?", "asks who"),
        ("How did he die?", "asks how"),
        ("In which country is Ulm?", "asks where"),
        ("Does it rain?", "asks yes or no"),
        ("Name a river.", "other"),
    ],
)
def test_the_form_of_a_question_is_what_it_asks_for(question: str, form: str) -> None:
    assert form_of(question) == form


def test_features_that_hardly_any_question_has_are_left_out() -> None:
    texts = [f"what is thing {chr(97 + n % 26)} like" for n in range(40)]

    assert "asks who" not in readable_features(texts).names
    assert "asks what" not in readable_features(texts).names  # all have it


def test_words_that_end_like_superlatives_are_none() -> None:
    texts = ["what is the tallest tower"] * 10 + ["what was the test of the west forest"] * 10

    features = readable_features(texts)

    assert features.values[:, features.names.index("superlative")].tolist() == [1.0] * 10 + [0.0] * 10


def test_a_logistic_regression_finds_the_odds_of_a_table() -> None:
    features = np.column_stack([np.ones(100), [1.0] * 50 + [0.0] * 50])
    labels = [1.0] * 40 + [0.0] * 10 + [1.0] * 10 + [0.0] * 40

    fit = fit_logistic(features, labels)

    assert fit.weights[1] == pytest.approx(math.log(16))  # odds 4 against 1/4
    assert fit.errors[1] == pytest.approx(math.sqrt(1 / 40 + 1 / 10 + 1 / 10 + 1 / 40))
    assert fit.p_values[1] == pytest.approx(math.erfc(math.log(16) / 0.5 / math.sqrt(2)))


def test_a_feature_that_separates_perfectly_gets_a_finite_weight() -> None:
    fit = fit_logistic([[1.0], [-1.0]] * 50, [1.0, 0.0] * 50, penalty=1.0)

    assert 0 < fit.weights[0] < 10


def test_clusters_come_with_every_agents_accuracy_easiest_first() -> None:
    hard, easy = np.full((20, 2), [2.0, 2.0]), np.full((30, 2), [-1.0, -1.0])
    points = np.concatenate([hard, easy]) + np.random.default_rng(0).normal(0, 0.01, (50, 2))
    values = np.concatenate([np.tile([0.0, np.nan], (20, 1)), np.tile([1.0, 0.0], (30, 1))])

    first, second = cluster_questions(points, values, ["a", "b"], clusters=2)

    assert (len(first.members), len(second.members)) == (30, 20)
    assert first.accuracy["a"].estimate == 1.0
    assert second.accuracy["a"].estimate == 0.0
    assert "b" not in second.accuracy
    assert set(second.typical) <= set(second.members) == set(range(20))


def test_clusters_are_the_same_every_time() -> None:
    points = np.random.default_rng(2).normal(size=(60, 3))

    assert cluster_questions(points, np.ones((60, 1)), ["a"]) == cluster_questions(points, np.ones((60, 1)), ["a"])


def test_equal_questions_make_one_cluster() -> None:
    assert len(cluster_questions(np.zeros((9, 2)), np.ones((9, 1)), ["a"], clusters=4)) == 1


def test_graded_success_has_an_interval_too() -> None:
    (cluster,) = cluster_questions(np.zeros((8, 1)), np.full((8, 1), 0.25), ["a"])

    assert cluster.accuracy["a"].estimate == 0.25
