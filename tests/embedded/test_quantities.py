"""Quantities in answers: what they mean, and that equal ones are written alike."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.quantities.alignment import align_quantities, find_quantities
from rag_cover_embedded.quantities.conflicts import misstates_quantity

PIECES = [
    "an hour",
    "and a half",
    "90",
    "minutes",
    "20 July 1969",
    "half past",
    "ten",
    "1 in 4",
    "$",
    "kg",
    "%",
    " ",
    "-",
    "the 1500s",
]


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("90 minutes", "an hour and a half"),
        ("90 minutes", "1 h 30 min"),
        ("90 minutes", "1.5 hours"),
        ("0.5 kg", "500 grams"),
        ("0.5 kg", "half a kilo"),
        ("250 ml", "a quarter of a litre"),
        ("14 days", "a fortnight"),
        ("36 months", "three years"),
        ("25%", "one plot in four"),
        ("25%", "a quarter"),
        ("75 per cent", "three out of every four"),
        ("$4.2 million", "USD 4,200,000"),
        ("$4.2m", "4.2 million dollars"),
        ("£1,200", "twelve hundred pounds"),
        ("2 GB", "2,000 MB"),
        ("2 GB", "2,048 MB"),
        ("100 °C", "212 degrees Fahrenheit"),
        ("42.195 km", "26 miles and 385 yards"),
        ("80 km/h", "80 kilometres per hour"),
        ("225", "two hundred and twenty-five"),
        ("12", "a dozen"),
        ("6", "half a dozen"),
        ("1.2 million", "1 200 000"),
        ("6 feet 1 inch", "6-feet, 1-inch"),
        ("20 July 1969", "1969-07-20"),
        ("20 July 1969", "July 20th, 1969"),
        ("3 April", "the 3rd of April"),
        ("6 January 2020", "06.01.2020"),
        ("22:30", "10:30 p.m."),
        ("22:30", "half past ten at night"),
        ("8:45", "a quarter to nine in the morning"),
        ("12:00", "noon"),
        ("-5 °C", "23 °F"),
        ("-18 °C", "minus 18 degrees Celsius"),
        ("12:00", "midday"),
        ("midnight", "00:00"),
        ("the 16th century", "the 1500s"),
        ("the sixteenth century", "1500s"),
    ],
)
def test_equal_quantities_are_written_alike(reference: str, text: str) -> None:
    assert align_quantities(f"It is {text}.", [reference]) == f"It is {reference}."


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("90 minutes", "80 minutes"),
        ("90 minutes", "ninety seconds"),
        ("90 minutes", "90 kg"),
        ("0.5 kg", "50 grams"),
        ("14 days", "a week"),
        ("30 days", "a month"),
        ("25%", "one in five"),
        ("25%", "0.25 kg"),
        ("$4.2 million", "EUR 4,200,000"),
        ("2 GB", "20,480 MB"),
        ("100 °C", "100 °F"),
        ("42 km", "26.9 miles"),
        ("20 July 1969", "20 July 1968"),
        ("20 July 1969", "20 July"),
        ("22:30", "10:30 a.m."),
        ("the 16th century", "the 1600s"),
        ("Paris", "an hour"),
        ("90 minutes", "1 to 1.5 hours"),
        ("90 minutes", "1.5 hours less than planned"),
        ("midnight", "12:00"),
        ("7 o'clock in the evening", "7:00"),
        ("007", "7"),
        ("02139", "2,139"),
        ("3.10", "v3.1"),
        ("2.0", "2"),
        ("1984", "1,984 people"),
        ("5 g", "a 5G network"),
        ("5 mg", "5 Mg"),
        ("-5 °C", "41 °F"),
        ("10 °C", "warmer by 50 °F"),
        ("50%", "in the second half"),
        ("50%", "half past ten"),
        ("50%", "half of 30 apples"),
        ("1", "no one"),
        ("6:45 pm", "18:45:30"),
        ("31 February 2020", "2020-02-31"),
    ],
)
def test_other_quantities_stay_as_they_are(reference: str, text: str) -> None:
    assert align_quantities(f"It is {text}.", [reference]) == f"It is {text}."


def test_the_first_reference_that_means_the_same_gives_the_form() -> None:
    assert align_quantities("It closes at 23:30.", ["at noon", "half past eleven at night", "11:30 p.m."]) == (
        "It closes at half past eleven at night."
    )


def test_what_is_written_as_a_reference_writes_it_stays() -> None:
    assert align_quantities("90 minutes", ["an hour and a half", "90 minutes"]) == "90 minutes"


@pytest.mark.parametrize(
    ("question", "reference", "text"),
    [
        ("By how much did the oven get warmer?", "10 °C", "50 °F"),
        ("How many degrees did it rise?", "2 °C", "35.6 °F"),
        ("How much does it cost?", "2 pounds", "907 g"),
    ],
)
def test_what_is_asked_for_tells_how_quantities_are_read(question: str, reference: str, text: str) -> None:
    assert align_quantities(text, [reference], question) == text
    assert align_quantities(text, [reference], "What does the label say?") == reference


def test_what_the_question_names_stays() -> None:
    assert align_quantities("90 minutes", ["1.5 hours"], "How many hours are 90 minutes?") == "90 minutes"


def test_every_quantity_of_a_text_is_read() -> None:
    text = "On 3 May at 6 pm two dozen people paid $5 for 200 g."

    assert [text[each.start : each.end] for each in find_quantities(text)] == ["3 May", "6 pm", "two dozen", "$5", "200 g"]


@pytest.mark.parametrize(
    "text", ["9" * 10_000, "⁶ apples", "1/0", "24:61", "31 February 2021", "1 " * 9_000, "٣ kg", "¾ of an hour"]
)
def test_odd_numbers_are_read_or_left_alone(text: str) -> None:
    assert align_quantities(text, ["45 minutes"]) == ("45 minutes" if text.startswith("¾") else text)


@given(st.text() | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_quantities_stand_one_after_the_other(text: str) -> None:
    found = find_quantities(text)

    assert all(0 <= each.start < each.end <= len(text) and each.values for each in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@given(st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_a_text_agrees_with_itself(text: str) -> None:
    assert align_quantities(text, [text]) == text


@given(st.text(), st.text(alphabet="abcdefgh xyz"))
def test_references_without_a_quantity_change_nothing(text: str, reference: str) -> None:
    if not find_quantities(reference):
        assert align_quantities(text, [reference]) == text


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("12 grams", "It weighs 12 kg."),
        ("30 mph", "about 30 km/h"),
        ("$30", "It costs €30."),
        ("24 months", "24 weeks"),
        ("-18 °C", "18 °C"),
        ("-18 °C", "minus eighteen degrees Fahrenheit"),
        ("25%", "25‰"),
        ("10 am", "10 pm"),
        ("9 November 1989", "9 November 1988"),
        ("five litres", "It holds 5 gallons."),
        ("5 °C below zero", "5 °C"),
    ],
)
def test_a_number_with_another_meaning_is_a_misstatement(reference: str, text: str) -> None:
    assert misstates_quantity(text, [reference])
    assert misstates_quantity(reference, [text])
    assert not misstates_quantity(text, [reference, "somewhat more"])
    assert not misstates_quantity(f"{text} ({reference})", [reference])


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("287 m below sea level", "−287 m"),
        ("90 minutes", "an hour and a half"),
        ("6 feet 1 inch", "6 feet and an inch, 1.85 m"),
        ("12", "12 kg"),
        ("12 kg", "12"),
        ("10 to 12 kg", "10 lb"),
        ("10:30", "half past ten"),
        ("2 GB", "2,000 MB"),
        ("5 October", "in 5 days"),
        ("3 apples", "3 kg"),
        ("£30", "30 pounds"),
        ("-$5 million", "The company made a loss of 5 million dollars."),
        ("-€200", "overdrawn by 200 euros"),
        ("-5%", "Sales fell by 5%."),
        ("5 kg", "His weight changed by -5 kg."),
        ("900 m", "It goes down to -900 m."),
        ("-18 °C", "It must be kept 18 °C below 0."),
        ("30 euros", "Adults -30 euros"),
    ],
)
def test_other_texts_misstate_nothing(reference: str, text: str) -> None:
    assert not misstates_quantity(text, [reference])
    assert not misstates_quantity(reference, [text])


def test_what_the_question_names_is_no_misstatement() -> None:
    question = "How many miles is the 10 km race?"

    assert not misstates_quantity("The 10 km race is a little over six miles.", ["10 miles"], question)


@given(st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_no_text_misstates_itself(text: str) -> None:
    assert not misstates_quantity(text, [text])


def test_a_list_s_dash_is_no_misstated_temperature() -> None:
    assert not misstates_quantity("- 18 °C", ["-18 °C"])


def test_many_numbers_are_compared_in_a_moment() -> None:
    assert not misstates_quantity("1," * 4_000, ["12 kg"])
    assert not misstates_quantity("12 g, " * 10_000, ["12 kg"])  # too long to be an answer
