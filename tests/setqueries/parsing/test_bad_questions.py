"""Questions that cannot be meant as they stand: each is read with a note, or refused with a way out."""

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries import SetQuery
from rag_cover.setqueries.parsing import parse
from rag_cover.setqueries.parsing.reading import LONGEST


def test_a_contradiction_is_read_and_told() -> None:
    question = "birds of Chile that are not birds of Chile"

    parsed = parse(question)

    assert parsed.query == SetQuery.atom("Birds of Chile") - "Birds of Chile"
    assert parsed.notes == ("'Birds of Chile' is both asked for and taken away: nothing can be left of it.",)


@pytest.mark.parametrize(
    ("question", "atom"),
    [("birds that are not not found in Chile", "Birds of Chile"), ("books that are not non-fiction", "Fiction books")],
)
def test_a_double_negation_is_resolved_and_told(question: str, atom: str) -> None:
    parsed = parse(question)

    assert parsed.query == SetQuery.atom(atom)
    assert parsed.notes == ("A double negation was read as none.",)


@pytest.mark.parametrize("question", ["not birds of Chile", "things that aren't red", "neither films nor books"])
def test_only_a_negation_is_refused_with_an_example(question: str) -> None:
    with pytest.raises(InvalidValueError, match="names nothing to start from; say of what it is taken away"):
        parse(question)


def test_more_than_twenty_sets_are_refused_by_their_number() -> None:
    question = f"birds of {', '.join(f'Island{letter}' for letter in 'ABCDEFGHIJKLMNOPQRST')} or IslandU"

    with pytest.raises(InvalidValueError, match="names 21 sets; at most 20 can be asked for at once: ask in parts"):
        parse(question)


def test_a_quotation_mark_without_its_partner_is_ignored_and_told() -> None:
    parsed = parse('films about "dogs or cats')

    assert parsed.query == SetQuery.atom("Films about dogs") | "Films about cats"
    assert parsed.notes == ("A quotation mark without its partner was ignored.",)


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_a_blank_question_is_refused(question: str) -> None:
    with pytest.raises(InvalidValueError, match="this one is blank"):
        parse(question)


@pytest.mark.parametrize("piece", ["films or ", "that are not ", "((", '"', "a", "non-", "x, ", "films about "])
def test_what_is_too_long_is_taken_as_a_whole_and_told(piece: str) -> None:
    question = piece * (100_000 // len(piece))

    parsed = parse(question)

    assert not parsed.is_set_query
    assert f"{LONGEST:,} at most" in parsed.notes[0]


@pytest.mark.parametrize("question", [",", "( )", "and or", "“", "that are"])
def test_what_has_no_words_of_its_own_is_one_atom(question: str) -> None:
    parsed = parse(question)

    assert parsed.atoms == (question,)
