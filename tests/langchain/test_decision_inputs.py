from __future__ import annotations

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.messages import AIMessage, HumanMessage

from rag_cover.errors import InvalidValueError
from rag_cover_langchain.decision_inputs import state_text


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("It rains.", "It rains."),
        (HumanMessage("It rains."), "It rains."),
        ([HumanMessage("Does it rain?"), AIMessage("Yes.")], "human: Does it rain?\nai: Yes."),
        ({"sky": ["grey", 3, None, True]}, '{"sky": ["grey", 3, null, true]}'),
        ({"said": HumanMessage("Où?"), "again": (AIMessage("Là."),)}, '{"said": {"human": "Où?"}, "again": [{"ai": "Là."}]}'),
        ([], "[]"),
    ],
)
def test_a_state_is_written_as_text(state: object, text: str) -> None:
    assert state_text(state) == text


def test_of_a_message_in_blocks_the_text_is_written() -> None:
    assert (
        state_text(HumanMessage(content=[{"type": "text", "text": "It "}, {"type": "text", "text": "rains."}])) == "It rains."
    )


@pytest.mark.parametrize(
    "state",
    [
        HumanMessage(content=[{"type": "image", "base64": "aGk=", "mime_type": "image/png"}]),
        {"picture": {"type": "image", "base64": "aGk="}},
        [HumanMessage("Look."), {"type": "image", "url": "https://example.org/sky.png"}],
    ],
)
def test_a_state_with_a_picture_is_refused(state: object) -> None:
    with pytest.raises(InvalidValueError, match="read text only, and the state holds 'image'"):
        state_text(state)


def test_what_is_no_json_is_refused_by_its_class() -> None:
    with pytest.raises(InvalidValueError, match="not 'object'"):
        state_text({"sky": object()})
