from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Document, SummaryIndex, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from rag_cover import Question, SubQuestion, open_receiver, open_scorer
from rag_cover.backends import ScoringItem
from rag_cover.coverage import augment
from rag_cover.errors import InvalidValueError, ModelFailedError, StoreError
from rag_cover.testing import KeywordScorer, ScriptedGenerator, ScriptedReceiver
from rag_cover_llama_index.models import retriever_of
from rag_cover_llama_index.retrievers import RagCoverRetriever, SubQuestionRetriever
from tests.llama_index.loops import Gate, GatedRetriever
from tests.llama_index.parts import CORPUS, ScriptedLLM, WordEmbedding, corpus_nodes
from tests.llama_index.spans import watched_spans

TWO = "Why is the sky blue and how much does a heat pump cost?"
HOPS = "When was the director of Jaws born?"
DISTRACTING = {
    "jaws": "The director of Jaws is Steven Spielberg.",
    "spielberg": "Steven Spielberg was born on 18 December 1946 in Cincinnati, Ohio, to Leah and Arnold.",
    "zoo": "When was the zoo born? It was born of the lion.",
    "bank": "The bank was born when the mint of the king was born.",
    "park": "When was the park born? The park was born of the war.",
}


def ids(nodes: list[NodeWithScore]) -> list[str]:
    return [node.node_id for node in nodes]


def index_of(texts: dict[str, str]) -> VectorStoreIndex:
    return VectorStoreIndex([TextNode(id_=name, text=text) for name, text in texts.items()], embed_model=WordEmbedding())


class FailingRetriever(BaseRetriever):
    """Finds what another finds, unless a word is asked for."""

    def __init__(self, inner: BaseRetriever, word: str) -> None:
        self.inner, self.word = inner, word
        self.asked: list[str] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        if self.word in query_bundle.query_str:
            message = "shard is down"
            raise ConnectionError(message)
        return self.inner.retrieve(query_bundle)


def test_what_sub_questions_find_is_kept_where_the_question_alone_misses_it() -> None:
    index = index_of(DISTRACTING)

    alone = index.as_retriever(similarity_top_k=3).retrieve(HOPS)
    driven = SubQuestionRetriever(index, k=3).retrieve(HOPS)

    assert "spielberg" not in ids(alone)
    assert {"jaws", "spielberg"} <= set(ids(driven))
    assert len(driven) == 3


def test_the_same_is_kept_as_without_the_framework(index: VectorStoreIndex) -> None:
    retriever = index.as_retriever(similarity_top_k=4)
    plainly = augment(
        TWO, retriever_of(retriever), scorer=open_scorer("embedded"), receiver=open_receiver("embedded"), k=3, depth=4
    )

    kept = SubQuestionRetriever(retriever, k=3, depth=4).retrieve(TWO)

    assert ids(kept) == [passage.id for passage in plainly.passages]


@given(k=st.integers(1, 9), depth=st.none() | st.integers(1, 9), mode=st.sampled_from(["retrieval", "auto"]))
def test_no_node_is_kept_twice_and_none_that_no_search_found(k: int, depth: int | None, mode: Any) -> None:
    inner = FailingRetriever(SummaryIndex(corpus_nodes()).as_retriever(), "never")

    found = ids(SubQuestionRetriever(inner, judge=KeywordScorer(), k=k, depth=depth, mode=mode).retrieve(TWO))

    assert len(found) == len(set(found)) == min(k, depth or k, len(CORPUS))
    assert set(found) <= {node.node_id for node in corpus_nodes()}


def test_an_index_is_searched_as_deep_as_is_asked(index: VectorStoreIndex) -> None:
    assert len(SubQuestionRetriever(index, k=5, decomposer=lambda _: []).retrieve(TWO)) == 5
    assert len(SubQuestionRetriever(index, k=5, depth=7, decomposer=lambda _: []).retrieve(TWO)) == 5


def test_an_index_without_similarities_can_be_searched_too() -> None:
    index = SummaryIndex(corpus_nodes())

    assert len(SubQuestionRetriever(index, k=4).retrieve(TWO)) == 4


def test_nodes_are_the_inner_retrievers_own() -> None:
    node = TextNode(id_="sky", text="The sky is blue because air scatters blue light.", metadata={"page": 7})
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="book")
    index = VectorStoreIndex([node], embed_model=WordEmbedding())

    (alone,), (driven,) = index.as_retriever().retrieve(TWO), SubQuestionRetriever(index).retrieve(TWO)

    assert driven.node == alone.node
    assert driven.node.ref_doc_id == "book"
    assert driven.score == alone.score
    assert "found_for" not in driven.metadata


def test_an_explained_node_names_its_searches_to_people_alone(index: VectorStoreIndex) -> None:
    retriever = index.as_retriever(similarity_top_k=3)

    explained = {node.node_id: node for node in SubQuestionRetriever(retriever, k=3, explain=True).retrieve(TWO)}

    heat = explained["heat"]
    assert heat.metadata["found_for"] == [TWO, "How much does a heat pump cost?"]
    assert "found_for" not in heat.node.get_content(MetadataMode.LLM)
    assert "found_for" not in heat.node.get_content(MetadataMode.EMBED)
    assert heat.metadata["source"] == "corpus"
    assert all("found_for" not in node.metadata for node in retriever.retrieve(TWO))


def test_auto_searches_only_for_what_is_not_covered(index: VectorStoreIndex) -> None:
    inner = index.as_retriever(similarity_top_k=3)
    all_of_them, where_it_pays = FailingRetriever(inner, "never"), FailingRetriever(inner, "never")

    SubQuestionRetriever(all_of_them, decomposer=_two).retrieve(TWO)
    SubQuestionRetriever(where_it_pays, decomposer=_two, mode="auto").retrieve(TWO)

    assert len(all_of_them.asked) == 3
    assert where_it_pays.asked == [TWO]


def test_without_feedback_a_question_that_was_not_taken_apart_is_searched_for_once(index: VectorStoreIndex) -> None:
    inner = index.as_retriever(similarity_top_k=3)
    told, plain = FailingRetriever(inner, "never"), FailingRetriever(inner, "never")

    SubQuestionRetriever(told, receiver=None, decomposer=_same).retrieve(HOPS)
    SubQuestionRetriever(plain, receiver=None, decomposer=_same, feedback=0).retrieve(HOPS)

    assert len(told.asked) > 1
    assert plain.asked == [HOPS]


def test_a_search_that_fails_costs_that_search(index: VectorStoreIndex) -> None:
    inner = FailingRetriever(index.as_retriever(similarity_top_k=3), "Why is the sky blue?")

    found = SubQuestionRetriever(inner, k=3, decomposer=_two).retrieve(TWO)

    assert "Why is the sky blue?" in inner.asked
    assert "heat" in ids(found)


def test_when_all_searches_fail_there_is_an_error(index: VectorStoreIndex) -> None:
    inner = FailingRetriever(index.as_retriever(), "")

    with pytest.raises(ModelFailedError, match="failed on every search, 3 of 3.*ConnectionError: shard is down"):
        SubQuestionRetriever(inner, decomposer=_two, on_error="raise").retrieve(TWO)
    with pytest.raises(ConnectionError, match="shard is down"):  # the retriever's own, as without augmentation
        SubQuestionRetriever(inner, decomposer=_two).retrieve(TWO)


class DownScorer(KeywordScorer):
    """A judge whose server is down."""

    def correctness(self, items: Sequence[ScoringItem]) -> NoReturn:
        message = "the judge's server is down"
        raise ModelFailedError(message)


def test_where_the_judge_fails_the_retrievers_own_nodes_are_returned_and_that_is_logged(
    index: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = SubQuestionRetriever(index, judge=DownScorer(), decomposer=_two, k=2)

    assert ids(retriever.retrieve(TWO)) == ids(index.as_retriever(similarity_top_k=2).retrieve(TWO))
    assert "is searched for as it is: the judge's server is down" in caplog.text


def test_where_the_judge_fails_there_is_an_error_if_that_is_wanted(index: VectorStoreIndex) -> None:
    with pytest.raises(ModelFailedError, match="server is down"):
        SubQuestionRetriever(index, judge=DownScorer(), decomposer=_two, on_error="raise").retrieve(TWO)
    with pytest.raises(InvalidValueError, match="on_error is 'ignore'; give 'keep' or 'raise'"):
        SubQuestionRetriever(index, on_error="ignore")  # type: ignore[arg-type]  # that is the test


def test_no_more_searches_are_made_than_allowed(index: VectorStoreIndex) -> None:
    inner = FailingRetriever(index.as_retriever(), "never")

    SubQuestionRetriever(inner, decomposer=_two, max_calls=2).retrieve(TWO)

    assert len(inner.asked) == 2


def test_a_blank_question_is_searched_for_as_it_is() -> None:
    inner = FailingRetriever(SummaryIndex(corpus_nodes()).as_retriever(), "never")

    found = SubQuestionRetriever(inner, k=2).retrieve("  ")

    assert inner.asked == ["  "]
    assert len(found) == 2


def test_a_language_model_splits_and_reads_and_writes_no_answer(index: VectorStoreIndex) -> None:
    split = '{"sub_questions": ["Who directed Jaws?", "When was #1 born?"]}'
    typed = '{"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "core"}]}'
    generator = ScriptedGenerator(
        {"purpose: decompose": split, "purpose: type": typed, "purpose: sub-answer": "Steven Spielberg", "purpose: answer": "!"}
    )
    inner = FailingRetriever(index.as_retriever(similarity_top_k=3), "never")

    SubQuestionRetriever(inner, generator=generator, receiver=None).retrieve(HOPS)

    assert "When was Steven Spielberg born?" in inner.asked
    assert generator.asked.items == 3  # split, typed, one sub-answer


def test_rules_split_the_question_where_they_are_asked_to(index: VectorStoreIndex) -> None:
    generator = ScriptedGenerator({"purpose: sub-answer": "Steven Spielberg"}, default="no JSON")
    inner = FailingRetriever(index.as_retriever(similarity_top_k=3), "never")

    SubQuestionRetriever(inner, generator=generator, receiver=None, decomposer="rules").retrieve(HOPS)

    assert "When was Steven Spielberg born?" in inner.asked
    assert generator.asked.items == 1


def test_a_receiver_of_rag_covers_reads_what_later_sub_questions_need(index: VectorStoreIndex) -> None:
    inner = FailingRetriever(index.as_retriever(similarity_top_k=3), "never")
    receiver = ScriptedReceiver({"Jaws is a 1975 film": ("Steven Spielberg",)})

    SubQuestionRetriever(inner, receiver=receiver).retrieve(HOPS)

    assert "When was Steven Spielberg born?" in inner.asked


def test_a_language_model_judges(index: VectorStoreIndex) -> None:
    llm = ScriptedLLM(default='{"verdicts": [{"question": 1, "answered": false, "probability": 0.0, "fragment": null}]}')

    found = SubQuestionRetriever(index, judge=llm, k=3, decomposer=lambda _: [SubQuestion("Why is the sky blue?")]).retrieve(
        TWO
    )

    assert len(found) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "end-to-end"}, r"CoverageQueryEngine\(retriever, llm, mode=…\)"),
        ({"k": 0}, "k is 0; give a whole number of at least 1"),
        ({"threshold": 2.0}, "threshold is 2.0"),
        ({"judge": object()}, "'object' cannot serve as judge"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(index: VectorStoreIndex, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        SubQuestionRetriever(index.as_retriever(), **settings)


def test_what_finds_no_nodes_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'str' finds no nodes: give a LlamaIndex retriever or index"):
        SubQuestionRetriever("embedded")  # type: ignore[arg-type]


def test_every_search_is_a_span_under_the_retrieval_that_made_it(index: VectorStoreIndex) -> None:
    with watched_spans() as parents:
        SubQuestionRetriever(index, decomposer=_two).retrieve(TWO)

    assert parents.of("VectorIndexRetriever.retrieve") == ["SubQuestionRetriever._retrieve"] * 3
    assert parents.of("SubQuestionRetriever._retrieve") == ["SubQuestionRetriever.retrieve"]


def test_asynchronous_searches_are_spans_under_their_retrieval_too(index: VectorStoreIndex) -> None:
    with watched_spans() as parents:
        asyncio.run(SubQuestionRetriever(index, decomposer=_two).aretrieve(TWO))

    assert parents.of("SubQuestionRetriever._retrieve") == ["SubQuestionRetriever.aretrieve"]
    assert parents.of("VectorIndexRetriever.retrieve") == ["SubQuestionRetriever._retrieve"] * 3


def test_a_retrieval_does_not_block_the_loop(index: VectorStoreIndex) -> None:
    gate = Gate()
    retriever = SubQuestionRetriever(GatedRetriever(gate, index.as_retriever()))

    assert gate.run(retriever.aretrieve(TWO))


def test_async_and_sync_find_the_same(index: VectorStoreIndex) -> None:
    retriever = SubQuestionRetriever(index, k=4)

    assert ids(asyncio.run(retriever.aretrieve(TWO))) == ids(retriever.retrieve(TWO))


def test_one_retriever_serves_16_threads_at_once(index: VectorStoreIndex) -> None:
    retriever, together = SubQuestionRetriever(index, k=3), threading.Barrier(16)
    questions = [TWO, HOPS] * 8
    alone = {question: ids(retriever.retrieve(question)) for question in (TWO, HOPS)}

    def ask(question: str) -> list[str]:
        together.wait()
        return ids(retriever.retrieve(question))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, questions))

    assert found == [alone[question] for question in questions]


def test_it_works_in_a_query_engine_with_the_users_callbacks(index: VectorStoreIndex) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    callbacks = CallbackManager([debug])
    llm = ScriptedLLM(script={"12,000": "It costs 12,000 euros."})
    engine = RetrieverQueryEngine(
        SubQuestionRetriever(index, k=3, callback_manager=callbacks),
        get_response_synthesizer(llm=llm, callback_manager=callbacks),
        callback_manager=callbacks,
    )

    response = engine.query(TWO)

    assert isinstance(response, Response)
    assert response.response == "It costs 12,000 euros."
    assert "heat" in [node.node_id for node in response.source_nodes]
    assert len(debug.get_event_pairs(CBEventType.RETRIEVE)) == 1


def test_prompts_are_those_of_the_inner_retriever(index: VectorStoreIndex) -> None:
    assert SubQuestionRetriever(index).get_prompts() == {}


def _same(question: Question) -> list[SubQuestion]:
    return [SubQuestion(question.text)]


def _two(_question: Question) -> list[SubQuestion]:
    return [SubQuestion("Why is the sky blue?"), SubQuestion("How much does a heat pump cost?")]


def test_the_hybrid_retriever_finds_nodes_as_they_were_given() -> None:
    nodes = corpus_nodes()

    found = RagCoverRetriever.from_nodes(nodes, similarity_top_k=2).retrieve("What does a heat pump cost?")

    assert found[0].node is nodes[3]
    assert len(found) == 2
    assert found[0].score is not None
    assert 0 < found[0].score <= 1


def test_documents_are_found_whole() -> None:
    documents = [Document(text=text, id_=title) for title, text in CORPUS.items()]

    found = RagCoverRetriever.from_nodes(documents, similarity_top_k=1).retrieve("Who directed Jaws?")

    assert ids(found) == ["Jaws"]


def test_the_index_is_kept_and_found_again(tmp_path: Path) -> None:
    folder = tmp_path / "index"

    made = RagCoverRetriever.from_nodes(corpus_nodes(), index=folder).retrieve(TWO)
    kept = RagCoverRetriever.from_nodes(corpus_nodes(), index=folder).retrieve(TWO)

    assert ids(kept) == ids(made)
    with pytest.raises(StoreError, match="another corpus"):
        RagCoverRetriever.from_nodes([TextNode(text="Of something else.")], index=folder)
    fewer = RagCoverRetriever.from_nodes(corpus_nodes()[:3], similarity_top_k=9, index=folder)
    assert len(fewer.retrieve(TWO)) == 3


def test_an_index_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="at least one passage"):
        RagCoverRetriever.from_nodes([])
    with pytest.raises(InvalidValueError, match="similarity_top_k is 0"):
        RagCoverRetriever.from_nodes(corpus_nodes(), similarity_top_k=0)


def test_the_hybrid_retriever_finds_asynchronously_and_for_sub_questions() -> None:
    retriever = RagCoverRetriever.from_nodes(corpus_nodes(), similarity_top_k=3)

    found = asyncio.run(retriever.aretrieve(HOPS))

    assert ids(found) == ids(retriever.retrieve(HOPS))
    assert {"jaws", "spielberg"} <= set(ids(SubQuestionRetriever(retriever, k=3).retrieve(HOPS)))


def test_the_folder_of_an_index_may_be_a_text(tmp_path: Path) -> None:
    RagCoverRetriever.from_nodes(corpus_nodes(), index=str(tmp_path / "index"))

    assert (tmp_path / "index").is_dir()


def test_texts_are_no_nodes() -> None:
    texts: Any = ["The sky is blue."]

    with pytest.raises(InvalidValueError, match="'str' is no node; give a TextNode"):
        RagCoverRetriever.from_nodes(texts)
