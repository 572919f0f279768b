"""Parts of small LangChain pipelines: a corpus, an embedding and chat models that go by a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import InMemoryVectorStore

from tests.corpus import CORPUS, word_vector

__all__ = ["CORPUS", "ScriptedAgentModel", "ScriptedChatModel", "WordEmbeddings", "corpus_documents", "corpus_store"]


def corpus_documents() -> list[Document]:
    """Return the corpus as documents whose ids are their titles' first words in lower case."""
    return [
        Document(page_content=text, id=title.split()[0].lower(), metadata={"title": title, "source": "corpus"})
        for title, text in CORPUS.items()
    ]


def corpus_store() -> InMemoryVectorStore:
    """Return the corpus in a vector store, found by shared words."""
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents(corpus_documents())
    return store


class WordEmbeddings(Embeddings):
    """Embeds a text as its words, hashed."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [word_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


class ScriptedChatModel(BaseChatModel):
    """Replies by the first key of its script that the messages hold, else with ``default``; streams word by word."""

    script: dict[str, str] = {}
    default: str = "I do not know."

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _reply(self, messages: Sequence[BaseMessage]) -> str:
        said = "\n".join(message.text for message in messages)
        return next((reply for key, reply in self.script.items() if key in said), self.default)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self._reply(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for word in re.findall(r"\S+\s*", self._reply(messages)):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


class ScriptedAgentModel(BaseChatModel):
    """Calls each tool once, in turn, with the user's words as ``argument``, then answers with ``answer``."""

    tools: tuple[str, ...]
    argument: str = "query"
    answer: str = "I looked it up."

    @property
    def _llm_type(self) -> str:
        return "scripted-agent"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        done = sum(isinstance(message, ToolMessage) for message in messages[asked:])
        if done >= len(self.tools):
            return AIMessage(self.answer)
        call = {"name": self.tools[done], "args": {self.argument: messages[asked].text}, "id": f"call-{done}"}
        return AIMessage("", tool_calls=[call])
