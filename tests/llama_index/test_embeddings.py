from __future__ import annotations

import asyncio
import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex

from rag_cover import open_embedder
from rag_cover.errors import BackendNotFoundError
from rag_cover_llama_index.embeddings import RagCoverEmbedding
from tests.llama_index.parts import corpus_nodes


def test_an_index_needs_no_key_and_no_network() -> None:
    index = VectorStoreIndex(corpus_nodes(), embed_model=RagCoverEmbedding())

    (found,) = index.as_retriever(similarity_top_k=1).retrieve("What is the price of a heat pump?")

    assert found.node_id == "heat"


def test_vectors_are_the_embedders_own_of_unit_length() -> None:
    texts = ["Why is the sky blue?", "It rains."]

    vectors = RagCoverEmbedding().get_text_embedding_batch(texts)

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert vectors == open_embedder("embedded").embed(texts).tolist()


def test_queries_and_texts_are_embedded_alike_in_a_loop_or_not() -> None:
    model = RagCoverEmbedding()

    async def asked() -> list[list[float]]:
        return [
            await model.aget_query_embedding("sky"),
            await model.aget_text_embedding("sky"),
            *await model.aget_text_embedding_batch(["sky"]),
        ]

    told = [model.get_query_embedding("sky"), model.get_text_embedding("sky"), *model.get_text_embedding_batch(["sky"])]

    assert asyncio.run(asked()) == told
    assert told[0] == told[1] == told[2]


def test_it_is_kept_by_its_name() -> None:
    model = RagCoverEmbedding(embed_batch_size=8)

    written = model.to_dict()
    read = RagCoverEmbedding.from_dict(written)

    assert written["class_name"] == "RagCoverEmbedding"
    assert (written["model_name"], read.embed_batch_size) == ("embedded", 8)
    assert read.get_text_embedding("sky") == model.get_text_embedding("sky")


def test_it_travels_to_another_process() -> None:
    model = pickle.loads(pickle.dumps(RagCoverEmbedding()))  # noqa: S301  # its own bytes

    assert len(model.get_text_embedding("sky")) == len(RagCoverEmbedding().get_text_embedding("sky"))


def test_a_name_that_nobody_answers_to_is_refused() -> None:
    with pytest.raises(BackendNotFoundError, match="Did you mean 'embedded'"):
        RagCoverEmbedding(model_name="embeded")


def test_a_pickle_says_nothing_of_what_it_leaves_out(caplog: pytest.LogCaptureFixture) -> None:
    model = RagCoverEmbedding(embed_batch_size=8)

    read = pickle.loads(pickle.dumps(model))  # noqa: S301  # pickled here

    assert caplog.messages == []
    assert read.embed_batch_size == 8
    assert model.get_text_embedding("sky") == read.get_text_embedding("sky")


def test_a_copy_shares_the_embedder() -> None:
    model = RagCoverEmbedding(embed_batch_size=8)

    copies = [copy.deepcopy(model), copy.copy(model), model.model_copy(deep=True)]

    assert all(each.embedder is model.embedder and each.embed_batch_size == 8 for each in copies)
