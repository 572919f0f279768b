"""What the adapters of all frameworks share: everything they do that does not depend on the framework."""

from rag_cover.argument_checks import (
    describe_argument,
    refuse_below,
    refuse_negative,
    refuse_other_than,
    refuse_outside,
    without_none,
)
from rag_cover.evaluation.loop import Progress, Watcher
from rag_cover.integration.alternatives import entailment_probability, entailment_shares
from rag_cover.integration.augmenting import (
    Augmented,
    augment_if_possible,
    augment_question,
    augmenter_by,
    explain_by_search,
    refuse_mode,
)
from rag_cover.integration.choosing import OnRerankError, rerank_or_keep, rerank_passages, select_useful
from rag_cover.integration.completions import Written, describe_completion, first_choice_of, get_field, sample_from_completion
from rag_cover.integration.datasets import Questions
from rag_cover.integration.feedback import core_of
from rag_cover.integration.generation import GeneratorByCalls, identity_of
from rag_cover.integration.inputs import Given, Terms, refuse_misspelt, trace_of_inputs
from rag_cover.integration.lazy_models import LazyModels
from rag_cover.integration.model_roles import FrameworkModels
from rag_cover.integration.options import (
    AttachOptions,
    ModelOptions,
    document_attach_options,
    document_model_options,
    refuse_unknown_models,
    split_options,
)
from rag_cover.integration.pipeline_runs import PipelineInterruptedError, PipelineRun
from rag_cover.integration.reconstructible import Reconstructible
from rag_cover.integration.refusals import refuse_blank, refuse_on_error
from rag_cover.integration.replays import Replay
from rag_cover.integration.routing import (
    Decision,
    complexity_router_by,
    decide_or_default,
    for_agents,
    refuse_unknown_route,
    skill_router_by,
)
from rag_cover.integration.scored_traces import explain_failure, score_trace
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
    answer_set_query,
    answer_set_query_if_possible,
    explain_empty_result,
    set_answerer_by,
)
from rag_cover.integration.set_routes import MIN_CONFIDENCE, OTHERWISE, SET, set_route
from rag_cover.integration.vectors import unit_vectors
from rag_cover.spans.field_aliases import ANSWERED, ASKED, CITED, DOCUMENTS

__all__ = [
    "ANSWERED",
    "ASKED",
    "CITED",
    "DOCUMENTS",
    "MIN_CONFIDENCE",
    "OTHERWISE",
    "SET",
    "AttachOptions",
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
    "ModelOptions",
    "OnRerankError",
    "PipelineInterruptedError",
    "PipelineRun",
    "Progress",
    "Questions",
    "RatingScoring",
    "Reconstructible",
    "Replay",
    "Scored",
    "Scoring",
    "Search",
    "SetFound",
    "Terms",
    "UtilityScoring",
    "Watcher",
    "Written",
    "answer_set_query",
    "answer_set_query_if_possible",
    "augment_if_possible",
    "augment_question",
    "augmenter_by",
    "complexity_router_by",
    "core_of",
    "decide_or_default",
    "describe_argument",
    "describe_completion",
    "document_attach_options",
    "document_model_options",
    "entailment_probability",
    "entailment_shares",
    "explain_by_search",
    "explain_empty_result",
    "explain_failure",
    "first_choice_of",
    "for_agents",
    "get_field",
    "identity_of",
    "refuse_below",
    "refuse_blank",
    "refuse_misspelt",
    "refuse_mode",
    "refuse_negative",
    "refuse_on_error",
    "refuse_other_than",
    "refuse_outside",
    "refuse_unknown_models",
    "refuse_unknown_route",
    "rerank_or_keep",
    "rerank_passages",
    "sample_from_completion",
    "score_trace",
    "select_useful",
    "set_answerer_by",
    "set_route",
    "skill_router_by",
    "split_options",
    "trace_of_inputs",
    "unit_vectors",
    "without_none",
]
