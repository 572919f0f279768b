"""What opens the models of OpenAI-compatible servers: each connection once, shared by all that ask it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from pydantic import SecretStr

from rag_cover.errors import needs_extra
from rag_cover.llm.judge import PromptedJudge
from rag_cover.llm.retry import RetryPolicy
from rag_cover.llm.session import ResponseCache

if TYPE_CHECKING:
    from rag_cover.belief.receivers import GeneratorReceiver
    from rag_cover_openai.client import Client
    from rag_cover_openai.embedder import OpenAIEmbedder
    from rag_cover_openai.generator import OpenAIGenerator

__all__ = ["open_embedder", "open_generator", "open_judge", "open_receiver"]

T = TypeVar("T")
Key = SecretStr | str | None

_POLICY = RetryPolicy()


def open_generator(
    model: str,
    *,
    base_url: str | None = None,
    api_key: Key = None,
    organization: str | None = None,
    project: str | None = None,
    policy: RetryPolicy = _POLICY,
    cache: ResponseCache | None = None,
    thinking_tokens: int = 4096,
) -> OpenAIGenerator:
    """Open a chat model as a Generator."""
    client = _client(model, base_url, api_key, organization, project, policy)
    from rag_cover_openai.generator import OpenAIGenerator

    return OpenAIGenerator(client, thinking_tokens=thinking_tokens, cache=cache)


def open_receiver(  # noqa: PLR0913  # every option is a keyword
    model: str,
    *,
    base_url: str | None = None,
    api_key: Key = None,
    organization: str | None = None,
    project: str | None = None,
    policy: RetryPolicy = _POLICY,
    cache: ResponseCache | None = None,
    thinking_tokens: int = 4096,
    max_tokens: int = 128,
) -> GeneratorReceiver:
    """Open a chat model as a Receiver; ``max_tokens`` limits each answer."""
    client = _client(model, base_url, api_key, organization, project, policy)
    from rag_cover.belief.receivers import GeneratorReceiver
    from rag_cover_openai.generator import OpenAIGenerator

    return GeneratorReceiver(OpenAIGenerator(client, thinking_tokens=thinking_tokens, cache=cache), max_tokens=max_tokens)


def open_judge(  # noqa: PLR0913  # every option is a keyword
    model: str,
    *,
    base_url: str | None = None,
    api_key: Key = None,
    organization: str | None = None,
    project: str | None = None,
    policy: RetryPolicy = _POLICY,
    cache: ResponseCache | None = None,
    thinking_tokens: int = 4096,
    threshold: float = 0.5,
    longest: int = 60_000,
) -> PromptedJudge:
    """Open a chat model as an LLM judge: Scorer and Locator.

    Opening it again with the same options gives the same object while it is in use, so that what was scored is located
    without another call.
    """
    client = _client(model, base_url, api_key, organization, project, policy)
    from rag_cover_openai.generator import OpenAIGenerator

    def make() -> PromptedJudge:
        generator = OpenAIGenerator(client, thinking_tokens=thinking_tokens, cache=cache)
        return PromptedJudge(generator, threshold=threshold, longest=longest)

    return _share(("judge", id(client), id(cache), thinking_tokens, threshold, longest), make)


def open_embedder(
    model: str,
    *,
    base_url: str | None = None,
    api_key: Key = None,
    organization: str | None = None,
    project: str | None = None,
    policy: RetryPolicy = _POLICY,
    cache: ResponseCache | None = None,
    dimensions: int | None = None,
) -> OpenAIEmbedder:
    """Open an embedding model as an Embedder; ``dimensions`` asks for shorter vectors, of models that can."""
    client = _client(model, base_url, api_key, organization, project, policy)
    from rag_cover_openai.embedder import OpenAIEmbedder

    return OpenAIEmbedder(client, dimensions=dimensions, cache=cache)


def _client(
    model: str, base_url: str | None, api_key: Key, organization: str | None, project: str | None, policy: RetryPolicy
) -> Client:
    """Return the one client for a model and its connection: its limits count all that ask."""
    with needs_extra("openai", "openai"):
        from rag_cover_openai.client import Client
        from rag_cover_openai.connections import Connection
    secret = SecretStr(api_key) if isinstance(api_key, str) else api_key
    connection = Connection(base_url, secret, organization, project, policy)
    return _share(("client", model, connection, _environment()), lambda: Client(model, connection))


def _environment() -> int:
    """Return a hash of the ``OPENAI_`` variables, from which the SDK takes what is not given when a client is first used."""
    return hash(frozenset((name, value) for name, value in os.environ.items() if name.startswith("OPENAI_")))


_lock = threading.Lock()
_in_use: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _share(key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Share an object for as long as somebody uses it."""
    with _lock:
        found: T | None = _in_use.get(key)
        if found is None:
            found = _in_use[key] = make()
        return found
