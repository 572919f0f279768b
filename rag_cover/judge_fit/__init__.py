"""Fits a judge to people's labels without training its network, and keeps it only where it is clearly better."""

from rag_cover.judge_fit.result import Change, JudgeFit, ModeFit
from rag_cover.judge_fit.run import fit_judge

__all__ = ["Change", "JudgeFit", "ModeFit", "fit_judge"]
