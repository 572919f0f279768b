"""A LlamaIndex response synthesizer that takes its whole prompt with each question, so that tracing shows it like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.llms.llm import astream_chat_response_to_tokens, stream_chat_response_to_tokens
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.types import RESPONSE_TEXT_TYPE

from rag_cover.backends import Generator, Message
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover_llama_index.generators import chat_messages

__all__ = ["PromptSynthesizer"]


class PromptSynthesizer(BaseSynthesizer):
    """Writes an answer by the messages that ``synthesize(query, nodes, prompt=…)`` is given; without nodes nobody is asked.

    Args:
        writer: a LlamaIndex language model, which goes by its own settings, or a generator of rag_cover's.
        streaming: return the answer as it is written.
        callback_manager: the user's; the model keeps its own.

    Raises:
        InvalidValueError: a generator of rag_cover's is to stream.
    """

    def __init__(
        self, writer: LLM | Generator, *, streaming: bool = False, callback_manager: CallbackManager | None = None
    ) -> None:
        if streaming and not isinstance(writer, LLM):
            message = f"only a LlamaIndex LLM streams, and {type(writer).__name__!r} is none; leave streaming out"
            raise InvalidValueError(message)
        # without one, LlamaIndex would make its default model, which needs a key
        super().__init__(llm=writer if isinstance(writer, LLM) else MockLLM(), streaming=streaming)
        self._writer = writer
        self._callback_manager = callback_manager or self._callback_manager  # set by its setter it would be the model's, too

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no templates."""

    def get_response(
        self,
        query_str: str,  # noqa: ARG002  # the framework's signature
        text_chunks: Sequence[str],  # noqa: ARG002  # likewise
        *,
        prompt: Sequence[Message] = (),
        **_: Any,
    ) -> RESPONSE_TEXT_TYPE:
        """Return the answer to the prompt, or its tokens as they come."""
        if not isinstance(self._writer, LLM):
            return _generate(self._writer, prompt)
        if self._streaming:
            return stream_chat_response_to_tokens(self._writer.stream_chat(_messages(self._writer, prompt)))
        return self._writer.chat(_messages(self._writer, prompt)).message.content or ""

    async def aget_response(
        self,
        query_str: str,  # noqa: ARG002  # the framework's signature
        text_chunks: Sequence[str],  # noqa: ARG002  # likewise
        *,
        prompt: Sequence[Message] = (),
        **_: Any,
    ) -> RESPONSE_TEXT_TYPE:
        """Return the same without blocking the loop."""
        if not isinstance(self._writer, LLM):
            return await asyncio.to_thread(_generate, self._writer, prompt)
        if self._streaming:
            return await astream_chat_response_to_tokens(await self._writer.astream_chat(_messages(self._writer, prompt)))
        return (await self._writer.achat(_messages(self._writer, prompt))).message.content or ""


def _messages(llm: LLM, prompt: Sequence[Message]) -> list[ChatMessage]:
    return chat_messages(prompt, system=llm.metadata.system_role)


def _generate(generator: Generator, prompt: Sequence[Message]) -> str:
    (generation,) = generator.generate([tuple(prompt)], purpose="answer")
    if generation.failure is not None:
        raise generation.failure.error()
    if not generation.samples:
        message = "the generator returned no answer"
        raise ModelFailedError(message, kind="empty")
    return generation.samples[0].text
