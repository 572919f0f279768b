"""What models write, read as JSON: tolerant of form, strict about content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from rag_cover.errors import MalformedReplyError
from rag_cover.llm.json_replies import parse_reply


class Item(BaseModel):
    number: int
    text: str | None = None
    share: float | None = Field(default=None, ge=0, le=1)


class Items(BaseModel):
    items: list[Item]


class Parts(BaseModel):
    parts: list[str]


class Named(BaseModel):
    text: str
    role: str | None = None


class NamedParts(BaseModel):
    parts: list[Named]


WHOLE = '{"items": [{"number": 1, "text": "a"}, {"number": 2, "text": "b"}]}'


def read_or_none(text: str) -> Items | None:
    """Read, or check that a reply that cannot be read is kept."""
    try:
        return parse_reply(text, Items)
    except MalformedReplyError as malformed:
        if malformed.raw != text:
            raise
    return None


@pytest.mark.parametrize(
    "reply",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"```\n{WHOLE}\n```",
        f"Sure! Here it is:\n\n{WHOLE}\n\nAnything else?",
        f"<think>Two items [1, 2] or {{three}}?</think>\n{WHOLE}",
        '{"items": [{"number": 1, "text": "a",}, {"number": 2, "text": "b"},],}',
        '[{"number": 1, "text": "a"}, {"number": 2, "text": "b"}]',
        '{"items": [{"number": "1", "text": "a"}, {"number": 2, "text": "b"}]}',
        f"{WHOLE}\n{WHOLE}",
    ],
    ids=["plain", "fenced", "fence without name", "with talk", "thoughts", "commas", "bare list", "number as text", "twice"],
)
def test_the_same_content_is_read_in_many_forms(reply: str) -> None:
    assert parse_reply(reply, Items) == Items.model_validate_json(WHOLE)


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_of_a_reply_that_breaks_off_only_complete_elements_are_kept(length: int) -> None:
    cut = WHOLE[:length]
    complete = Items.model_validate_json(WHOLE).items

    read = read_or_none(cut)

    assert read is None or read.items == complete[: len(read.items)]


@pytest.mark.parametrize(
    "reply",
    [
        "1. What is it?\n2. What does it cost?",
        "Here they are:\n\n1) What is it?\n2) What does it cost?\n\nGood luck!",
        "- What is it?\n- What does it cost?",
        '1. "What is it?"\n2. "What does it cost?"',
    ],
)
def test_a_list_of_lines_stands_for_a_list_of_texts(reply: str) -> None:
    texts = ["What is it?", "What does it cost?"]

    assert parse_reply(reply, Parts).parts == texts
    assert [part.text for part in parse_reply(reply, NamedParts).parts] == texts


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "the reply holds no JSON"),
        ("I would rather not.", "the reply holds no JSON"),
        ('{"items": 3}', "items"),
        ('{"items": [{"number": "one"}]}', "number"),
        ('{"items": [{"number": 1, "share": 1.5}]}', "share"),
        ('{"items": [{"number": 1, "share": NaN}]}', ""),
        ('{"things": []}', "items"),
        ("[" * 100_000, ""),
        ('{"a":' * 5_000, ""),
        ("<think>I never come to an end", "the reply holds no JSON"),
    ],
)
def test_what_does_not_fit_is_malformed_and_kept(reply: str, problem: str) -> None:
    with pytest.raises(MalformedReplyError) as raised:
        parse_reply(reply, Items)

    assert problem in str(raised.value)
    assert (raised.value.kind, raised.value.raw) == ("malformed", reply)


def test_two_different_answers_are_none() -> None:
    with pytest.raises(MalformedReplyError, match="holds 2 different answers"):
        parse_reply('{"items": [{"number": 1}]} or {"items": [{"number": 2}]}', Items)


@given(st.text(max_size=300))
def test_whatever_is_written_is_read_or_malformed(text: str) -> None:
    read = read_or_none(text)

    assert read is None or all(isinstance(item, Item) for item in read.items)


@given(st.text(alphabet='{}[]",:1 aitemsnu\\\n', max_size=200))
def test_whatever_looks_like_json_is_read_or_malformed(text: str) -> None:
    read = read_or_none(text)

    assert read is None or all(isinstance(item, Item) for item in read.items)
