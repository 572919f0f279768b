from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.labelling import LabelItem, LabelSampling


def _label(plan: LabelSampling, count: int) -> list[str]:
    answered: list[str] = []
    for _ in range(count):
        draw = plan.next(answered)
        assert draw is not None
        answered.append(draw.key)
    return answered


def test_every_other_verdict_is_drawn_at_random_and_the_rest_are_the_most_unsure(items: list[LabelItem]) -> None:
    unsure = [replace(item, probability=0.5 + place / 2000, certain=False) for place, item in enumerate(items)]
    plan = LabelSampling(unsure)

    answered = _label(plan, 20)

    chosen = [key for key in answered if key in plan.chosen_order[:11]]
    assert plan.sample_size(answered) >= 10
    assert len(chosen) >= 10


def test_disputed_verdicts_are_chosen_first(items: list[LabelItem]) -> None:
    disputed = replace(items[7], disputed=True, probability=1.0)

    plan = LabelSampling([*items[:7], disputed, *items[8:]])

    assert plan.chosen_order[0] == disputed.key


def test_the_random_order_is_the_same_for_everybody_and_another_for_another_seed(items: list[LabelItem]) -> None:
    plan, again, other = LabelSampling(items), LabelSampling(reversed(items)), LabelSampling(items, seed=1)

    assert plan.random_order == again.random_order
    assert plan.random_order != other.random_order
    assert {*plan.random_order} == {item.key for item in items if item.counts_in_headline}


def test_all_verdicts_worth_it_come_once_and_then_nothing(items: list[LabelItem]) -> None:
    plan = LabelSampling(items)
    every = {*plan.random_order, *plan.chosen_order}

    answered = _label(plan, len(every))

    assert {*answered} == every
    assert plan.next(answered) is None


@pytest.mark.parametrize(("share", "expected"), [(1.0, 30), (0.0, 0), (0.2, 6)])
def test_the_share_of_random_verdicts_is_kept(items: list[LabelItem], share: float, expected: int) -> None:
    unsure = [replace(item, probability=0.5 if item.kind == "passage" else 0.99, certain=True) for item in items]
    plan = LabelSampling(unsure, random_share=share)

    assert plan.sample_size(_label(plan, 30)) == expected


def test_a_share_that_is_none_is_refused(items: list[LabelItem]) -> None:
    with pytest.raises(InvalidValueError, match="random_share is 1.5; give a number from 0 to 1"):
        LabelSampling(items, random_share=1.5)


def test_the_random_part_is_right_on_average_and_all_labels_together_are_not(items: list[LabelItem]) -> None:
    """What people say depends on how sure the judge is, so that chosen verdicts are another kind."""
    rng = random.Random(0)
    core = [replace(item, probability=rng.random(), certain=True) for item in items if item.counts_in_headline]
    truth = {item.key: abs(item.probability - 0.5) > 0.25 for item in core}
    share = statistics.mean(truth.values())

    of_sample, of_all = [], []
    for seed in range(300):
        plan = LabelSampling(core, seed=seed)
        answered = _label(plan, 24)
        size = plan.sample_size(answered)
        of_sample.append(statistics.mean(truth[key] for key in plan.random_order[:size]))
        of_all.append(statistics.mean(truth[key] for key in answered))

    assert abs(statistics.mean(of_sample) - share) < 0.02
    assert abs(statistics.mean(of_all) - share) > 0.1
