"""LlamaIndex's language models as generators: of answers, of sub-questions, of verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from pydantic import BaseModel

from rag_cover.backends import Generation, Message, Prompt, Sampling
from rag_cover.integration import GeneratorByCalls, Written, identity_of
from rag_cover_llama_index.completions import read_response

__all__ = ["LlamaIndexGenerator", "chat_messages"]

_SAMPLING = Sampling()
_ADDRESSES = ("api_base", "base_url", "azure_endpoint")


class LlamaIndexGenerator:
    """Writes text by asking a LlamaIndex ``LLM`` (`rag_cover.backends.Generator`).

    Its calls are those of `rag_cover.integration.GeneratorByCalls`: side by side, within the current trace, without
    the parameters that the model refuses.

    Args:
        llm: the model to ask; its own temperature and limit of tokens give way to those of each request.
        workers: how many calls are made at a time.

    Raises:
        InvalidValueError: ``workers`` is less than 1.
    """

    def __init__(self, llm: LLM, *, workers: int = 4) -> None:
        self.llm = llm
        self._calls = GeneratorByCalls(self, workers=workers)

    @property
    def name(self) -> str:
        """Return the model's name, its class where it has none."""
        name = self.llm.metadata.model_name
        return name if name and name != "unknown" else type(self.llm).__name__

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: its class, its name, and its server where it has an address."""
        return identity_of(self.llm, self.name, framework="llama-index", addresses=_ADDRESSES)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return one sentence for each parameter that the model refused."""
        return self._calls.notes

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = _SAMPLING,
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        """Return one Generation for each prompt; one of whose calls failed carries that failure and no sample."""
        return self._calls.generate(prompts, sampling, schema=schema, purpose=purpose)

    def write(self, prompt: Prompt, parameters: Mapping[str, Any], *, stop: Sequence[str]) -> Written:
        """Call the model once."""
        if isinstance(prompt, str):
            return read_response(self.llm.complete(prompt, **parameters), stop=stop)
        messages = chat_messages(prompt, system=self.llm.metadata.system_role)
        return read_response(self.llm.chat(messages, **parameters), stop=stop)


def chat_messages(messages: Sequence[Message], *, system: MessageRole = MessageRole.SYSTEM) -> list[ChatMessage]:
    """Convert messages to LlamaIndex's; ``system`` is the role that the model expects of a system message."""
    roles = {"system": system, "user": MessageRole.USER, "assistant": MessageRole.ASSISTANT}
    return [ChatMessage(role=roles[message.role], content=message.content) for message in messages]
