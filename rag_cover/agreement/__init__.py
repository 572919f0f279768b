"""How far a judge can be trusted: held against people's labels, and against pairs that any working judge gets right."""

from rag_cover.agreement.assessment import LEAST_LABELS, LEAST_QUESTIONS, assess, notes_on
from rag_cover.agreement.cuts import best_cut, cross_fitted
from rag_cover.agreement.labels import LabelledText
from rag_cover.agreement.ppi import Powered, labelled_share, powered_share
from rag_cover.agreement.reliability import ReliabilityBin, calibration_error, reliability_bins
from rag_cover.agreement.result import (
    Agreement,
    CanaryVerdict,
    Disagreement,
    JudgeCheck,
    JudgeThreshold,
    SharesCovered,
)
from rag_cover.agreement.sanity_checks import canary_verdicts, failure_of

__all__ = [
    "LEAST_LABELS",
    "LEAST_QUESTIONS",
    "Agreement",
    "CanaryVerdict",
    "Disagreement",
    "JudgeCheck",
    "JudgeThreshold",
    "LabelledText",
    "Powered",
    "ReliabilityBin",
    "SharesCovered",
    "assess",
    "best_cut",
    "calibration_error",
    "canary_verdicts",
    "cross_fitted",
    "failure_of",
    "labelled_share",
    "notes_on",
    "powered_share",
    "reliability_bins",
]
