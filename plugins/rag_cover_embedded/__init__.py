"""The embedded judge as a plugin: offered under the scheme ``embedded``, loaded when first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rag_cover.backends import Backend
from rag_cover.errors import InvalidValueError, needs_extra
from rag_cover.hooks import hook

if TYPE_CHECKING:
    from rag_cover_embedded.judge import EmbeddedJudge

__all__ = ["backends", "commands"]


@hook
def backends() -> list[Backend]:
    """Offer the embedded judge."""
    return [
        Backend(
            scheme="embedded",
            summary="a 22M-parameter judge that ships with rag_cover; CPU, offline, deterministic, English",
            entailer=open_judge,
            scorer=open_judge,
            locator=open_judge,
            relevance=open_judge,
            embedder=open_judge,
        )
    ]


@hook
def commands() -> dict[str, str]:
    """Offer ``rag-cover train judge``."""
    return {"train judge": "rag_cover_embedded.command_line:app"}


def open_judge(model: str = "", *, threads: int | None = None, exhaustive: bool = False) -> EmbeddedJudge:
    """Open the shipped judge (``"embedded"``), or a folder of weights (``"embedded:path/to/weights"``).

    Opening it again with the same options gives the same object, so that scorer, locator and entailer share one network.
    """
    if threads is not None and threads < 1:
        message = f"threads is at least 1, not {threads}"
        raise InvalidValueError(message)
    return _opened(model, threads, exhaustive)


@cache
def _opened(model: str, threads: int | None, exhaustive: bool) -> EmbeddedJudge:  # noqa: FBT001  # a cache key
    from pathlib import Path

    with needs_extra("all", "onnxruntime", "tokenizers"):
        from rag_cover_embedded.judge import EmbeddedJudge
    return EmbeddedJudge(Path(model) if model else None, threads=threads, exhaustive=exhaustive)
