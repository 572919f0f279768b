"""Questions with implicit set operations, "A or B but not C", answered by set algebra over retrieval (QUEST)."""

from rag_cover.setqueries.algebra import SetQuery

__all__ = ["SetQuery"]
