"""What a receiver believes the answer is, and what each retrieval step did to that belief (SePer, ΔSePer).

Dai et al., "SePer: measure retrieval utility through the lens of semantic perplexity reduction" (ICLR 2025).
"""

from rag_cover.belief.beliefs import delta_seper, semantic_clusters, semantic_entropy, seper
from rag_cover.belief.measures import UtilityMeasure
from rag_cover.belief.receivers import GeneratorReceiver
from rag_cover.belief.utility import step_utilities

__all__ = [
    "GeneratorReceiver",
    "UtilityMeasure",
    "delta_seper",
    "semantic_clusters",
    "semantic_entropy",
    "seper",
    "step_utilities",
]
