"""Which questions rules write for amounts, times, places and ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.testsets.amount_rules import begins_with_amount
from rag_cover.testsets.question_rules import ask_about

CASES = {
    "A wash costs 1.20, an hour in the tumble dryer 0.80.": "How much does a wash cost?",
    "The old bridge cost 1.4 million.": "How much did the old bridge cost?",
    "The deposit for power tools is 50 euros.": "How much is the deposit for power tools?",
    "The visit takes about an hour and includes a test.": "How long does the visit take?",
    "The first crossing took three and a half hours.": "How long did the first crossing take?",
    "The token is valid for 30 days.": "How long is the token valid?",
    "The log lines are kept for seven days on this plan.": "How long are the log lines kept?",
    "The applications are decided within ten working days.": "How quickly are the applications decided?",
    "The tool library opens at 9 am on weekdays.": "When does the tool library open?",
    "The reading room is open from 9 am to 4 pm.": "When is the reading room open?",
    "The form must be handed in by 30 June.": "By when must the form be handed in?",
    "The bookings may be cancelled until 6 pm on the day before.": "Until when may the bookings be cancelled?",
    "The receipt has to be sent within 21 days.": "How soon does the receipt have to be sent?",
    "The boiler must be serviced every twelve months.": "How often must the boiler be serviced?",
    "The bins are emptied twice a week.": "How often are the bins emptied?",
    "The study room seats six people.": "How many people does the study room seat?",
    "You may have fifteen titles at once, of which five may be films.": "How many titles may you have at once?",
    "There are 40 parking spaces behind the building.": "How many parking spaces are behind the building?",
    "The nominal output is 5 kW, enough for one room.": "What is the nominal output?",
    "The tower is 85 metres high and was built in 1902.": "How high is the tower?",
    "The machine weighs 42 kg without water.": "How much does the machine weigh?",
    "Foster carers must be at least 21 years old.": "How old must foster carers be?",
    "The bicycles are kept in the room on the yard.": "Where are the bicycles kept?",
    "The parcels can be picked up at the front desk.": "Where can the parcels be picked up?",
    "Prams may stand beneath the stairs of each entrance.": "Where may prams stand?",
    "The freezers may be run only on the socket of your own meter.": "Where may the freezers be run?",
    "Books can be borrowed for four weeks.": "How long can books be borrowed?",
    "The breakfast buffet is served from 7:00 to 10:00 in the hall.": "When is the breakfast buffet served?",
    "The trailer must not be longer than 4 metres.": "How long may the trailer be?",
    "The default port is 8080.": "What is the default port?",
    "A black-and-white page costs 10 cents.": "How much does a black-and-white page cost?",
    "You can ask for the images by filling in form R7.": "How can you ask for the images?",
    "The insulin should not go in the hold, where it may freeze.": "Should the insulin go in the hold?",
}


@pytest.mark.parametrize(("statement", "question"), CASES.items())
def test_a_statement_gives_the_question_that_its_amount_answers(statement: str, question: str) -> None:
    assert question in [each.question for each in ask_about(statement)]


@pytest.mark.parametrize(
    "statement",
    [
        "Most applications are decided within ten minutes.",  # of which the others are not
        "Members earn 10 points for every euro that they spend.",
        "It costs 30 euros a year for the whole household.",
        "The option takes a value in seconds.",
        "The book club meets on the first Monday of each month.",
        "The upper rack can be raised by 5 centimetres.",
        "The price is subject to change without notice.",
    ],
)
def test_what_is_no_amount_or_names_nothing_gives_no_such_question(statement: str) -> None:
    assert not [each for each in ask_about(statement) if each.rule != "what does"]


@pytest.mark.parametrize(
    ("statement", "names", "question"),
    [
        ("Fresh timber must be stored under a roof.", (), "Where must fresh timber be stored?"),
        ("Logs are kept for seven days.", (), "How long are logs kept?"),
        ("Borg archives are kept for seven days.", ("Borg",), "How long are Borg archives kept?"),
        ("Leafbox costs 4 euros a month.", (), "How much does Leafbox cost?"),
        ("Parking: Visitors may book 3 spaces a day.", (), "How many spaces may visitors book a day?"),
    ],
)
def test_the_first_word_is_written_small_unless_it_may_be_a_name(statement: str, names: tuple[str, ...], question: str) -> None:
    assert [each.question for each in ask_about(statement, names=frozenset(names))] == [question]


def test_an_amount_begins_a_text() -> None:
    texts = ("about two weeks", "12.50", "€ 3", "at least forty-five minutes", "up to 50,000 points", "half an hour")

    assert all(begins_with_amount(text) for text in texts)
    assert not any(begins_with_amount(text) for text in ("a certificate", "no preparation", "", "many weeks"))


@given(
    st.from_regex(
        r"(The|A|Your) [a-z]{3,9} (costs|takes|is|weighs|has) [0-9]{1,4} [a-z]{1,9}( [a-z]{1,9}){0,4}\.", fullmatch=True
    )
)
def test_a_question_repeats_no_number_of_its_statement(statement: str) -> None:
    for each in ask_about(statement):
        assert each.question.endswith("?")
        assert not any(character.isdigit() for character in each.question)
