"""A router that calls the chain which was seen to be able to do it."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import routing
from rag_cover.errors import InvalidValueError, UnfitModelError
from rag_cover.routing import Adjustment, HeldOut, Responses, SkillRecord
from rag_cover.stats.intervals import Interval
from rag_cover_langchain.models import LangChainEmbedder
from rag_cover_langchain.routers import ComplexityRouterRunnable, SkillRouterRunnable
from rag_cover_langchain.tags import PROBE
from tests.langchain.parts import WordEmbeddings
from tests.langchain.skilled import TopicEmbeddings, skilled, skills
from tests.langchain.trees import RunTree

COST = "How much does a heat pump cost?"

Chain = Runnable[Any, Any]


def answering(text: str) -> Chain:
    """A chain that answers with a text, whatever it is called with."""
    return RunnableLambda(lambda _: text)


class BrokenEmbeddings(WordEmbeddings):
    """Gives no direction."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[0.0] for _ in texts]


def agents() -> dict[str, Chain]:
    return {"plain": answering("plain"), "split": answering("split")}


def test_the_agent_that_is_likeliest_to_succeed_is_called() -> None:
    made, tree = SkillRouterRunnable[Any, Any](skilled(), agents()), RunTree()

    said = made.batch(["Why is the sky blue?", {"question": COST}], {"callbacks": [tree]})

    assert said == ["plain", "split"]
    sky = made.route("Why is the sky blue?")
    assert sky.probability == sky.scores["plain"] > 0.8
    assert sky.reason == f"plain is the likeliest to succeed, with {sky.probability:.2f}."
    assert {told["route"] for _, _, told in tree.events} == {"plain", "split"}


def test_skills_are_read_where_they_were_kept(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    made = SkillRouterRunnable[Any, Any](tmp_path / "skills", agents(), embedder=TopicEmbeddings())

    assert asyncio.run(made.ainvoke(COST)) == list(made.stream(COST))[0] == "split"  # noqa: RUF015  # all of the stream is read
    assert copy.deepcopy(made).invoke(COST) == "split"


def test_the_cheapest_that_is_likely_enough_is_called_where_agents_cost(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")
    costs = {"plain": 1.0, "split": 5.0}

    made = SkillRouterRunnable[Any, Any](tmp_path / "skills", agents(), embedder=TopicEmbeddings(), costs=costs, target=0.1)

    assert made.invoke(COST) == "plain"


def test_only_agents_with_a_chain_are_chosen(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    made = SkillRouterRunnable[Any, Any](tmp_path / "skills", {"plain": answering("plain")}, embedder=TopicEmbeddings())

    assert made.invoke(COST) == "plain"
    with pytest.raises(InvalidValueError, match="no route is named for the agent 'split', .* routes has: plain"):
        SkillRouterRunnable(skilled(), {"plain": answering("plain")})


def test_what_the_skills_do_not_fit_is_refused(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    with pytest.raises(InvalidValueError, match="the skill model knows no agent 'plane'. Did you mean 'plain'"):
        SkillRouterRunnable(tmp_path / "skills", {"plane": answering("plain")}, embedder=TopicEmbeddings())
    with pytest.raises(InvalidValueError, match="a router has its own settings; make it with target="):
        SkillRouterRunnable(skilled(), agents(), target=0.5)
    with pytest.raises(UnfitModelError, match="fitted to questions encoded by"):
        SkillRouterRunnable(tmp_path / "skills", agents(), embedder=WordEmbeddings())
    with pytest.raises(InvalidValueError, match="no route is called 'nobody'"):
        SkillRouterRunnable(skilled(), agents(), default="nobody")


def test_predictions_are_adjusted_by_what_a_probe_tells(tmp_path: Path, store: InMemoryVectorStore) -> None:
    both, one = ("plain", "split"), np.zeros((1, 2))
    for_the_answerable = Adjustment(both, 0.0, np.zeros(2), np.array([[9.0, 0.0], [-9.0, 0.0]]), np.zeros(2), np.ones(2))
    held_out = HeldOut(0.5, 0.6, Interval(0.1, None, None, 1), None)
    skills().save(tmp_path / "skills")
    SkillRecord("answers", Responses(both, ["Why?"], one), one, one, one, held_out, for_the_answerable).save(
        tmp_path / "skills"
    )
    tree = RunTree()
    probe = ComplexityRouterRunnable[Any, Any](store, {"direct": answering("plain"), "complex": answering("split")})

    alone = SkillRouterRunnable[Any, Any](tmp_path / "skills", agents(), embedder=TopicEmbeddings())
    probed = SkillRouterRunnable[Any, Any](tmp_path / "skills", agents(), embedder=TopicEmbeddings(), probe=probe)

    assert alone.invoke(COST) == "split"
    assert probed.invoke(COST, {"callbacks": [tree]}) == "plain"
    assert tree.of("VectorStoreRetriever") == ["SkillRouterRunnable"]
    assert PROBE in tree.tags("VectorStoreRetriever")[0]


def test_a_failing_embedder_leads_to_the_default() -> None:
    broken = routing.SkillRouter(skills(), None, embedder=LangChainEmbedder(BrokenEmbeddings()))
    tree = RunTree()

    said = SkillRouterRunnable[Any, Any](broken, agents(), default=answering("sorry")).invoke(COST, {"callbacks": [tree]})

    assert said == "sorry"
    assert tree.events[0][2]["error"].startswith("ModelFailedError")


def test_costs_that_were_kept_with_the_skills_serve_a_target(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")
    with pytest.raises(InvalidValueError, match="needs costs"):
        SkillRouterRunnable(tmp_path / "skills", agents(), embedder=TopicEmbeddings(), target=0.7)
    held_out = HeldOut(0.4, 0.5, Interval(0.1, 0.0, 0.2, 2), None)
    responses = Responses(["plain", "split"], ["a", "b"], [[1, 0], [0, 1]])
    of_dimension, of_agents = np.zeros((2, 1)), np.zeros((2, 2))
    record = SkillRecord(
        "correct", responses, of_dimension, of_dimension, of_agents, held_out, costs={"plain": 1.0, "split": 4.0}
    )
    record.save(tmp_path / "skills")

    made = SkillRouterRunnable[Any, Any](tmp_path / "skills", agents(), embedder=TopicEmbeddings(), target=0.7)

    assert made.route("Why is the sky blue?").reason.startswith("plain is the cheapest")
