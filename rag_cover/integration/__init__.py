"""What the adapters of all frameworks share: everything they do that does not depend on the framework."""

from rag_cover.integration.alternatives import entailment_probability, entailment_shares
from rag_cover.integration.augmenting import (
    Augmented,
    augmented,
    augmented_if_possible,
    augmenter_by,
    explained_by_search,
    refuse_mode,
)
from rag_cover.integration.choosing import OnRerankError, estimated_by, rerank_or_keep, reranked_by
from rag_cover.integration.completions import Written, first_choice_of, get_field, sample_from_completion
from rag_cover.integration.feedback import core_of
from rag_cover.integration.generation import GeneratorByCalls, identity_of
from rag_cover.integration.inputs import Given, Terms, refuse_misspelt, trace_from
from rag_cover.integration.lazy_models import LazyModels
from rag_cover.integration.model_roles import FrameworkModels
from rag_cover.integration.reconstructible import Reconstructible
from rag_cover.integration.refusals import describe_argument, refuse_below, refuse_blank, refuse_on_error, refuse_utility
from rag_cover.integration.replays import Replay
from rag_cover.integration.routing import (
    Decision,
    complexity_router_by,
    decided,
    for_agents,
    refuse_unknown_route,
    skill_router_by,
)
from rag_cover.integration.scored_traces import scored, unscored
from rag_cover.integration.scorings import (
    ComplexityScoring,
    CoverageScoring,
    GroundednessScoring,
    MeasureScoring,
    RatingScoring,
    Scored,
    Scoring,
    UtilityScoring,
)
from rag_cover.integration.searches import Search
from rag_cover.integration.set_queries import (
    EntityNames,
    Member,
    SetFound,
    explain_empty_result,
    set_answered,
    set_answered_if_possible,
    set_answerer_by,
)
from rag_cover.integration.set_routes import MIN_CONFIDENCE, OTHERWISE, SET, refuse_confidence, set_route
from rag_cover.integration.vectors import unit_vectors
from rag_cover.spans.field_aliases import ANSWERED, ASKED, DOCUMENTS

__all__ = [
    "ANSWERED",
    "ASKED",
    "DOCUMENTS",
    "MIN_CONFIDENCE",
    "OTHERWISE",
    "SET",
    "Augmented",
    "ComplexityScoring",
    "CoverageScoring",
    "Decision",
    "EntityNames",
    "FrameworkModels",
    "GeneratorByCalls",
    "Given",
    "GroundednessScoring",
    "LazyModels",
    "MeasureScoring",
    "Member",
    "OnRerankError",
    "RatingScoring",
    "Reconstructible",
    "Replay",
    "Scored",
    "Scoring",
    "Search",
    "SetFound",
    "Terms",
    "UtilityScoring",
    "Written",
    "augmented",
    "augmented_if_possible",
    "augmenter_by",
    "complexity_router_by",
    "core_of",
    "decided",
    "describe_argument",
    "entailment_probability",
    "entailment_shares",
    "estimated_by",
    "explain_empty_result",
    "explained_by_search",
    "first_choice_of",
    "for_agents",
    "get_field",
    "identity_of",
    "refuse_below",
    "refuse_blank",
    "refuse_confidence",
    "refuse_misspelt",
    "refuse_mode",
    "refuse_on_error",
    "refuse_unknown_route",
    "refuse_utility",
    "rerank_or_keep",
    "reranked_by",
    "sample_from_completion",
    "scored",
    "set_answered",
    "set_answered_if_possible",
    "set_answerer_by",
    "set_route",
    "skill_router_by",
    "trace_from",
    "unit_vectors",
    "unscored",
]
