"""What skills mean to people: dimensions, readable features, groups of questions. Predictions need only the features' rules."""

from rag_cover.routing.interpretation.clusters import QuestionCluster, cluster_questions
from rag_cover.routing.interpretation.dimensions import Dimension, FeatureEffect, interpret_dimensions
from rag_cover.routing.interpretation.features import ReadableFeatures, readable_features

__all__ = [
    "Dimension",
    "FeatureEffect",
    "QuestionCluster",
    "ReadableFeatures",
    "cluster_questions",
    "interpret_dimensions",
    "readable_features",
]
