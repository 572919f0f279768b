"""Skills that are learnt, what they predict, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.routing import Caimira, Responses

ROWS = np.random.default_rng(0).normal(size=(120, 4))
QUESTIONS = [f"question {number}" for number in range(120)]
EASY = (ROWS[:, 0] > 0).astype(float)


def fitted(values: object, **settings: float | None) -> Caimira:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    table = np.array(values, dtype=float)
    agents = [f"agent {number}" for number in range(table.shape[1])]
    return Caimira(2, **({"shrinkage": 0.3} | settings)).fit(Responses(agents, QUESTIONS, table), ROWS)  # type: ignore[arg-type]  # by name


def test_an_agent_that_knows_half_of_the_questions_is_predicted_on_new_ones() -> None:
    model = fitted(np.column_stack([EASY, EASY]))

    easy, hard = model.predict([[2.0, 0, 0, 0], [-2.0, 0, 0, 0]])[:, 0]

    assert easy > 0.7
    assert hard < 0.3


@pytest.mark.slow
def test_fitting_returns_the_model_itself_and_twice_the_same() -> None:
    model, again = fitted(np.column_stack([EASY, 1 - EASY])), fitted(np.column_stack([EASY, 1 - EASY]))

    assert model.fit(Responses(["a"], QUESTIONS, EASY[:, None]), ROWS) is model
    assert model.agents == ("a",)
    assert again.skills.tolist() == fitted(np.column_stack([EASY, 1 - EASY])).skills.tolist()


def test_one_agent_is_enough() -> None:
    assert fitted(EASY[:, None]).predict(ROWS).shape == (120, 1)


def test_agents_that_are_always_right_or_always_wrong_have_finite_skills() -> None:
    model = fitted(np.column_stack([np.ones(120), np.zeros(120), EASY]))

    right, wrong, half = model.predict(ROWS).mean(axis=0)

    assert np.isfinite(model.skills).all()
    assert np.isfinite(model.skill_intervals).all()
    assert wrong < half < right


def test_questions_that_nobody_answered_count_in_nothing() -> None:
    values = np.column_stack([EASY, 1 - EASY])
    values[100:] = np.nan
    whole = fitted(values)
    short = Caimira(2, shrinkage=0.3).fit(Responses(["agent 0", "agent 1"], QUESTIONS[:100], values[:100]), ROWS[:100])

    assert whole.predict(ROWS) == pytest.approx(short.predict(ROWS))


def test_the_same_question_has_the_same_difficulty_alone_and_among_others() -> None:
    model = fitted(EASY[:, None])

    assert model.difficulty(ROWS[:1]) == pytest.approx(model.difficulty(ROWS)[:1])
    assert model.difficulty(ROWS).mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_new_agent_is_learnt_from_few_responses_and_changes_no_other() -> None:
    model = fitted(np.column_stack([EASY, np.ones(120) * (ROWS[:, 1] > -1), 1 - EASY]))
    few = np.full(120, np.nan)
    few[:10] = 1.0

    wider = model.with_agent("new", few, ROWS)

    assert wider.predict(ROWS, agents=list(model.agents)) == pytest.approx(model.predict(ROWS))
    assert wider.predict(ROWS, agents=["new"]).mean() > model.predict(ROWS).mean()
    assert model.agents == ("agent 0", "agent 1", "agent 2")


def test_a_new_agent_is_known_less_well_by_few_responses_than_by_many() -> None:
    model = fitted(np.column_stack([EASY, 1 - EASY]))
    few = np.where(np.arange(120) < 10, EASY, np.nan)

    widths = [np.diff(model.with_agent("new", values, ROWS).skill_intervals[-1]) for values in (few, EASY)]

    assert (widths[0] > widths[1]).all()


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [("agent 0", EASY, "there already"), ("new", EASY * np.nan, "no response"), ("new", EASY[:5], "as many values"),
     ("new", EASY * 2, "from 0 to 1")],
)  # fmt: skip
def test_a_new_agent_that_makes_no_sense_is_refused(name: str, values: object, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        fitted(EASY[:, None]).with_agent(name, np.asarray(values), ROWS)


def test_an_agent_without_any_response_is_named() -> None:
    with pytest.raises(InvalidValueError, match="'agent 1' has no response"):
        fitted(np.column_stack([EASY, EASY * np.nan]))


def test_an_unknown_agent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidValueError, match="Did you mean 'agent 0'"):
        fitted(EASY[:, None]).predict(ROWS, agents=["agent O"])


@pytest.mark.parametrize("rows", [np.zeros((3, 5)), np.zeros(4), np.full((1, 4), np.nan)])
def test_embeddings_of_another_kind_are_refused(rows: object) -> None:
    with pytest.raises(InvalidValueError, match="embeddings"):
        fitted(EASY[:, None]).predict(np.asarray(rows))


def test_a_model_that_learnt_nothing_says_what_to_do() -> None:
    with pytest.raises(InvalidValueError, match="call fit"):
        Caimira().predict(ROWS)


@pytest.mark.parametrize(
    "settings", [{"dimensions": 0}, {"temperature": 0.0}, {"skill_penalty": -1.0}, {"patience": 0}, {"shrinkage": -1.0}]
)
def test_settings_outside_their_range_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(InvalidValueError):
        Caimira(**settings)


def test_known_parameters_predict_without_a_fit() -> None:
    model = Caimira.from_parameters([[1.0], [0.0]], [[0.0]], [0.0], [[1.0]], [0.0], agents=["good", "bad"])

    assert model.predict([[1.0]], agents=["good"]).tolist() == [[0.5]]
    assert np.isnan(model.skill_intervals).all()


def test_skills_are_shrunk_towards_an_agents_mean_where_responses_do_not_tell_dimensions_apart() -> None:
    rng = np.random.default_rng(1)

    skills = fitted(rng.integers(0, 2, (120, 3)), shrinkage=100.0).skills

    assert skills.std(axis=1).max() < 0.01
