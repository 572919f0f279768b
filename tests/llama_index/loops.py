"""A retriever that tells whether the event loop goes on while it finds something."""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from tests.gates import Gate

__all__ = ["Gate", "GatedRetriever"]


class GatedRetriever(BaseRetriever):
    """Waits at a gate before it finds what another finds."""

    def __init__(self, gate: Gate, inner: BaseRetriever) -> None:
        self.gate, self.inner = gate, inner
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.gate.wait()
        return self.inner.retrieve(query_bundle)
