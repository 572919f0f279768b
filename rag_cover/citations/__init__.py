"""Citations: whether what an answer cites supports it (ALCE), and which passages would have been right."""

from rag_cover.citations.judging import judge_citations
from rag_cover.citations.measure import CitationsMeasure
from rag_cover.citations.result import CitationsResult, CitationVerdict, StatementCitations

__all__ = ["CitationVerdict", "CitationsMeasure", "CitationsResult", "StatementCitations", "judge_citations"]
