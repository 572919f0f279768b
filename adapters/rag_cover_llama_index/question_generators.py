"""Typed sub-questions for LlamaIndex's `SubQuestionQueryEngine`, generated and assigned to tools without a remote model."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Generator
from rag_cover.coverage import Decomposer, decompose
from rag_cover.errors import InvalidValueError, ModelFailedError, nearest
from rag_cover.integration import refuse_below, refuse_blank
from rag_cover.questions import Question, Role
from rag_cover.questions import SubQuestion as TypedText
from rag_cover_llama_index.models import embedder_of, models_of

__all__ = ["RagCoverQuestionGenerator", "TypedSubQuestion"]

_LOG = logging.getLogger(__name__)
_SLOT = re.compile(r"(?<![\w#])#(\d{1,3})\b")


class TypedSubQuestion(SubQuestion):
    """A sub-question for a tool, with its role, who gave it, and how near the tool's description is.

    ``role`` and ``role_source`` are None where nobody says; ``similarity`` is a cosine in [-1, 1], None where it was not asked.
    """

    role: str | None = None
    role_source: str | None = None
    similarity: float | None = None


class RagCoverQuestionGenerator(BaseQuestionGenerator):
    """Splits a question by its core sub-questions, and gives each to the tool whose description is nearest.

    Coverage paper, §3.1 (Xie et al., NAACL 2025). By default rules split it, offline. Where a model that should fails, rules
    stand in, and that is logged. Each sub-question is asked by itself: in the place of those that build on an earlier answer
    (``#1``), and where there is none, stands the question.

    Args:
        decomposer: splits questions: ``"rules"``, a language model or a generator, its name, a trace file, or a function.
        roles: which sub-questions to ask; those without a role count as core.
        embedder: finds the tool whose description is nearest to a sub-question.
        fan_out: ask every tool each of them.
        max_sub_questions: at most so many of them.

    Raises:
        InvalidValueError: an unknown role, a number below 1, or a model that cannot serve.
    """

    def __init__(
        self,
        decomposer: str | Path | Generator | Decomposer | LLM = "rules",
        *,
        roles: Collection[str] = (Role.CORE,),
        embedder: str | Embedder | BaseEmbedding = "embedded",
        fan_out: bool = False,
        max_sub_questions: int = 12,
    ) -> None:
        for role in roles:
            if role not in list(Role):
                message = (
                    f"no role is called {role!r}.{nearest(role, [each.value for each in Role])} There are: {', '.join(Role)}."
                )
                raise InvalidValueError(message)
        refuse_below(1, max_sub_questions=max_sub_questions)
        self._roles = frozenset(map(Role, roles))
        self._most, self._fan_out = max_sub_questions, fan_out
        self._decomposer: Decomposer | None = models_of(decomposer=decomposer).open(["decomposer"]).get("decomposer")
        self._embedder = embedder_of(embedder)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no templates."""

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Return the sub-questions, each with the name of the tool to ask.

        Raises:
            InvalidValueError: the question is blank, there is no tool, or one has no name.
            ModelFailedError: the embedder failed.
        """
        _refuse_tools(tools)
        refuse_blank(query.query_str)
        asked = self._select_sub_questions(query.query_str)
        if self._fan_out or len(tools) == 1:
            return [_for_tool(each, tool, None) for each in asked for tool in tools]
        near = self._nearness(asked, tools)
        return [_for_tool(each, tools[int(row.argmax())], float(row.max())) for each, row in zip(asked, near, strict=True)]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Return the same without blocking the loop."""
        return await asyncio.to_thread(self.generate, tools, query)

    def _select_sub_questions(self, text: str) -> list[TypedText]:
        literal = set(_SLOT.findall(text))  # "the #1 song" asks for no earlier answer
        wanted = [each for each in self._split(text) if (each.role or Role.CORE) in self._roles]
        alone = [each for each in wanted if set(_SLOT.findall(each.text)) <= literal]
        if alone and (len(alone) == len(wanted) or text in [each.text for each in alone]):
            return alone[: self._most]
        return [*alone[: self._most - 1], TypedText(text)]

    def _split(self, text: str) -> Sequence[TypedText]:
        if self._decomposer is None:
            return decompose(text)
        try:
            return self._decomposer(Question(text))
        except ModelFailedError as failed:
            _LOG.warning("Rules split %r, as the model could not: %s", text, failed)
            return decompose(text)

    def _nearness(self, asked: Sequence[TypedText], tools: Sequence[ToolMetadata]) -> NDArray[np.float64]:
        """Return (sub-questions, tools) cosines."""
        described = [f"{(tool.name or '').replace('_', ' ')}: {tool.description}" for tool in tools]
        vectors = self._embedder.embed([*(each.text for each in asked), *described]).astype(np.float64)
        return vectors[: len(asked)] @ vectors[len(asked) :].T


def _refuse_tools(tools: Sequence[ToolMetadata]) -> None:
    if not tools:
        message = "there is no tool to ask; give SubQuestionQueryEngine its query_engine_tools"
        raise InvalidValueError(message)
    if unnamed := [place for place, tool in enumerate(tools) if not tool.name]:
        message = f"tool {unnamed[0]} has no name, so that no sub-question can be given to it; name it in its ToolMetadata"
        raise InvalidValueError(message)


def _for_tool(asked: TypedText, tool: ToolMetadata, similarity: float | None) -> TypedSubQuestion:
    return TypedSubQuestion(
        sub_question=asked.text,
        tool_name=tool.get_name(),
        role=None if asked.role is None else asked.role.value,
        role_source=asked.role_source,
        similarity=similarity,
    )
