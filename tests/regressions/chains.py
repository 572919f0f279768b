"""A LangChain retrieval chain over the shop, in several variants."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover_langchain import RagCoverEmbeddings, attach, document_of
from tests.regressions.shop import Variant, reply_to

__all__ = ["record"]


class CopyingModel(SimpleChatModel):
    """Copies sentences of its prompt."""

    abstains: bool

    @property
    def _llm_type(self) -> str:
        return "copying"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        return reply_to(messages[-1].text, abstains=self.abstains)


def record(questions: tuple[str, ...], variant: Variant, store: str) -> None:
    """Ask all questions, and keep what was recorded and measured."""
    index = InMemoryVectorStore(RagCoverEmbeddings())
    index.add_documents([document_of(each) for each in variant.passages])

    def keep(documents: list[Document]) -> list[Document]:
        return [each for each in documents if not (variant.blocked and str(each.id).endswith(variant.blocked))]

    def join(documents: list[Document]) -> str:
        return "\n\n".join(each.page_content for each in documents)

    context = index.as_retriever(search_kwargs={"k": variant.k}) | keep | join
    prompt = ChatPromptTemplate.from_template(variant.instruction + "\nContext:\n{context}\nQuestion: {question}")
    chain = (
        {"context": context, "question": RunnablePassthrough()}
        | prompt
        | CopyingModel(abstains=variant.abstains)
        | StrOutputParser()
    )
    with attach(store=store, measures=["coverage"]):
        for question in questions:
            chain.invoke(question)
