"""Questions split into sub-questions: by rules, by a language model, or as given; and which role each of them has."""

from rag_cover.decomposition.embedded_roles import type_roles
from rag_cover.decomposition.generated import GeneratedDecomposer
from rag_cover.decomposition.prompts import DecompositionPrompts
from rag_cover.decomposition.strategies import BatchDecomposer, Decomposer, GivenDecomposer, decompose

__all__ = [
    "BatchDecomposer",
    "Decomposer",
    "DecompositionPrompts",
    "GeneratedDecomposer",
    "GivenDecomposer",
    "decompose",
    "type_roles",
]
