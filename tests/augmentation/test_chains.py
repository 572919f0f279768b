"""Sub-questions that build on each other wait for answers, take them, and go on without those that never come."""

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.augmentation.chains import Chain, searchable
from rag_cover.decomposition.multihop.slots import slots_in

TEXTS = st.lists(st.text(alphabet="#1234 abw?", max_size=12), max_size=5)


def test_one_that_builds_on_another_waits_for_its_answer() -> None:
    chain = Chain(["Who directed Jaws?", "When was #1 born?", "Who sank #2?", "What is a shark?"])

    assert chain.ready == [1, 4]
    assert chain.awaited == [1]


def test_an_answer_makes_the_next_one_ready() -> None:
    chain = Chain(["Who directed Jaws?", "When was #1 born?", "Who died in #2?"])

    chain.answer(1, "Steven Spielberg")

    assert chain.ready == [1, 2]
    assert chain.awaited == [2]
    assert chain.text(2) == "When was Steven Spielberg born?"


def test_an_answer_that_nobody_knows_leaves_its_place_empty() -> None:
    chain = Chain(["Who directed Jaws?", "When was #1 born?"])

    chain.answer(1, None)

    assert chain.ready == [1, 2]
    assert chain.text(2) == "When was born?"


def test_giving_up_settles_all_and_forgets_no_answer() -> None:
    chain = Chain(["Who directed Jaws?", "Who wrote it?", "Did #1 meet #2?"])

    chain.answer(1, "Steven Spielberg")
    chain.give_up()

    assert chain.text(3) == "Did Steven Spielberg meet?"
    assert chain.answers == {1: "Steven Spielberg", 2: None}
    assert chain.awaited == []


def test_an_answer_that_looks_like_a_slot_is_an_answer() -> None:
    chain = Chain(["Which single sold most?", "Which chart was it on?", "Who sang #1 of #2?"])

    chain.answer(1, "the #2 hit")
    chain.answer(2, None)

    assert chain.text(3) == "Who sang the #2 hit of?"


def test_what_the_question_itself_numbers_is_no_slot() -> None:
    chain = Chain(["Who sang the #1 hit?", "Who wrote the #1 book for #2?", "When was #2 born?"], literal=[1])

    assert chain.ready == [1, 2]
    assert chain.bare == ["Who sang the #1 hit?", "Who wrote the #1 book for #2?", "When was born?"]
    assert chain.text(2) == "Who wrote the #1 book for #2?"


def test_texts_are_searched_for_once_and_only_if_they_ask_something() -> None:
    chain = Chain(["Who?", "Who?", "?", "#1"])

    chain.give_up()

    assert chain.texts(chain.numbers) == ["Who?"]
    assert chain.text(4) == ""


def test_letters_of_any_script_and_digits_ask_something() -> None:
    assert all(map(searchable, ["a", "7", "天", "é?"]))
    assert not any(map(searchable, ["", "?", " … ", "🌍"]))


@given(TEXTS)
def test_answering_what_is_awaited_makes_all_ready_in_as_many_steps_as_there_are(texts: list[str]) -> None:
    chain = Chain(texts)

    for _ in texts:
        for number in chain.awaited:
            chain.answer(number, "Ada")

    assert chain.ready == chain.numbers
    assert chain.awaited == []


@given(TEXTS)
def test_every_slot_is_filled_or_left_out(texts: list[str]) -> None:
    filled, empty = Chain(texts), Chain(texts)

    for number in filled.numbers:
        filled.answer(number, "Ada")
    empty.give_up()

    for number, text in enumerate(texts, 1):
        assert ("Ada" in filled.text(number)) == bool(slots_in(text, position=number))
        assert filled.text(number) == empty.text(number) == text or slots_in(text, position=number)


def test_an_answer_too_long_to_be_searched_for_leaves_its_place_empty() -> None:
    chain = Chain(["Who directed Jaws?", "When was #1 born?"])

    chain.answer(1, "Steven " * 20)

    assert chain.text(2) == "When was born?"
