"""Replies that only say that a source says nothing answer nothing; answers in like words stay answers."""

from __future__ import annotations

import pytest

from rag_cover.backends import ScoringItem
from rag_cover_embedded.bare_abstentions import only_abstains
from rag_cover_embedded.judge import EmbeddedJudge

ASKED = ("Is there wifi?", "Are there discounts for students?", "Is there anything to eat?", "What does a day ticket cost?")
REPLIES = (
    "There is nothing in the documents on this.",
    "I have nothing on that.",
    "Sorry, nothing about this.",
    "Not in the documents.",
    "There's no mention of it in the handbook.",
    "The context doesn\u2019t say.",
    "I could not find any information about that in the provided context, sorry.",
)


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_of_such_words_alone_is_found(reply: str) -> None:
    assert all(only_abstains(question, reply) for question in ASKED)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Is there wifi?", "There is none."),
        ("Is there wifi?", "No, we have nothing like that."),
        ("Is there wifi?", "Nothing in the documents on this, but the cafe has some."),
        ("What does a day ticket cost?", "Nothing."),
        ("What can I do about it?", "There is nothing you can do about it."),
        ("What do the documents say about dogs?", "The documents say nothing about this."),
        ("Is there a mention of dogs?", "There is no mention."),
        ("Does it cover theft?", "No, it does not cover that."),
        ("Is there wifi?", ""),
        ("Is there wifi?", "There is nothing in the documents on this. " * 20),
    ],
)
def test_other_replies_are_left_to_the_network(question: str, reply: str) -> None:
    assert not only_abstains(question, reply)


def test_the_judge_says_that_such_a_reply_abstains_and_covers_nothing(judge: EmbeddedJudge) -> None:
    items = [ScoringItem(question, reply, user_question=question) for question in ASKED for reply in REPLIES]

    assert max(judge.correctness(items)) < 0.1
    assert set(judge.abstains(items)) == {"wholly"}
    assert judge.locate(items) == [None] * len(items)
