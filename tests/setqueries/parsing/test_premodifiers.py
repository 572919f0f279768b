import pytest

from rag_cover.setqueries import parse
from rag_cover.setqueries.parsing.premodifiers import alternatives_in_front


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("red or blue cars", "red cars", "blue cars"),
        ("vegan Italian or Japanese restaurants", "vegan Italian restaurants", "vegan Japanese restaurants"),
        ("male or female employees in Spain", "male employees in Spain", "female employees in Spain"),
    ],
)
def test_alternatives_in_front_share_the_head_and_what_follows(question: str, one: str, other: str) -> None:
    parsed = parse(question)

    assert parsed.query.operator == "union"
    assert parsed.atoms == (one, other)


@pytest.mark.parametrize(
    "words", ["cheap hotels or hostels", "red or blue", "or blue cars", "red cars", "red or blue cars or bikes"]
)
def test_what_says_something_else_is_left_to_the_other_grammar(words: str) -> None:
    assert alternatives_in_front(words.split()) is None
