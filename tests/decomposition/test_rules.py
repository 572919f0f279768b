"""What rules make of real questions, and what holds for any text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.coverage import decompose, type_roles
from rag_cover.decomposition.roles import role_of
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Question, Role, SubQuestion

MARKS = ("?", "\uff1f", "\u061f")


def asks(question: str, role: Role = Role.CORE) -> list[str]:
    return [sub_question.text for sub_question in decompose(question) if sub_question.role is role]


def test_questions_joined_by_and_are_split_and_name_their_subject() -> None:
    question = "What is photosynthesis and why is it important?"

    core = asks(question)

    assert core[:2] == ["What is photosynthesis?", "Why is photosynthesis important?"]


def test_several_questions_are_several_sub_questions() -> None:
    question = "What is RAG? How does it work? What are its limits?"

    core = asks(question)

    assert core[:3] == ["What is RAG?", "How does RAG work?", "What are RAG's limits?"]


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("How do I bake bread and how long does it take?", "How long does it take to bake bread?"),
        ("How can I renew my card, and what does it cost?", "What does it cost to renew my card?"),
        ("Where do I apply for the visa and how much does it cost?", "How much does it cost to apply for the visa?"),
        ("Where do I park and how much is it?", "How much is it to park?"),
        ("Do you ship to Canada? If yes, how much is it?", "How much is it to ship to Canada?"),
        ("What documents do I need to open an account and how long does it take?", "How long does it take to open an account?"),
    ],
)
def test_what_takes_time_or_costs_is_what_the_first_question_asks_how_to_do(question: str, second: str) -> None:
    assert asks(question)[1] == second


@pytest.mark.parametrize(
    "question",
    [
        "Which actors played in Jaws and in Alien?",
        "How much are bread and butter?",
        "I have a 2015 Civic. Why does it stall?",
        "Who invented the first computer game in 1962 and what was the name of the game?",
        "Who approves travel requests and how long does that take?",
        "Which president appointed the most and which president appointed the least Supreme Court judges?",
        "Where are the marathon races hosted, and when was each first held?",
        "What did the union think of the law and what the government should do?",
        "Gift card fraud: to whom to report? How to recover funds?",
        "Does being active affect how children do in school? How?",
        "I add a bag to my booking, but it weighs 27 kilos. What does that come to altogether?",
        "Tell me the story of the three bears and the wolf for children?",
    ],
)
def test_a_question_that_would_lose_its_subject_stays_whole(question: str) -> None:
    decomposed = decompose(question)

    assert [sub_question.text for sub_question in decomposed] == [question]


@pytest.mark.parametrize(
    "question",
    [
        "Are fresh or frozen vegetables healthier?",
        "How is climate change affecting the earth?",
        "How to remove rust from iron?",
        "Should I refinance my mortgage?",
        "Why was Julius Caesar assassinated?",
        "What is the best laptop for students?",
        "How has the internet changed over time?",
        "What is the difference between Python and Java?",
        "How do I copy and paste text?",
        "What does a cat eat?",
        "Who plays Heather in Beauty and the Beast?",
        "What are the first and second major religions in France?",
    ],
)
def test_nothing_is_asked_that_the_question_does_not_say(question: str) -> None:
    decomposed = decompose(question)

    assert [(each.text, each.role) for each in decomposed] == [(question, Role.CORE)]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What are the causes and effects of the French Revolution?",
            ["What are the causes of the French Revolution?", "What are the effects of the French Revolution?"],
        ),
        (
            "What are the effects on sleep and the price of coffee?",
            ["What are the effects on sleep of coffee?", "What is the price of coffee?"],
        ),
        (
            "What are the price and the inventor of the kettle?",
            ["What is the price of the kettle?", "Who is the inventor of the kettle?"],
        ),
        (
            "What are the composer and the conductor of the recording?",
            ["Who is the composer of the recording?", "Who is the conductor of the recording?"],
        ),
        (
            "What are the process and the owner of the change request?",
            ["What is the process of the change request?", "Who is the owner of the change request?"],
        ),
        (
            "What is the capital of France, Germany and Italy?",
            ["What is the capital of France?", "What is the capital of Germany?", "What is the capital of Italy?"],
        ),
        (
            "When is the library open, and is it open on Sundays?",
            ["When is the library open?", "Is the library open on Sundays?"],
        ),
        (
            "When are the shops open, and are they busy on Sundays?",
            ["When are the shops open?", "Are the shops busy on Sundays?"],
        ),
        ("Why is coffee popular and where is it grown?", ["Why is coffee popular?", "Where is coffee grown?"]),
        (
            "Why is climate change a problem and how can it be stopped?",
            ["Why is climate change a problem?", "How can climate change be stopped?"],
        ),
        (
            "Why is the sky dark at night and does it stay dark on Mars?",
            ["Why is the sky dark at night?", "Does the sky stay dark on Mars?"],
        ),
        (
            "When is the timetable published and where is it posted?",
            ["When is the timetable published?", "Where is the timetable posted?"],
        ),
        (
            "Who is eligible for the discount, and does it apply online?",
            ["Who is eligible for the discount?", "Does the discount apply online?"],
        ),
        ("How much is a day pass and a week pass?", ["How much is a day pass?", "How much is a week pass?"]),
        (
            "What do I pay for a lost book and for a lost card?",
            ["What do I pay for a lost book?", "What do I pay for a lost card?"],
        ),
        ("How do I store and reheat cooked rice?", ["How do I store cooked rice?", "How do I reheat cooked rice?"]),
        (
            "How can I clean, dry and store a tent?",
            ["How can I clean a tent?", "How can I dry a tent?", "How can I store a tent?"],
        ),
        (
            "How is the vaccine stored and transported?",
            ["How is the vaccine stored?", "How is the vaccine transported?"],
        ),
        ("Who wrote and directed the film?", ["Who wrote the film?", "Who directed the film?"]),
        ("Where and when was Kepler born?", ["Where was Kepler born?", "When was Kepler born?"]),
    ],
)
def test_what_stands_in_a_row_is_asked_one_by_one(question: str, parts: list[str]) -> None:
    assert asks(question) == parts


def test_steps_of_a_multi_hop_question_that_stand_alone_are_background() -> None:
    decomposed = decompose("Who was born first, Homer or Plato?")

    assert [(each.text, each.role) for each in decomposed] == [
        ("Who was born first, Homer or Plato?", Role.CORE),
        ("When was Homer born?", Role.BACKGROUND),
        ("When was Plato born?", Role.BACKGROUND),
    ]


def test_no_more_sub_questions_are_made_than_asked_for() -> None:
    question = "What is RAG? How does it work? What are its limits?"

    decomposed = decompose(question, max_sub_questions=2)

    assert [each.text for each in decomposed] == ["What is RAG?", "How does RAG work?"]
    with pytest.raises(InvalidValueError, match="max_sub_questions is 0"):
        decompose(question, max_sub_questions=0)


def test_fixed_pairs_of_words_are_no_lists() -> None:
    question = "Who wrote Romeo and Juliet?"

    core = asks(question)

    assert core == [question]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("climate change effects", "What is important to know about climate change effects?"),
        ("Explain inflation.", "What is important to know about inflation?"),
        ("In what year did Rome fall", "In what year did Rome fall?"),
        ("Was ist Photosynthese?", "Was ist Photosynthese?"),
        ("¿Cuál es la capital de Francia?", "¿Cuál es la capital de Francia?"),
        ("لماذا السماء زرقاء؟", "لماذا السماء زرقاء؟"),
        ("为什么天空是蓝色的\uff1f", "为什么天空是蓝色的\uff1f"),
        ("?", "?"),
    ],
)
def test_a_question_of_no_known_shape_is_its_own_sub_question(question: str, expected: str) -> None:
    decomposed = decompose(question)

    assert decomposed == (SubQuestion(text=expected, role=Role.CORE, role_source="rules"),)


def test_a_blank_text_has_no_sub_questions() -> None:
    texts = ["", " \n\t"]

    decomposed = [decompose(text) for text in texts]

    assert decomposed == [(), ()]


def test_a_very_long_text_is_one_sub_question() -> None:
    text = "is it " * 50_000

    decomposed = decompose(text)

    assert len(decomposed) == 1


def test_typing_leaves_given_roles_alone() -> None:
    given_one, untyped = SubQuestion(text="What is air?", role=Role.FOLLOW_UP), SubQuestion(text="What is air?")

    typed = type_roles("Why is the sky blue?", [given_one, untyped])

    assert typed == (given_one, SubQuestion(text="What is air?", role=Role.BACKGROUND, role_source="rules"))


@pytest.mark.parametrize(
    ("sub_question", "role"),
    [
        ("How does freezing affect the nutrients of vegetables?", Role.CORE),
        ("What are the most common methods used to freeze vegetables?", Role.BACKGROUND),
        ("What are the main benefits of frozen vegetables?", Role.CORE),
        ("Who invented frozen vegetables?", Role.BACKGROUND),
        ("What are the cost differences between fresh and frozen vegetables?", Role.FOLLOW_UP),
        ("How can people keep vegetables fresh?", Role.FOLLOW_UP),
        ("are fresh or frozen vegetables healthier", Role.CORE),
    ],
)
def test_roles_follow_the_definitions(sub_question: str, role: Role) -> None:
    question = "Are fresh or frozen vegetables healthier?"

    typed = role_of(question, sub_question)

    assert typed is role


def test_what_the_question_asks_for_itself_is_core() -> None:
    question = "How can climate change be mitigated?"

    role = role_of(question, "How can forests mitigate climate change?")

    assert role is Role.CORE


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        """what is are the why how does should i or and vs between difference of in best better healthier than it they
        climate change Paris France coffee tea causes effects work ? ; , . x""",
    )
)
QUESTIONS = st.one_of(st.text(max_size=120), st.lists(WORDS, max_size=25).map(" ".join))


@given(QUESTIONS, st.integers(1, 20))
def test_any_text_is_split_into_distinct_questions(text: str, most: int) -> None:
    decomposed = decompose(text, max_sub_questions=most)

    texts = [sub_question.text for sub_question in decomposed]
    assert bool(texts) == bool(text.strip())
    assert len(texts) <= most
    assert len({each.casefold() for each in texts}) == len(texts)
    assert all(each.endswith(MARKS) and each[0] == each[0].upper()[:1] for each in texts if len(each) > 1)
    assert "{" not in "".join(texts) or "{" in text


@given(QUESTIONS)
def test_decomposing_is_deterministic_and_orders_by_role(text: str) -> None:
    first, second = decompose(text), decompose(Question(text=text)) if text.strip() else ()

    roles = [list(Role).index(sub_question.role) for sub_question in first if sub_question.role]
    assert first == second
    assert roles == sorted(roles)
    assert all(sub_question.role_source == "rules" for sub_question in first)


@given(QUESTIONS, QUESTIONS)
def test_any_sub_question_has_a_role(question: str, sub_question: str) -> None:
    role = role_of(question, sub_question)

    assert role in set(Role)


def test_of_a_clause_the_subject_is_what_a_later_pronoun_means() -> None:
    assert asks("How do heat pumps work and what do they cost?")[:2] == ["How do heat pumps work?", "What do heat pumps cost?"]


def test_a_story_has_no_background() -> None:
    assert asks("My sister works at a cruise agency. She hires crews which sign an agreement.", Role.BACKGROUND) == []


def test_what_was_founded_is_not_its_founder() -> None:
    assert asks("Who is the founder of Google and when was it founded?")[-1] == "When was Google founded?"


def test_several_have_what_is_theirs() -> None:
    assert asks("Who are the longest-reigning monarchs and who were their fathers?")[-1] == (
        "Who were the longest-reigning monarchs' fathers?"
    )


def test_a_word_of_time_is_no_part_of_a_subject() -> None:
    parts = ["Did the price rise last year?", "Why does the price rise?"]

    assert asks("Did the price rise last year and why does it rise?") == parts


@pytest.mark.parametrize(
    ("question", "core"),
    [
        (
            "How loud is a heat pump, where may it stand, and what can be done if the neighbours complain?",
            ["How loud is a heat pump?", "Where may a heat pump stand?", "What can be done if the neighbours complain?"],
        ),
        (
            "What does a heat pump cost, how long does it last and who may install it?",
            ["What does a heat pump cost?", "How long does a heat pump last?", "Who may install a heat pump?"],
        ),
    ],
)
def test_questions_in_a_row_are_asked_one_by_one(question: str, core: list[str]) -> None:
    asked = [each.text for each in decompose(question) if each.role == Role.CORE]

    assert asked[:3] == core


@pytest.mark.parametrize(
    "question",
    [
        "When it rains, what does a heat pump do with the water?",
        "In a house with a fireplace, where may a heat pump stand?",
        "If oil is dear, what is cheap, and what is not?",
    ],
)
def test_what_comes_before_a_comma_is_not_always_a_question(question: str) -> None:
    assert question in [each.text for each in decompose(question)]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How much does shipping to Iceland cost, and how long does it take?",
            ["How much does shipping to Iceland cost?", "How long does shipping to Iceland take?"],
        ),
        (
            "Who founded the company, and why did she move it to Vienna?",
            ["Who founded the company?", "Why did the person who founded the company move the company to Vienna?"],
        ),
        ("How do I install it and how do I remove it?", ["How do I install it?", "How do I remove it?"]),
        ("Who was Ada Lovelace and what did she write?", ["Who was Ada Lovelace?", "What did Ada Lovelace write?"]),
        ("What is a mortgage and what does it cost?", ["What is a mortgage?", "What does a mortgage cost?"]),
        (
            "Which vitamins does spinach contain and how should it be stored?",
            ["Which vitamins does spinach contain?", "How should spinach be stored?"],
        ),
        ("How long does delivery take and what does it cost?", ["How long does delivery take?", "What does delivery cost?"]),
        (
            "Who is the mayor of Paris and when did she take office?",
            ["Who is the mayor of Paris?", "When did the mayor of Paris take office?"],
        ),
        ("What does a kayak cost per hour, and who may use one?", ["What does a kayak cost per hour?", "Who may use a kayak?"]),
        (
            "How big is a standard pitch, and when can I book one?",
            ["How big is a standard pitch?", "When can I book a standard pitch?"],
        ),
    ],
)
def test_pronouns_of_a_second_question_are_resolved(question: str, parts: list[str]) -> None:
    assert [sub_question.text for sub_question in decompose(question)] == parts


@pytest.mark.parametrize(
    "question",
    [
        "How heavy is a tent, and which one is best?",
        "What is the warranty of the X200 and does the X300 have one?",
    ],
)
def test_what_one_stands_for_keeps_a_question_whole(question: str) -> None:
    assert [sub_question.text for sub_question in decompose(question)] == [question]


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("How long does it take to get a visa and how much does it cost?", "How much does it cost?"),
        ("Who painted the ceiling and how long did it take him?", "How long did it take him?"),
        ("Which planet is the largest and how far away is it?", "How far away is it?"),
        ("Why did the server crash last night and what was done to prevent it?", "What was done to prevent it?"),
        ("What is the actor's approach to fitness and how did he get in shape?", "How did he get in shape?"),
    ],
)
def test_a_pronoun_whose_meaning_no_rule_tells_stays(question: str, second: str) -> None:
    assert asks(question)[-1] == second


@pytest.mark.parametrize(
    "text",
    ["And on Saturdays?", "But not on Sundays?", "Or by bus?", "For two people?", "Per person?", "Any others?", "Really?"],
)
def test_a_follow_up_without_a_verb_stays_itself(text: str) -> None:
    assert [sub.text for sub in decompose(text)] == [text]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "When does the exhibition end, and during which months is the ship open?",
            ["When does the exhibition end?", "During which months is the ship open?"],
        ),
        (
            "How much does a day pass cost and at what time does the shop close?",
            ["How much does a day pass cost?", "At what time does the shop close?"],
        ),
        ("What is the fee? Additionally, do students pay less?", ["What is the fee?", "Do students pay less?"]),
        (
            "Tell me the price and the warranty of the X200.",
            ["What is the price of the X200?", "What is the warranty of the X200?"],
        ),
    ],
)
def test_further_questions_are_found_however_they_begin(question: str, parts: list[str]) -> None:
    assert asks(question) == parts
