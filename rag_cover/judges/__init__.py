"""Language models as judges of what texts answer."""

from rag_cover.judges.prompted import PromptedJudge

__all__ = ["PromptedJudge"]
