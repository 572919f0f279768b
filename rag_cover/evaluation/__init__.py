"""Measuring many traces: what is measured by which models, in which blocks, on which engine, into which store."""

from rag_cover.evaluation.run import Evaluation, Progress, evaluate

__all__ = ["Evaluation", "Progress", "evaluate"]
