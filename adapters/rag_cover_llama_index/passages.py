"""Conversion between LlamaIndex's nodes and passages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage, json_value

__all__ = ["add_metadata", "node_of", "passage_of", "passages_of", "record_of"]


def passage_of(node: NodeWithScore | BaseNode) -> Passage:
    """Return a node as a passage: its id, its text without metadata, its score, its title where the metadata has one.

    Raises:
        InvalidValueError: the object is not a node.
    """
    if not isinstance(node, NodeWithScore | BaseNode):
        message = f"{type(node).__name__!r} is no node; give a TextNode, a Document or a NodeWithScore of LlamaIndex"
        raise InvalidValueError(message)
    record = record_of(node)
    return Passage.model_validate(record | {"metadata": json_value(record["metadata"])})


def passages_of(nodes: Iterable[NodeWithScore | BaseNode]) -> tuple[Passage, ...]:
    """Return nodes as passages, in their order."""
    return tuple(map(passage_of, nodes))


def node_of(passage: Passage) -> NodeWithScore:
    """Return a passage as a node with a score."""
    title = {} if passage.title is None else {"title": passage.title}
    metadata = title | dict(passage.metadata)
    identity = {} if passage.id is None else {"id_": passage.id}
    return NodeWithScore(node=TextNode(text=passage.text, metadata=metadata, **identity), score=passage.score)


def add_metadata(node: BaseNode, more: Mapping[str, Any]) -> BaseNode:
    """Return a copy of a node with more metadata, which no model is shown; the node itself stays unchanged."""
    hidden = {name: [*getattr(node, name), *more] for name in ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")}
    return node.model_copy(update={"metadata": {**node.metadata, **more}, **hidden})


def record_of(node: NodeWithScore | BaseNode) -> dict[str, Any]:
    """Copy the fields of a passage, in microseconds: later steps of the pipeline may change the node."""
    inner, score = (node.node, node.score) if isinstance(node, NodeWithScore) else (node, None)
    title = inner.metadata.get("title")
    return {
        "id": inner.node_id,
        "text": inner.get_content(metadata_mode=MetadataMode.NONE),
        "title": title if isinstance(title, str) and title.strip() else None,
        "score": None if score is None or not math.isfinite(score) else float(score),
        "metadata": dict(inner.metadata),
    }
