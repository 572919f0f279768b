"""Set queries over LlamaIndex's retrievers and indices, and in its engines."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import SummaryIndex, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from rag_cover import Models, Trace, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.belief import UtilityMeasure
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedGenerator, ScriptedReceiver, ScriptedScorer
from rag_cover_llama_index import RagCoverEmbedding, attach
from rag_cover_llama_index.retrievers import RagCoverRetriever
from rag_cover_llama_index.set_queries import SetQueryRetriever
from tests.birds import BIRDS, BOTH, CHILE_ONLY, bird_judge
from tests.llama_index.loops import Gate, GatedRetriever
from tests.llama_index.parts import ScriptedLLM, WordEmbedding
from tests.llama_index.recordings import only
from tests.llama_index.spans import watched_spans

DIFFERENCE = "birds of Chile but not birds of Peru"
INTERSECTION = "birds of Chile that are also birds of Peru"
PLAIN = "Why do birds sing?"
NEGATION = "not birds of Peru"
READ = '{"sets": ["birds of Chile", "birds of Peru"], "expression": "A - B"}'


def bird_nodes() -> list[TextNode]:
    return [TextNode(id_=name, text=text, metadata={"title": name, "source": "corpus"}) for name, text in BIRDS.items()]


@pytest.fixture(scope="module")
def birds() -> VectorStoreIndex:
    """An index of the animals and plants by shared words."""
    return VectorStoreIndex(bird_nodes(), embed_model=WordEmbedding())


def names(nodes: Iterable[NodeWithScore]) -> set[str]:
    return {node.node_id for node in nodes}


def set_retriever(searched: Any, **settings: Any) -> SetQueryRetriever:
    return SetQueryRetriever(searched, **({"judge": bird_judge()} | settings))


class AskedRetriever(BaseRetriever):
    """Finds what another finds, unless a word is asked for."""

    def __init__(self, inner: BaseRetriever, word: str = "never") -> None:
        self.inner, self.word = inner, word
        self.asked: list[str] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        if self.word in query_bundle.query_str:
            message = "shard is down"
            raise ConnectionError(message)
        return self.inner.retrieve(query_bundle)


class DownScorer(ScriptedScorer):
    """A judge whose server is down."""

    def correctness(self, items: Sequence[ScoringItem]) -> NoReturn:
        message = "the judge's server is down"
        raise ModelFailedError(message)


def test_everything_that_belongs_is_returned_and_nothing_else(birds: VectorStoreIndex) -> None:
    retriever = set_retriever(birds)

    assert names(retriever.retrieve(DIFFERENCE)) == CHILE_ONLY
    assert names(retriever.retrieve(QueryBundle(INTERSECTION))) == BOTH


def test_the_embedded_models_answer_without_a_key_or_a_network() -> None:
    index = VectorStoreIndex(bird_nodes(), embed_model=RagCoverEmbedding())

    likeliest = SetQueryRetriever(index, threshold=0.0, k=3)

    assert names(likeliest.retrieve(INTERSECTION)) == BOTH
    assert names(likeliest.retrieve(DIFFERENCE)) < CHILE_ONLY
    assert not names(SetQueryRetriever(index).retrieve(DIFFERENCE)) & {"Kea", "Kauri", "Cock-of-the-rock", "Red fox"}


def test_nodes_are_the_inner_retrievers_own_and_say_why_to_people_alone(birds: VectorStoreIndex) -> None:
    inner = birds.as_retriever(similarity_top_k=20)

    nodes = set_retriever(inner).retrieve(DIFFERENCE)

    told = json.loads(json.dumps(nodes[0].metadata["set_query"]))
    assert told["entity"] == nodes[0].node_id
    assert told["probability"] == nodes[0].score
    assert [(each["atom"].lower(), each["negated"]) for each in told["atoms"]] == [
        ("birds of chile", False),
        ("birds of peru", True),
    ]
    assert told["reason"]
    assert "\\" in told["query"]
    assert nodes[0].metadata["source"] == "corpus"
    assert "set_query" not in nodes[0].node.get_content(MetadataMode.LLM)
    assert "set_query" not in nodes[0].node.get_content(MetadataMode.EMBED)
    assert all("set_query" not in node.metadata for node in inner.retrieve(DIFFERENCE))


def test_nothing_is_written_into_nodes_unless_it_is_explained(birds: VectorStoreIndex) -> None:
    own = {node.node_id: node.node for node in birds.as_retriever(similarity_top_k=20).retrieve(DIFFERENCE)}

    nodes = set_retriever(birds, explain=False).retrieve(DIFFERENCE)

    assert all(node.node == own[node.node_id] for node in nodes)
    assert all(node.score is not None and node.score > 0.5 for node in nodes)


def test_the_words_that_tell_are_quoted(birds: VectorStoreIndex) -> None:
    (node, *_) = set_retriever(birds).retrieve(DIFFERENCE)

    (fragment, *_) = [each["fragment"] for each in node.metadata["set_query"]["atoms"]]
    assert fragment
    assert fragment in " ".join(f"{node.metadata['title']} {node.node.get_content()}".split())


@pytest.mark.parametrize("question", [PLAIN, "birds of Chile"])
def test_what_is_no_set_query_is_searched_for_as_it_is(birds: VectorStoreIndex, question: str) -> None:
    judge = bird_judge()
    inner = AskedRetriever(birds.as_retriever(similarity_top_k=3))

    found = set_retriever(inner, judge=judge).retrieve(question)

    assert found == birds.as_retriever(similarity_top_k=3).retrieve(question)
    assert (inner.asked, judge.asked.calls) == ([question], 0)


def test_a_blank_question_is_searched_for_as_it_is() -> None:
    inner = AskedRetriever(SummaryIndex(bird_nodes()).as_retriever())

    assert len(set_retriever(inner, on_error="raise").retrieve("  ")) == len(BIRDS)
    assert inner.asked == ["  "]


def test_an_index_finds_as_many_nodes_for_a_plain_question_as_it_does_or_as_are_asked_for(birds: VectorStoreIndex) -> None:
    assert names(set_retriever(birds).retrieve(PLAIN)) == names(birds.as_retriever().retrieve(PLAIN))
    assert len(set_retriever(birds, k=5).retrieve(PLAIN)) == 5
    assert len(set_retriever(birds.as_retriever(similarity_top_k=9), k=5).retrieve(PLAIN)) == 5


def test_a_reading_that_is_too_unsure_is_left_alone_and_that_is_logged(
    birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        found = set_retriever(birds, min_confidence=1.0).retrieve(DIFFERENCE)

    assert names(found) == names(birds.as_retriever().retrieve(DIFFERENCE))
    assert "too unsure" in caplog.text


def test_at_most_k_nodes_are_returned_the_likeliest_first(birds: VectorStoreIndex) -> None:
    whole = set_retriever(birds).retrieve(DIFFERENCE)

    assert [node.node_id for node in set_retriever(birds, k=2).retrieve(DIFFERENCE)] == [node.node_id for node in whole[:2]]


def test_every_atom_is_searched_for_as_deep_as_it_takes(birds: VectorStoreIndex) -> None:
    own = birds.as_retriever(similarity_top_k=2)

    for searched in (birds, own, RagCoverRetriever.from_nodes(bird_nodes(), similarity_top_k=2)):
        retriever = set_retriever(searched, depth=4)
        assert [len(step.passages) for step in retriever.answer(DIFFERENCE).steps] == [4, 4]
        assert [len(step.passages) for step in retriever.answer(INTERSECTION).steps] == [8, 8]
    assert len(own.retrieve(DIFFERENCE)) == 2


def test_a_retriever_of_another_kind_is_used_as_it_is_and_told_of_if_it_finds_too_little(
    birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    inner = AskedRetriever(birds.as_retriever(similarity_top_k=6))
    inner.similarity_top_k = 6  # type: ignore[attr-defined]  # as other retrievers have it

    assert [len(step.passages) for step in set_retriever(inner, depth=30).answer(DIFFERENCE).steps] == [6, 6]
    assert "AskedRetriever finds 6 nodes for an atom, not 30: give it similarity_top_k=30" in caplog.text


def test_an_index_without_similarities_can_be_searched_too() -> None:
    assert names(set_retriever(SummaryIndex(bird_nodes())).retrieve(DIFFERENCE)) == CHILE_ONLY


def chunks(**metadata: Any) -> list[TextNode]:
    """Two pieces of what is told of the Inca tern, and all of what is told of the robin."""
    texts = {
        "1": "The Inca tern is a bird of Chile.",
        "2": "The tern breeds on the coasts of Peru.",
        "3": "The robin is a bird.",
    }
    nodes = [TextNode(id_=name, text=text, metadata=dict(metadata)) for name, text in texts.items()]
    for node in nodes[:2]:
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="tern.txt")
    return nodes


CHUNK_JUDGE = ScriptedScorer(
    {
        ("What are examples of birds of Chile?", "The Inca tern is a bird of Chile."): 0.9,
        ("What are examples of birds of Peru?", "The tern breeds on the coasts of Peru."): 0.9,
    }
)


def test_pieces_of_one_document_are_one_entity() -> None:
    found = set_retriever(SummaryIndex(chunks()), judge=CHUNK_JUDGE).retrieve(INTERSECTION)

    assert [(node.node_id, node.metadata["set_query"]["entity"]) for node in found] == [("1", "tern.txt"), ("2", "tern.txt")]
    assert [node.score for node in found] == pytest.approx([0.81, 0.81])


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("page", {"7"}),
        (lambda node: node.metadata["page"], {"7"}),
        (lambda node: node.ref_doc_id or node.node_id, {"tern.txt"}),
        (lambda node: node.node_id, set()),
    ],
)
def test_whoever_asks_may_say_what_names_an_entity(entity: Any, expected: set[str]) -> None:
    index = SummaryIndex(chunks(page=7))

    found = set_retriever(index, judge=CHUNK_JUDGE, entity=entity).retrieve(INTERSECTION)

    assert {node.metadata["set_query"]["entity"] for node in found} == expected


def test_an_answer_tells_what_was_left_out_and_why(birds: VectorStoreIndex) -> None:
    answer = set_retriever(birds).answer(DIFFERENCE)

    assert set(answer.names) == CHILE_ONLY
    left_out = {each.name: each.reason for each in answer.left_out}
    assert "matches 'Birds of Peru'" in left_out["Inca tern"]
    assert set_retriever(birds).answer(QueryBundle("birds of Peru")).names
    with pytest.raises(InvalidValueError, match="only says what is not wanted"):
        set_retriever(birds).answer(NEGATION)


def test_what_cannot_be_answered_is_searched_for_as_it_is_with_a_warning(
    birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    plainly = names(birds.as_retriever(similarity_top_k=3).retrieve(NEGATION))

    assert names(set_retriever(birds, k=3).retrieve(NEGATION)) == plainly
    assert "only says what is not wanted" in caplog.text
    assert len(set_retriever(birds, k=3, judge=DownScorer()).retrieve(DIFFERENCE)) == 3
    assert "is searched for as it is: the judge's server is down" in caplog.text


def test_what_cannot_be_answered_is_an_error_if_that_is_wanted(birds: VectorStoreIndex) -> None:
    with pytest.raises(InvalidValueError, match="only says what is not wanted"):
        set_retriever(birds, on_error="raise").retrieve(NEGATION)
    with pytest.raises(ModelFailedError, match="the judge's server is down"):
        set_retriever(birds, on_error="raise", judge=DownScorer()).retrieve(DIFFERENCE)
    with pytest.raises(ModelFailedError, match="no search succeeded: ConnectionError: shard is down"):
        set_retriever(AskedRetriever(birds.as_retriever(), "birds"), on_error="raise").retrieve(DIFFERENCE)


def test_nothing_is_returned_where_nothing_belongs_and_a_warning_says_why(
    birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    assert set_retriever(birds).retrieve("birds of Chile that are not birds of Chile") == []
    assert "nothing can be left of it" in caplog.text
    assert set_retriever(birds).retrieve("birds of New Zealand that are also birds of Peru") == []
    assert "nearest of 20 candidates is" in caplog.text


def test_a_search_that_fails_costs_that_search(birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture) -> None:
    inner = AskedRetriever(birds.as_retriever(similarity_top_k=20), "Peru")

    assert names(set_retriever(inner).retrieve(DIFFERENCE)) == CHILE_ONLY
    assert "answered in part" in caplog.text


@pytest.mark.parametrize("generator", [ScriptedGenerator({"purpose: set-query": READ}), ScriptedLLM(default=READ)])
def test_a_language_model_reads_questions_that_the_grammar_cannot(birds: VectorStoreIndex, generator: Any) -> None:
    found = set_retriever(birds, generator=generator).retrieve("Chile has which birds that Peru lacks?")

    assert names(found) == CHILE_ONLY


def test_where_the_language_model_cannot_read_the_question_is_searched_for_as_it_is(
    birds: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    found = set_retriever(birds, generator=ScriptedLLM(default="no JSON"), k=2).retrieve(DIFFERENCE)

    assert len(found) == 2
    assert "could not be read as a set query" in caplog.text


def test_a_language_model_judges(birds: VectorStoreIndex) -> None:
    def verdicts(*answered: float) -> str:
        told = [
            {"question": place, "answered": each > 0.5, "probability": each, "fragment": "bird" if each > 0.5 else None}
            for place, each in enumerate(answered, 1)
        ]
        return json.dumps({"verdicts": told})

    llm = ScriptedLLM(script={"Chilean mockingbird": verdicts(0.9, 0.0)}, default=verdicts(0.9, 0.9))

    (found,) = set_retriever(birds, judge=llm).retrieve(DIFFERENCE)

    assert found.node_id == "Chilean mockingbird"
    assert found.score == pytest.approx(0.9)


@pytest.mark.parametrize(("modifiers", "sets"), [("read", 2), ("split", 3), ("joined", 2)])
def test_modifiers_are_taken_as_whoever_asks_says(birds: VectorStoreIndex, modifiers: Any, sets: int) -> None:
    found = set_retriever(birds, modifiers=modifiers).answer("flightless birds of Chile or flightless birds of Peru")

    assert len(found.steps) == sets


def test_pairs_that_nothing_speaks_for_need_not_be_judged(birds: VectorStoreIndex) -> None:
    retriever, screened = set_retriever(birds), set_retriever(birds, screen=True)

    assert names(screened.retrieve(DIFFERENCE)) <= names(retriever.retrieve(DIFFERENCE))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0; give a whole number of at least 1"),
        ({"depth": 0}, "depth is 0"),
        ({"max_pairs": 0}, "max_pairs is 0"),
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"min_confidence": 2}, "min_confidence is 2"),
        ({"modifiers": "glued"}, "modifiers cannot be 'glued'"),
        ({"on_error": "ignore"}, "on_error is 'ignore'; give 'keep' or 'raise'"),
        ({"entity": 5}, "entity is 'int'; give the key of the metadata"),
        ({"judge": object()}, "'object' cannot serve as judge"),
        ({"generator": 5}, "'int' cannot serve as generator"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(birds: VectorStoreIndex, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        set_retriever(birds, **settings)


def test_what_finds_no_nodes_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'str' finds no nodes: give a LlamaIndex retriever or index"):
        SetQueryRetriever("embedded")  # type: ignore[arg-type]  # that is the test


def test_every_search_is_a_span_under_the_retrieval_that_made_it(birds: VectorStoreIndex) -> None:
    with watched_spans() as parents:
        set_retriever(birds).retrieve(DIFFERENCE)
        asyncio.run(set_retriever(birds).aretrieve(DIFFERENCE))

    assert parents.of("VectorIndexRetriever.retrieve") == ["SetQueryRetriever._retrieve"] * 4
    assert parents.of("SetQueryRetriever._retrieve") == ["SetQueryRetriever.retrieve", "SetQueryRetriever.aretrieve"]


def test_a_retrieval_does_not_block_the_loop(birds: VectorStoreIndex) -> None:
    gate = Gate()
    retriever = set_retriever(GatedRetriever(gate, birds.as_retriever(similarity_top_k=20)))

    assert names(gate.run(retriever.aretrieve(DIFFERENCE))) == CHILE_ONLY


def test_one_retriever_serves_16_threads_at_once(birds: VectorStoreIndex) -> None:
    retriever, together = set_retriever(birds), threading.Barrier(16)

    def ask(question: str) -> set[str]:
        together.wait()
        return names(retriever.retrieve(question))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, [DIFFERENCE, INTERSECTION] * 8))

    assert found == [CHILE_ONLY, BOTH] * 8


def test_it_works_in_a_query_engine(birds: VectorStoreIndex) -> None:
    llm = ScriptedLLM(script={"mockingbird": "Four birds."})
    engine = RetrieverQueryEngine(set_retriever(birds), get_response_synthesizer(llm=llm))

    response = engine.query(DIFFERENCE)

    assert isinstance(response, Response)
    assert response.response == "Four birds."
    assert names(response.source_nodes) == CHILE_ONLY


@pytest.mark.parametrize("is_async", [False, True])
def test_a_recording_has_a_step_for_each_atom_and_a_fusion(birds: VectorStoreIndex, *, is_async: bool) -> None:
    retriever = set_retriever(birds, depth=8)

    with attach(measures=()) as recording:
        _ = asyncio.run(retriever.aretrieve(DIFFERENCE)) if is_async else retriever.retrieve(DIFFERENCE)
        trace = only(recording)

    *searches, kept = trace.steps
    assert sorted((step.kind, step.query, len(step.passages)) for step in searches) == [
        ("retrieve", "birds of Chile", 8),
        ("retrieve", "birds of Peru", 8),
    ]
    assert (kept.kind, kept.query) == ("fuse", DIFFERENCE)
    assert set(kept.input_ids) == {step.id for step in searches}
    assert {passage.id for passage in kept.passages} <= CHILE_ONLY


def test_coverage_and_utility_are_measured_on_a_recording(birds: VectorStoreIndex) -> None:
    answers = {"mockingbird": ("The Chilean mockingbird.",)}
    with attach(
        measures=["coverage", "utility"],
        judge=KeywordScorer(),
        entailer=KeywordEntailer(),
        receiver=ScriptedReceiver(answers),
        references={DIFFERENCE: "The Chilean mockingbird."},
    ) as recording:
        set_retriever(birds).retrieve(DIFFERENCE)
        assert recording.flush(60)

    (result,) = recording.results
    assert result.failures == {}
    assert result.coverage is not None
    assert result.coverage.sub_questions
    assert result.utility is not None
    assert [step.kind for step in result.utility.steps] == ["retrieve", "retrieve", "fuse"]
    assert result.utility.total.value > 0


def test_coverage_and_utility_are_measured_on_an_answers_own_trace(birds: VectorStoreIndex) -> None:
    trace = set_retriever(birds).answer(DIFFERENCE).trace(answer="The Chilean mockingbird.")
    models = Models(judge=KeywordScorer(threshold=0.3), entailer=KeywordEntailer(), receiver=ScriptedReceiver())

    (result,) = evaluate(
        [Trace.model_validate_json(trace.to_json())],
        models=models,
        measures=["coverage", UtilityMeasure(references="answer")],
    ).results

    assert result.coverage is not None
    assert [each.text for each in result.coverage.sub_questions] == ["What are examples of birds of Chile?"]
    assert result.utility is not None
    assert [step.kind for step in result.utility.steps] == ["retrieve", "retrieve", "fuse"]


def test_prompts_are_those_of_the_inner_retriever(birds: VectorStoreIndex) -> None:
    assert set_retriever(birds).get_prompts() == {}
