"""The distributed engine as a plugin: Ray Data behind the name ``ray``, imported when it runs."""

from __future__ import annotations

from rag_cover.engines import Engine
from rag_cover.hooks import hook
from rag_cover_ray.engine import RayEngine

__all__ = ["RayEngine", "engines"]


@hook
def engines() -> dict[str, type[Engine]]:
    """Offer the engine ``ray``."""
    return {"ray": RayEngine}
