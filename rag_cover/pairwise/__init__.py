"""Answers compared pair by pair, as in the coverage paper: which of two is better, and how often each pipeline's is.

Xie et al., "Do RAG systems cover what matters? Evaluating and optimizing responses with sub-question coverage" (NAACL 2025).
"""

from rag_cover.pairwise.answers import Answer, AnswerPair, AnswersByQuestion
from rag_cover.pairwise.by_llm import by_generator
from rag_cover.pairwise.rating_verdicts import by_rating
from rag_cover.pairwise.result import PairwiseComparison
from rag_cover.pairwise.summing import compare_answers
from rag_cover.pairwise.win_rates import PairVerdict, PositionBias, UnjudgedPair, WinRate, position_bias, win_rates_of

__all__ = [
    "Answer",
    "AnswerPair",
    "AnswersByQuestion",
    "PairVerdict",
    "PairwiseComparison",
    "PositionBias",
    "UnjudgedPair",
    "WinRate",
    "by_generator",
    "by_rating",
    "compare_answers",
    "position_bias",
    "win_rates_of",
]
