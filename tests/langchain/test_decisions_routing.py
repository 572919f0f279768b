"""LangChain's model router over our decision model: which of two chat models an agent asks."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

pytest.importorskip("langchain_core.decisions", reason="needs langchain-core 1.8")
pytest.importorskip("langchain.agents.middleware.model_router", reason="needs langchain 1.5")

from langchain.agents import create_agent
from langchain.agents.middleware import ModelChoice, ModelRouterMiddleware  # type: ignore[attr-defined, unused-ignore]
from langchain_core.messages import HumanMessage

from rag_cover_langchain.decision_models import RagCoverDecisionModel
from tests.langchain.parts import ScriptedChatModel


@pytest.fixture
def agent() -> Any:
    """An agent that has a model for weather and one for music."""
    choices = {
        "weather": ModelChoice(ScriptedChatModel(default="It will rain."), "To know what the weather will be."),
        "music": ModelChoice(ScriptedChatModel(default="Playing."), "To hear a song or an album."),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the middleware is in beta, and says so
        router = ModelRouterMiddleware(
            choices=choices, instructions="What does the user want?", classifier=RagCoverDecisionModel()
        )
    return create_agent(ScriptedChatModel(), middleware=[router])


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("Will I need an umbrella tomorrow?", "It will rain."), ("Play something by Nina Simone.", "Playing.")],
)
def test_the_agent_asks_the_model_that_is_chosen(agent: Any, asked: str, answered: str) -> None:
    state = {"messages": [HumanMessage(asked)]}

    told = agent.invoke(state)
    awaited = asyncio.run(agent.ainvoke(state))

    assert told["messages"][-1].text == awaited["messages"][-1].text == answered
    assert told["model_route"].confidence > 0.5
