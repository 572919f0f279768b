"""What the package's own measures find out about a trace: frozen values that go to JSON and back without loss.

Nothing undefined is a number: it is None or absent.
"""

from rag_cover.results.augmentation import Augmentation, AugmentationMode, Purchase, Sought
from rag_cover.results.complexity import AnswerSource, CompletenessMethod, Complexity, Constraints, DocumentEvidence
from rag_cover.results.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.results.grounding import Finding, GroundednessResult, SentenceSupport
from rag_cover.results.utilities import (
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

__all__ = [
    "AnswerSource",
    "Approximation",
    "Attribution",
    "Augmentation",
    "AugmentationMode",
    "Belief",
    "BeliefKind",
    "CompletenessMethod",
    "Complexity",
    "Constraints",
    "CoverageResult",
    "DocumentEvidence",
    "Finding",
    "GroundednessResult",
    "Loss",
    "PassageUtility",
    "Preset",
    "Purchase",
    "ReferenceSource",
    "SampledAnswer",
    "SentenceSupport",
    "Sought",
    "StepUtility",
    "SubQuestionCoverage",
    "TraceUtility",
    "Utility",
    "Verdict",
]
