"""What a receiver believes the answer is, and what each retrieval step did to that belief (SePer, ΔSePer).

Dai et al., "SePer: measure retrieval utility through the lens of semantic perplexity reduction" (ICLR 2025).
"""

from rag_cover.belief.beliefs import delta_seper, semantic_clusters, semantic_entropy, seper
from rag_cover.belief.measure import UtilityMeasure
from rag_cover.belief.receivers import GeneratorReceiver
from rag_cover.belief.result import (
    Approximation,
    Attribution,
    Belief,
    BeliefKind,
    PassageUtility,
    Preset,
    ReferenceSource,
    SampledAnswer,
    StepUtility,
    TraceUtility,
    Utility,
)
from rag_cover.belief.summary import BINS, UtilityGroup, UtilitySummary, UtilitySums, own_name, retriever_name
from rag_cover.belief.utility import step_utilities

__all__ = [
    "BINS",
    "Approximation",
    "Attribution",
    "Belief",
    "BeliefKind",
    "GeneratorReceiver",
    "PassageUtility",
    "Preset",
    "ReferenceSource",
    "SampledAnswer",
    "StepUtility",
    "TraceUtility",
    "Utility",
    "UtilityGroup",
    "UtilityMeasure",
    "UtilitySummary",
    "UtilitySums",
    "delta_seper",
    "own_name",
    "retriever_name",
    "semantic_clusters",
    "semantic_entropy",
    "seper",
    "step_utilities",
]
