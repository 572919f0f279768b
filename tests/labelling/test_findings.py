from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.labelling import LabelSession, find_out
from rag_cover.labelling.views import findings_sentences

OpenSession = Callable[..., LabelSession]


def _label_at_random(session: LabelSession, count: int, wrong: int = 5) -> None:
    """Say what the judge says, but for every so many."""
    for place, key in enumerate(session.plan.random_order[:count]):
        right = session.items[key].covered
        session.say(key, "yes" if right != (place % wrong == 0) else "no")


def test_the_headline_is_the_one_that_evaluate_gives_with_the_same_labels(
    open_session: OpenSession, evaluation: Evaluation
) -> None:
    session = open_session(random_share=1.0)
    _label_at_random(session, 55)

    found = find_out(evaluation, session.items.values(), session.path)

    metric = evaluation.with_labels(session.path).summary().metrics["core_coverage"]
    assert found.headline == metric.with_judge_error
    assert found.rests_on_labels
    assert (found.random, found.chosen, found.population) == (55, 0, 60)
    assert found.accuracy is not None
    assert found.accuracy.estimate == pytest.approx(44 / 55)


def test_before_any_label_it_says_that_nothing_is_known(open_session: OpenSession, evaluation: Evaluation) -> None:
    session = open_session()

    said = " ".join(findings_sentences(find_out(evaluation, session.items.values(), session.path)))

    assert "Nothing is known of this judge’s errors yet: the judge alone says" in said
    assert "From 10 random labels on, this page estimates how many labels you need" in said


def test_it_says_how_many_more_labels_are_needed_or_that_more_questions_are(
    open_session: OpenSession, evaluation: Evaluation
) -> None:
    session = open_session(random_share=1.0)
    _label_at_random(session, 20)

    found = find_out(evaluation, session.items.values(), session.path)

    said = " ".join(findings_sentences(found))
    assert found.needed is None
    assert found.reachable is not None
    assert found.reachable > 0.05
    assert "± 5 points are out of reach: with labels of all 60 core verdicts, the interval is about ±" in said
    assert "The judge agrees with 80% of 20 random labels" in said


def test_chosen_labels_are_told_apart(open_session: OpenSession, evaluation: Evaluation) -> None:
    session = open_session()
    last = session.plan.random_order[-1]
    session.say(last, "yes" if session.items[last].covered else "no")

    found = find_out(evaluation, session.items.values(), session.path)

    assert (found.random, found.chosen, found.chosen_agreed, found.accuracy) == (0, 1, 1, None)
    assert "These labels are not a random sample and change no share" in " ".join(findings_sentences(found))
