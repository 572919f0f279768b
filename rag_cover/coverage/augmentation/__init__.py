"""Sub-questions that drive retrieval: what they bring back beyond the question itself, and what of it is worth keeping."""

from rag_cover.coverage.augmentation.augmenter import Augmenter
from rag_cover.coverage.augmentation.core import by_rules
from rag_cover.coverage.augmentation.modes import augment

__all__ = ["Augmenter", "augment", "by_rules"]
