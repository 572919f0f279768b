"""The command ``rag-cover``: reads arguments, calls the library, prints its results and errors."""

from rag_cover.cli.application import app, main

__all__ = ["app", "main"]
