"""Sub-questions that drive retrieval: what they bring back beyond the question itself, and what of it is worth keeping."""

from rag_cover.augmentation.augmenter import Augmenter
from rag_cover.augmentation.core import by_rules
from rag_cover.augmentation.feedback import FEEDBACK
from rag_cover.augmentation.modes import augment
from rag_cover.augmentation.result import Augmentation, AugmentationMode, Purchase, Sought

__all__ = [
    "FEEDBACK",
    "Augmentation",
    "AugmentationMode",
    "Augmenter",
    "Purchase",
    "Sought",
    "augment",
    "by_rules",
]
