"""How multi-hop questions fall into steps, and which questions stay whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.decomposition.multihop import hops_of

WORDS = """the a director of film who that which where whose was is are did do does born die died and or both same from country
    first, older than in what between Jaws Alien 's father's Emma's capital ( ) " ? written by""".split()  # noqa: SIM905  # a pool
questions = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "Who is the mother of the director of film Polish-Russian War (Film)?",
            ("Who is the director of film Polish-Russian War (Film)?", "Who is the mother of #1?"),
        ),
        (
            "What is the cause of death of director of film My Lips Betray?",
            ("Who is the director of film My Lips Betray?", "What is the cause of death of #1?"),
        ),
        (
            "Which country the director of film Jaws is from?",
            ("Who is the director of film Jaws?", "Which country #1 is from?"),
        ),
        (
            "When is the director of film Double Adventure 's birthday?",
            ("Who is the director of film Double Adventure?", "When is #1's birthday?"),
        ),
        ("Who is the spouse of the Jaws director?", ("Who is the Jaws director?", "Who is the spouse of #1?")),
        ("where was the director of jaws born", ("Who is the director of jaws?", "where was #1 born?")),
    ],
)
def test_someone_described_by_a_role_is_found_first(question: str, steps: tuple[str, ...]) -> None:
    assert hops_of(question) == steps


def test_a_chain_begins_with_the_innermost_description() -> None:
    question = "When did the father of the director of film Jaws die?"

    steps = hops_of(question)

    assert steps == ("Who is the director of film Jaws?", "Who is the father of #1?", "When did #2 die?")


def test_a_clause_may_hold_a_description_and_that_another_clause() -> None:
    question = "What is the capital of the state that borders the east of the state where Hello Love's performer lived?"

    steps = hops_of(question)

    assert steps == (
        "Who is Hello Love's performer?",
        "What is the state where #1 lived?",
        "What is the state that borders the east of #2?",
        "What is the capital of #3?",
    )


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "Where did Johanna Of Hanau, Countess Of Eberstein's mother die?",
            ("Who is Johanna Of Hanau, Countess Of Eberstein's mother?", "Where did #1 die?"),
        ),
        ("What nationality is Katherine Godwin’s husband?", ("Who is Katherine Godwin’s husband?", "What nationality is #1?")),
        (
            "When is Philip Iv Of Spain's father's birthday?",
            ("Who is Philip Iv Of Spain's father?", "When is #1's birthday?"),
        ),
    ],
)
def test_whom_someone_has_is_found_first(question: str, steps: tuple[str, ...]) -> None:
    assert hops_of(question) == steps


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "What government position was held by the woman who portrayed Corliss Archer in the film Kiss and Tell?",
            (
                "Who is the woman who portrayed Corliss Archer in the film Kiss and Tell?",
                "What government position was held by #1?",
            ),
        ),
        (
            "Where is the company that Sachin Warrier worked for as an engineer headquartered?",
            ("What is the company that Sachin Warrier worked for as an engineer?", "Where is #1 headquartered?"),
        ),
        (
            "What is the population of the country containing Lake Kivu?",
            ("What is the country containing Lake Kivu?", "What is the population of #1?"),
        ),
        (
            "What is the home arena of the team Chris Summers plays for?",
            ("What is the team Chris Summers plays for?", "What is the home arena of #1?"),
        ),
        (
            "What party was the man who repealed the Black Act a member of?",
            ("Who is the man who repealed the Black Act?", "What party was #1 a member of?"),
        ),
        (
            "In the country where Mount Kenya is located, who is the president?",
            ("What is the country where Mount Kenya is located?", "In #1, who is the president?"),
        ),
        (
            "The city where Alex Shevelev died is the capital of what region?",
            ("What is the city where Alex Shevelev died?", "#1 is the capital of what region?"),
        ),
    ],
)
def test_what_a_clause_describes_is_found_first(question: str, steps: tuple[str, ...]) -> None:
    assert hops_of(question) == steps


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "Grace Krilanovich's first novel was published by a small house that was founded in 2005, and is based where?",
            (
                "Grace Krilanovich's first novel was published by which small house?",
                "#1 was founded in 2005, and is based where?",
            ),
        ),
        (
            "Route 118 runs through a region whose boundary begins at which town?",
            ("Route 118 runs through which region?", "#1's boundary begins at which town?"),
        ),
        (
            "Macclesfield Town F.C. plays in the league sponsored by whom?",
            ("Macclesfield Town F.C. plays in which league?", "#1 is sponsored by whom?"),
        ),
    ],
)
def test_a_statement_asks_for_what_its_last_clause_asks_about(question: str, steps: tuple[str, ...]) -> None:
    assert hops_of(question) == steps


@pytest.mark.parametrize(
    "question",
    [
        "Which film has the director died first, Levy and Company or Jaws?",
        "Which film whose director died first, Levy and Company or Jaws?",
        "Which film has the director who died earlier, Levy and Company or Jaws?",
    ],
)
def test_films_compared_by_their_directors_have_these_found_first(question: str) -> None:
    steps = hops_of(question)

    assert steps == (
        "Who is the director of Levy and Company?",
        "Who is the director of Jaws?",
        "When did #1 die?",
        "When did #2 die?",
    )


@pytest.mark.parametrize(
    ("question", "role", "asked"),
    [
        (
            "Do both films Jaws and Alien (Film) have the directors from the same country?",
            "director",
            "Which country is {} from?",
        ),
        (
            "Are the directors of both films Jaws and Alien (Film) from the same country?",
            "director",
            "Which country is {} from?",
        ),
        (
            "Do both directors of films Jaws and Alien (Film) share the same nationality?",
            "director",
            "What is the nationality of {}?",
        ),
        (
            "Do both films: Jaws and Alien (Film) have the directors that share the same nationality?",
            "director",
            "What is the nationality of {}?",
        ),
        ("Which song has the performer who is older, Jaws or Alien (Film)?", "performer", "When was {} born?"),
    ],
)
def test_many_wordings_compare_by_a_role(question: str, role: str, asked: str) -> None:
    steps = hops_of(question)

    assert steps == (
        f"Who is the {role} of Jaws?",
        f"Who is the {role} of Alien (Film)?",
        asked.format("#1"),
        asked.format("#2"),
    )


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who was born first, Homer or Tiberius Of Rome?", "When was {} born?"),
        ("Who was born first out of Homer and Tiberius Of Rome?", "When was {} born?"),
        ("Was Homer or Tiberius Of Rome born first?", "When was {} born?"),
        ("Who is older Homer or Tiberius Of Rome?", "When was {} born?"),
        ("Which band was formed first, Homer or Tiberius Of Rome?", "When was {} formed?"),
        ("Which film came out first, Homer or Tiberius Of Rome?", "When did {} come out?"),
        ("Which mountain is taller, Homer or Tiberius Of Rome?", "How tall is {}?"),
        ("Which mall, Homer or Tiberius Of Rome, has more owners?", "How many owners does {} have?"),
        ("Between Homer and Tiberius Of Rome, which genus has more species?", "How many species does {} have?"),
        ("Does Homer have more acts than Tiberius Of Rome?", "How many acts does {} have?"),
        ("Which company is an oil company, Homer or Tiberius Of Rome?", "Is {} an oil company?"),
        ("Are Homer and Tiberius Of Rome both from the same country?", "Which country is {} from?"),
        ("Are both villages, Homer and Tiberius Of Rome, located in the same country?", "Which country is {} located in?"),
        ("Did Homer and Tiberius Of Rome have the same nationality?", "What is the nationality of {}?"),
        ("Does Homer have the same nationality as Tiberius Of Rome?", "What is the nationality of {}?"),
        ("Are Homer and Tiberius Of Rome both film directors?", "Is {} a film director?"),
        ("Are both Homer and Tiberius Of Rome American?", "Is {} American?"),
        ("What river do Homer and Tiberius Of Rome have in common?", "What is the river of {}?"),
    ],
)
def test_a_comparison_asks_the_same_of_each(question: str, asked: str) -> None:
    assert hops_of(question) == (asked.format("Homer"), asked.format("Tiberius Of Rome"))


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma?",
        "Who is the director of film Jaws?",
        "What is the name of the director of Jaws?",
        "Who is Ada's grandmother?",
        "Who is the woman who portrayed Corliss Archer?",
        "When did Warsaw become the capital of Poland?",
        "What is the term for the process by which plants make sugar?",
        "Who was Emma's sister Jane?",
        "Which band had a drummer who was born in Oslo?",
        "Seth plays the parent of Chris Griffin. What is his character's name?",
        "Who is Jaws about?",
        "Who sang the part of Computer Geek #1?",
        "",
        "?",
    ],
)
def test_a_question_of_one_step_stays_whole(question: str) -> None:
    assert hops_of(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "Which is heavier, iron and lead or gold or silver?",
        "Did Davies and Baran collaborate at any point after they both developed this concept?",
    ],
)
def test_a_comparison_whose_sides_cannot_be_told_stays_whole(question: str) -> None:
    assert hops_of(question) == ()


def test_what_stands_in_quotes_and_brackets_is_no_grammar() -> None:
    question = 'Who is the mother of the singer of "The City Where the Man Who Wrote Songs Died" (the song by Bo)?'

    steps = hops_of(question)

    assert steps == (
        'Who is the singer of "The City Where the Man Who Wrote Songs Died" (the song by Bo)?',
        "Who is the mother of #1?",
    )


def test_a_very_long_text_is_no_question_of_several_steps() -> None:
    question = "When was the director of " + "very " * 1000 + "Jaws born?"

    steps = hops_of(question)

    assert steps == ()


@pytest.mark.parametrize(
    "piece", ["the director of ", "the city where ", "X's father's ", "A and B both ", "is A older than ", 'the "( ', "who or "]
)
def test_repetition_without_end_leaves_few_steps(piece: str) -> None:
    steps = hops_of("When was " + piece * (700 // len(piece)) + "born?")

    assert len(steps) <= 5


@given(st.text(max_size=200) | questions)
def test_a_step_is_a_question_that_leans_on_earlier_ones_only(question: str) -> None:
    steps = hops_of(question)

    assert len(steps) != 1
    assert all(step.endswith("?") for step in steps)
    assert all(slot < number for number, step in enumerate(steps, 1) for slot in slots_in(step))


@given(questions)
def test_every_step_but_the_last_or_the_two_compared_is_built_on(question: str) -> None:
    steps = hops_of(question)

    unused = set(range(1, len(steps) + 1)) - {slot for step in steps for slot in slots_in(step)}
    assert len(unused) <= 2


def slots_in(step: str) -> list[int]:
    return [int(slot) for slot in re.findall(r"#(\d+)", step)]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which is cheaper, an audio guide or a guided tour?", "How much does {} cost?"),
        ("Which costs more, an audio guide or a guided tour?", "How much does {} cost?"),
        ("Is an audio guide more expensive than a guided tour?", "How much does {} cost?"),
        ("Which takes longer, an audio guide or a guided tour?", "How long does {} take?"),
        ("Which lasts longer, an audio guide or a guided tour?", "How long does {} last?"),
        ("Which weighs more, an audio guide or a guided tour?", "How much does {} weigh?"),
        ("What is the price difference between an audio guide and a guided tour?", "What is the price of {}?"),
        ("How big is the difference in price between an audio guide and a guided tour?", "What is the price of {}?"),
    ],
)
def test_everyday_comparisons_ask_the_same_of_both(question: str, asked: str) -> None:
    assert hops_of(question) == (asked.format("an audio guide"), asked.format("a guided tour"))


def test_a_difference_in_nothing_that_is_named_is_no_comparison_of_two_values() -> None:
    assert hops_of("What is the difference between TCP and UDP?") == ()
