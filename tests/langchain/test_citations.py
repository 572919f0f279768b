"""What LangChain's structured answers cite, from the recording to the verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.output_parsers import PydanticOutputParser
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from pydantic import BaseModel

from rag_cover import Models, evaluate
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_langchain.payloads import citations_in
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import PROMPT, SKY, config, joined, only, recorder

FACTS = ["Air scatters blue light of the sun.", "Grass holds green chlorophyll in its leaves."]


class CitedAnswer(BaseModel):
    """An answer with the ids of its sources, as LangChain's guide on citations has it."""

    answer: str
    citations: list[int]


class Quote(BaseModel):
    source_id: int
    quote: str


class QuotedAnswer(BaseModel):
    answer: str
    citations: list[Quote]


def chain(written: BaseModel) -> Runnable[str, Any]:
    """Make the guide's chain: the documents are numbered from 0, and stand beside the structured answer."""
    documents = [Document(text, id=f"d{place}") for place, text in enumerate(FACTS)]
    parser: PydanticOutputParser[Any] = PydanticOutputParser(pydantic_object=type(written))
    answer = PROMPT | ScriptedChatModel(default=written.model_dump_json()) | parser
    retrieved: dict[str, Any] = {"documents": RunnableLambda(lambda _: documents), "question": RunnablePassthrough()}
    asked = RunnablePassthrough.assign(context=lambda found: joined(found["documents"]))
    return retrieved | asked | RunnablePassthrough.assign(answer=answer)


@pytest.mark.parametrize(
    "written",
    [
        CitedAnswer(answer=FACTS[0], citations=[0]),
        QuotedAnswer(answer=FACTS[0], citations=[Quote(source_id=0, quote="scatters")]),
    ],
)
def test_the_sources_of_a_structured_answer_are_kept_and_judged(written: BaseModel) -> None:
    handler = recorder()

    chain(written).invoke(SKY, config(handler))
    trace = only(handler)
    models = Models(judge=KeywordScorer(), entailer=KeywordEntailer())
    (result,) = evaluate([trace], measures=["citations"], models=models).results

    assert (trace.answer, trace.metadata["citations"]) == (FACTS[0], json.loads(written.model_dump_json())["citations"])
    assert result["citations"].listed
    assert result["citations"].values["citation_recall"] == result["citations"].values["citation_precision"] == 1.0


def test_documents_and_texts_are_no_citations() -> None:
    assert citations_in({"answer": "It is blue [1].", "citations": [Document("On the sky.")]}) == []
    assert citations_in("It is blue [1].") == citations_in({"citations": "[1]"}) == []


def test_an_agents_structured_response_has_its_citations() -> None:
    assert citations_in({"messages": [], "structured_response": CitedAnswer(answer="Blue.", citations=[2])}) == [2]
