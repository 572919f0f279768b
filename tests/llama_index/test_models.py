from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover import Passage, open_embedder
from rag_cover.backends import Embedder, Retriever, ScoringItem, fingerprint_of
from rag_cover.belief import GeneratorReceiver
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.judge import PromptedJudge
from rag_cover.testing import ScriptedRetriever
from rag_cover_llama_index.embeddings import RagCoverEmbedding
from rag_cover_llama_index.generators import LlamaIndexGenerator
from rag_cover_llama_index.models import (
    LlamaIndexEmbedder,
    embedder_of,
    generator_of,
    models_of,
    retriever_of,
)
from rag_cover_llama_index.searches import NodeSearch
from tests.llama_index.parts import ScriptedLLM, WordEmbedding

YES = '{"verdicts": [{"question": 1, "answered": true, "probability": 0.9, "fragment": "scatters blue light"}]}'
SKY = "The sky is blue because air scatters blue light."


class ConstantEmbedding(WordEmbedding):
    """Gives every text the same numbers."""

    def _vector(self, text: str) -> list[float]:
        return [3.0, 4.0]


class BrokenEmbedding(WordEmbedding):
    """Does not answer."""

    def _vector(self, text: str) -> list[float]:
        message = "connection reset"
        raise ConnectionError(message)


def test_an_embedding_model_is_an_embedder_of_unit_vectors() -> None:
    embedder = embedder_of(ConstantEmbedding())

    vectors = embedder.embed(["one", "two"])

    assert isinstance(embedder, Embedder)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[np.float32(0.6), np.float32(0.8)]] * 2


def test_an_embedding_model_that_fails_is_told_by_name() -> None:
    with pytest.raises(ModelFailedError, match="'BrokenEmbedding' failed: connection reset") as failed:
        embedder_of(BrokenEmbedding()).embed(["sky"])

    assert failed.value.kind == "ConnectionError"


def test_rag_covers_own_embedding_is_its_embedder() -> None:
    assert embedder_of(RagCoverEmbedding()) is open_embedder("embedded")


def test_an_embedders_fingerprint_is_its_class_and_name() -> None:
    assert fingerprint_of(LlamaIndexEmbedder(WordEmbedding(model_name="words-2"))).endswith("parts.WordEmbedding:words-2")


def test_a_retriever_finds_its_first_k_nodes_as_passages(index: VectorStoreIndex) -> None:
    retriever = retriever_of(index.as_retriever(similarity_top_k=5))

    found = retriever.retrieve("Why is the sky blue?", k=2)

    assert isinstance(retriever, Retriever)
    assert found[0].id == "rayleigh"
    assert len(found) == 2
    assert found[0].title == "Rayleigh scattering"


def test_a_search_keeps_the_nodes_that_it_found(index: VectorStoreIndex) -> None:
    search, blue, red = NodeSearch(index.as_retriever(similarity_top_k=3)), "Why is the sky blue?", "Why is the sky red?"

    passages = [*search.retrieve(red, k=3), *search.retrieve(blue, k=3)]

    nodes = search.nodes([blue, red])
    assert {passage.key for passage in passages} == set(nodes)
    assert all(nodes[passage.key].node.get_content() == passage.text for passage in passages)


def test_a_node_found_twice_has_the_score_of_the_search_that_is_named_first(index: VectorStoreIndex) -> None:
    search, blue, red = NodeSearch(index.as_retriever(similarity_top_k=3)), "Why is the sky blue?", "Why is the sky red?"

    scores = {query: {found.id: found.score for found in search.retrieve(query, k=3)} for query in (red, blue)}

    assert scores[blue]["rayleigh"] != scores[red]["rayleigh"]
    assert search.nodes([blue, red])["id:rayleigh"].score == scores[blue]["rayleigh"]
    assert search.nodes([red, blue])["id:rayleigh"].score == scores[red]["rayleigh"]


class BundleRetriever(BaseRetriever):
    """Remembers the bundles that it was asked."""

    def __init__(self) -> None:
        self.asked: list[QueryBundle] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle)
        return []


def test_the_question_itself_is_searched_for_with_its_embedding() -> None:
    retriever = BundleRetriever()
    search = NodeSearch(retriever, QueryBundle("Why?", embedding=[1.0]))

    search.retrieve("Why?", k=1)
    search.retrieve("When?", k=1)

    assert [bundle.embedding for bundle in retriever.asked] == [[1.0], None]


def test_a_language_model_judges_and_locates_what_it_has_scored() -> None:
    llm = ScriptedLLM(script={"sky": YES})

    opened = models_of(judge=llm).open(["scorer", "locator"])

    asked = [ScoringItem("Why is the sky blue?", SKY)]
    assert opened["locator"] is opened["scorer"]
    assert opened["scorer"].correctness(asked) == pytest.approx([0.9])
    (fragment,) = opened["locator"].locate(asked)
    assert fragment.of(SKY) == "scatters blue light"


def test_a_retriever_of_rag_covers_stays_as_it_is() -> None:
    retriever = ScriptedRetriever()

    assert retriever_of(retriever) is retriever


def test_what_is_no_model_is_refused_with_what_would_be_one() -> None:
    nothing: Any = {}

    with pytest.raises(InvalidValueError, match="'dict' cannot serve as retriever: give a LlamaIndex BaseRetriever"):
        retriever_of(nothing)
    with pytest.raises(InvalidValueError, match="'dict' cannot serve as generator: .*, or a LlamaIndex LLM"):
        generator_of(nothing)
    with pytest.raises(InvalidValueError, match="'dict' cannot serve as embedder: .*, or a LlamaIndex BaseEmbedding"):
        embedder_of(nothing)


def test_models_take_framework_objects_in_every_field() -> None:
    llm = ScriptedLLM(script={"sky": YES})

    models = models_of(judge=llm, locator=llm, receiver=llm, generator=llm, decomposer=llm, embedder=WordEmbedding())

    assert isinstance(models.judge, PromptedJudge)
    assert models.locator is models.judge
    assert isinstance(models.receiver, GeneratorReceiver)
    assert isinstance(models.generator, LlamaIndexGenerator)
    assert models.decomposer is models.generator
    assert isinstance(models.embedder, LlamaIndexEmbedder)
    opened = models.open(["scorer", "locator", "receiver", "generator", "decomposer", "embedder"])
    assert set(opened) == {"scorer", "locator", "receiver", "generator", "decomposer", "embedder"}


def test_one_retriever_serves_16_threads_at_once(index: VectorStoreIndex) -> None:
    search, together = NodeSearch(index.as_retriever(similarity_top_k=2)), threading.Barrier(16)

    def ask(_: int) -> list[Passage]:
        together.wait()
        return search.retrieve("Why is the sky blue?", k=2)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, range(16)))

    assert all(passages == found[0] for passages in found)
    assert len(search.nodes(["Why is the sky blue?"])) == 2


@pytest.mark.parametrize("place", ["judge", "locator", "relevance", "entailer", "receiver", "generator", "embedder"])
def test_an_object_in_a_place_that_it_cannot_fill_is_refused_by_the_name_of_the_place(
    place: str, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine: Any = index.as_query_engine(llm=llm)

    with pytest.raises(InvalidValueError, match=f"'RetrieverQueryEngine' cannot serve as {place}: give the name of one"):
        models_of(**{place: engine})


def test_what_does_not_split_questions_is_refused(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine: Any = index.as_query_engine(llm=llm)

    with pytest.raises(InvalidValueError, match="decomposer is 'rules', a generator or its name, a Path"):
        models_of(decomposer=engine)


def test_an_engine_is_no_retriever_though_it_has_the_method(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine: Any = index.as_query_engine(llm=llm)

    with pytest.raises(InvalidValueError, match=r"a LlamaIndex BaseRetriever, such as index.as_retriever\(\)"):
        retriever_of(engine)
