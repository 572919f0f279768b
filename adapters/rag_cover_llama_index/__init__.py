"""rag_cover for LlamaIndex: its evaluators, recording, postprocessors, retrievers and routers, as LlamaIndex's own parts.

    from rag_cover_llama_index import attach

    with attach() as recording:
        query_engine.query("…")
    recording.evaluation.to_html("report.html")

Needs ``pip install 'rag-cover[llama-index]'``; without a key and without a network unless a model behind an API is named.
"""

from rag_cover.errors import needs_extra

with needs_extra("llama-index", "llama_index"):
    from rag_cover_llama_index.attachment import attach
    from rag_cover_llama_index.embeddings import RagCoverEmbedding
    from rag_cover_llama_index.engines import CoverageQueryEngine
    from rag_cover_llama_index.evaluators import (
        GroundednessEvaluator,
        MeasureEvaluator,
        RetrievalComplexityEvaluator,
        RetrievalUtilityEvaluator,
        SubQuestionCoverageEvaluator,
    )
    from rag_cover_llama_index.models import models_of
    from rag_cover_llama_index.passages import node_of, passage_of
    from rag_cover_llama_index.pipelines import aevaluate_pipeline, evaluate_pipeline
    from rag_cover_llama_index.question_generators import RagCoverQuestionGenerator
    from rag_cover_llama_index.reranking import CoverageRerank, UtilityFilter
    from rag_cover_llama_index.results import (
        ComplexityEvaluationResult,
        CoverageEvaluationResult,
        GroundednessEvaluationResult,
        MeasureEvaluationResult,
        UtilityEvaluationResult,
    )
    from rag_cover_llama_index.retrievers import RagCoverRetriever, SubQuestionRetriever
    from rag_cover_llama_index.routers import RetrievalComplexitySelector, SkillSelector
    from rag_cover_llama_index.set_queries import SetQueryRetriever
    from rag_cover_llama_index.set_query_routing import SetQueryQuestionGenerator, SetQuerySelector

__all__ = [
    "ComplexityEvaluationResult",
    "CoverageEvaluationResult",
    "CoverageQueryEngine",
    "CoverageRerank",
    "GroundednessEvaluationResult",
    "GroundednessEvaluator",
    "MeasureEvaluationResult",
    "MeasureEvaluator",
    "RagCoverEmbedding",
    "RagCoverQuestionGenerator",
    "RagCoverRetriever",
    "RetrievalComplexityEvaluator",
    "RetrievalComplexitySelector",
    "RetrievalUtilityEvaluator",
    "SetQueryQuestionGenerator",
    "SetQueryRetriever",
    "SetQuerySelector",
    "SkillSelector",
    "SubQuestionCoverageEvaluator",
    "SubQuestionRetriever",
    "UtilityEvaluationResult",
    "UtilityFilter",
    "aevaluate_pipeline",
    "attach",
    "evaluate_pipeline",
    "models_of",
    "node_of",
    "passage_of",
]
