"""The base class of the node postprocessors: opens models, and keeps the retriever's order where a model fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover import Models
from rag_cover.errors import InvalidValueError
from rag_cover.integration import LazyModels, OnRerankError, Reconstructible, rerank_or_keep
from rag_cover_llama_index.passages import add_metadata

__all__ = ["EXPLANATION", "ModelPostprocessor", "explain_node", "saved_name"]

Choice = Callable[[Sequence[NodeWithScore], str, Models], list[NodeWithScore]]
"""Chooses among nodes for a question, by open models."""

EXPLANATION = "rag_cover"
"""The key of a node's metadata under which ``explain=True`` says why; it is shown to no model."""

_OBJECT = "object:"
_MODELS = ("judge", "decomposer", "receiver", "entailer")


class ModelPostprocessor(Reconstructible, BaseNodePostprocessor):
    """Chooses among nodes by models, which are opened at their first use.

    A model given by name is a field, and saved; one given as an object is named by its class there, and must be given again to
    ``from_dict``. A copy shares the objects; a pickle holds them.
    """

    on_error: OnRerankError = "keep"
    explain: bool = False

    model_kinds: ClassVar[Sequence[Any]] = ()

    _given: dict[str, Any] = PrivateAttr()
    _models: LazyModels = PrivateAttr()

    def _keep(self, models: Models, given: Mapping[str, Any]) -> None:
        """Remember what was given, under the names of the fields, and what it is opened as."""
        self._given = {name: model for name, model in given.items() if not _is_name(model)}
        self._models = LazyModels(models, self.model_kinds)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field as if it had been given at once; a model takes the other's place."""
        if name == "callback_manager" or name not in type(self).model_fields:
            super().__setattr__(name, value)
            return
        again = type(self)(**{**self.constructor_arguments(), name: value})
        super().__setattr__(name, getattr(again, name))
        if name in _MODELS:
            self._given, self._models = again._given, again._models  # noqa: SLF001  # one of our own

    def _choose_by_models(
        self, choose: Choice, nodes: list[NodeWithScore], query_bundle: QueryBundle | None, *, most: int | None = None
    ) -> list[NodeWithScore]:
        """Choose among nodes by models that are open; where these fail, return the first nodes as they came.

        Raises:
            InvalidValueError: there are nodes and no question.
            RagCoverError: a model cannot be opened.
        """
        if not nodes:
            return []
        if query_bundle is None:
            message = f"{self.class_name()} needs the question: pass query_str=… or query_bundle=… along with the nodes"
            raise InvalidValueError(message)
        called, asked = (self.class_name(), "nodes"), query_bundle.query_str
        return rerank_or_keep(choose, nodes, asked, self._models, called=called, on_error=self.on_error, most=most)

    def constructor_arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal object."""
        fields = type(self).model_fields
        return {name: getattr(self, name) for name in fields if name != "callback_manager"} | self._given


def saved_name(field: str, model: object) -> str | None:
    """Return how a field is saved: a model's name as it is, an object as ``object:`` and its class.

    Raises:
        InvalidValueError: the name was saved for an object, which must be given again.
    """
    if isinstance(model, str) and model.startswith(_OBJECT):
        message = (
            f"what was saved names {field} as {model!r}, an object that does not travel: "
            f"give it again, as from_dict(data, {field}=…)"
        )
        raise InvalidValueError(message)
    if model is None or isinstance(model, str):
        return model
    return f"{_OBJECT}{type(model).__module__}.{type(model).__qualname__}"


def explain_node(node: NodeWithScore, why: Mapping[str, Any]) -> NodeWithScore:
    """Return a node with its metadata saying why, on a copy that shows it neither to language nor to embedding models."""
    return NodeWithScore(node=add_metadata(node.node, {EXPLANATION: dict(why)}), score=node.score)


def _is_name(model: object) -> bool:
    return model is None or isinstance(model, str)
