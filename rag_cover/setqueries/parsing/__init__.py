"""Questions read as set queries, without a language model: a grammar proposes readings, a small fitted model chooses."""

from rag_cover.setqueries.parsing.parsed import ParsedQuery
from rag_cover.setqueries.parsing.reading import parse

__all__ = ["ParsedQuery", "parse"]
