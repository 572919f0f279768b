"""Our routers for LangChain pass the suite that we publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.runnables import RunnableLambda

from rag_cover.testing import KeywordScorer
from rag_cover.testing.conformance import RouterTests
from rag_cover_langchain.routers import ComplexityRouterRunnable, SkillRouterRunnable
from tests.conformance.parts import AGENTS, skill_router
from tests.langchain.parts import corpus_store


class TestComplexityRouter(RouterTests):
    @pytest.fixture
    def router(self) -> ComplexityRouterRunnable[Any, Any]:
        routes: dict[Any, Any] = {name: RunnableLambda(str) for name in self.names()}
        return ComplexityRouterRunnable(corpus_store(), routes, judge=KeywordScorer())

    def names(self) -> Sequence[str]:
        return ("direct", "complex", "unanswerable")


class TestSkillRouter(RouterTests):
    @pytest.fixture
    def router(self) -> SkillRouterRunnable[Any, Any]:
        return SkillRouterRunnable(skill_router(), {name: RunnableLambda(str) for name in AGENTS})

    def names(self) -> Sequence[str]:
        return AGENTS
