"""What the adapters of all frameworks share: everything they do that does not depend on the framework."""

from rag_cover.adaptation.alternatives import probability_borne_out, shares_borne_out
from rag_cover.adaptation.augmenting import (
    Augmented,
    augmented,
    augmented_if_possible,
    augmenter_by,
    explained_by_search,
    refuse_mode,
)
from rag_cover.adaptation.choosing import OnError, chosen, estimated_by, reranked_by
from rag_cover.adaptation.completions import Written, first_choice_of, told_in, written_from
from rag_cover.adaptation.copies import MadeAgain
from rag_cover.adaptation.feedback import core_of
from rag_cover.adaptation.generation import GeneratorByCalls, identity_of
from rag_cover.adaptation.inputs import Given, Terms, refuse_misspelt, trace_from
from rag_cover.adaptation.lazy_models import LazyModels
from rag_cover.adaptation.places import Framework
from rag_cover.adaptation.refusals import given_as, refuse_below, refuse_blank, refuse_on_error, refuse_utility
from rag_cover.adaptation.replays import Replay
from rag_cover.adaptation.routing import (
    Decision,
    complexity_router_by,
    decided,
    for_agents,
    refuse_unknown_route,
    skill_router_by,
)
from rag_cover.adaptation.scored_traces import scored, unscored
from rag_cover.adaptation.scorings import (
    ComplexityScoring,
    CoverageScoring,
    GroundednessScoring,
    MeasureScoring,
    RatingScoring,
    Scored,
    Scoring,
    UtilityScoring,
)
from rag_cover.adaptation.searches import Search
from rag_cover.adaptation.set_queries import (
    EntityNames,
    Member,
    SetFound,
    set_answered,
    set_answered_if_possible,
    set_answerer_by,
    why_nothing,
)
from rag_cover.adaptation.set_routes import MIN_CONFIDENCE, OTHERWISE, SET, refuse_confidence, set_route
from rag_cover.adaptation.vectors import unit_vectors
from rag_cover.importers.names import ANSWERED, ASKED, DOCUMENTS

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
    "Framework",
    "GeneratorByCalls",
    "Given",
    "GroundednessScoring",
    "LazyModels",
    "MadeAgain",
    "MeasureScoring",
    "Member",
    "OnError",
    "RatingScoring",
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
    "chosen",
    "complexity_router_by",
    "core_of",
    "decided",
    "estimated_by",
    "explained_by_search",
    "first_choice_of",
    "for_agents",
    "given_as",
    "identity_of",
    "probability_borne_out",
    "refuse_below",
    "refuse_blank",
    "refuse_confidence",
    "refuse_misspelt",
    "refuse_mode",
    "refuse_on_error",
    "refuse_unknown_route",
    "refuse_utility",
    "reranked_by",
    "scored",
    "set_answered",
    "set_answered_if_possible",
    "set_answerer_by",
    "set_route",
    "shares_borne_out",
    "skill_router_by",
    "told_in",
    "trace_from",
    "unit_vectors",
    "unscored",
    "why_nothing",
    "written_from",
]
