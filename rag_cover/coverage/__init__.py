"""Sub-question coverage: what an answer and its passages cover of what matters, and where the rest was lost.

Xie et al., "Do RAG systems cover what matters? Evaluating and optimizing responses with sub-question coverage" (NAACL 2025).
"""

from rag_cover.augmentation import Augmenter, augment, by_rules
from rag_cover.augmentation.reranking import RETRIEVAL_WEIGHT, SINGLE_RETRIEVAL_WEIGHT, RankedPassage, Reranking, rerank
from rag_cover.augmentation.self_consistency import EstimatedUtility, estimate_utilities
from rag_cover.coverage.corpus_search import SEARCH_DEPTH, CorpusPassage, CorpusSearch
from rag_cover.coverage.judging import coverage_table, judge_coverage
from rag_cover.coverage.measure import CoverageMeasure
from rag_cover.coverage.metrics import (
    METRICS,
    CoverageMetrics,
    Metric,
    Scenarios,
    coverage_metrics,
    per_question,
    scenarios_of,
    statistics_as_rated,
    statistics_of,
)
from rag_cover.coverage.nugget_scores import NuggetScores, mean_scores, score_nuggets
from rag_cover.coverage.ratings import RATING_WEIGHTS, pairwise_accuracy, rating, win_rate
from rag_cover.coverage.result import Controls, CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.coverage.tables import CoverageRow, CoverageTable, addressing_position
from rag_cover.decomposition.embedded_roles import type_roles
from rag_cover.decomposition.generated import GeneratedDecomposer
from rag_cover.decomposition.prompts import DecompositionPrompts
from rag_cover.decomposition.strategies import BatchDecomposer, Decomposer, GivenDecomposer, decompose
from rag_cover.grounding import GroundednessMeasure
from rag_cover.grounding.judging import groundedness

__all__ = [
    "METRICS",
    "RATING_WEIGHTS",
    "RETRIEVAL_WEIGHT",
    "SEARCH_DEPTH",
    "SINGLE_RETRIEVAL_WEIGHT",
    "Augmenter",
    "BatchDecomposer",
    "Controls",
    "CorpusPassage",
    "CorpusSearch",
    "CoverageMeasure",
    "CoverageMetrics",
    "CoverageResult",
    "CoverageRow",
    "CoverageTable",
    "Decomposer",
    "DecompositionPrompts",
    "EstimatedUtility",
    "GeneratedDecomposer",
    "GivenDecomposer",
    "GroundednessMeasure",
    "Loss",
    "LossEvidence",
    "Metric",
    "NuggetScores",
    "RankedPassage",
    "Reranking",
    "Scenarios",
    "SubQuestionCoverage",
    "Verdict",
    "addressing_position",
    "augment",
    "by_rules",
    "coverage_metrics",
    "coverage_table",
    "decompose",
    "estimate_utilities",
    "groundedness",
    "judge_coverage",
    "mean_scores",
    "pairwise_accuracy",
    "per_question",
    "rating",
    "rerank",
    "scenarios_of",
    "score_nuggets",
    "statistics_as_rated",
    "statistics_of",
    "type_roles",
    "win_rate",
]
