"""Models asked once for each distinct item, and held to what they must return."""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.backends import Failure, ScoringItem, Span
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.model_calls import ask_probabilities, ask_relations, bisect_failures, fragments
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

ITEM = ScoringItem("Why is the sky blue?", "The sky is blue: air scatters short waves.")


class WrongScorer:
    """Returns what it is told to."""

    threshold = 0.5
    fingerprint = "wrong"

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        del items
        return np.array(self.values, dtype=np.float32)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([float("nan")], "returned nan, which is no probability"),
        ([1.5], "returned 1.5, which is no probability"),
        ([-0.5], "returned -0.5, which is no probability"),
        ([0.5, 0.5], r"returned shape \(2,\) where \(1,\) was asked for"),
        ([], r"returned shape \(0,\) where \(1,\) was asked for"),
    ],
)
def test_a_scorer_that_returns_no_probabilities_has_failed(values: list[float], complaint: str) -> None:
    scorer = WrongScorer(values)

    with pytest.raises(ModelFailedError, match=rf"WrongScorer \(wrong\): correctness {complaint}"):
        ask_probabilities(scorer, [ITEM])


class WrongLocator:
    """Returns what it is told to."""

    fingerprint = "wrong"

    def __init__(self, spans: list[Span | None]) -> None:
        self.spans = spans

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        del items
        return self.spans


@pytest.mark.parametrize(
    ("spans", "complaint"),
    [([Span(3, 99)], "for a text of 42 characters"), ([Span(5, 3)], "for a text"), ([], "0 fragments for 1 texts")],
)
def test_a_locator_that_points_outside_its_text_has_failed(spans: list[Span | None], complaint: str) -> None:
    locator = WrongLocator(spans)

    with pytest.raises(ModelFailedError, match=complaint):
        fragments(locator, [ITEM])


def test_an_empty_fragment_is_none() -> None:
    locator = WrongLocator([Span(3, 3)])

    found = fragments(locator, [ITEM])

    assert found == {ITEM: None}


def test_every_distinct_item_is_asked_once() -> None:
    scorer = KeywordScorer()
    other = ScoringItem("Why is grass green?", ITEM.text)

    asked = ask_probabilities(scorer, [ITEM, other, ITEM])

    assert list(asked) == [ITEM, other]
    assert scorer.asked.items == 2


def test_single_precision_reads_as_written() -> None:
    scorer = WrongScorer([0.7])

    asked = ask_probabilities(scorer, [ITEM])

    assert asked == {ITEM: 0.7}


def test_rounding_above_one_is_one() -> None:
    scorer = WrongScorer([1.000001])

    asked = ask_probabilities(scorer, [ITEM])

    assert asked == {ITEM: 1.0}


def test_without_items_no_model_is_asked() -> None:
    scorer, locator, entailer = KeywordScorer(), KeywordLocator(), KeywordEntailer()

    nothing = ask_probabilities(scorer, []), fragments(locator, []), ask_relations(entailer, [])

    assert nothing == ({}, {}, {})
    assert scorer.asked.calls == locator.asked.calls == entailer.asked.calls == 0


class Judge:
    """Doubles numbers, unless one of them is bad, there are too many of them, or it is down."""

    def __init__(self, bad: Collection[int] = (), *, most: int = 10**6, until: int = 10**6) -> None:
        self.bad, self.most, self.until = bad, most, until
        self.calls = 0

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.calls += 1
        if self.calls > self.until or len(numbers) > self.most:
            message = "the server is down"
            raise ModelFailedError(message, kind="connection")
        if refused := [number for number in numbers if number in self.bad]:
            message = f"refused {refused[0]}"
            raise ModelFailedError(message, kind="filtered")
        return [2 * number for number in numbers]


def failed(found: dict[int, int | Failure]) -> set[int]:
    return {number for number, said in found.items() if isinstance(said, Failure)}


@pytest.mark.parametrize("count", [40, 1200])
def test_a_judge_that_is_down_is_not_asked_about_everything(count: int) -> None:
    judge = Judge(until=0)

    found = bisect_failures(range(count), judge)

    assert found == dict.fromkeys(range(count), Failure("connection", "the server is down"))
    assert judge.calls == 3 + max(8, count.bit_length())


def test_a_judge_that_goes_down_in_between_keeps_what_it_said() -> None:
    judge = Judge(bad=[1199], until=10)

    found = bisect_failures(range(1200), judge)

    assert found[0] == 0
    assert set(range(600)) <= found.keys() - failed(found)
    assert judge.calls < 40


@pytest.mark.parametrize("bad", [0, 617, 1199])
def test_one_bad_item_costs_no_other_its_verdict_and_few_calls(bad: int) -> None:
    judge = Judge(bad=[bad])

    found = bisect_failures(range(1200), judge)

    assert failed(found) == {bad}
    assert judge.calls <= 1 + 2 * 11


def test_a_few_bad_items_cost_a_few_calls_each() -> None:
    judge = Judge(bad=[0, 1, 2, 600, 1199])

    found = bisect_failures(range(1200), judge)

    assert failed(found) == {0, 1, 2, 600, 1199}
    assert judge.calls <= 5 * 3 * 11


@pytest.mark.parametrize("period", [2, 3, 4, 5, 6, 7, 8, 10, 16])
def test_bad_items_at_regular_places_are_found_one_by_one(period: int) -> None:
    bad = set(range(0, 1200, period))

    assert failed(bisect_failures(range(1200), Judge(bad=bad))) == bad


def test_a_judge_that_takes_few_items_at_a_time_is_not_taken_to_be_down() -> None:
    found = bisect_failures(range(1200), Judge(most=10))

    assert found == {number: 2 * number for number in range(1200)}


def test_without_things_nobody_is_asked() -> None:
    judge = Judge()

    assert bisect_failures([], judge) == {}
    assert judge.calls == 0


@given(st.integers(1, 60), st.sets(st.integers(0, 59), max_size=4))
def test_whatever_few_are_bad_all_others_have_their_verdicts(count: int, bad: set[int]) -> None:
    found = bisect_failures(range(count), Judge(bad=bad))

    assert list(found) == list(range(count))
    assert failed(found) == bad & set(range(count))


def test_references_that_are_one_string_are_refused_and_blank_ones_left_out() -> None:
    with pytest.raises(InvalidValueError, match=r"give a tuple of strings: \('1936',\)"):
        ScoringItem("When?", "In 1936.", "1936")  # type: ignore[arg-type]

    assert ScoringItem("When?", "In 1936.", ("", "1936", " ")).references == ("1936",)
    assert ScoringItem("When?", "In 1936.", ["1936"]).references == ("1936",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambda: ScoringItem("When?", None), "text is None"),  # type: ignore[arg-type]
        (lambda: ScoringItem(7, "In 1936."), "question is 7"),  # type: ignore[arg-type]
        (lambda: ScoringItem("When?", "In 1936.", None), "references is None; give a tuple of strings, empty where"),  # type: ignore[arg-type]
        (lambda: ScoringItem("When?", "In 1936.", ("1936", 5)), r"references is \('1936', 5\); give a tuple"),  # type: ignore[arg-type]
        (lambda: ScoringItem("When?", "In 1936.", {"a": 1}), "references is {'a': 1}; give a tuple"),  # type: ignore[arg-type]
        (lambda: ScoringItem("When?", "In 1936.", user_question=None), "user_question is None; .*empty for a passage"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_string_is_refused(made: Callable[[], ScoringItem], named: str) -> None:
    with pytest.raises(InvalidValueError, match=named):
        made()
