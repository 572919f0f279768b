"""Routes set queries to the tool that answers them, in LlamaIndex's sub-question engines and routers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata

from rag_cover.errors import InvalidValueError
from rag_cover.integration import MIN_CONFIDENCE, OTHERWISE, SET, describe_argument, refuse_blank, refuse_outside, set_route
from rag_cover.questions import Role
from rag_cover_llama_index.question_generators import RagCoverQuestionGenerator, TypedSubQuestion
from rag_cover_llama_index.routers import Choice, RoutingSelector, place_of

__all__ = ["SetQueryQuestionGenerator", "SetQuerySelector"]


class _OneTool(BaseQuestionGenerator):
    """Asks one tool the question as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no templates."""

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        tool = tools[place_of(self._name, tools)].get_name()
        return [TypedSubQuestion(sub_question=query.query_str, tool_name=tool, role=Role.CORE.value)]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return self.generate(tools, query)


class SetQueryQuestionGenerator(BaseQuestionGenerator):
    """Gives a set query, "A or B but not C", as it is to the tool that answers those, and others to the other tools.

    Set queries are recognised by their wording alone, offline (`rag_cover.setqueries.parse`).

    Args:
        set_tool: the name of the tool, such as that of an engine over a `SetQueryRetriever`.
        otherwise: who makes the sub-questions of any other question, for the other tools, or the name of the tool that is
            asked it as it is; None: a `RagCoverQuestionGenerator`. Where there is no other tool, they are for this one.
        min_confidence: the confidence from which a question that was read as a set query is one.

    Raises:
        InvalidValueError: a confidence out of range, or what makes no sub-questions.
    """

    def __init__(
        self,
        set_tool: str,
        *,
        otherwise: BaseQuestionGenerator | str | None = None,
        min_confidence: float = MIN_CONFIDENCE,
    ) -> None:
        refuse_outside(0, 1, min_confidence=min_confidence)
        if not isinstance(otherwise, BaseQuestionGenerator | str | None):
            message = (
                f"{describe_argument(otherwise)} makes no sub-questions: give a BaseQuestionGenerator or the name of a tool"
            )
            raise InvalidValueError(message)
        self._set_tool, self._min_confidence = set_tool, min_confidence
        self._whole = _OneTool(set_tool)
        self._otherwise = _OneTool(otherwise) if isinstance(otherwise, str) else otherwise or RagCoverQuestionGenerator()

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"otherwise": self._otherwise}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no templates of its own."""

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Return the question for the tool of set queries, or what is generated otherwise.

        Raises:
            InvalidValueError: the question is blank, or there is no tool of a name that was given.
        """
        generator, asked = self._choose(tools, query)
        return generator.generate(asked, query)

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Return the same without blocking the loop."""
        generator, asked = await asyncio.to_thread(self._choose, tools, query)
        return await generator.agenerate(asked, query)

    def _choose(
        self, tools: Sequence[ToolMetadata], query: QueryBundle
    ) -> tuple[BaseQuestionGenerator, Sequence[ToolMetadata]]:
        """Return who makes the sub-questions, and for which tools."""
        refuse_blank(query.query_str)
        own = place_of(self._set_tool, tools)
        if set_route(query.query_str, min_confidence=self._min_confidence).name == SET:
            return self._whole, tools
        return self._otherwise, [tool for place, tool in enumerate(tools) if place != own] or tools


class SetQuerySelector(RoutingSelector):
    """Chooses one tool for set queries, "A or B but not C", and another one for any other question.

    Set queries are recognised by their wording alone, offline (`rag_cover.setqueries.parse`).

    Args:
        set_tool: the tool that answers set queries, by name or place.
        otherwise: the tool for others.
        min_confidence: the confidence from which a question that was read as a set query is one.
        default: the tool to take where a question cannot be read, since it is blank; None: the error is raised.

    Raises:
        InvalidValueError: a confidence out of range.
    """

    def __init__(
        self,
        set_tool: Choice,
        otherwise: Choice,
        *,
        min_confidence: float = MIN_CONFIDENCE,
        default: Choice | None = None,
    ) -> None:
        refuse_outside(0, 1, min_confidence=min_confidence)
        super().__init__(partial(set_route, min_confidence=min_confidence), {SET: set_tool, OTHERWISE: otherwise}, default)
