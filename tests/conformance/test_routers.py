"""Our own routers pass the suite that we publish."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_cover.questions import Passage
from rag_cover.routing import ROUTES, ComplexityRouter, SkillRouter
from rag_cover.testing import KeywordScorer, ScriptedRetriever
from rag_cover.testing.conformance import RouterTests
from tests.conformance.parts import AGENTS, skill_router

SHELF = ScriptedRetriever(default=[Passage("The sky is blue because air scatters blue light."), Passage("Wales has rivers.")])


class TestComplexityRouter(RouterTests):
    @pytest.fixture
    def router(self) -> ComplexityRouter:
        return ComplexityRouter(retriever=SHELF, scorer=KeywordScorer())

    def names(self) -> Sequence[str]:
        return tuple(ROUTES.values())


class TestSkillRouter(RouterTests):
    @pytest.fixture
    def router(self) -> SkillRouter:
        return skill_router()

    def names(self) -> Sequence[str]:
        return AGENTS


def test_the_questions_of_the_suite_take_both_ways() -> None:
    names = {route.name for route in skill_router().routes(RouterTests().questions())}

    assert names == set(AGENTS)
