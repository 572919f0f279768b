"""Nuggets made without a language model, from a corpus, retrieved passages, and the answers of other pipelines."""

from rag_cover.decomposition.nuggets.maker import NuggetMaker, NuggetsMissing

__all__ = ["NuggetMaker", "NuggetsMissing"]
