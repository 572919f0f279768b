"""What we give to LlamaIndex passes the suites that we publish: they are told how its parts are called."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools.types import ToolMetadata

from rag_cover.questions import Passage
from rag_cover.routing import Route
from rag_cover.testing import KeywordScorer, ScriptedEntailer, ScriptedReceiver, ScriptedRetriever
from rag_cover.testing.conformance import CompressorTests, RouterTests
from rag_cover_llama_index.reranking import CoverageRerank, UtilityFilter
from rag_cover_llama_index.routers import RetrievalComplexitySelector, RoutedSelection, SkillSelector
from tests.conformance.parts import AGENTS, skill_router


class Postprocesses(CompressorTests):
    """With nodes of LlamaIndex."""

    def make_document(self, text: str, name: str) -> NodeWithScore:
        return NodeWithScore(node=TextNode(text=text, id_=name, metadata={"name": name}), score=0.5)

    def compress(self, compressor: Any, documents: Sequence[Any], query: str) -> Sequence[Any]:
        kept: list[NodeWithScore] = compressor.postprocess_nodes(documents, query_str=query)
        return kept

    def acompress(self, compressor: Any, documents: Sequence[Any], query: str) -> Awaitable[Sequence[Any]]:
        kept: Awaitable[list[NodeWithScore]] = compressor.apostprocess_nodes(documents, query_str=query)
        return kept

    def name_of(self, document: Any) -> str:
        return str(document.node.node_id)

    def text_of(self, document: Any) -> str:
        return str(document.node.get_content())


class TestCoverageRerank(Postprocesses):
    most = 3

    @pytest.fixture
    def compressor(self) -> CoverageRerank:
        return CoverageRerank(top_n=3, judge=KeywordScorer(), receiver=None)


class TestUtilityFilter(Postprocesses):
    keeps_order = True

    @pytest.fixture
    def compressor(self) -> UtilityFilter:
        reader = ScriptedReceiver({"1904": ["In 1904."]}, prior=["I do not know."])
        return UtilityFilter(receiver=reader, entailer=ScriptedEntailer(default=0.0), samples=3)


class Selects(RouterTests):
    """Chooses among tools that are called as the routes are."""

    def route(self, router: Any, question: str) -> Route:
        tools = [ToolMetadata(name=name, description=name) for name in self.names()]
        (chosen,) = router.select(tools, question).selections
        assert isinstance(chosen, RoutedSelection)
        return Route(str(chosen.tool), chosen.probability, chosen.scores, chosen.reason)


class TestComplexitySelector(Selects):
    @pytest.fixture
    def router(self) -> RetrievalComplexitySelector:
        shelf = ScriptedRetriever(default=[Passage("The sky is blue because air scatters blue light."), Passage("Wales.")])
        return RetrievalComplexitySelector(shelf, {"direct": "plain", "complex": "split"}, judge=KeywordScorer())

    def names(self) -> Sequence[str]:
        return ("plain", "split")


class TestSkillSelector(Selects):
    @pytest.fixture
    def router(self) -> SkillSelector:
        return SkillSelector(skill_router())

    def names(self) -> Sequence[str]:
        return AGENTS
