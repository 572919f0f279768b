"""The parts of a reading: how it is framed, cut, taken apart and named."""

import pytest

from rag_cover.setqueries.parsing.candidates import query_of_reading, readings_of
from rag_cover.setqueries.parsing.framing import strip_frame
from rag_cover.setqueries.parsing.naming import Atom, category_name
from rag_cover.setqueries.parsing.phrases import Facet, fragment_of
from rag_cover.setqueries.parsing.splitting import cut_at_connectives
from rag_cover.setqueries.parsing.tokens import tokens_of


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("find me, animals of Asia", "animals of Asia"),
        ("Can you list birds of Peru?", "birds of Peru?"),
        ("what are some films set in Ankara", "films set in Ankara"),
        ("which films are set in Paris", "films that are set in Paris"),
    ],
)
def test_the_frame_of_a_question_is_taken_off(question: str, body: str) -> None:
    frame = strip_frame(question)

    assert (frame.frame, frame.body) == ("set", body)


@pytest.mark.parametrize(
    "question", ["Which country is larger?", "perth is the capital of which state", "Do birds or bats fly?"]
)
def test_what_asks_for_no_set_is_ordinary(question: str) -> None:
    assert strip_frame(question).frame == "ordinary"


def test_every_way_to_say_not_is_one_negation() -> None:
    ways = ["but not", "that are not", "that aren't", "excluding", "except for", "other than", "apart from", "that can't be"]

    cuts = [cut_at_connectives(f"birds of Chile {way} parrots".split()).items for way in ways]

    assert [[item.negated for item in items] for items in cuts] == [[0, 1]] * len(ways)


def test_facets_are_told_by_their_kinds() -> None:
    fragment = fragment_of(
        ["1930's", "Northern", "Irish", "science", "fiction", "films", "shot", "in", "Lisbon", "about", "whales"]
    )

    assert [(facet.kind, facet.text) for facet in (*fragment.before, *fragment.after)] == [
        ("decade", "1930s"),
        ("nat", "Northern Irish"),
        ("genre", "science fiction"),
        ("shot", "Lisbon"),
        ("about", "whales"),
    ]


def test_initials_and_brackets_belong_to_their_words() -> None:
    tokens, open_quote = tokens_of("novels by J.L. Carr, or Western (genre) films?")

    assert tokens == ["novels", "by", "J.", "L.", "Carr", ",", "or", "Western (genre)", "films"]
    assert not open_quote


@pytest.mark.parametrize(
    ("facets", "name"),
    [
        ((Facet("of", "Haiti", "of", "", "place"),), "Flora of Haiti"),
        ((Facet("status", "carnivorous"), Facet("of", "Haiti", "of", "", "place")), "Carnivorous plants of Haiti"),
        ((Facet("status", "endemic"), Facet("of", "Haiti", "of", "", "place")), "Endemic flora of Haiti"),
    ],
)
def test_plants_are_flora_of_a_place_and_of_nothing_else(facets: tuple[Facet, ...], name: str) -> None:
    assert category_name(Atom("plants", "organisms", facets)) == name


def test_facets_fall_into_atoms_in_every_way() -> None:
    readings = readings_of(cut_at_connectives(["1954", "films", "about", "murderers"]))

    assert [str(query_of_reading(reading)) for reading in readings] == [
        '"1954 films about murderers"',
        '"1954 films" ∩ "Films about murderers"',
    ]
