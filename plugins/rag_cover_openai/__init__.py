"""Any OpenAI-compatible server as a plugin: offered under the scheme ``openai``, connected to when first asked.

``openai:<model>`` is a Generator, an Embedder, a Receiver and, as an LLM judge, a Scorer and Locator. Address, organisation
and key come from arguments or from the SDK's own environment (OPENAI_BASE_URL, OPENAI_ORG_ID, OPENAI_API_KEY).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rag_cover.hooks import hook

if TYPE_CHECKING:
    from rag_cover.backends import Backend
    from rag_cover_openai.factories import open_embedder, open_generator, open_judge, open_receiver

__all__ = ["backends", "open_embedder", "open_generator", "open_judge", "open_receiver"]


@hook
def backends() -> list[Backend]:
    """Offer the models of OpenAI-compatible servers."""
    from rag_cover.backends import Backend
    from rag_cover_openai.factories import open_embedder, open_generator, open_judge, open_receiver

    return [
        Backend(
            scheme="openai",
            summary="any OpenAI-compatible server, as 'openai:<model>'; texts leave this machine",
            scorer=open_judge,
            locator=open_judge,
            generator=open_generator,
            receiver=open_receiver,
            embedder=open_embedder,
        )
    ]


def __getattr__(name: str) -> Any:
    """Load what opens models when it is first asked for, so that listing the plugins loads nothing."""
    if name in __all__:
        return getattr(import_module("rag_cover_openai.factories"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
