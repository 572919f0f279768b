"""What the adapters of all frameworks share: models opened when they are needed, and results put into words."""

from rag_cover.adaptation.feedback import (
    core_of,
    feedback_on_complexity,
    feedback_on_coverage,
    feedback_on_groundedness,
    feedback_on_utility,
)
from rag_cover.adaptation.lazy_models import LazyModels
from rag_cover.adaptation.refusals import refuse_blank

__all__ = [
    "LazyModels",
    "core_of",
    "feedback_on_complexity",
    "feedback_on_coverage",
    "feedback_on_groundedness",
    "feedback_on_utility",
    "refuse_blank",
]
