"""rag_cover for LangChain: its callback handler, evaluators, retrievers, compressors and routers, as LangChain's own parts.

    from rag_cover_langchain import RagCoverCallbackHandler

    with RagCoverCallbackHandler() as handler:
        chain.invoke("…", config={"callbacks": [handler]})
    handler.evaluation.to_html("report.html")

`attach` records every chain, agent and graph of the process; it takes the same options as the handler.

Needs ``pip install 'rag-cover[langchain]'``; without a key and without a network unless a model behind an API is named. Some
parts are imported when they are first asked for: ``ComplexityRoutingMiddleware`` and ``SkillRoutingMiddleware``, which need
``langchain`` itself, and ``RagCoverDecisionModel``, which needs langchain-core 1.8.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rag_cover.errors import needs_extra

with needs_extra("langchain", "langchain_core"):
    from rag_cover_langchain.attachment import attach
    from rag_cover_langchain.callbacks import RagCoverCallbackHandler
    from rag_cover_langchain.cross_encoders import RagCoverCrossEncoder
    from rag_cover_langchain.decisions import DecisionJudge
    from rag_cover_langchain.embeddings import RagCoverEmbeddings
    from rag_cover_langchain.evaluators import (
        CoverageRatingEvaluator,
        GroundednessEvaluator,
        MeasureEvaluator,
        RetrievalComplexityEvaluator,
        RetrievalUtilityEvaluator,
        SubQuestionCoverageEvaluator,
    )
    from rag_cover_langchain.feedback import feedback_by
    from rag_cover_langchain.models import models_of
    from rag_cover_langchain.passages import document_of, passage_of
    from rag_cover_langchain.pipelines import aevaluate_pipeline, evaluate_pipeline
    from rag_cover_langchain.reranking import CoverageCompressor, UtilityFilter
    from rag_cover_langchain.retrievers import RagCoverRetriever, SubQuestionRetriever
    from rag_cover_langchain.routers import ComplexityRouterRunnable, SkillRouterRunnable
    from rag_cover_langchain.run_filters import RunFilter
    from rag_cover_langchain.set_queries import SetQueryRetriever
    from rag_cover_langchain.set_query_routing import SetQueryRouter, is_set_query

if TYPE_CHECKING:
    from rag_cover_langchain.decision_models import RagCoverDecisionModel as RagCoverDecisionModel
    from rag_cover_langchain.middleware import ComplexityRoutingMiddleware as ComplexityRoutingMiddleware
    from rag_cover_langchain.middleware import SkillRoutingMiddleware as SkillRoutingMiddleware

__all__ = [
    "ComplexityRouterRunnable",
    "CoverageCompressor",
    "CoverageRatingEvaluator",
    "DecisionJudge",
    "GroundednessEvaluator",
    "MeasureEvaluator",
    "RagCoverCallbackHandler",
    "RagCoverCrossEncoder",
    "RagCoverEmbeddings",
    "RagCoverRetriever",
    "RetrievalComplexityEvaluator",
    "RetrievalUtilityEvaluator",
    "RunFilter",
    "SetQueryRetriever",
    "SetQueryRouter",
    "SkillRouterRunnable",
    "SubQuestionCoverageEvaluator",
    "SubQuestionRetriever",
    "UtilityFilter",
    "aevaluate_pipeline",
    "attach",
    "document_of",
    "evaluate_pipeline",
    "feedback_by",
    "is_set_query",
    "models_of",
    "passage_of",
]
if find_spec("langchain") is not None:  # ``import *`` needs no package that is not there
    __all__ += ["ComplexityRoutingMiddleware", "SkillRoutingMiddleware"]

_LATER = {
    "ComplexityRoutingMiddleware": "middleware",
    "RagCoverDecisionModel": "decision_models",
    "SkillRoutingMiddleware": "middleware",
}
"""Parts whose base class is not in every LangChain, by the module that has them."""


def __getattr__(name: str) -> object:
    """Import a part when it is asked for.

    Raises:
        ImportError: what it needs is not installed.
    """
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
