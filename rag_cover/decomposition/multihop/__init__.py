"""Questions inside questions: the steps of a multi-hop question, by rules."""

from rag_cover.decomposition.multihop.splitting import hops_of

__all__ = ["hops_of"]
