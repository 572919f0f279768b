"""Calibration: thresholds that are found again, figures for questions not fitted on, refusals with numbers, and warnings."""

from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.complexity import Calibration, Evidence, Labelled, calibrate, retrieval_complexity
from rag_cover.complexity.choices import Constraints
from rag_cover.complexity.fitting import LEAST
from rag_cover.complexity.thresholds import best_thresholds
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.stats.logistic import fit_weights, probabilities_of

APART = ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0))
TOGETHER = ((1.0, 1.0, 1.0), (0.0, 1.0, 1.0))


def labelled(
    answers: Sequence[float], truth: Sequence[bool], relevance: Sequence[tuple[tuple[float, ...], ...]] | None = None
) -> list[Labelled]:
    rows = relevance or [TOGETHER] * len(answers)
    return [
        Labelled(Evidence((answer, 0.0), row), is_complex, f"group {number // 2}")
        for number, (answer, is_complex, row) in enumerate(zip(answers, truth, rows, strict=True))
    ]


def separable(n: int = 40) -> list[Labelled]:
    """Make n complex questions that nothing above 0.3 answers, and n simple ones that something from 0.6 on does."""
    rng = np.random.default_rng(0)
    answers = [*rng.uniform(0, 0.3, n), *rng.uniform(0.6, 1, n)]
    return labelled(answers, [True] * n + [False] * n)


def test_a_threshold_is_put_between_what_it_separates() -> None:
    found = calibrate(separable(), name="separable questions")

    assert 0.3 < found.calibration.t_ans < 0.6
    assert found.accuracy is not None
    assert found.accuracy.estimate == 1.0
    assert (found.majority, found.calibration.n, found.calibration.name) == (0.5, 80, "separable questions")


def test_figures_are_for_questions_that_were_not_fitted_on() -> None:
    rng = np.random.default_rng(1)
    noise = labelled(rng.uniform(size=200).tolist(), (rng.uniform(size=200) < 0.5).tolist())

    found = calibrate(noise, constraints="answerability")

    assert found.accuracy is not None
    assert found.accuracy.estimate < 0.6
    assert found.accuracy.lower is not None
    assert found.accuracy.n == 100  # groups, which are what is resampled


def test_completeness_decides_with_answerability_where_it_helps() -> None:
    n = 40  # unanswered questions are complex only where their documents are about parts
    relevance = [APART] * n + [TOGETHER] * n + [APART] * n
    questions = labelled([0.1] * 2 * n + [0.9] * n, [True] * n + [False] * 2 * n, relevance)

    both, alone = (calibrate(questions, constraints=each, readings=["joint"]) for each in ("both", "answerability"))

    assert both.f1 is not None
    assert alone.f1 is not None
    assert both.f1.estimate == 1.0 > alone.f1.estimate
    assert both.calibration.t_com > 0


def test_the_reading_that_helps_is_chosen_among_those_asked_for() -> None:
    n = 40
    questions = labelled([0.1] * 2 * n, [True] * n + [False] * n, [APART] * n + [TOGETHER] * n)

    found = calibrate(questions, readings=["document-entropy", "joint"], temperatures=[None])

    assert found.calibration.reading == "joint"


def test_constant_completeness_is_warned_of() -> None:
    found = calibrate(separable())

    assert found.warnings == ("completeness is 0.815 for all 80 questions; it cannot tell them apart",)
    assert calibrate(separable(), constraints="answerability").warnings == ()


def test_completeness_that_decides_nothing_is_warned_of() -> None:
    questions = separable()
    varied = [
        Labelled(Evidence(each.evidence.answer_probabilities, APART if number % 3 else TOGETHER), each.is_complex, each.group)
        for number, each in enumerate(questions)
    ]

    found = calibrate(varied, temperatures=[None])

    assert found.calibration.t_com == 0
    assert found.warnings == ("completeness decides nothing: all 80 questions are complete at t_com = 0.000",)


@pytest.mark.parametrize(("hard", "simple"), [(LEAST - 1, 100), (100, LEAST - 1), (0, 0)])
def test_too_few_of_either_kind_are_refused_with_their_numbers(hard: int, simple: int) -> None:
    questions = labelled([0.5] * (hard + simple), [True] * hard + [False] * simple)

    with pytest.raises(InvalidValueError, match=f"{hard} complex and {simple} simple questions are too few.* {LEAST}"):
        calibrate(questions)


def test_fewer_groups_than_folds_are_refused() -> None:
    together = [Labelled(each.evidence, each.is_complex, "one") for each in separable()]

    with pytest.raises(InvalidValueError, match="1 groups cannot be split into 5 folds"):
        calibrate(together)


def test_questions_judged_in_different_ways_are_refused() -> None:
    other = Labelled(Evidence((0.1,), ((1.0,),), references="gold"), is_complex=True, group="other")

    with pytest.raises(InvalidValueError, match="no thresholds in common"):
        calibrate([*separable(), other])


def test_completeness_needs_relevance_and_answerability_does_not() -> None:
    untold = [Labelled(Evidence(each.evidence.answer_probabilities), each.is_complex, each.group) for each in separable()]

    with pytest.raises(InvalidValueError, match="80 of 80 questions have no relevance"):
        calibrate(untold)

    assert calibrate(untold, constraints="answerability").calibration.t_ans > 0.3


def test_a_reading_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'entropy' is no reading"):
        calibrate(separable(), readings=["entropy"])  # type: ignore[list-item]  # a misspelt one

    with pytest.raises(InvalidValueError, match="nothing to choose among"):
        calibrate(separable(), temperatures=[])


def test_results_of_probing_can_be_labelled_as_they_are() -> None:
    results = [
        Labelled(
            retrieval_complexity(each.evidence.answer_probabilities, each.evidence.relevance or ()), each.is_complex, each.group
        )
        for each in separable()
    ]

    assert calibrate(results) == calibrate(separable())


def test_a_question_for_which_nothing_was_retrieved_is_unanswered_and_complete() -> None:
    nothing = [Labelled(Evidence((), ()), is_complex=True, group=f"nothing {number}") for number in range(20)]

    found = calibrate([*separable(), *nothing])

    assert found.f1 is not None
    assert found.f1.estimate == 1.0


@pytest.mark.parametrize("constraints", get_args(Constraints))
def test_the_probability_rises_as_documents_answer_less(constraints: Constraints) -> None:
    n = 60
    rng = np.random.default_rng(2)
    answers = [*rng.beta(2, 5, n), *rng.beta(5, 2, n)]
    relevance = [APART if rng.uniform() < share else TOGETHER for share in [0.8] * n + [0.2] * n]

    fitted = calibrate(labelled(answers, [True] * n + [False] * n, relevance), constraints=constraints, readings=["joint"])

    hard, simple = (
        fitted.calibration.probability(Evidence(each, rows)) for each, rows in (((0.1,), APART[:1]), ((0.9,), TOGETHER[:1]))
    )
    assert hard is not None
    assert simple is not None
    assert 0 < simple <= hard < 1


def test_a_probability_is_unknown_without_a_fit_documents_or_relevance() -> None:
    fitted = calibrate(separable()).calibration

    assert Calibration().probability(Evidence((0.5,), ((1.0,),))) is None
    assert fitted.probability(Evidence((), ())) is None
    assert fitted.probability(Evidence((0.5,))) is None


def test_a_calibration_comes_back_from_json_data_unchanged() -> None:
    fitted = calibrate(separable(), name="separable").calibration

    assert Calibration.from_dict(fitted.to_dict()) == fitted


@pytest.mark.parametrize("change", [{"t_ans": 2.0}, {"reading": "joined"}, {"constraints": "none"}, {"unknown": 1}])
def test_what_is_no_calibration_is_refused_with_the_reason(change: dict[str, object]) -> None:
    with pytest.raises(InputError, match=str(next(iter(change)))):
        Calibration.from_dict({**Calibration().to_dict(), **change})


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: any(truth for *_, truth in rows)
    )
)
def test_both_thresholds_are_never_worse_than_one_where_they_were_chosen(rows: list[tuple[float, float, bool]]) -> None:
    answers, completeness, truth = (np.array(column) for column in zip(*rows, strict=True))

    both, alone = (best_thresholds(answers, completeness, truth, each) for each in ("both", "answerability"))

    said = (answers < both.t_ans) & (completeness >= both.t_com)
    assert both.f1 >= alone.f1
    assert both.f1 == pytest.approx(2 * (said & truth).sum() / (said.sum() + truth.sum()))


def test_weights_recover_the_odds_they_were_drawn_from() -> None:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(20_000, 2))
    truth = rng.uniform(size=20_000) < probabilities_of([0.5, 2.0, -1.0], columns)

    found = fit_weights(columns, truth)

    assert found == pytest.approx([0.5, 2.0, -1.0], abs=0.1)


def test_a_column_that_does_not_vary_weighs_nothing() -> None:
    found = fit_weights([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 1, 1])

    assert found[2] == 0
    assert np.isfinite(found).all()


def test_a_single_hop_question_has_a_threshold_of_its_own() -> None:
    weights = (1.0, -1.5, 0.5)
    fitted = Calibration(t_ans=0.86, t_ans_single_hop=0.7, weights=weights)

    single = fitted.for_single_hop()

    assert (single.t_ans, single.t_ans_single_hop) == (0.7, None)
    assert single.for_single_hop() == single
    assert Calibration.from_dict(fitted.to_dict()) == fitted
    at_thresholds = [each.probability(Evidence((each.t_ans,), ((1.0,),))) for each in (fitted, single)]
    assert at_thresholds[0] == pytest.approx(at_thresholds[1])


def test_completeness_alone_asks_nothing_of_the_answer_of_a_single_hop_question() -> None:
    fitted = Calibration(t_ans_single_hop=0.7, constraints="completeness", weights=(1.0, 2.0))

    assert fitted.for_single_hop().weights == (1.0, 2.0)


def test_a_calibration_written_before_single_hop_thresholds_is_read() -> None:
    older = {name: value for name, value in Calibration(t_ans=0.4).to_dict().items() if name != "t_ans_single_hop"}

    assert Calibration.from_dict(older) == Calibration(t_ans=0.4)


def test_a_single_hop_threshold_lies_between_0_and_1() -> None:
    with pytest.raises(InvalidValueError, match="t_ans_single_hop"):
        Calibration(t_ans_single_hop=1.5)
