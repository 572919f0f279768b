"""What questions are read as, over several domains, and what holds for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries import SetQuery
from rag_cover.setqueries.parsing import ParsedQuery, parse

WORDS = [
    *(
        "films",
        "novels",
        "birds",
        "flora",
        "of",
        "in",
        "from",
        "about",
        "set",
        "Paris",
        "France",
        "French",
        "1990s",
        "1985",
        "comedy",
    ),
    *(
        "or",
        "and",
        "but",
        "not",
        "that",
        "are",
        "also",
        "either",
        "both",
        "neither",
        "nor",
        ",",
        "(",
        ")",
        '"',
        "who",
        "which",
        "what",
    ),
    *(
        "the",
        "a",
        "non-",
        "non-American",
        "without",
        "except",
        "puffins",
        "by",
        "'s",
        "don't",
        "is",
        "have",
        "in",
        "common",
        "X",
    ),
]


def read_or_refused(question: str) -> ParsedQuery | str:
    try:
        return parse(question)
    except InvalidValueError as error:
        return str(error)


def expression(question: str) -> SetQuery:
    return parse(question).query


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Dutch crime comedy or romantic comedy films", '"Dutch crime comedy films" | "Dutch romantic comedy films"'),
        (
            "birds of Chile that are also birds of Peru but not fauna of the Guianas",
            '("Birds of Chile" & "Birds of Peru") - "Fauna of the Guianas"',
        ),
        ("trees from the Northwestern US that can't be found in Canada", '"Trees of the Northwestern US" - "Trees of Canada"'),
        ("Films set in 1853 or 1857", '"Films set in 1853" | "Films set in 1857"'),
        ("Fauna or endemic fish of Bolivia", '"Fauna of Bolivia" | "Endemic fish of Bolivia"'),
        ("movies that are neither horror nor comedy", '"Films" - "Horror films" - "Comedy films"'),
        ("Non-American war novels", '"War novels" - "American novels"'),
        ("What are novels by Colette?", '"Novels by Colette"'),
        ("plants that Peru and Chile have in common", '"Flora of Peru" & "Flora of Chile"'),
    ],
)
def test_films_books_and_living_things_are_named_as_categories(question: str, expected: str) -> None:
    read = expression(question)

    assert read == SetQuery.from_text(expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "restaurants in Lyon that are open on Sundays and take dogs but not cash only",
            (
                '("restaurants in Lyon" & "restaurants that are open on Sundays" & "restaurants that take dogs") '
                '- "restaurants that take cash only"'
            ),
        ),
        (
            "Python web frameworks or ORMs without async support",
            '("Python web frameworks" | "ORMs") - "ORMs with async support"',
        ),
        (
            "papers about retrieval by Karpukhin that don't use BERT",
            '"papers about retrieval by Karpukhin" - "papers that use BERT"',
        ),
        ("who likes quokkas or tapirs but not limes?", '("who likes quokkas" | "who likes tapirs") - "who likes limes"'),
        ("drugs for hypertension except beta blockers", '"drugs for hypertension" - "beta blockers"'),
        ("Italian or French restaurants in Boston", '"Italian restaurants in Boston" | "French restaurants in Boston"'),
        ("countries in Africa or Asia that are landlocked",
         '"countries in Africa that are landlocked" | "countries in Asia that are landlocked"'),
        ("which countries are in both NATO and the EU?", '"countries in NATO" & "countries in the EU"'),
        ("hotels that allow dogs", '"hotels that allow dogs"'),
        ("people who adore parrots", '"people who adore parrots"'),
    ],
)  # fmt: skip
def test_of_other_things_the_users_words_are_kept(question: str, expected: str) -> None:
    read = expression(question)

    assert read == SetQuery.from_text(expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("either A or B", "A | B"),
        ("both A and B", "A & B"),
        ("A as well as B", "A & B"),
        ("A, B, or C", "A | B | C"),
        ("A except B", "A - B"),
        ("A excluding B", "A - B"),
        ("A other than B", "A - B"),
        ("A unless B", "A - B"),
        ("A but not B", "A - B"),
        ("(A or B) and not C", "(A | B) - C"),
        ("A and B, or C", "(A & B) | C"),
        ("(films about dogs or films about cats) and not animated films",
         '("Films about dogs" | "Films about cats") - "Animated films"'),
        ("films about war and films about love, or books about war",
         '("Films about war" & "Films about love") | "Books about war"'),
    ],
)  # fmt: skip
def test_connectives_come_in_many_words_and_nest(question: str, expected: str) -> None:
    read = expression(question)

    assert read == SetQuery.from_text(expected)


@pytest.mark.parametrize(
    "question",
    [
        "Why is the sky blue?",
        "Who wrote War and Peace?",
        "Which film came out first, Alien or Aliens?",
        "What is the difference between cats and dogs?",
        "How do I install numpy and pandas but not scipy?",
        "Are fresh or frozen vegetables healthier?",
        "What causes rain and snow?",
        "What are the best Italian restaurants in New York?",
        "premier league teams that have won the champions league",
    ],
)
def test_an_ordinary_question_is_one_atom_as_it_was_asked(question: str) -> None:
    parsed = parse(question)

    assert not parsed.is_set_query
    assert parsed.atoms == (question,)


@pytest.mark.parametrize(
    ("question", "atoms"),
    [
        ("birds of Trinidad and Tobago or Saint Lucia", ("Birds of Trinidad and Tobago", "Birds of Saint Lucia")),
        ("fish of Peru or Saint Kitts and Nevis", ("Fish of Peru", "Fish of Saint Kitts and Nevis")),
        ("films set in Bosnia and Herzegovina but not war films", ("Films set in Bosnia and Herzegovina", "War films")),
        ('films about "war or love" or dogs', ('Films about "war or love"', "Films about dogs")),
        ("films about Crime and Punishment or dogs", ("Films about Crime and Punishment", "Films about dogs")),
        ("Barrie & Jenkins books or novels by Colette", ("Barrie & Jenkins books", "Novels by Colette")),
    ],
)  # fmt: skip
def test_a_name_or_quote_that_holds_a_connective_stays_whole(question: str, atoms: tuple[str, ...]) -> None:
    parsed = parse(question)

    assert parsed.atoms == atoms


def test_the_users_own_words_stay_at_hand() -> None:
    question = "plants found in Haiti or movies from France"

    parsed = parse(question)

    assert parsed.atoms == ("Flora of Haiti", "French films")
    assert parsed.words["Flora of Haiti"] == "plants of Haiti"


def test_other_readings_are_told_with_their_probabilities() -> None:
    question = "1954 French films about murderers"

    parsed = parse(question)

    assert parsed.alternatives
    assert all(query != parsed.query for query, _ in parsed.alternatives)
    assert parsed.confidence + sum(share for _, share in parsed.alternatives) <= 1 + 1e-9


@pytest.mark.parametrize("given", [None, 3, ["birds of Chile"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(InvalidValueError, match="a question is a text"):
        parse(given)  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join))
def test_any_words_are_read_or_refused_with_a_reason(question: str) -> None:
    parsed = read_or_refused(question)

    if isinstance(parsed, ParsedQuery):
        assert 0 <= parsed.confidence <= 1
        assert all(atom.strip() for atom in parsed.atoms)
    else:
        assert len(parsed) > 40


@given(st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())))
def test_any_text_is_read_or_refused_with_a_reason(question: str) -> None:
    parsed = read_or_refused(question)

    assert len(parsed) > 40 if isinstance(parsed, str) else parsed.question == question
