"""LangChain's language models as generators: of answers, of sub-questions, of verdicts.

Their calls are our own and no part of a user's answer: each is tagged as such, wherever it is traced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseLanguageModel, BaseLLM
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from rag_cover.backends import Generation, Message, Prompt, Sampling
from rag_cover.integration import GeneratorByCalls, Written, identity_of
from rag_cover_langchain.completions import read_completion, read_message
from rag_cover_langchain.tags import INTERNAL

__all__ = ["LangChainGenerator", "chat_messages", "inmost", "writes"]

_CONFIG: RunnableConfig = {"tags": [INTERNAL, "nostream"]}  # the second keeps LangGraph from streaming it as the answer's
_SAMPLING = Sampling()
_NAMES = ("model_name", "model", "model_id", "deployment_name", "repo_id")
_ADDRESSES = ("openai_api_base", "base_url", "azure_endpoint", "anthropic_api_url", "endpoint_url", "api_base")
_MESSAGES: Mapping[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
_WRITES_NOTHING = (BaseOutputParser, BasePromptTemplate, BaseRetriever, BaseTool)


class LangChainGenerator:
    """Writes text by asking a LangChain model (`rag_cover.backends.Generator`).

    The model is a chat model, a completion model, or a `Runnable` that takes messages and returns one, such as
    ``model.with_retry()``; a chain passes parameters on to its first step alone. As thread-safe as the model is. Several
    samples take several calls; calls are made side by side, within the current run, and are tagged `INTERNAL`. A
    schema is asked for in words: the reply is plain text, which those that pass a schema read. Where LangChain caches replies
    (``set_llm_cache``), the samples of a model that takes no seed are one reply.

    Args:
        llm: the model to ask; its own temperature and limit of tokens give way to those of each request.
        workers: how many calls are made at a time.

    Raises:
        InvalidValueError: ``workers`` is less than 1.
    """

    def __init__(self, llm: Runnable[Any, Any], *, workers: int = 4) -> None:
        self.llm = llm
        self._calls = GeneratorByCalls(self, workers=workers)

    @property
    def name(self) -> str:
        """Return the model's name, its class where it has none."""
        model = inmost(self.llm)
        named = (getattr(model, field, None) for field in _NAMES)
        return next((name for name in named if isinstance(name, str) and name), type(model).__name__)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: class, name, server where it has an address, and what it is bound to."""
        named = identity_of(inmost(self.llm), self.name, framework="langchain", addresses=_ADDRESSES)
        return f"{named}{_setting(self.llm)}"

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
        if isinstance(self.llm, BaseLLM):
            return read_completion(_complete(self.llm, prompt, parameters), stop=stop)
        messages = [HumanMessage(prompt)] if isinstance(prompt, str) else chat_messages(prompt)
        return read_message(self.llm.invoke(messages, _CONFIG, **parameters), stop=stop)


def writes(model: Runnable[Any, Any]) -> bool:
    """Return whether a Runnable may take messages and write, as far as is known without calling it."""
    return not isinstance(model, _WRITES_NOTHING)


def chat_messages(messages: Sequence[Message]) -> list[BaseMessage]:
    """Convert messages to LangChain's."""
    return [_MESSAGES[message.role](message.content) for message in messages]


def _complete(llm: BaseLLM, prompt: Prompt, parameters: Mapping[str, Any]) -> LLMResult:
    """Complete a prompt as ``llm.invoke`` does, and keep what the server tells of it."""
    asked = StringPromptValue(text=prompt) if isinstance(prompt, str) else ChatPromptValue(messages=chat_messages(prompt))
    config: Mapping[str, Any] = ensure_config(_CONFIG)
    traced = {name: config.get(name) for name in ("callbacks", "tags", "metadata")}
    return llm.generate_prompt([asked], **traced, **parameters)


def inmost(model: object) -> object:
    """Return the model within what was bound to it, or gave it retries or fallbacks."""
    match model:
        case RunnableBindingBase():
            return inmost(model.bound)
        case RunnableWithFallbacks():
            return inmost(model.runnable)
        case DynamicRunnable():
            return inmost(model.default)
        case _:
            return model


def _setting(model: Runnable[Any, Any]) -> str:
    """Name what a model was bound to or composed of, so that another composition never meets its cached verdicts.

    Secrets are left out, as LangChain leaves them out; what it cannot write, it knows by its repr.
    """
    if isinstance(model, BaseLanguageModel):
        return ""
    return f"#{hashlib.sha256(dumps(model).encode()).hexdigest()[:16]}"
