"""Questions that are asked indirectly ("Could you tell me when it opens?") are measured as direct ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.english.indirect import ask_directly, ask_plainly

DIRECT = {
    "could you please tell me how old the castle is?": "How old is the castle?",
    "Do you know whether dogs are allowed?": "Are dogs allowed?",
    "I was wondering if you ship to Norway.": "Do you ship to Norway?",
    "Does anyone know what time it closes?": "What time does it close?",
    "Tell me how to reset my password.": "How do I reset my password?",
    "Tell me what happens if I miss the deadline.": "What happens if I miss the deadline?",
    "Can you tell me which documents are needed to register?": "Which documents are needed to register?",
    "Can you tell me which bus I should take to the station?": "Which bus should I take to the station?",
    "Do you know how many people can enter at once?": "How many people can enter at once?",
    "Can you tell me how many people use the pool?": "How many people use the pool?",
    "Can you say how many rooms the hotel has?": "How many rooms does the hotel have?",
    "Can you say how many rooms there are?": "How many rooms are there?",
    "do you know how long shipping takes": "How long does shipping take?",
    "Can you tell me how much water is used per day?": "How much water is used per day?",
    "Can you tell me how much tickets cost?": "How much do tickets cost?",
    "Can you tell me what's included in the price?": "What is included in the price?",
    "Can you tell me if I'm allowed to smoke?": "Am I allowed to smoke?",
    "Can you check if my order has shipped?": "Has my order shipped?",
    "Could you let us know whether the trainer has experience with dogs?": "Does the trainer have experience with dogs?",
    "Could you tell me why the train from Oslo to Bergen was cancelled?": "Why was the train from Oslo to Bergen cancelled?",
    "I wonder why cats purr at night": "Why do cats purr at night?",
    "Could you explain what this means?": "What does this mean?",
    "Can you describe what the warranty covers?": "What does the warranty cover?",
    "I have a 2015 Civic. Can you tell me why it stalls?": "I have a 2015 Civic. Why does it stall?",
    "Would you mind telling me where I can park?": "Where can I park?",
    "Hi! Can you tell me who runs the club? Thanks a lot.": "Who runs the club?",
    "could you tell me what documents I need?": "What documents do I need?",
    "Can you tell me where to park?": "Where should I park?",
    "any chance you know whether or not dogs are allowed?": "Are dogs allowed?",
    "can u tell me what went wrong": "What went wrong?",
    "Tell me what people say about it": "What do people say about it?",
    "Could you tell me if I need a visa, and if so, how much it costs?": "Do I need a visa and how much does it cost?",
    "Can you tell me what the mayor said about the new bridge?": "What did the mayor say about the new bridge?",
    "Let me know what you need from me": "What do you need from me?",
    "Any idea why my invoice shows two different addresses?": "Why does my invoice show two different addresses?",
    "please let me know whether the course counts towards my degree": "Does the course count towards my degree?",
    'Can somebody tell me what "net 30" means?': 'What does "net 30" mean?',
    "Can you tell me at what time the gates close?": "At what time do the gates close?",
    "Could you tell me, please, where the toilets are?": "Where are the toilets?",
    "Hi there, quick question: do you price match?": "Do you price match?",
    "Would it be possible to tell me when it will be back in stock?": "When will it be back in stock?",
    "Explain what quantum entanglement is and how it is used": "What is quantum entanglement and how is it used?",
    "what does it cost\ncan you tell me when it opens?": "what does it cost\nWhen does it open?",
    "Can you tell me why my app doesn't sync?": "Why doesn't my app sync?",
    "do you know why I can't log in": "Why can't I log in?",
    "Tell me how strict the rules are": "How strict are the rules?",
    "Could you explain how exactly the refund works?": "How exactly does the refund work?",
    "Tell me what the button does.": "What does the button do?",
    "explain why he left and what he did next": "Why did he leave and what did he do next?",
    "Can you explain the difference between TCP and UDP?": "Explain the difference between TCP and UDP?",
}

DEADLINE_AND_FEE = ["What is the deadline for the application?", "What is the fee for the application?"]
STARTED_AND_ENDS = ["When did my contract start?", "When does my contract end?"]


@pytest.mark.parametrize(("asked", "direct"), DIRECT.items())
def test_is_asked_directly(asked: str, direct: str) -> None:
    assert ask_plainly(asked).rstrip("?") == direct.rstrip("?")


@pytest.mark.parametrize(
    "asked",
    [
        "Can you help me move the sofa?",
        "How far is Delhi, India from Agra?",  # "hi," inside of a name
        "Which of the guides could you list the prices of?",
        "Where is the Tang Ravaq, located in Iran?",
        "Do you know anything about the fees?",
        "Can you play Minecraft offline?",
        "Tell me how the pump that was installed in 2019 works",  # a subject that no rule can tell
        "Do you know how come the door is locked?",
        "Do you know why the meeting got cancelled?",  # "got" is an auxiliary there
        "I don't know how to swim. Can I join?",
        "Do I know when I have to pay?",
    ],
)
def test_stays_as_it_is(asked: str) -> None:
    assert ask_plainly(asked) == asked


@given(st.sampled_from([*DIRECT.values()]))
def test_a_direct_question_stays(question: str) -> None:
    assert ask_directly(question).rstrip("?") == question.rstrip("?")


@given(st.text(max_size=60))
def test_any_text_is_asked_for_something(text: str) -> None:
    assert bool(ask_directly(text).strip()) == bool(text.strip())
    assert ask_directly(ask_directly(text)) == ask_directly(text)


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "Can you tell me who designed the bridge and when it was built?",
            ["Who designed the bridge?", "When was the bridge built?"],
        ),
        (
            "Could you explain how the refund works and how long it takes?",
            ["How does the refund work?", "How long does the refund take?"],
        ),
        ("Could you tell me about the fees?", ["What are the fees?"]),
        ("What does it cost, and when does it open?", ["What does it cost?", "When does it open?"]),
        ("Could you tell me the deadline and the fee for the application?", DEADLINE_AND_FEE),
        ("I'd like to know the price of the X200", ["What is the price of the X200?"]),
        ("Can you give me the address of the clinic?", ["What is the address of the clinic?"]),
        ("Do you know the owner?", ["Do you know the owner?"]),
        ("Can I ask the doctor for a sick note?", ["Can I ask the doctor for a sick note?"]),
        ("My parcel hasn't arrived. What now?", ["My parcel hasn't arrived. What now?"]),
        (
            "What is the capital of France and its population?",
            ["What is the capital of France?", "What is the population of France?"],
        ),
        ("I'd like to know when my contract started and when it ends.", STARTED_AND_ENDS),
        ("When do you open and can you tell me if there's a car park?", ["When do you open?", "Is there a car park?"]),
        ("Where can I park, and is it free?", ["Where can I park?", "Is it free to park?"]),
        ("How do I apply, and how long does it take?", ["How do I apply?", "How long does it take to apply?"]),
        ("Can I swim in the lake, and is it safe?", ["Can I swim in the lake?", "Is the lake safe?"]),
    ],
)
def test_is_split_as_a_direct_one(asked: str, parts: list[str]) -> None:
    assert [part.text for part in decompose_by_rules(asked, most=12)] == parts
