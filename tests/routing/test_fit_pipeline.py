"""Skills learnt from outcomes, with an adjustment by complexity where that helps."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.complexity import Complexity
from rag_cover.errors import InputError, NothingLearnedError
from rag_cover.questions import Passage, Question
from rag_cover.routing import HeldOut, Outcomes, Responses, SkillRouter, complexities_without_references, learn_skills
from rag_cover.routing.fit_pipeline import refuse_no_gain
from rag_cover.routing.training_data import Retrieved
from rag_cover.stats.intervals import Interval
from rag_cover.testing import KeywordScorer

N = 120


@dataclass(frozen=True)
class Kinds:
    """Embeds a text by whether it asks when."""

    fingerprint: str = "kinds"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1.0, 0.0] if "when" in text else [0.0, 1.0] for text in texts], dtype=np.float32)


def outcomes(values: NDArray[np.float64], retrieved: tuple[Retrieved | None, ...] = ()) -> Outcomes:
    texts = [f"{('when', 'who')[place % 2]} was number {place}" for place in range(len(values))]
    return Outcomes(Responses(["a", "b"], texts, values), "correct", "said so", len(values), {}, 0, retrieved)


def complexity(best: float) -> Complexity:
    return Complexity(best, best > 0.15, 0.9, True, best <= 0.15, 0.15, 0.8)  # noqa: FBT003


@pytest.mark.slow
def test_skills_foretell_questions_that_were_held_out() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    values = np.array([[float(place % 2 == 0), float(place % 2)] for place in range(N)])
    values[::15] = 1 - values[::15]

    model, record = learn_skills(outcomes(values), Kinds(), dimensions=2)

    assert model.agents == ("a", "b")
    assert model.encoder == "kinds"
    assert record.held_out.gain.lower is not None
    assert record.held_out.gain.lower > 0
    assert record.predicted.shape == (N, 2)
    assert record.relevance.sum(axis=1) == pytest.approx(1.0)
    assert record.adjustment is None


def test_complexity_that_tells_becomes_an_adjustment_and_its_gain_is_said() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    best = np.random.default_rng(0).random(N)
    values = np.column_stack([(best > 0.5).astype(float), (np.arange(N) % 3 > 0).astype(float)])

    _, record = learn_skills(outcomes(values), Kinds(), dimensions=1, complexities=[complexity(each) for each in best])

    assert record.adjustment is not None
    assert record.notes[-1].startswith("Adjustment by complexity kept: held-out log-loss")


@pytest.mark.slow
def test_complexity_that_tells_nothing_is_left_out_and_it_is_said() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    rng = np.random.default_rng(1)
    values = (rng.random((N, 2)) < 0.5).astype(float)

    unknown = [complexity(each) for each in rng.random(N)]
    _, record = learn_skills(outcomes(values), Kinds(), dimensions=1, complexities=unknown, require_gain=False)

    assert record.adjustment is None
    assert "left out, since that is no clear gain" in record.notes[-1]


@pytest.mark.slow
def test_an_agent_that_was_asked_little_is_foretold_as_the_others_where_it_must_be() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    values = np.array([[float(place % 2 == 0), np.nan] for place in range(40)])
    values[3, 1] = 1.0

    _, record = learn_skills(outcomes(values), Kinds(), dimensions=1, require_gain=False)

    assert np.isfinite(record.predicted).all()


def test_nineteen_questions_are_too_few() -> None:
    with pytest.raises(InputError, match="20 questions at least, not 19"):
        learn_skills(outcomes(np.ones((19, 2))), Kinds())


def test_complexity_is_judged_without_references_as_a_router_must() -> None:
    asked = Question("Why is the sky blue?", references="air")
    gold, free = complexity(0.9), complexity(0.9)
    gold = Complexity(**{**{name: getattr(gold, name) for name in gold.__slots__}, "references": "gold"})
    passages = (Passage("The sky is blue."),)
    known = (Retrieved(asked, passages, gold), Retrieved(asked, passages, free), None)

    assert complexities_without_references(outcomes(np.ones((3, 2)), known), None) == [None, free, None]
    judged = complexities_without_references(outcomes(np.ones((3, 2)), known), KeywordScorer())
    assert judged[0] is not None
    assert judged[0].references == "none"
    assert judged[2] is None


def test_without_anything_retrieved_complexity_is_unknown() -> None:
    assert complexities_without_references(outcomes(np.ones((3, 2))), KeywordScorer()) == [None] * 3


@pytest.mark.slow
def test_the_fewest_dimensions_that_do_as_well_are_chosen_and_told() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    able = np.random.default_rng(0).random((N, 2)) < [0.8, 0.3]

    model, record = learn_skills(outcomes(able.astype(float)), Kinds(), require_gain=False)

    assert model.dimensions == 1
    (note,) = (note for note in record.notes if note.startswith("Dimensions chosen"))
    assert note.startswith("Dimensions chosen by cross-validated log-loss: 1 (1: ")
    assert record.held_out.dimensions == (1,) * 5


@pytest.mark.slow
def test_dimensions_that_are_named_are_kept() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    able = np.random.default_rng(0).random((N, 2)) < [0.8, 0.3]

    model, record = learn_skills(outcomes(able.astype(float)), Kinds(), dimensions=3, require_gain=False)

    assert model.dimensions == 3
    assert not any("chosen" in note for note in record.notes)


def test_skills_without_a_clear_gain_are_refused_with_the_figures() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    chance = (np.random.default_rng(0).random((N, 2)) < 0.5).astype(float)

    with pytest.raises(NothingLearnedError, match="Nothing was learned: on 120 held-out questions") as refused:
        learn_skills(outcomes(chance), Kinds(), dimensions=1)

    assert refused.value.lower is not None
    assert refused.value.lower <= 0
    assert refused.value.gain == pytest.approx(refused.value.means_log_loss - refused.value.log_loss)
    assert pickle.loads(pickle.dumps(refused.value)).questions == N  # noqa: S301 - our own


@pytest.mark.slow
def test_a_subject_that_decides_is_learned_where_the_words_say_nothing() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    subjects = tuple("law" if place % 3 else "maths" for place in range(N))
    values = np.array([[float(subject == "law"), float(place % 4 > 0)] for place, subject in enumerate(subjects)])
    values[::11] = 1 - values[::11]
    texts = [f"who was number {place}" for place in range(N)]
    table = Outcomes(Responses(["a", "b"], texts, values), "table", "said so", N, {}, 0, subjects=subjects)

    model, record = learn_skills(table, Kinds())
    router = SkillRouter(model, None, embedder=Kinds())
    law, maths, cooking, none = router.predict(["who was it"] * 4, subjects=["law", "maths", "cooking", None])

    assert record.held_out.gain.lower is not None
    assert record.held_out.gain.lower > 0
    assert law[0] > maths[0] + 0.3
    assert cooking.tolist() == none.tolist()
    assert maths[0] < none[0] < law[0]
    assert any(note.startswith("Subjects are a feature of 120 of 120 questions: law, maths.") for note in record.notes)


def test_a_gain_on_means_that_is_no_better_than_guessing_is_refused() -> None:
    held_out = HeldOut(0.749, 0.774, Interval(0.024, 0.013, 0.036, 30), Interval(0.193, None, None, 30))

    with pytest.raises(NothingLearnedError, match=r"not clearly better than guessing does: .*, ROC-AUC 0\.19"):
        refuse_no_gain(held_out)
