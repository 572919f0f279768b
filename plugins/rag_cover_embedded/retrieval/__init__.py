"""The embedded hybrid retriever: BM25 and late interaction, their rankings fused.

A query's words rank the passages by BM25 (`keywords`), its vector ranks them by cosine, and the first of both are ranked anew
by late interaction: each token of the query looks for the token of the passage that is most like it (`vectors`).
Reciprocal-rank fusion (`fusion`) joins that ranking with BM25's. All of it runs on the encoder that the embedded judge ships
with.
"""

from __future__ import annotations

from rag_cover_embedded.retrieval.retriever import EmbeddedRetriever

__all__ = ["EmbeddedRetriever"]
