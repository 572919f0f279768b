"""The command ``rag-cover``: the words of a person made into calls of the library, and its results and errors into words."""

from rag_cover.cli.application import app, main

__all__ = ["app", "main"]
