from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_labels
from rag_cover.labelling import Grade, LabelSession, compare_annotators, find_disagreements
from rag_cover.labelling.views import agreement_view, disagreement_view
from rag_cover.stores import read_label_file

OpenSession = Callable[..., LabelSession]


def _both_label(open_session: OpenSession) -> LabelSession:
    """Let ada and bob label 20 verdicts: 8 both yes, 6 both no, 4 ada alone yes, 2 bob alone yes."""
    ada, bob = open_session(random_share=1.0), open_session("bob", random_share=1.0)
    said = [("yes", "yes")] * 8 + [("no", "no")] * 5 + [("partly", "no")] + [("yes", "no")] * 4 + [("no", "yes")] * 2
    for key, (first, second) in zip(ada.plan.random_order, said, strict=False):
        ada.say(key, first)  # type: ignore[arg-type]
        bob.say(key, second)  # type: ignore[arg-type]
    return ada


def test_kappa_is_that_of_cohen(open_session: OpenSession) -> None:
    session = _both_label(open_session)

    (agreement,) = compare_annotators(read_label_file(session.path), session.items)

    by_chance = (12 / 20) * (10 / 20) + (8 / 20) * (10 / 20)
    assert (agreement.first, agreement.second, agreement.labels) == ("ada", "bob", 20)
    assert agreement.agreed is not None
    assert agreement.kappa is not None
    assert agreement.agreed.estimate == pytest.approx(14 / 20)
    assert agreement.kappa.estimate == pytest.approx((14 / 20 - by_chance) / (1 - by_chance))
    assert agreement_view(agreement)["kappa"] == "0.40"


def test_disagreements_are_listed_with_what_each_said_until_they_are_settled(open_session: OpenSession) -> None:
    session = _both_label(open_session)
    found = find_disagreements(read_label_file(session.path), session.items)

    session.adjudicate(found[0].item.key, "no")

    left = find_disagreements(read_label_file(session.path), session.items)
    assert len(found) == len(left) == 6
    assert [each.settled is None for each in left] == [True] * 5 + [False]
    assert disagreement_view(left[-1])["settled"] == "no"
    assert {each["label"] for each in disagreement_view(found[0])["said"]} == {"yes", "no"}


def test_a_settled_label_stands_for_all_and_kappa_stays(open_session: OpenSession, evaluation: Evaluation) -> None:
    session = _both_label(open_session)
    before = compare_annotators(read_label_file(session.path), session.items)
    disputed = find_disagreements(read_label_file(session.path), session.items)[0].item

    session.adjudicate(disputed.key, "no")

    rows = [row for row in read_labels(session.path) if (row.question, row.text) == (disputed.facet, disputed.text)]
    assert [(row.label, row.chosen) for row in rows] == [(False, False)]
    assert compare_annotators(read_label_file(session.path), session.items) == before
    assert open_session(random_share=1.0).answered == session.answered
    assert evaluation.with_labels(session.path).known_of_judge.label_of(disputed.facet, disputed.text) is False


def test_one_annotator_has_nobody_to_agree_with(open_session: OpenSession) -> None:
    session = open_session(random_share=1.0)
    session.say(session.plan.random_order[0], "yes")

    labels = read_label_file(session.path)

    assert compare_annotators(labels, session.items) == ()
    assert find_disagreements(labels, session.items) == ()


def test_kappa_of_annotators_who_always_say_the_same_thing_is_undefined(open_session: OpenSession) -> None:
    ada, bob = open_session(random_share=1.0), open_session("bob", random_share=1.0)
    for key in ada.plan.random_order[:5]:
        ada.say(key, "yes")
        bob.say(key, "yes")

    (agreement,) = compare_annotators(read_label_file(ada.path), ada.items)

    assert agreement.kappa is None
    assert agreement_view(agreement)["kappa"] == "undefined"


@pytest.mark.parametrize(("bob_says", "kappa"), [(("no",) * 5, "0.00"), (("yes", "yes", "no", "no", "no"), "1.00")])
def test_kappa_that_nothing_moves_has_no_interval(open_session: OpenSession, bob_says: tuple[Grade, ...], kappa: str) -> None:
    ada, bob = open_session(random_share=1.0), open_session("bob", random_share=1.0)
    ada_says: tuple[Grade, ...] = ("yes", "yes", "no", "no", "no")
    for key, first, second in zip(ada.plan.random_order, ada_says, bob_says, strict=False):
        ada.say(key, first)
        bob.say(key, second)

    (agreement,) = compare_annotators(read_label_file(ada.path), ada.items)

    assert agreement.kappa is not None
    assert (agreement.kappa.lower, agreement.kappa.upper) == (None, None)
    shown = agreement_view(agreement)
    assert (shown["kappa"], shown["interval"]) == (kappa, "undefined")


def test_what_was_taken_back_or_skipped_is_no_disagreement(open_session: OpenSession) -> None:
    ada, bob = open_session(random_share=1.0), open_session("bob", random_share=1.0)
    first, second = ada.plan.random_order[:2]
    ada.say(first, "yes")
    bob.say(first, "no")
    bob.undo()
    ada.say(second, "yes")
    bob.say(second, "skip")

    assert find_disagreements(read_label_file(ada.path), ada.items) == ()
