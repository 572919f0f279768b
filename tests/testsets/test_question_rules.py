"""Which questions rules write, and of what they write none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.testsets.named_things import points_back
from rag_cover.testsets.question_rules import ask_about


def asked(statement: str, *common: str) -> list[str]:
    return [each.question for each in ask_about(statement, common=frozenset(common))]


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("To install the plugin, run the setup script as root.", "How do you install the plugin?"),
        ("If you want to encrypt a backup, set a passphrase first.", "How do you encrypt a backup?"),
        ("If the key is missing, the server refuses every request.", "What happens if the key is missing?"),
        ("If the key is missing, create one with keygen.", "What should you do if the key is missing?"),
        ("Use the --dry-run option to see what would be deleted.", "What can you use to see what would be deleted?"),
        ("The retry limit defaults to five attempts per host.", "What does the retry limit default to?"),
        ("The pump is used for heating two floors of the house.", "What is the pump used for?"),
        ("A manifest is a file that lists all archives.", "What is a manifest?"),
        ("Ada Lovelace was an English mathematician and writer.", "Who was Ada Lovelace?"),
        ("The old bridge was closed in 1990 for repairs.", "When was the old bridge closed?"),
        ("The archive is written by the borg create command.", "What is the archive written by?"),
        ("Inez Marrow designed the lighthouse of Porto Vale in 1871.", "Who designed the lighthouse of Porto Vale?"),
        ("The cache is slow because every chunk is hashed twice.", "Why is the cache slow?"),
    ],
)
def test_a_statement_gives_the_question_that_it_answers(statement: str, question: str) -> None:
    assert question in asked(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "This is the value.",
        "It requires a key of 32 bytes.",
        "The value requires a key of 32 bytes.",  # of which value
        "The cache is not written when memory is full.",  # the question would turn it around
        "While the cache provides speed, it takes memory.",
        "Rain.",
    ],
)
def test_what_points_elsewhere_or_names_nothing_gives_no_question(statement: str) -> None:
    assert asked(statement) == []


def test_a_common_word_that_begins_a_statement_is_written_small_and_a_name_is_not() -> None:
    assert asked("Archives contain the files of one backup run.", "archives") == ["What do archives contain?"]
    assert asked("Borg contains a command for every archive operation.") == ["What does Borg contain?"]


@given(st.text(max_size=300))
def test_any_text_gives_questions_that_end_in_a_question_mark(text: str) -> None:
    assert all(each.question.endswith("?") and each.statement == text for each in ask_about(text))


@pytest.mark.parametrize(
    ("statement", "questions"),
    [
        ("A reminder is sent by email 60 days beforehand.", ["How is a reminder sent?"]),
        ("The lamp is dimmed by pressing the upper button.", ["How is the lamp dimmed?"]),
        ("The workshop is run by volunteers.", ["Who is the workshop run by?"]),
        ("The hash index is implemented in C for speed.", []),
        ("The tool consists of a number of commands.", []),
        ("To reduce its size, the program compresses every chunk.", []),
        ("To reach the summit, take the path along the ridge.", ["How do you reach the summit?"]),
        ("If the window soots up, the wood is too damp.", []),
        ("If your suitcase is missing, report it at the counter.", ["What should you do if your suitcase is missing?"]),
        ("When the men came home, the squad was dissolved.", ["What happened when the men came home?"]),
        ("The archive name must not end in a dot.", ["May the archive name end in a dot?"]),
        ("To reset your password, click the link in the mail.", ["How do you reset your password?"]),
        ("The drum holds 7 kilograms of dry laundry.", ["How many kilograms does the drum hold?"]),
        ("The cache requires the options listed below.", []),
        ("The present cache also requires a lock file.", []),
    ],
)
def test_the_question_word_fits_what_the_statement_answers(statement: str, questions: list[str]) -> None:
    assert asked(statement) == questions


def test_a_thing_that_the_text_before_tells_from_others_is_no_subject_of_a_question() -> None:
    assert points_back("Where is the counter stored?", "the counter", "Each client keeps a nonce counter.")
    assert points_back("How can you reverse the upgrade?", None, "An upgrade sets a flag. ")
    assert not points_back("When does the library close?", "the library", "The library opens at nine.")
    assert not points_back("How long is the late fee due?", "the late fee", "A fee is charged.")
