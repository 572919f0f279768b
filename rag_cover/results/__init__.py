"""What measuring a trace gives: frozen values that go to JSON and back without loss.

An outcome is a measure's own result, `NotApplicable` where the trace lacks what the measure needs, or a `Failure`. Nothing
undefined is a number: it is None or absent.
"""

from rag_cover.results.augmentation import Augmentation, AugmentationMode, Purchase, Sought
from rag_cover.results.complexity import AnswerSource, Complexity, Constraints, DocumentEvidence, Reading
from rag_cover.results.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.results.grounding import Finding, GroundednessResult, SentenceSupport
from rag_cover.results.measures import Measure, ModelKind
from rag_cover.results.outcomes import RESULT_SCHEMA, NotApplicable, Outcome, TraceResult
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
    "RESULT_SCHEMA",
    "AnswerSource",
    "Approximation",
    "Attribution",
    "Augmentation",
    "AugmentationMode",
    "Belief",
    "BeliefKind",
    "Complexity",
    "Constraints",
    "CoverageResult",
    "DocumentEvidence",
    "Finding",
    "GroundednessResult",
    "Loss",
    "Measure",
    "ModelKind",
    "NotApplicable",
    "Outcome",
    "PassageUtility",
    "Preset",
    "Purchase",
    "Reading",
    "ReferenceSource",
    "SampledAnswer",
    "SentenceSupport",
    "Sought",
    "StepUtility",
    "SubQuestionCoverage",
    "TraceResult",
    "TraceUtility",
    "Utility",
    "Verdict",
]
