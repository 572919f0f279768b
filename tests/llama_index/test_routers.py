from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_selector import SelectorResult
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, RouterRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.tools.types import ToolMetadata

from rag_cover.errors import InvalidValueError, UnfitModelError
from rag_cover.routing import Adjustment, Caimira, HeldOut, Responses, SkillRecord, SkillRouter
from rag_cover.stats.intervals import Interval
from rag_cover.testing import ScriptedScorer
from rag_cover_llama_index.models import LlamaIndexEmbedder
from rag_cover_llama_index.routers import RetrievalComplexitySelector, RoutedSelection, SkillSelector
from tests.llama_index.loops import Gate, GatedRetriever
from tests.llama_index.parts import ScriptedLLM, WordEmbedding
from tests.llama_index.spans import watched_spans
from tests.skilled import skills_by, topic_vector

PLAIN = ToolMetadata(name="plain", description="One search.")
SPLIT = ToolMetadata(name="split", description="Several searches.")
NONE = ToolMetadata(name="none", description="Says that nothing is known.")
CHOICES = [SPLIT, PLAIN, NONE]
ROUTES: Mapping[Any, Any] = {"direct": "plain", "complex": "split", "unanswerable": "none"}
COST = "How much does a heat pump cost?"


def chosen(result: SelectorResult) -> RoutedSelection:
    (selection,) = result.selections
    assert isinstance(selection, RoutedSelection)
    return selection


class DeadRetriever(BaseRetriever):
    """Does not answer."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        message = "connection refused"
        raise ConnectionError(message)


def test_what_one_passage_answers_goes_the_direct_way(index: VectorStoreIndex) -> None:
    selection = chosen(RetrievalComplexitySelector(index, ROUTES).select(CHOICES, COST))

    assert (selection.index, selection.tool, selection.route) == (1, "plain", "direct")
    assert "one step, which the passages answer" in selection.reason
    assert selection.scores["max_answer_probability"] > selection.scores["t_ans"]
    assert selection.error is None


def test_what_no_passage_answers_goes_another_way(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index, ROUTES, judge=ScriptedScorer(default=0.0))

    selection = chosen(selector.select(CHOICES, COST))

    assert selection.route != "direct"
    assert selection.tool == ROUTES[selection.route]


def test_what_is_unanswerable_goes_the_complex_way_where_there_is_no_other(index: VectorStoreIndex) -> None:
    routes: Mapping[Any, Any] = {"direct": "plain", "complex": "split"}

    selection = chosen(RetrievalComplexitySelector(index, routes, judge=ScriptedScorer()).select(CHOICES, COST))

    assert (selection.route, selection.tool) == ("complex", "split")


def test_tools_may_be_named_by_their_places(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index, {"direct": 2, "complex": 0})

    selection = chosen(selector.select([ToolMetadata(description="One."), SPLIT, ToolMetadata(description="Three.")], COST))

    assert (selection.index, selection.tool) == (2, None)


def test_a_cut_decides_in_place_of_thresholds(index: VectorStoreIndex) -> None:
    selection = chosen(RetrievalComplexitySelector(index, ROUTES, cut=0.0).select(CHOICES, COST))

    assert selection.route == "complex"
    assert "reaches the cut of 0.00" in selection.reason


def test_plain_texts_and_retrievers_of_rag_covers_do_as_well(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index.as_retriever(similarity_top_k=3), {"direct": 0, "complex": 1})

    assert selector.select(["One search.", "Several searches."], COST).ind == 0


def test_a_selection_is_written_out_whole(index: VectorStoreIndex) -> None:
    result = RetrievalComplexitySelector(index, ROUTES).select(CHOICES, COST)

    (written,) = json.loads(result.model_dump_json())["selections"]

    assert written["tool"] == "plain"
    assert written["scores"].keys() >= {"max_answer_probability", "t_ans"}


def test_a_tool_that_is_not_there_is_named_with_the_nearest(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index, {"direct": "plane", "complex": "split"})

    with pytest.raises(InvalidValueError, match="no tool is called 'plane'. Did you mean 'plain'.* has: split, plain, none"):
        selector.select(CHOICES, COST)
    with pytest.raises(InvalidValueError, match="no tool is called 7. Places go from 0 to 2"):
        RetrievalComplexitySelector(index, {"direct": 7, "complex": 0}).select(CHOICES, COST)


def test_routes_that_a_question_cannot_demand_are_refused(index: VectorStoreIndex) -> None:
    wrong: Any = {"direkt": "plain", "complex": "split"}

    with pytest.raises(InvalidValueError, match="Did you mean 'direct'"):
        RetrievalComplexitySelector(index, wrong)


def test_where_the_router_fails_the_default_is_taken_and_that_is_told() -> None:
    selector = RetrievalComplexitySelector(DeadRetriever(), ROUTES, default="none")

    selection = chosen(selector.select(CHOICES, COST))

    assert (selection.index, selection.tool, selection.route, selection.probability) == (2, "none", None, None)
    assert selection.error == "ConnectionError: connection refused"
    assert selection.reason == "The router failed (ConnectionError: connection refused), so the default is taken."


def test_where_the_router_fails_and_there_is_no_default_there_is_an_error() -> None:
    with pytest.raises(ConnectionError, match="connection refused"):
        RetrievalComplexitySelector(DeadRetriever(), ROUTES).select(CHOICES, COST)


def test_a_default_that_is_not_there_is_an_error_before_it_is_needed(index: VectorStoreIndex) -> None:
    with pytest.raises(InvalidValueError, match="no tool is called 'nobody'"):
        RetrievalComplexitySelector(index, ROUTES, default="nobody").select(CHOICES, COST)


def test_a_selection_does_not_block_the_loop(index: VectorStoreIndex) -> None:
    gate = Gate()
    selector = RetrievalComplexitySelector(GatedRetriever(gate, index.as_retriever()), ROUTES)

    result = gate.run(selector.aselect(CHOICES, COST))

    assert chosen(result).tool == "plain"


def test_one_selector_serves_16_threads_at_once(index: VectorStoreIndex) -> None:
    selector, together = RetrievalComplexitySelector(index, ROUTES), threading.Barrier(16)
    questions = [COST, "Who is the mayor of Lisbon?"] * 8
    alone = {question: selector.select(CHOICES, question) for question in questions[:2]}

    def ask(question: str) -> SelectorResult:
        together.wait()
        return selector.select(CHOICES, question)

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(ask, questions))

    assert results == [alone[question] for question in questions]
    assert alone[questions[0]] != alone[questions[1]]


def engines(index: VectorStoreIndex) -> list[QueryEngineTool]:
    synthesizers = [get_response_synthesizer(llm=ScriptedLLM(default=f"by {tool.name}")) for tool in CHOICES]
    return [
        QueryEngineTool(query_engine=RetrieverQueryEngine(index.as_retriever(), synthesizer), metadata=metadata)
        for synthesizer, metadata in zip(synthesizers, CHOICES, strict=True)
    ]


def test_a_router_engine_answers_by_the_chosen_tool_and_says_why(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index, ROUTES)
    engine = RouterQueryEngine(selector, engines(index), llm=ScriptedLLM())

    told, later = engine.query(COST), asyncio.run(engine.aquery(COST))

    assert str(told) == str(later) == "by plain"
    result = (told.metadata or {})["selector_result"]
    assert chosen(result).scores["max_answer_probability"] > 0.5
    assert result.ind == 1


def test_a_router_retriever_retrieves_by_the_chosen_tool(index: VectorStoreIndex) -> None:
    tools = [
        RetrieverTool(retriever=index.as_retriever(similarity_top_k=many), metadata=metadata)
        for many, metadata in zip((1, 2, 3), CHOICES, strict=True)
    ]
    selector = RetrievalComplexitySelector(index, ROUTES)

    assert len(RouterRetriever(selector, tools, llm=ScriptedLLM()).retrieve(COST)) == 2


def test_what_a_selector_probes_is_a_span_under_its_choice(index: VectorStoreIndex) -> None:
    engine = RouterQueryEngine(RetrievalComplexitySelector(index.as_retriever(), ROUTES), engines(index), llm=ScriptedLLM())

    with watched_spans() as sync:
        engine.query(COST)
    with watched_spans() as later:
        asyncio.run(engine.aquery(COST))

    assert sync.of("VectorIndexRetriever.retrieve")[0] == "RetrievalComplexitySelector._select"
    assert "RetrievalComplexitySelector._select" in later.of("VectorIndexRetriever.retrieve")


class TopicEmbedding(WordEmbedding):
    """Tells the sky from all else."""

    def _vector(self, text: str) -> list[float]:
        return topic_vector(text)


def skills(*, agents: tuple[str, ...] = ("plain", "split")) -> Caimira:
    """Know that the first agent is good at the sky, and the second at all else."""
    return skills_by(LlamaIndexEmbedder(TopicEmbedding()), agents=agents)


def test_the_agent_that_is_likeliest_to_succeed_is_chosen() -> None:
    selector = SkillSelector(SkillRouter(skills(), None, embedder=LlamaIndexEmbedder(TopicEmbedding())))

    sky, cost = chosen(selector.select(CHOICES, "Why is the sky blue?")), chosen(selector.select(CHOICES, COST))

    assert (sky.tool, cost.tool) == ("plain", "split")
    assert sky.scores.keys() == {"plain", "split"}
    assert sky.probability == sky.scores["plain"] > 0.8
    assert sky.reason == f"plain is the likeliest to succeed, with {sky.probability:.2f}."


def test_skills_are_read_where_they_were_kept(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    selector = SkillSelector(tmp_path / "skills", embedder=TopicEmbedding())

    assert chosen(asyncio.run(selector.aselect(CHOICES, COST))).tool == "split"


def test_the_cheapest_that_is_likely_enough_is_chosen_where_agents_cost(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")
    costs = {"plain": 1.0, "split": 5.0}

    selector = SkillSelector(tmp_path / "skills", embedder=TopicEmbedding(), costs=costs, target=0.1)

    assert chosen(selector.select(CHOICES, COST)).tool == "plain"


def test_agents_may_have_tools_of_other_names_and_only_they_are_chosen(tmp_path: Path) -> None:
    skills(agents=("small", "large")).save(tmp_path / "skills")

    both = SkillSelector(tmp_path / "skills", {"small": "plain", "large": 2}, embedder=TopicEmbedding())
    one = SkillSelector(tmp_path / "skills", {"small": "plain"}, embedder=TopicEmbedding())

    assert chosen(both.select(CHOICES, COST)).tool == "none"
    assert chosen(one.select(CHOICES, COST)).tool == "plain"


def test_an_agent_without_a_tool_is_refused() -> None:
    router = SkillRouter(skills(), None, embedder=LlamaIndexEmbedder(TopicEmbedding()))

    with pytest.raises(InvalidValueError, match="no tool is named for the agent 'split'"):
        SkillSelector(router, {"plain": "plain"})
    with pytest.raises(InvalidValueError, match="no tool is called 'split'"):
        SkillSelector(router).select([PLAIN], COST)


def test_an_agent_that_the_skills_do_not_know_is_refused(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    with pytest.raises(InvalidValueError, match="the skill model knows no agent 'plane'. Did you mean 'plain'"):
        SkillSelector(tmp_path / "skills", {"plane": "plain"}, embedder=TopicEmbedding())


def test_settings_beside_a_router_are_refused() -> None:
    router = SkillRouter(skills(), None, embedder=LlamaIndexEmbedder(TopicEmbedding()))

    with pytest.raises(InvalidValueError, match="a router has its own settings; make it with target="):
        SkillSelector(router, target=0.5)


def test_skills_of_another_embedder_are_refused(tmp_path: Path) -> None:
    skills().save(tmp_path / "skills")

    with pytest.raises(UnfitModelError, match="fitted to questions encoded by"):
        SkillSelector(tmp_path / "skills", embedder=WordEmbedding())


def test_predictions_are_adjusted_by_what_a_probe_tells(tmp_path: Path, index: VectorStoreIndex) -> None:
    agents, one = ("plain", "split"), np.zeros((1, 2))
    for_the_answerable = Adjustment(agents, 0.0, np.zeros(2), np.array([[9.0, 0.0], [-9.0, 0.0]]), np.zeros(2), np.ones(2))
    held_out = HeldOut(0.5, 0.6, Interval(0.1, None, None, 1), None)
    skills().save(tmp_path / "skills")
    SkillRecord("answers", Responses(agents, ["Why?"], one), one, one, one, held_out, for_the_answerable).save(
        tmp_path / "skills"
    )
    probe = RetrievalComplexitySelector(index, ROUTES)

    alone = SkillSelector(tmp_path / "skills", embedder=TopicEmbedding())
    probed = SkillSelector(tmp_path / "skills", embedder=TopicEmbedding(), probe=probe)

    assert chosen(alone.select(CHOICES, COST)).tool == "split"
    assert chosen(probed.select(CHOICES, COST)).tool == "plain"


def test_a_failing_embedder_leads_to_the_default() -> None:
    class BrokenEmbedding(WordEmbedding):
        """Does not answer."""

        def _vector(self, text: str) -> list[float]:
            return [0.0]

    router = SkillRouter(skills(), None, embedder=LlamaIndexEmbedder(BrokenEmbedding()))

    selection = chosen(SkillSelector(router, default="none").select(CHOICES, COST))

    assert selection.tool == "none"
    assert selection.error is not None
    assert selection.error.startswith("ModelFailedError")


def test_selectors_have_no_templates(index: VectorStoreIndex) -> None:
    selector = RetrievalComplexitySelector(index, ROUTES)

    selector.update_prompts({})

    assert selector.get_prompts() == {}


def test_a_blank_question_is_refused_or_goes_the_default_way(index: VectorStoreIndex) -> None:
    selection = chosen(RetrievalComplexitySelector(index, ROUTES, default="split").select(CHOICES, " "))

    with pytest.raises(InvalidValueError, match="the question is blank"):
        RetrievalComplexitySelector(index, ROUTES).select(CHOICES, " ")
    assert selection.tool == "split"
    assert "the question is blank" in str(selection.error)
