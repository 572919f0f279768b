"""Sub-questions and types are read out of whatever a model writes; what is no question or no type never becomes one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.decomposition.replies import roles_in, sub_questions_in
from rag_cover.english.lexicon import MARKS
from rag_cover.errors import MalformedReplyError
from rag_cover.questions import Role

WHAT, HOW = "What is a heat pump?", "How does a heat pump heat a house?"

REPLIES = {
    "JSON": f'{{"sub_questions": ["{WHAT}", "{HOW}"]}}',
    "JSON in a fence": f'Here you are:\n```json\n{{"sub_questions": ["{WHAT}", "{HOW}"]}}\n```\nAnything else?',
    "a bare list": f'["{WHAT}", "{HOW}"]',
    "JSON that breaks off": f'{{"sub_questions": ["{WHAT}", "{HOW}", "Which heat pump is the ch',
    "JSON in a fence that breaks off": f'```json\n["{WHAT}", "{HOW}", "Which',
    "a trailing comma": f'{{"sub_questions": ["{WHAT}", "{HOW}",]}}',
    "a numbered list": f"1. {WHAT}\n2. {HOW}",
    "a list with brackets": f"1) {WHAT}\n2) {HOW}",
    "bullets": f"- {WHAT}\n* {HOW}",
    "bold items": f"1. **{WHAT}**\n2. **{HOW}**",
    "quoted items": f'1. "{WHAT}"\n2. "{HOW}"',
    "thoughts first": f'<think>What do they want? 1. Nothing?</think>\n{{"sub_questions": ["{WHAT}", "{HOW}"]}}',
    "numbers inside": f'["1. {WHAT}", "2. {HOW}"]',
    "other white space": '["What is\\na heat  pump?", "\\tHow does a heat pump heat a house? "]',
    "marks forgotten": '["What is a heat pump", "How does a heat pump heat a house."]',
}


@pytest.mark.parametrize("form", REPLIES)
def test_sub_questions_are_read_in_any_form(form: str) -> None:
    assert sub_questions_in(REPLIES[form]) == [WHAT, HOW]


@pytest.mark.parametrize(
    "reply", ["", "I am sorry, but I cannot help with that.", "null", "{}", '{"sub_questions": []}', '{"questions": 3}', "[[[["]
)
def test_a_reply_without_a_question_is_malformed_and_kept(reply: str) -> None:
    with pytest.raises(MalformedReplyError) as caught:
        sub_questions_in(reply)

    assert caught.value.raw == reply


def test_what_is_no_question_is_left_out() -> None:
    reply = ["Sub-questions:", WHAT, "I hope this helps.", "?", "", "12.", "How " + "very " * 200 + "long?", HOW]

    found = sub_questions_in(str(reply).replace("'", '"'))

    assert found == [WHAT, HOW]


def test_questions_in_other_languages_keep_their_marks() -> None:
    reply = '["¿Qué es una bomba de calor?", "什么是热泵\uff1f", "ما هي المضخة الحرارية؟"]'

    assert sub_questions_in(reply) == ["¿Qué es una bomba de calor?", "什么是热泵\uff1f", "ما هي المضخة الحرارية؟"]


def test_characters_that_nobody_sees_are_left_out() -> None:
    reply = '["What is a heat\\u202e pump\\u0000\\ud800?"]'

    assert sub_questions_in(reply) == [WHAT]


TYPES = {
    "JSON": '{"types": [{"number": 1, "type": "background"}, {"number": 2, "type": "core"}]}',
    "JSON in another order": '{"types": [{"number": 2, "type": "core"}, {"number": 1, "type": "background"}]}',
    "JSON in other words": '{"types": [{"number": 1, "type": "Background"}, {"number": 2, "type": "CORE sub-question"}]}',
    "without numbers": '{"types": ["background", "core"]}',
    "a bare list": '["background", "core"]',
    "numbered lines": "1. background\n2. core",
    "numbered lines in another order": "2. core\n1. background",
    "lines with questions": f"1. {WHAT} - background\n2. {HOW} - core",
    "a map": '{"1": "background", "2": "core"}',
    "a map over lines": '{\n"1": "background",\n"2": "core"\n}',
    "a table": "| 1 | background |\n| 2 | core |",
}


@pytest.mark.parametrize("form", TYPES)
def test_types_are_read_in_any_form(form: str) -> None:
    assert roles_in(TYPES[form], 2) == (Role.BACKGROUND, Role.CORE)


def test_a_type_that_is_missing_or_given_twice_is_none() -> None:
    twice = '{"types": [{"number": 1, "type": "core"}, {"number": 1, "type": "background"}, {"number": 2, "type": "core"}]}'

    assert roles_in(twice, 3) == (None, Role.CORE, None)
    assert roles_in("1. core\n3. background", 3) == (Role.CORE, None, Role.BACKGROUND)
    assert roles_in("1. core or background\n2. follow up", 2) == (None, Role.FOLLOW_UP)


@pytest.mark.parametrize(
    "reply", ["", "All of them.", '{"types": []}', '{"types": [{"number": 7, "type": "core"}]}', "1. main"]
)
def test_a_reply_that_types_nothing_is_malformed(reply: str) -> None:
    with pytest.raises(MalformedReplyError):
        roles_in(reply, 2)


FRAGMENTS = """\
{"sub_questions":[
"What is it?"
"How
,
]
}
```json
```
1. What is it?
2) why
-
<think>
?
\\u0000
\\ud800
\\
{"types":[
{"number":1,"type":"core"}
core
follow-up
é
؟"""
PIECES = st.lists(st.sampled_from(FRAGMENTS.splitlines()), max_size=30).map("\n".join)


@given(st.one_of(st.text(max_size=200), PIECES))
def test_any_reply_is_read_or_is_malformed(reply: str) -> None:
    try:
        found = sub_questions_in(reply)
    except MalformedReplyError:
        return

    assert found
    assert all(text.endswith(tuple(MARKS)) and text.isprintable() and text == text.strip() for text in found)


@given(st.one_of(st.text(max_size=200), PIECES), st.integers(1, 5))
def test_any_reply_types_some_or_is_malformed(reply: str, count: int) -> None:
    try:
        roles = roles_in(reply, count)
    except MalformedReplyError:
        return

    assert len(roles) == count
    assert any(roles)
