"""How far a judge can be trusted: held against people's labels, and against pairs that any working judge gets right."""

from rag_cover.judge_check.assessment import assess, notes_on_labels
from rag_cover.judge_check.result import (
    Agreement,
    CanaryVerdict,
    Disagreement,
    JudgeCheck,
    JudgeThreshold,
    SharesCovered,
)
from rag_cover.judge_check.run import check_judge
from rag_cover.judge_check.sanity_checks import canary_verdicts, explain_canary_failure
from rag_cover.stats.prediction_powered import LEAST_LABELS, LEAST_QUESTIONS

__all__ = [
    "LEAST_LABELS",
    "LEAST_QUESTIONS",
    "Agreement",
    "CanaryVerdict",
    "Disagreement",
    "JudgeCheck",
    "JudgeThreshold",
    "SharesCovered",
    "assess",
    "canary_verdicts",
    "check_judge",
    "explain_canary_failure",
    "notes_on_labels",
]
