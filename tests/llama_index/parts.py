"""Parts of small LlamaIndex pipelines: a corpus, an embedding and language models that go by a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import TextNode
from llama_index.core.tools import BaseTool

from tests.corpus import CORPUS, word_vector

__all__ = ["CORPUS", "OLD", "ScriptedAgentLLM", "ScriptedLLM", "WordEmbedding", "corpus_nodes", "needs_word_lists"]

OLD = tuple(map(int, version("llama-index-core").split(".")[:2])) < (0, 14)
"""The installed LlamaIndex is older than 0.14."""


@contextmanager
def needs_word_lists() -> Iterator[None]:
    """Skip a test where LlamaIndex's sentence splitter lacks NLTK's word lists, which its oldest versions download."""
    try:
        yield
    except LookupError as missing:
        if "NLTK" not in str(missing):
            raise
        pytest.skip("needs the word lists of NLTK")


def corpus_nodes() -> list[TextNode]:
    """Return the corpus as nodes whose ids are their titles' first words in lower case."""
    return [
        TextNode(id_=title.split()[0].lower(), text=text, metadata={"title": title, "source": "corpus"})
        for title, text in CORPUS.items()
    ]


class WordEmbedding(BaseEmbedding):
    """Embeds a text as its words, hashed: deterministic, and near where words are shared."""

    def _vector(self, text: str) -> list[float]:
        return word_vector(text)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._vector(query)


class ScriptedLLM(CustomLLM):
    """Replies by the first key of its script that the prompt holds, else with ``default``; streams word by word."""

    script: dict[str, str] = {}
    default: str = "I do not know."

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted", context_window=100_000)

    def _reply(self, prompt: str) -> str:
        return next((reply for key, reply in self.script.items() if key in prompt), self.default)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        def words() -> CompletionResponseGen:
            said = ""
            for word in re.findall(r"\S+\s*", self._reply(prompt)):
                said += word
                yield CompletionResponse(text=said, delta=word)

        return words()


class ScriptedAgentLLM(FunctionCallingLLM):
    """Calls one tool with the user's words, then answers with ``answer``."""

    tool: str
    answer: str = "I looked it up."

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted-agent", is_function_calling_model=True, context_window=100_000)

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        if any(message.role == MessageRole.TOOL for message in messages):
            return ChatMessage(role=MessageRole.ASSISTANT, content=self.answer)
        asked = next(str(message.content) for message in reversed(messages) if message.role == MessageRole.USER)
        call = ToolSelection(tool_id="call-1", tool_name=self.tool, tool_kwargs={"input": asked})
        return ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [call]})

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return {"messages": chat_history or [], **kwargs}

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,
    ) -> list[ToolSelection]:
        return list(response.message.additional_kwargs.get("tool_calls", []))

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def once() -> ChatResponseGen:
            message = self._next(messages)
            yield ChatResponse(message=message, delta=str(message.content))

        return once()

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def once() -> ChatResponseAsyncGen:
            message = self._next(messages)
            yield ChatResponse(message=message, delta=str(message.content))

        return once()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.answer)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self.complete(prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError
