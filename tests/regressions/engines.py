"""A LlamaIndex query engine over the shop, in several variants."""

from __future__ import annotations

from typing import Any

from llama_index.core import PromptTemplate, VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover_llama_index import RagCoverEmbedding, attach, node_of
from tests.regressions.shop import Variant, reply_to

__all__ = ["record"]


class CopyingLLM(CustomLLM):
    """Copies sentences of its prompt."""

    abstains: bool

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="copying", context_window=100_000)

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        return CompletionResponse(text=reply_to(prompt, abstains=self.abstains))

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        yield self.complete(prompt)


class Blocklist(BaseNodePostprocessor):
    """Drops nodes whose id ends in a word."""

    word: str

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], *_: QueryBundle | None, **__: QueryBundle | None
    ) -> list[NodeWithScore]:
        return [each for each in nodes if not each.node.node_id.endswith(self.word)]


def record(questions: tuple[str, ...], variant: Variant, store: str) -> None:
    """Ask all questions, and keep what was recorded and measured."""
    index = VectorStoreIndex([node_of(each).node for each in variant.passages], embed_model=RagCoverEmbedding())
    engine = index.as_query_engine(
        llm=CopyingLLM(abstains=variant.abstains),
        similarity_top_k=variant.k,
        node_postprocessors=[Blocklist(word=variant.blocked)] if variant.blocked else [],
        text_qa_template=PromptTemplate(variant.instruction + "\nContext:\n{context_str}\nQuestion: {query_str}"),
    )
    with attach(store=store, measures=["coverage"]):
        for question in questions:
            engine.query(question)
