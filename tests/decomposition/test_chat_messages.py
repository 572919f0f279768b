"""Messages as people type them into a chat: several questions in one, short spellings, what they say first, orders."""

import pytest

from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.english.spelling import spell_out
from rag_cover.questions import Role


def ask(message: str) -> list[str]:
    return [each.text for each in decompose_by_rules(message, most=12) if each.role is Role.CORE]


SEVERAL = {
    "Where's the pool? Is it heated?": ["Where's the pool?", "Is the pool heated?"],
    "Can I bring a guest? What does it cost?": ["Can I bring a guest?", "What does it cost to bring a guest?"],
    "When does the pool open? How much is it?": ["When does the pool open?", "How much is the pool?"],
    "Is there parking, and is it free?": ["Is there parking?", "Is parking free?"],
    "Do you ship to Canada? If yes, how much is it?": ["Do you ship to Canada?", "How much is it to ship to Canada?"],
    "Are dogs allowed, and if not, is there a kennel nearby?": ["Are dogs allowed?", "Is there a kennel nearby?"],
    "I'd like to know if pets are allowed and, if so, whether there is a fee.": ["Are pets allowed?", "Is there a fee?"],
    "Two questions: when do you open and is there parking?": ["When do you open?", "Is there parking?"],
    "What's the wifi password? Oh and can I check out late?": ["What's the wifi password?", "Can I check out late?"],
    "When do you open? Another question: do you have lockers?": ["When do you open?", "Do you have lockers?"],
    "what time do you open plus how much is a day pass": ["What time do you open?", "How much is a day pass?"],
    "what time do you open, how much is a day pass": ["What time do you open?", "How much is a day pass?"],
    "Hi! 1) When do you open? 2) Is there parking?": ["When do you open?", "Is there parking?"],
    "- When do you open?\n- Is there parking?": ["When do you open?", "Is there parking?"],
    "When do you open? Also, where's the entrance?": ["When do you open?", "Where's the entrance?"],
    "hey whats the wifi password and does it work on 2 devices": [
        "What's the wifi password?",
        "Does the wifi password work on 2 devices?",
    ],
    "When does the museum open, how much is a ticket and is there a cafe?": [
        "When does the museum open?",
        "How much is a ticket?",
        "Is there a cafe?",
    ],
    "Please tell me when check-in is, whether breakfast is included and if pets are welcome.": [
        "When is check-in?",
        "Is breakfast included?",
        "Are pets welcome?",
    ],
    "What are the opening hours and the prices?": ["What are the opening hours?", "What are the prices?"],
    "Do you have a pool and a gym?": ["Do you have a pool?", "Do you have a gym?"],
    "Why is the Dead Sea called dead, how salty is it, and may tourists bathe there?": [
        "Why is the Dead Sea called dead?",
        "How salty is it?",  # no rule tells what "it" is: better asked like that than all at once
        "May tourists bathe there?",
    ],
    "Who released the model, how many tokens did it see, and under which license is it?": [
        "Who released the model?",
        "How many tokens did the model see?",
        "Under which license is the model?",
    ],
    "What time is check-in and is breakfast included?": ["What time is check-in?", "Is breakfast included?"],
    "Is there a shuttle bus from the airport? How often does it run?": [
        "Is there a shuttle bus from the airport?",
        "How often does a shuttle bus run?",
    ],
    "how do i sign up, and is it free": ["How do i sign up?", "Is it free to sign up?"],
    "When do you open and close?": ["When do you open?", "When do you close?"],
    "Who wrote Dune and when?": ["Who wrote Dune?", "When was Dune written?"],
    "How to apply for leave and who approves it": ["How to apply for leave?", "Who approves leave?"],
    "Explain the refund policy and how long refunds take": ["What is the refund policy?", "How long do refunds take?"],
    "can I change my password, and can I reuse an old one": ["Can I change my password?", "Can I reuse an old password?"],
    "pros and cons of solar panels": ["What are the pros of solar panels?", "What are the cons of solar panels?"],
}


@pytest.mark.parametrize(("message", "questions"), SEVERAL.items())
def test_each_question_of_a_message_is_asked(message: str, questions: list[str]) -> None:
    assert ask(message) == questions


IN_CONTEXT = {
    "My laptop won't start. What can I do?": ["My laptop won't start. What can I do?"],
    "My card was stolen. Who do I call?": ["My card was stolen. Who do I call?"],
    "My card was stolen. How do I block it, and how do I get a new one?": [
        "My card was stolen. How do I block it?",
        "My card was stolen. How do I get a new one?",
    ],
    "I lost my card, what should I do and will I get my money back?": [
        "I lost my card. What should I do?",
        "I lost my card. Will I get my money back?",
    ],
    "The tent: how big is it, and is it waterproof?": ["The tent: how big is it?", "The tent: is it waterproof?"],
    "I'm 47. Is it too late to learn Portuguese, and what's the best way?": [
        "I'm 47. Is it too late to learn Portuguese?",
        "I'm 47. What's the best way?",
    ],
    "In the lab, who tests the hoods, why is eating forbidden, and where are the kits?": [
        "In the lab, who tests the hoods?",
        "In the lab, why is eating forbidden?",
        "In the lab, where are the kits?",
    ],
    "I bought a kettle and it leaks. Can I get a refund?": ["I bought a kettle and it leaks. Can I get a refund?"],
    "My two years are over. Am I still bound?": ["My two years are over. Am I still bound?"],
    "I have a dog. Which paths are open to walkers?": ["Which paths are open to walkers?"],  # needs nothing of what was said
}


@pytest.mark.parametrize(("message", "questions"), IN_CONTEXT.items())
def test_what_is_said_first_stands_before_the_questions_that_need_it(message: str, questions: list[str]) -> None:
    assert ask(message) == questions


REPHRASED = {
    "Can you confirm that the seats are refundable?": "Are the seats refundable?",
    "tell me what dogs eat": "What do dogs eat?",
    "Could you please help me understand how interest is calculated?": "How is interest calculated?",
    "I was wondering if you could tell me what time the pool opens": "What time does the pool open?",
    "For how long I can stay?": "How long can I stay?",
    "what r ur opening hours": "What are your opening hours?",
    "How do I descale the coffee machine, please?": "How do I descale the coffee machine?",
    "List all classes you offer on Monday evenings.": "Which classes do you offer on Monday evenings?",
    "Give me a list of the vegan dishes please": "What are the vegan dishes?",
    "Walk me through descaling the coffee machine": "What are the steps for descaling the coffee machine?",
    "steps to renew a passport": "What are the steps to renew a passport?",
    "I can't log in!": "What do I do if I can't log in?",
    "vpn not working from home": "What do I do if vpn is not working from home?",
    "cancel my order 558213 please": "Cancel my order 558213?",
    "By the way, do you sell gift cards?": "Do you sell gift cards?",
}


@pytest.mark.parametrize(("message", "question"), REPHRASED.items())
def test_a_message_is_put_as_the_question_that_it_asks(message: str, question: str) -> None:
    assert ask(message) == [question]


@pytest.mark.parametrize(
    "message",
    [
        "Compare the two plans and recommend one for a family.",
        "When it rains, where can I park?",
        "Who had conquered the kingdom, and was travelling through it?",
        "What did the union think of the law and what the government should do?",
        "My request timed out, how do I make sure nobody is charged twice?",
        "What did Ada Lovelace, who was a daughter of Lord Byron, write?",
        "What part of the state, in which the film is set, is Rochester in?",
    ],
)
def test_what_may_belong_together_stays_whole(message: str) -> None:
    assert ask(message) == [f"{message.rstrip('.?')}?"]


@pytest.mark.parametrize(
    "message",
    ["Thanks!", "hello", "Can you help me?", "You didn't answer my question.", "ok great, thank you and have a nice weekend!"],
)
def test_a_message_that_asks_nothing_has_no_questions(message: str) -> None:
    assert decompose_by_rules(message, most=12) == ()


@pytest.mark.parametrize(
    "text", ["How do I plot in R?", "Are interns at Callow & Finch paid?", "the first u.s. president", "PLS in Jamovi", "y&r"]
)
def test_names_are_no_short_spellings(text: str) -> None:
    assert spell_out(text) == text


def test_spaces_in_a_row_count_as_one() -> None:
    assert ask(f"what{' ' * 100_000}is the\t \tprice") == ["What is the price?"]
