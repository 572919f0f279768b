"""Groundedness: which sentences of an answer its prompt supports, contradicts, or does not mention."""

from rag_cover.grounding.judging import groundedness
from rag_cover.grounding.measure import GroundednessMeasure
from rag_cover.grounding.result import Finding, GroundednessResult, SentenceSupport

__all__ = ["Finding", "GroundednessMeasure", "GroundednessResult", "SentenceSupport", "groundedness"]
