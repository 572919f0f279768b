"""What a full answer covers: sub-questions by rules, by a language model, or as given, with roles; nuggets made or given."""

from rag_cover.decomposition.embedded_roles import type_roles
from rag_cover.decomposition.generated import GeneratedDecomposer
from rag_cover.decomposition.given_nuggets import GivenNuggets
from rag_cover.decomposition.nuggetizer import Nuggetizer
from rag_cover.decomposition.nuggets import NuggetMaker, NuggetsMissing
from rag_cover.decomposition.prompts import DecompositionPrompts
from rag_cover.decomposition.strategies import BatchDecomposer, Decomposer, GivenDecomposer, decompose

__all__ = [
    "BatchDecomposer",
    "Decomposer",
    "DecompositionPrompts",
    "GeneratedDecomposer",
    "GivenDecomposer",
    "GivenNuggets",
    "NuggetMaker",
    "Nuggetizer",
    "NuggetsMissing",
    "decompose",
    "type_roles",
]
