"""Claims: which statements of an answer and of its gold answer follow from which texts (RAGChecker's eleven metrics)."""

from rag_cover.claims.entailment import EntailmentMatrix, Premise, ask_entailments
from rag_cover.claims.extraction import AnswerText, extract_claims, split_claims
from rag_cover.claims.judging import judge_claims
from rag_cover.claims.measure import ClaimsMeasure
from rag_cover.claims.prompts import ClaimPrompts
from rag_cover.claims.result import METRIC_NAMES, ClaimsResult, ClaimVerdicts

__all__ = [
    "METRIC_NAMES",
    "AnswerText",
    "ClaimPrompts",
    "ClaimVerdicts",
    "ClaimsMeasure",
    "ClaimsResult",
    "EntailmentMatrix",
    "Premise",
    "ask_entailments",
    "extract_claims",
    "judge_claims",
    "split_claims",
]
