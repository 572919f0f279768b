"""How far a judge can be trusted: held against people's labels, and against pairs that any working judge gets right."""

from rag_cover.judge_check.assessment import LEAST_LABELS, LEAST_QUESTIONS, assess, notes_on
from rag_cover.judge_check.result import (
    Agreement,
    CanaryVerdict,
    Disagreement,
    JudgeCheck,
    JudgeThreshold,
    SharesCovered,
)
from rag_cover.judge_check.run import check_judge
from rag_cover.judge_check.sanity_checks import canary_verdicts, failure_of

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
    "failure_of",
    "notes_on",
]
