"""The distributed engine as a plugin: Ray Data behind the name ``ray``, imported when it runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rag_cover.hooks import hook

if TYPE_CHECKING:
    from rag_cover.engines import Engine
    from rag_cover_ray.engine import RayEngine

__all__ = ["RayEngine", "engines"]


@hook
def engines() -> dict[str, type[Engine]]:
    """Offer the engine ``ray``."""
    from rag_cover_ray.engine import RayEngine

    return {"ray": RayEngine}


def __getattr__(name: str) -> Any:
    """Load the engine when it is first asked for, so that listing the plugins loads nothing."""
    if name == "RayEngine":
        return import_module("rag_cover_ray.engine").RayEngine
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
