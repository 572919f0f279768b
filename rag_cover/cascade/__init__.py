"""A cascade of judges: the first keeps the verdicts that it is sure of, a second model is asked about the others."""

from rag_cover.cascade.judge import CascadeJudge, CascadeVerdict, Fate, VerdictFate
from rag_cover.cascade.names import JudgeNames
from rag_cover.cascade.planning import AuditDraw, CascadePlan, UnsureText, WeighedVerdicts, plan_calls, weigh
from rag_cover.cascade.settings import CascadeSettings

__all__ = [
    "AuditDraw",
    "CascadeJudge",
    "CascadePlan",
    "CascadeSettings",
    "CascadeVerdict",
    "Fate",
    "JudgeNames",
    "UnsureText",
    "VerdictFate",
    "WeighedVerdicts",
    "plan_calls",
    "weigh",
]
