"""Questions, answers and documents are found in whatever LangChain's runs take and return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue
from pydantic import BaseModel

from rag_cover_langchain.payloads import answer_text, documents_in, question_in, texts_in

SKY = "Why is the sky blue?"
AIR = "Air scatters."
ONE, TWO = Document("One.", id="1"), Document("Two.", id="2")
CALLING = AIMessage("Let me see.", tool_calls=[{"name": "search", "args": {}, "id": "1"}])


@dataclass
class Command:
    """Looks like LangGraph's: where to go, and what to go on with."""

    update: Any = None
    resume: Any = None
    goto: str = ""


@dataclass
class Kept:
    """A state as a dataclass."""

    question: str = SKY
    documents: list[Document] = field(default_factory=lambda: [ONE])
    answer: str | None = None


class Stated(BaseModel):
    """A state, or a structured answer, as a model."""

    claim: str = AIR
    documents: list[Document] = []


class Replied(BaseModel):
    """A structured answer that says how sure it is."""

    confidence: str = "high"
    answer: str = AIR


@pytest.mark.parametrize(
    "given_",
    [
        SKY,
        HumanMessage(SKY),
        HumanMessage([{"type": "text", "text": SKY}]),
        StringPromptValue(text=SKY),
        ChatPromptValue(messages=[SystemMessage("Be brief."), HumanMessage(SKY)]),
        [HumanMessage("Hello."), AIMessage("Hello."), HumanMessage(SKY), CALLING],
        [("system", "Be brief."), ("user", SKY)],
        [{"role": "user", "content": SKY}, {"role": "assistant", "content": "Well."}],
        [ChatMessage(role="user", content=SKY)],
        {"question": SKY},
        {"input": SKY, "chat_history": [HumanMessage("Hello.")]},
        {"messages": [("user", SKY)]},
        {"input": {"question": SKY}},
        {"a": 3, "b": SKY},
        Kept(),
        Command(update={"messages": [("user", SKY)]}, resume="yes", goto="there"),
    ],
)
def test_the_question_is_found(given_: object) -> None:
    assert question_in(given_) == SKY


@pytest.mark.parametrize(
    "given_", [None, "  ", 3, [], {}, {"a": "x", "b": "y"}, [AIMessage(AIR)], Command(resume="yes"), ONE.metadata]
)
def test_where_nobody_asks_there_is_no_question(given_: object) -> None:
    assert question_in(given_) is None


@pytest.mark.parametrize(
    ("output", "asked"),
    [
        (AIR, SKY),
        (AIMessage(AIR), SKY),
        (AIMessageChunk(content=AIR), SKY),
        ({"answer": AIR, "question": SKY}, {"question": SKY}),
        ({"answer": {"text": AIR}}, None),
        ({"question": SKY, "summary": AIR}, {"question": SKY}),
        ({"messages": [HumanMessage(SKY), AIMessage(AIR)]}, None),
        ({"messages": [HumanMessage(SKY), AIMessage(AIR), CALLING]}, None),
        ({"output": "old", "generation": AIR}, {"output": "old"}),
        ([("user", SKY), ("assistant", AIR)], None),
        ([{"role": "assistant", "content": AIR}], None),
    ],
)
def test_the_answer_is_found(output: object, asked: object) -> None:
    assert answer_text(output, asked) == AIR


@pytest.mark.parametrize(
    ("output", "asked"),
    [
        (None, SKY),
        (ONE, SKY),
        ([ONE], SKY),
        (AIMessage(""), SKY),
        ({"question": SKY}, {"question": SKY}),
        ({"question": "in other words"}, {"question": SKY}),
        ({"answer": AIR}, {"answer": AIR}),
        ({"a": "x", "b": "y"}, None),
        ({"messages": [HumanMessage("Hello."), AIMessage("Hello."), HumanMessage(SKY), CALLING]}, None),
        (Command(goto="generate", update={"documents": []}), {"question": SKY}),
    ],
)
def test_where_nobody_answers_there_is_no_answer(output: object, asked: object) -> None:
    assert answer_text(output, asked) is None


@pytest.mark.parametrize(
    "value",
    [
        Replied(),
        {"structured_response": Replied()},
        {"structured_response": Kept("high", [], AIR)},
        {"structured_response": {"answer": AIR, "confidence": "high"}},
        {"structured_response": {"claim": AIR, "certainty": 0.9}},
        {"structured_response": Stated(documents=[ONE])},
        {"structured_response": AIR, "messages": [AIMessage("Done.")]},
        {"answer": Replied(), "note": "x"},
    ],
)
def test_a_structured_answer_is_its_field_answer_or_its_only_text(value: object) -> None:
    assert answer_text(value) == AIR


def test_a_structured_answer_without_a_field_answer_is_all_its_texts() -> None:
    listed = {"claims": [AIR, "Blue most."], "certainty": 0.9, "question": SKY, "source": {"title": "Rayleigh"}}

    assert answer_text({"structured_response": listed}) == "Air scatters.\nBlue most.\nRayleigh"
    assert answer_text(Stated(claim=" ")) is None


@pytest.mark.parametrize(
    "value",
    [
        [ONE, TWO],
        (ONE, TWO),
        [(ONE, 0.5), (TWO, 0.25)],
        {"context": [ONE], "more": {"documents": [TWO]}},
        {"messages": [HumanMessage(SKY), ToolMessage("…", tool_call_id="1", artifact=[ONE, TWO])]},
        ToolMessage("…", tool_call_id="1", artifact={"documents": [ONE, TWO]}),
        Command(update={"messages": [ToolMessage("…", tool_call_id="1", artifact=[ONE, TWO])]}),
        [Kept(), TWO],
        Stated(documents=[ONE, TWO]),
    ],
)
def test_documents_are_found_in_their_order(value: object) -> None:
    assert documents_in(value) == [ONE, TWO]


def test_all_documents_that_are_found_are_listed() -> None:
    documents = [Document(f"Text {number}.") for number in range(5_000)]

    assert len(documents_in({"context": documents})) == len(documents)


def test_what_is_very_large_or_holds_itself_is_looked_at_no_further_than_is_worth_it() -> None:
    circle: list[Any] = [ONE]
    circle += [circle] * 50

    assert documents_in([[0.0] * 1_000_000, ONE]) == [ONE]
    assert documents_in([ONE, *[HumanMessage(SKY)] * 5_000, TWO]) == [ONE]
    assert 1 <= len(documents_in(circle)) <= 3_000


def test_texts_that_ask_are_none_that_answer() -> None:
    assert texts_in({"question": SKY, "generation": AIR, "note": "x", "documents": [ONE]}) == {AIR, "x"}


VALUES = st.recursive(
    st.one_of(st.none(), st.text(max_size=5), st.integers(), st.just(ONE), st.builds(HumanMessage, st.text(max_size=5))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from(["question", "answer", "messages", "input", "x"]), inner, max_size=3),
    ),
    max_leaves=10,
)


@given(VALUES, VALUES)
def test_any_value_has_a_question_an_answer_and_documents_or_none(value: object, asked: object) -> None:
    question, answer = question_in(value), answer_text(value, asked)

    assert question is None or question.strip()
    assert answer is None or isinstance(answer, str)
    assert set(map(type, documents_in(value))) <= {Document}
