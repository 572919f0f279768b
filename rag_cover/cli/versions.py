"""Which version of rag_cover this is."""

from __future__ import annotations

from importlib.metadata import version

__all__ = ["version_line"]


def version_line() -> str:
    """Say the version as ``rag-cover --version`` does."""
    return f"rag-cover {version('rag-cover')}"
