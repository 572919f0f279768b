"""Win rates, the bias for a position, and agreement with ratings, at their edges and against numbers worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.pairwise.win_rates import (
    PairVerdict,
    UnjudgedPair,
    Winner,
    agreement_with_ratings,
    overall_win_rate,
    position_bias,
    win_rates_of,
)
from rag_cover.stats.intervals import Interval, wilson

NAMES = ("plain", "broad", "deep")
WON: tuple[Winner, Winner] = ("a", "a")
FIRST: tuple[Winner, Winner] = ("a", "b")
SWAPPED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
WINNERS: st.SearchStrategy[Winner] = st.sampled_from(("a", "b", "tie"))


def verdict(question: str, ab: Winner, ba: Winner, *, a: str = "plain", b: str = "broad") -> PairVerdict:
    return PairVerdict(question, a, b, ab, ba)


def of_two(*told: tuple[Winner, Winner]) -> list[PairVerdict]:
    return [verdict(str(number), ab, ba) for number, (ab, ba) in enumerate(told)]


@st.composite
def many_verdicts(draw: st.DrawFn) -> list[PairVerdict]:
    pairs = [("plain", "broad"), ("plain", "deep"), ("broad", "deep"), ("deep", "plain")]
    found = st.builds(
        lambda question, pair, ab, ba: PairVerdict(str(question), pair[0], pair[1], ab, ba),
        st.integers(0, 6),
        st.sampled_from(pairs),
        WINNERS,
        WINNERS,
    )
    return draw(st.lists(found, max_size=12))


def bounds(interval: Interval | None) -> list[float]:
    return [] if interval is None else [x for x in (interval.lower, interval.estimate, interval.upper) if x is not None]


def test_a_win_counts_one_and_a_tie_a_half_over_both_orders() -> None:
    told = of_two(("a", "a"), ("a", "b"), ("tie", "a"), ("b", "b"), ("tie", "tie"))

    (found,) = win_rates_of(("plain", "broad"), told)

    assert found.rate is not None
    assert found.rate.estimate == pytest.approx((1 + 0.5 + 0.75 + 0 + 0.5) / 5)
    assert (found.wins, found.ties, found.losses, found.judged) == (2, 2, 1, 5)


def test_every_two_of_many_are_compared_in_the_order_they_are_named() -> None:
    told = [verdict("1", "a", "a"), verdict("1", "b", "b", a="deep"), verdict("1", "tie", "tie", a="deep", b="plain")]

    rates = win_rates_of(NAMES, told)

    assert [(each.a, each.b, each.rate and each.rate.estimate) for each in rates] == [
        ("plain", "broad", 1.0),
        ("plain", "deep", 0.5),
        ("broad", "deep", 1.0),
    ]


def test_pairs_without_a_verdict_count_in_no_rate_and_are_counted() -> None:
    lacking = [
        UnjudgedPair("2", "plain", "broad", "timeout: 60 s", failed=True),
        UnjudgedPair("3", "broad", "plain", "broad has no answer", failed=False),
    ]

    (found,) = win_rates_of(("plain", "broad"), of_two(("a", "a")), lacking)

    assert found.rate == Interval(1.0, None, None, 1)
    assert (found.judged, found.failed, found.unjudged) == (1, 1, 1)


def test_without_a_verdict_there_is_no_rate_but_a_reason() -> None:
    lacking = [UnjudgedPair(str(number), "plain", "broad", f"reason {number % 3}", failed=True) for number in range(4)]

    (failed,) = win_rates_of(("plain", "broad"), [], lacking)
    (empty,) = win_rates_of(("plain", "broad"), [])

    assert (failed.rate, failed.undefined_because) == (None, "reason 0")
    assert (empty.rate, empty.undefined_because) == (None, "there is no pair of their answers")
    assert failed.mirror().undefined_because == "reason 0"
    assert overall_win_rate("plain", []) is None


def test_a_side_that_wins_all_is_not_sure_to_win_always() -> None:
    (found,) = win_rates_of(("plain", "broad"), of_two(*[WON] * 6))

    assert found.rate == wilson(6, 6)
    assert bounds(found.mirror().rate) == pytest.approx(bounds(wilson(0, 6)))


@given(many_verdicts())
def test_rates_are_shares_and_the_two_directions_make_one(told: list[PairVerdict]) -> None:
    rates = win_rates_of(NAMES, told)

    for each in rates:
        back = each.mirror()
        assert each.wins + each.ties + each.losses == each.judged == back.judged
        assert (each.rate is None) == (each.undefined_because is not None)
        assert bounds(each.rate) == sorted(bounds(each.rate))
        assert all(-1e-12 <= share <= 1 + 1e-12 for share in bounds(each.rate) + bounds(back.rate))
        if each.rate is not None and back.rate is not None:
            assert each.rate.estimate + back.rate.estimate == pytest.approx(1)


@given(many_verdicts())
def test_whose_answer_is_called_a_changes_nothing(told: list[PairVerdict]) -> None:
    turned = [PairVerdict(each.question, each.b, each.a, SWAPPED[each.ba], SWAPPED[each.ab]) for each in told]

    assert win_rates_of(NAMES, turned) == win_rates_of(NAMES, told)
    assert position_bias(turned) == position_bias(told)


@given(many_verdicts())
def test_what_is_shown_first_changes_no_rate(told: list[PairVerdict]) -> None:
    turned = [PairVerdict(each.question, each.a, each.b, ab=each.ba, ba=each.ab) for each in told]

    assert win_rates_of(NAMES, turned) == win_rates_of(NAMES, told)
    before, after = (position_bias(each).first_won for each in (told, turned))
    assert (before is None) == (after is None)
    assert before is None or after is None or before.estimate + after.estimate == pytest.approx(1)


@given(many_verdicts())
def test_the_other_direction_is_what_counting_from_the_other_side_gives(told: list[PairVerdict]) -> None:
    forward, backward = win_rates_of(NAMES[:2], told), win_rates_of(NAMES[1::-1], told)

    (found,), (turned,) = forward, backward

    mirrored = found.mirror()
    assert (mirrored.a, mirrored.b, mirrored.wins, mirrored.losses) == (turned.a, turned.b, turned.wins, turned.losses)
    assert bounds(mirrored.rate) == pytest.approx(bounds(turned.rate))


def test_overall_counts_every_pair_alike() -> None:
    told = [verdict("1", "a", "a"), verdict("2", "a", "a"), verdict("1", "b", "b", b="deep")]

    overall = overall_win_rate("plain", told)

    assert overall is not None
    assert overall.estimate == pytest.approx(2 / 3)
    assert overall.n == 2


def test_a_judge_that_always_takes_the_first_answer_is_all_bias() -> None:
    told = of_two(*[FIRST] * 8)

    bias, (found,) = position_bias(told), win_rates_of(("plain", "broad"), told)

    assert bias.changed == bias.first_won == wilson(8, 8)
    assert found.rate is not None
    assert found.rate.estimate == 0.5
    assert found.rate.lower == pytest.approx(0.179, abs=1e-3)  # eight ties are no reason to be sure
    assert (found.wins, found.ties, found.losses) == (0, 8, 0)


def test_a_judge_that_keeps_to_its_verdict_has_no_bias() -> None:
    bias = position_bias(of_two(("a", "a"), ("b", "b"), ("tie", "tie"), ("b", "b")))

    assert bias.changed == wilson(0, 4)
    assert bias.first_won is not None
    assert bias.first_won.estimate == 0.5


def test_identical_answers_and_ratings_say_nothing_of_order() -> None:
    same = PairVerdict("1", "plain", "broad", "tie", "tie", basis="identical")
    rated = PairVerdict("1", "plain", "broad", "a", "a", basis="rated")

    biases = [position_bias(told) for told in ([], [same], [rated])]

    assert [(bias.pairs, bias.changed, bias.first_won) for bias in biases] == [(0, None, None)] * 3
    assert [bias.undefined_because for bias in biases] == [
        "no judge was asked about a pair in both orders",
        "no judge was asked about a pair in both orders",
        "not applicable: ratings do not see an order",
    ]
    assert win_rates_of(("plain", "broad"), [same])[0].identical == 1


def test_agreement_counts_pairs_with_a_preference_and_two_ratings() -> None:
    told = of_two(("a", "a"), ("b", "tie"), ("a", "b"), ("a", "a"), ("b", "b"))
    ratings = {("0", "plain"): 1.0, ("0", "broad"): 0.5, ("1", "plain"): 1.0, ("1", "broad"): 0.5}
    ratings |= {("2", "plain"): 1.0, ("2", "broad"): 0.5, ("3", "plain"): 1.0, ("4", "plain"): 0.2, ("4", "broad"): 0.2}

    agreed = agreement_with_ratings(told, ratings)

    assert agreed is not None
    assert (agreed.estimate, agreed.n) == ((1 + 0 + 0.5) / 3, 3)
    assert agreement_with_ratings(told, {}) is None
