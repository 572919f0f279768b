"""A cascade owes its callers what any judge does."""

from __future__ import annotations

import pytest

from rag_cover.backends import Scorer
from rag_cover.cascade import CascadeJudge
from rag_cover.registry import open_scorer
from rag_cover.testing.conformance import ScorerTests


@pytest.mark.slow
class TestCascadeOfTheEmbeddedJudge(ScorerTests):
    @pytest.fixture
    def model(self) -> Scorer:
        return CascadeJudge(open_scorer("embedded"), open_scorer("embedded"))
