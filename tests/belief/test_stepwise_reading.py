"""Questions over several passages, read step by step, by a reader that knows a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover import Passage
from rag_cover.belief.readings import UNANSWERABLE
from rag_cover.belief.stepwise_reading import Item, answer_in_steps, likely_answers, settle_comparison
from rag_cover.decomposition.multihop.comparison_rules import ComparisonRule, comparison_rule_of

SHOWN = (Passage("a text"),)
BORN = "When was the director of Jaws born?"


class Table:
    """Reads what a table says of each question, and counts the calls."""

    def __init__(self, known: Mapping[str, Mapping[str, float]]) -> None:
        self.known, self.asked = known, list[list[str]]()

    def __call__(self, items: Sequence[Item]) -> list[dict[str, float]]:
        self.asked.append([question for question, _ in items])
        found = [dict(self.known.get(question, {})) for question, _ in items]
        return [{UNANSWERABLE: 1 - math.fsum(answers.values()), **answers} for answers in found]


def test_the_bridge_is_filled_in() -> None:
    read = Table({"Who is the director of Jaws?": {"Spielberg": 0.8}, "When was Spielberg born?": {"1946": 0.5}})

    (answers,) = answer_in_steps([(BORN, SHOWN)], read)

    assert answers == pytest.approx({UNANSWERABLE: 0.6, "1946": 0.4})
    assert read.asked == [[BORN], ["Who is the director of Jaws?"], ["When was Spielberg born?"]]


def test_two_bridges_are_followed() -> None:
    read = Table(
        {
            "Who is the director of Jaws?": {"Scott": 0.5, "Spielberg": 0.3, "Hitchcock": 0.2},
            "When was Spielberg born?": {"1946": 1.0},
            "When was Hitchcock born?": {"1899": 1.0},
        }
    )

    (answers,) = answer_in_steps([(BORN, SHOWN)], read)

    assert answers == pytest.approx({UNANSWERABLE: 0.7, "1946": 0.3})


def test_what_the_question_says_as_it_stands_is_a_reading_too() -> None:
    read = Table({BORN: {"1946": 0.5}})

    (answers,) = answer_in_steps([(BORN, SHOWN)], read)

    assert answers == pytest.approx({UNANSWERABLE: 0.5, "1946": 0.5})


@pytest.mark.parametrize(("question", "passages"), [("Who wrote Emma?", SHOWN), (BORN, ()), ("", SHOWN)])
def test_others_are_read_once(question: str, passages: tuple[Passage, ...]) -> None:
    read = Table({question: {"Austen": 1.0}})

    assert answer_in_steps([(question, passages)], read) == [{UNANSWERABLE: 0.0, "Austen": 1.0}]
    assert read.asked == [[question]]


def test_a_comparison_is_decided_by_both_sides() -> None:
    asked = "Who was born first, Homer or Plato?"
    read = Table({asked: {"Plato": 0.9}, "When was Homer born?": {"750 BC": 0.5}, "When was Plato born?": {"428 BC": 0.5}})

    (answers,) = answer_in_steps([(asked, SHOWN)], read)

    assert answers == pytest.approx({UNANSWERABLE: 0.75, "Homer": 0.25})


def test_questions_are_read_together_and_each_as_by_itself() -> None:
    known = {"Who is the director of Jaws?": {"Spielberg": 0.8}, "When was Spielberg born?": {"1946": 0.5}}
    items = [(BORN, SHOWN), ("Who is the director of Jaws?", SHOWN), (BORN, ())]
    together = Table(known)

    assert answer_in_steps(items, together) == [answer_in_steps([item], Table(known))[0] for item in items]
    assert len(together.asked) == 3


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was born later, Homer or Plato?", ComparisonRule("Homer", "Plato", "more", names=True)),
        ("Who is older, Homer or Plato?", ComparisonRule("Homer", "Plato", "less", names=True)),
        ("Who is younger, Homer or Plato?", ComparisonRule("Homer", "Plato", "more", names=True)),
        ("Which mountain is higher, K2 or Everest?", ComparisonRule("K2", "Everest", "more", names=True)),
        ("Does Rome have more people than Oslo?", ComparisonRule("Rome", "Oslo", "more", names=False)),
        ("Does Rome have fewer people than Oslo?", ComparisonRule("Rome", "Oslo", "less", names=False)),
        ("Are Rome and Oslo located in the same country?", ComparisonRule("Rome", "Oslo", "same", names=False)),
        ("Are Rome and Oslo capitals?", None),
        ("Who wrote Emma?", None),
        ("", None),
    ],
)
def test_decisions(question: str, expected: ComparisonRule | None) -> None:
    assert comparison_rule_of(question) == expected


def test_same_is_yes_and_other_is_no() -> None:
    same = ComparisonRule("Rome", "Oslo", "same", names=False)

    decided = settle_comparison(same, {UNANSWERABLE: 0.0, "Italy": 1.0}, {UNANSWERABLE: 0.2, "Norway": 0.6, "Italian": 0.2})

    assert decided == pytest.approx({UNANSWERABLE: 0.2, "yes": 0.2, "no": 0.6})


answers = st.dictionaries(st.sampled_from(["1900", "1950", "May 1950", "2000", "no date"]), st.floats(0.01, 1), max_size=4).map(
    lambda found: {UNANSWERABLE: 0.0, **{text: value / max(1, sum(found.values())) for text, value in found.items()}}
)


@given(first=answers, second=answers, takes=st.sampled_from(["less", "more", "same"]), names=st.booleans())
def test_a_decision_is_a_distribution(first: dict[str, float], second: dict[str, float], *, takes: str, names: bool) -> None:
    decided = settle_comparison(ComparisonRule("A", "B", takes, names), first, second)  # type: ignore[arg-type]

    assert sum(decided.values()) == pytest.approx(1)
    assert min(decided.values()) >= 0


@given(st.dictionaries(st.text("ab ", min_size=1, max_size=5), st.floats(0, 1), max_size=6), st.integers(1, 3))
def test_likely_answers_lose_no_probability(found: dict[str, float], most: int) -> None:
    likely = likely_answers(found, most=most)

    assert len(likely) <= most
    assert [value for _, value in likely] == sorted((value for _, value in likely), reverse=True)
    assert math.fsum(value for _, value in likely_answers(found, most=len(found))) == pytest.approx(math.fsum(found.values()))
