"""rag_cover for LangChain: its callback handler, evaluators, retrievers, compressors and routers, as LangChain's own parts.

Needs ``pip install 'rag-cover[langchain]'``; without a key and without a network unless a model behind an API is named.
"""

from rag_cover.errors import needs_extra

with needs_extra("langchain", "langchain_core"):
    from rag_cover_langchain.passages import document_of, passage_of

__all__ = ["document_of", "passage_of"]
