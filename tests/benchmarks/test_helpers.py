"""The arithmetic of the benchmarks, by hand-worked numbers."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest

from rag_cover.backends import Span
from rag_cover.questions import Role

Import = Callable[[str], ModuleType]

absent = [package for package in ("torch", "transformers") if find_spec(package) is None]
with_torch = pytest.mark.skipif(bool(absent), reason=f"needs the extra 'transformers' ({', '.join(absent)})")

MODULES = (
    "support.datasets",
    "support.judges",
    "support.multihop",
    "support.scores",
    "support.tables",
    pytest.param("support.shapes", marks=with_torch),
    "support.traces",
    "support.typed",
    "judge.answer_equivalence",
    "coverage.agreement",
    "coverage.throughput",
    pytest.param("checkpoints.entailment_throughput", marks=with_torch),
    "coverage.fit_typer",
    "scale.importing",
    "judge.nli",
    "judge.proposing",
    "judge.reading",
    "reports.losses",
    "judge.side_by_side",
    pytest.param("checkpoints.sampling_throughput", marks=with_torch),
    "coverage.subquestion_types",
    "judge.text_mode",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_hold(name: str, module: Import) -> None:
    assert doctest.testmod(module(name)).failed == 0


def test_undefined_scores_are_not_numbers(module: Import) -> None:
    scores = module("support.scores")

    nothing = np.zeros(4)

    assert all(np.isnan(each(nothing)) for each in (scores.f1, scores.accuracy, scores.kappa, scores.precision))


def test_scores_of_a_worked_table(module: Import) -> None:
    scores = module("support.scores")

    table = np.array([30.0, 10.0, 20.0, 40.0])

    assert scores.precision(table) == pytest.approx(0.75)
    assert scores.recall(table) == pytest.approx(0.6)
    assert scores.f1(table) == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert scores.accuracy(table) == pytest.approx(0.7)
    assert scores.balanced_accuracy(table) == pytest.approx((0.6 + 0.8) / 2)
    assert scores.kappa(table) == pytest.approx((0.7 - 0.5) / 0.5)


def test_a_perfect_correlation_is_one_and_its_opposite_minus_one(module: Import) -> None:
    scores = module("support.scores")
    x = np.array([1.0, 2.0, 4.0])

    rising, falling = (scores.correlation(scores.moments(x, y).sum(axis=0)) for y in (3 * x + 1, -x))

    assert rising == pytest.approx(1)
    assert falling == pytest.approx(-1)


def test_ties_count_half_in_the_area(module: Import) -> None:
    interval = module("support.scores").auc([0.5, 0.5, 0.9], [True, False, True], ["a", "b", "c"])

    assert interval.estimate == pytest.approx(0.75)


def test_a_threshold_never_sees_the_cluster_it_judges(module: Import) -> None:
    scores, truth = [0.1, 0.2, 0.8, 0.9], [False, True, False, True]

    said = module("support.scores").cross_fitted(scores, truth, ["a", "a", "b", "b"])

    assert said.tolist() == [0, 0, 1, 1]  # each pair by the cut of the other: 0.85 and 0.15


def test_brackets_mark_fragments_and_are_not_judged(module: Import) -> None:
    text, marked = module("coverage.agreement").unmarked("One. [Two. Three.] Four [five].")

    assert text == "One. Two. Three. Four five."
    assert [span.of(text) for span in marked] == ["Two. Three.", "five"]


def test_a_window_is_two_sentences_or_all_there_is(module: Import) -> None:
    windows = module("support.judges").two_sentence_windows

    assert windows("One. Two. Three.") == [Span(0, 9), Span(5, 16)]
    assert windows("One.") == [Span(0, 4)]
    assert windows(" ") == []


def test_a_setting_is_played_in_rounds(module: Import) -> None:
    proposing = module("judge.proposing")
    scores = np.array([[0.9, 0.8, 0.7, 0.6, -np.inf], [0.5, 0.4, -np.inf, -np.inf, -np.inf]])
    probabilities = np.array([[0.1, 0.2, 0.9, 0.1, 0.0], [0.1, 0.9, 0.0, 0.0, 0.0]])
    windows = proposing.Windows(scores, probabilities, np.ones(len(scores), dtype=bool))

    all_read = proposing.play(windows, (-1.0, 2.0, 100), 0.5)
    floored = proposing.play(windows, (0.45, 2.0, 100), 0.5)
    narrow = proposing.play(windows, (-1.0, 2.0, 1), 0.5)

    assert (all_read.positives, all_read.kept, all_read.judged, all_read.windows) == (2, 2, 4 + 2, 6)
    assert (floored.kept, floored.judged) == (1, 4 + 1)
    assert (narrow.kept, narrow.judged) == (0, 2)


def test_the_cheapest_setting_reaches_the_target_on_every_set(module: Import) -> None:
    proposing = module("judge.proposing")
    cheap, dear = (0.5, 0.1, 1), (0.3, 0.1, 2)
    games = {
        cheap: {"a": proposing.Played(10, 10, 10, 100, 20), "b": proposing.Played(10, 8, 10, 100, 20)},
        dear: {"a": proposing.Played(10, 10, 30, 100, 20), "b": proposing.Played(10, 9, 30, 100, 20)},
    }

    assert proposing.cheapest(games, 0.8) == cheap
    assert proposing.cheapest(games, 0.9) == dear
    assert proposing.cheapest(games, 0.95) is None


def test_the_logistic_recovers_its_parameters(module: Import) -> None:
    scores = np.linspace(0, 1, 200)

    slope, intercept = module("judge.proposing").logistic(scores, 1 / (1 + np.exp(-(9 * scores - 5))))

    assert (slope, intercept) == pytest.approx((9, -5), abs=1e-3)


@pytest.mark.shared
def test_traces_have_the_shape_they_are_timed_for(module: Import, shared_folder: object) -> None:
    made = module("support.traces")
    material = made.Material.read(made.Path(str(shared_folder)) / "data")

    (short,), (long,) = (list(made.traces(material, case, 1, 0)) for case in ("short", "long"))

    assert (len(short.sub_questions), len(short.chunks)) == (8, 5)
    assert all(120 <= len(passage.text.split()) <= 300 for passage in short.chunks)
    assert len(long.sub_questions) == 20
    assert 20_000 <= len(long.chunks[0].text.split()) <= 20_500
    assert short == next(made.traces(material, "short", 1, 0))


def test_the_fit_learns_what_tells_roles_apart(module: Import) -> None:
    typed = module("support.typed")
    roles = (Role.CORE, Role.BACKGROUND, Role.FOLLOW_UP) * 20
    sheet = typed.Sheet("q", "Why?", ("?",) * 60, roles)
    inputs = np.concatenate([np.tile(np.eye(3), (20, 1)), np.ones((60, 1))], axis=1)

    weights = typed.fitted([sheet], [inputs])

    assert typed.predicted(inputs, weights) == list(roles)


def test_a_majority_is_the_most_frequent_label(module: Import) -> None:
    majority_of = module("support.typed").majority_of

    assert majority_of([Role.FOLLOW_UP, Role.CORE, Role.FOLLOW_UP]) is Role.FOLLOW_UP
    assert majority_of([Role.FOLLOW_UP, Role.CORE]) is Role.CORE
