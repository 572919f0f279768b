from __future__ import annotations

import asyncio
import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.load import dumpd
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import open_embedder
from rag_cover.errors import BackendNotFoundError
from rag_cover_langchain.embeddings import RagCoverEmbeddings
from tests.langchain.parts import corpus_documents


def test_a_vector_store_needs_no_key_and_no_network() -> None:
    store = InMemoryVectorStore(RagCoverEmbeddings())
    store.add_documents(corpus_documents())

    (found,) = store.similarity_search("What is the price of a heat pump?", k=1)

    assert found.id == "heat"


def test_vectors_are_the_embedders_own_of_unit_length() -> None:
    texts = ["Why is the sky blue?", "It rains."]

    vectors = RagCoverEmbeddings().embed_documents(texts)

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert vectors == open_embedder("embedded").embed(texts).tolist()


def test_no_texts_have_no_vectors() -> None:
    assert RagCoverEmbeddings().embed_documents([]) == []


def test_queries_and_texts_are_embedded_alike_in_a_loop_or_not() -> None:
    model = RagCoverEmbeddings()

    async def asked() -> list[list[float]]:
        return [await model.aembed_query("sky"), *await model.aembed_documents(["sky"])]

    told = [model.embed_query("sky"), *model.embed_documents(["sky"])]

    assert asyncio.run(asked()) == told
    assert told[0] == told[1]


def test_it_is_kept_by_its_name() -> None:
    model = RagCoverEmbeddings()

    assert repr(model) == "RagCoverEmbeddings('embedded')"
    assert dumpd(model)["repr"] == repr(model)


def test_it_travels_to_another_process() -> None:
    read = pickle.loads(pickle.dumps(RagCoverEmbeddings()))  # noqa: S301  # its own bytes

    assert read.embed_query("sky") == RagCoverEmbeddings().embed_query("sky")


def test_a_copy_shares_the_embedder() -> None:
    model = RagCoverEmbeddings()

    assert all(each.embedder is model.embedder for each in (copy.copy(model), copy.deepcopy(model)))


def test_a_name_that_nobody_answers_to_is_refused() -> None:
    with pytest.raises(BackendNotFoundError, match="Did you mean 'embedded'"):
        RagCoverEmbeddings("embeded")
