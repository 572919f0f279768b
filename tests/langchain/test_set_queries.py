"""Set queries over LangChain's retrievers and vector stores, and in its chains."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedGenerator, ScriptedReceiver, ScriptedScorer
from rag_cover_langchain import RagCoverEmbeddings
from rag_cover_langchain.passages import passage_of
from rag_cover_langchain.retrievers import RagCoverRetriever
from rag_cover_langchain.set_queries import SetQueryRetriever
from tests.birds import BIRDS, BOTH, CHILE_ONLY, bird_judge
from tests.gates import Gate
from tests.langchain.parts import ScriptedChatModel, WordEmbeddings
from tests.langchain.recordings import config, only, rag, recorder
from tests.langchain.trees import RunTree

DIFFERENCE = "birds of Chile but not birds of Peru"
INTERSECTION = "birds of Chile that are also birds of Peru"
PLAIN = "Why do birds sing?"
NEGATION = "not birds of Peru"
READ = '{"sets": ["birds of Chile", "birds of Peru"], "expression": "A - B"}'


def bird_documents() -> list[Document]:
    return [Document(text, id=name, metadata={"title": name, "source": "birds.csv"}) for name, text in BIRDS.items()]


def store_of(documents: list[Document], embeddings: Any = None) -> InMemoryVectorStore:
    store = InMemoryVectorStore(embeddings or WordEmbeddings())
    store.add_documents(documents)
    return store


@pytest.fixture(scope="module")
def birds() -> InMemoryVectorStore:
    """A store of the animals and plants by shared words."""
    return store_of(bird_documents())


def names(documents: Iterable[Document]) -> set[str | None]:
    return {document.id for document in documents}


def set_retriever(searched: Any, **settings: Any) -> SetQueryRetriever:
    return SetQueryRetriever(searched, **({"judge": bird_judge()} | settings))


def giving(documents: list[Document]) -> Runnable[str, list[Document]]:
    return RunnableLambda(lambda _: documents)


class AskedRetriever(BaseRetriever):
    """Finds what another finds, unless a word is asked for."""

    inner: Runnable[str, list[Document]]
    word: str = "never"
    asked: list[str] = []

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.asked.append(query)
        if self.word in query:
            message = "shard is down"
            raise ConnectionError(message)
        return self.inner.invoke(query, {"callbacks": run_manager.get_child()})


def asked_retriever(store: InMemoryVectorStore, word: str = "never", k: int = 20) -> AskedRetriever:
    return AskedRetriever(inner=store.as_retriever(search_kwargs={"k": k}), word=word, asked=[])


class EmptyRetriever(BaseRetriever):
    """Finds nothing."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return []


class DownScorer(ScriptedScorer):
    """A judge whose server is down."""

    def correctness(self, items: Sequence[ScoringItem]) -> NoReturn:
        message = "the judge's server is down"
        raise ModelFailedError(message)


def test_everything_that_belongs_is_returned_and_nothing_else(birds: InMemoryVectorStore) -> None:
    for searched in (birds, birds.as_retriever(), giving(bird_documents()), RagCoverRetriever.from_documents(bird_documents())):
        assert names(set_retriever(searched).invoke(DIFFERENCE)) == CHILE_ONLY
        assert names(set_retriever(searched).invoke(INTERSECTION)) == BOTH


def test_the_embedded_models_answer_without_a_key_or_a_network() -> None:
    store = store_of(bird_documents(), RagCoverEmbeddings())

    likeliest = SetQueryRetriever(store, threshold=0.0, k=3)

    assert names(likeliest.invoke(INTERSECTION)) == BOTH
    assert names(likeliest.invoke(DIFFERENCE)) < CHILE_ONLY
    assert not names(SetQueryRetriever(store).invoke(DIFFERENCE)) & {"Kea", "Kauri", "Cock-of-the-rock", "Red fox"}


def test_documents_are_the_inner_retrievers_own_and_say_why_on_a_copy() -> None:
    given = bird_documents()

    (document, *_) = set_retriever(giving(given)).invoke(DIFFERENCE)

    told = json.loads(json.dumps(document.metadata["set_query"]))
    assert told["entity"] == document.id
    assert told["probability"] == document.metadata["relevance_score"] == passage_of(document).score
    assert [(each["atom"].lower(), each["negated"]) for each in told["atoms"]] == [
        ("birds of chile", False),
        ("birds of peru", True),
    ]
    assert told["reason"]
    assert "\\" in told["query"]
    assert document.metadata["source"] == "birds.csv"
    assert all("set_query" not in each.metadata for each in given)


def test_nothing_is_written_into_documents_unless_it_is_explained() -> None:
    given = bird_documents()

    found = set_retriever(giving(given), explain=False).invoke(DIFFERENCE)

    assert names(found) == CHILE_ONLY
    assert all(any(document is each for each in given) for document in found)


def test_the_words_that_tell_are_quoted(birds: InMemoryVectorStore) -> None:
    (document, *_) = set_retriever(birds).invoke(DIFFERENCE)

    (fragment, *_) = [each["fragment"] for each in document.metadata["set_query"]["atoms"]]
    assert fragment
    assert fragment in " ".join(f"{document.metadata['title']} {document.page_content}".split())


@pytest.mark.parametrize("question", [PLAIN, "birds of Chile", "  "])
def test_what_is_no_set_query_is_searched_for_as_it_is(question: str) -> None:
    judge, given = bird_judge(), bird_documents()[:3]
    inner = AskedRetriever(inner=giving(given), asked=[])

    found = set_retriever(inner, judge=judge, on_error="raise").invoke(question)

    assert found == given
    assert (inner.asked, judge.asked.calls) == ([question], 0)


@pytest.mark.parametrize("k", [None, 2])
def test_what_gives_no_documents_for_a_plain_question_is_refused(k: int | None) -> None:
    inner: Runnable[str, Any] = RunnableLambda(lambda _: ["no document"])

    with pytest.raises(InvalidValueError, match="gives a list of documents"):
        set_retriever(inner, k=k).invoke(PLAIN)


def test_a_store_finds_as_many_documents_for_a_plain_question_as_it_does_or_as_are_asked_for(
    birds: InMemoryVectorStore,
) -> None:
    retriever = set_retriever(birds)

    assert names(retriever.invoke(PLAIN)) == names(birds.as_retriever().invoke(PLAIN))
    assert len(retriever.invoke(PLAIN, k=7)) == len(asyncio.run(retriever.ainvoke(PLAIN, k=7))) == 7
    assert len(set_retriever(birds, k=5).invoke(PLAIN)) == 5


def test_a_reading_that_is_too_unsure_is_left_alone_and_that_is_logged(
    birds: InMemoryVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        found = set_retriever(birds, min_confidence=1.0).invoke(DIFFERENCE)

    assert names(found) == names(birds.as_retriever().invoke(DIFFERENCE))
    assert "too unsure" in caplog.text


def test_at_most_k_documents_are_returned_the_likeliest_first(birds: InMemoryVectorStore) -> None:
    retriever = set_retriever(birds, k=3)
    whole = [document.id for document in set_retriever(birds).invoke(DIFFERENCE)]

    assert [document.id for document in retriever.invoke(DIFFERENCE)] == whole[:3]
    assert [document.id for document in retriever.invoke(DIFFERENCE, k=2)] == whole[:2]
    retriever.k = 1
    assert [document.id for document in retriever.invoke(DIFFERENCE)] == whole[:1]
    with pytest.raises(InvalidValueError, match="k is 0; give a whole number of at least 1"):
        retriever.invoke(DIFFERENCE, k=0)


def test_a_number_can_be_left_to_the_configuration(birds: InMemoryVectorStore) -> None:
    retriever = set_retriever(birds).configurable_fields(k=ConfigurableField(id="how_many"))

    assert len(retriever.invoke(DIFFERENCE, {"configurable": {"how_many": 2}})) == 2


def test_every_atom_is_searched_for_as_deep_as_it_takes(birds: InMemoryVectorStore) -> None:
    hybrid = RagCoverRetriever.from_documents(bird_documents(), k=2)

    for searched in (birds, birds.as_retriever(search_kwargs={"k": 2}), hybrid):
        retriever = set_retriever(searched, depth=4)
        assert [len(step.passages) for step in retriever.answer(DIFFERENCE).steps] == [4, 4]
        assert [len(step.passages) for step in retriever.answer(INTERSECTION).steps] == [8, 8]
    assert [len(step.passages) for step in set_retriever(asked_retriever(birds, k=6)).answer(DIFFERENCE).steps] == [6, 6]


def test_what_else_it_is_called_with_goes_to_each_search(birds: InMemoryVectorStore) -> None:
    def keep(document: Document) -> bool:
        return document.id in ("Austral thrush", "Inca tern", "Kiwi")

    assert names(set_retriever(birds).invoke(DIFFERENCE, filter=keep)) == {"Austral thrush"}
    assert len(set_retriever(birds).invoke(PLAIN, filter=keep)) == 3
    assert len(set_retriever(birds).answer(DIFFERENCE, filter=keep).ranked) == 3


CHUNKS = [
    Document("The Inca tern is a bird of Chile.", metadata={"source": "tern.txt", "page": 7}),
    Document("The tern breeds on the coasts of Peru.", metadata={"source": "tern.txt", "page": 7}),
    Document("The robin is a bird.", metadata={"source": "robin.txt"}),
]
CHUNK_JUDGE = ScriptedScorer(
    {
        ("What are examples of birds of Chile?", CHUNKS[0].page_content): 0.9,
        ("What are examples of birds of Peru?", CHUNKS[1].page_content): 0.9,
    }
)


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        (None, set()),  # a source is none
        ("source", {"tern.txt"}),
        ("page", {"7"}),
        (lambda document: document.page_content.split()[1], set()),
        (lambda document: document.metadata["source"].partition(".")[0], {"tern"}),
    ],
)
def test_documents_are_entities_by_what_whoever_asks_says(
    entity: str | Callable[[Document], str] | None, expected: set[str]
) -> None:
    found = set_retriever(giving(CHUNKS), judge=CHUNK_JUDGE, entity=entity).invoke(INTERSECTION)

    assert {document.metadata["set_query"]["entity"] for document in found} == expected
    assert [document.page_content for document in found] == [each.page_content for each in CHUNKS[: len(found)]]


def test_an_answer_tells_what_was_left_out_and_why(birds: InMemoryVectorStore) -> None:
    tree = RunTree()

    answer = set_retriever(birds).answer(DIFFERENCE, {"callbacks": [tree]})

    assert set(answer.names) == CHILE_ONLY
    left_out = {each.name: each.reason for each in answer.left_out}
    assert "matches 'Birds of Peru'" in left_out["Inca tern"]
    assert tree.of("VectorStoreRetriever") == [None, None]
    with pytest.raises(InvalidValueError, match="only says what is not wanted"):
        set_retriever(birds).answer(NEGATION)


def test_what_cannot_be_answered_is_searched_for_as_it_is_with_a_warning(
    birds: InMemoryVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert names(set_retriever(birds).invoke(NEGATION)) == names(birds.as_retriever().invoke(NEGATION))
    assert "only says what is not wanted" in caplog.text
    assert len(set_retriever(birds, k=3, judge=DownScorer()).invoke(DIFFERENCE)) == 3
    assert "is searched for as it is: the judge's server is down" in caplog.text


def test_what_cannot_be_answered_is_an_error_if_that_is_wanted(birds: InMemoryVectorStore) -> None:
    words: Any = RunnableLambda(str.split)

    with pytest.raises(InvalidValueError, match="only says what is not wanted"):
        set_retriever(birds, on_error="raise").invoke(NEGATION)
    with pytest.raises(ModelFailedError, match="the judge's server is down"):
        set_retriever(birds, on_error="raise", judge=DownScorer()).invoke(DIFFERENCE)
    with pytest.raises(ModelFailedError, match="no search succeeded: ConnectionError: shard is down"):
        set_retriever(asked_retriever(birds, "birds"), on_error="raise").invoke(DIFFERENCE)
    with pytest.raises(ModelFailedError, match="'RunnableLambda' gave 'list' of 'str' for a query; a retriever gives a list"):
        set_retriever(words, on_error="raise").invoke(DIFFERENCE)


def test_nothing_is_returned_where_nothing_belongs_and_a_warning_says_why(
    birds: InMemoryVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert set_retriever(birds).invoke("birds of Chile that are not birds of Chile") == []
    assert "nothing can be left of it" in caplog.text
    assert set_retriever(birds).invoke("birds of New Zealand that are also birds of Peru") == []
    assert "nearest of 20 candidates is" in caplog.text


def test_a_search_that_fails_costs_that_search(birds: InMemoryVectorStore, caplog: pytest.LogCaptureFixture) -> None:
    assert names(set_retriever(asked_retriever(birds, "Peru")).invoke(DIFFERENCE)) == CHILE_ONLY
    assert "answered in part" in caplog.text


@pytest.mark.parametrize("generator", [ScriptedGenerator({"purpose: set-query": READ}), ScriptedChatModel(default=READ)])
def test_a_language_model_reads_questions_that_the_grammar_cannot(birds: InMemoryVectorStore, generator: Any) -> None:
    tree = RunTree()
    retriever = set_retriever(birds, generator=generator)

    found = retriever.invoke("Chile has which birds that Peru lacks?", {"callbacks": [tree]})

    assert names(found) == CHILE_ONLY
    assert set(tree.of("ScriptedChatModel")) <= {"SetQueryRetriever"}


def test_where_the_language_model_cannot_read_the_question_is_searched_for_as_it_is(
    birds: InMemoryVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    found = set_retriever(birds, generator=ScriptedChatModel(default="no JSON"), k=2).invoke(DIFFERENCE)

    assert len(found) == 2
    assert "could not be read as a set query" in caplog.text


def test_a_chat_model_judges_and_its_runs_belong_to_the_retrieval(birds: InMemoryVectorStore) -> None:
    def verdicts(*answered: float) -> str:
        told = [
            {"question": place, "answered": each > 0.5, "probability": each, "fragment": "bird" if each > 0.5 else None}
            for place, each in enumerate(answered, 1)
        ]
        return json.dumps({"verdicts": told})

    tree = RunTree()
    model = ScriptedChatModel(script={"Chilean mockingbird": verdicts(0.9, 0.0)}, default=verdicts(0.9, 0.9))

    (found,) = set_retriever(birds, judge=model).invoke(DIFFERENCE, {"callbacks": [tree]})

    assert (found.id, found.metadata["relevance_score"]) == ("Chilean mockingbird", pytest.approx(0.9))
    assert set(tree.of("ScriptedChatModel")) == {"SetQueryRetriever"}


@pytest.mark.parametrize(("modifiers", "sets"), [("read", 2), ("split", 3), ("joined", 2)])
def test_modifiers_are_taken_as_whoever_asks_says(birds: InMemoryVectorStore, modifiers: Any, sets: int) -> None:
    found = set_retriever(birds, modifiers=modifiers).answer("flightless birds of Chile or flightless birds of Peru")

    assert len(found.steps) == sets


def test_pairs_that_nothing_speaks_for_need_not_be_judged(birds: InMemoryVectorStore) -> None:
    retriever, screened = set_retriever(birds), set_retriever(birds, screen=True)

    assert names(screened.invoke(DIFFERENCE)) <= names(retriever.invoke(DIFFERENCE))


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
def test_what_cannot_work_is_refused_when_it_is_made(
    birds: InMemoryVectorStore, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        set_retriever(birds, **settings)


def test_what_finds_no_documents_and_what_is_no_question_is_refused(birds: InMemoryVectorStore) -> None:
    asked: Any = {"question": DIFFERENCE}

    with pytest.raises(InvalidValueError, match="'str' finds no documents: give a LangChain retriever or vector store"):
        SetQueryRetriever("embedded")  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InvalidValueError, match="asked by a text, not by 'dict'"):
        set_retriever(birds).invoke(asked)
    with pytest.raises(InvalidValueError, match="asked by a text, not by 'dict'"):
        set_retriever(birds).answer(asked)


def test_every_search_is_a_run_under_the_retrieval_that_made_it(birds: InMemoryVectorStore) -> None:
    tree, later = RunTree(), RunTree()
    chain: Runnable[str, list[Document]] = RunnableLambda(lambda text: text) | set_retriever(birds, tags=["sets"])

    chain.invoke(DIFFERENCE, {"callbacks": [tree], "tags": ["mine"], "metadata": {"qid": 7}})
    asyncio.run(chain.ainvoke(DIFFERENCE, {"callbacks": [later]}))

    for runs in (tree, later):
        assert runs.of("VectorStoreRetriever") == ["SetQueryRetriever"] * 2
        assert runs.of("SetQueryRetriever") == ["RunnableSequence"]
    assert all("mine" in tags for tags in tree.tags("VectorStoreRetriever"))
    assert "sets" in tree.tags("SetQueryRetriever")[0]
    assert tree.metadata("VectorStoreRetriever", "qid") == [7, 7]


def test_a_retrieval_does_not_block_the_loop() -> None:
    gate = Gate()

    def find(_: str) -> list[Document]:
        gate.wait()
        return bird_documents()

    inner: Runnable[str, list[Document]] = RunnableLambda(find)

    assert names(gate.run(set_retriever(inner).ainvoke(DIFFERENCE))) == CHILE_ONLY


def test_async_and_sync_and_batches_find_the_same(birds: InMemoryVectorStore) -> None:
    retriever = set_retriever(birds)

    assert [names(found) for found in retriever.batch([DIFFERENCE, INTERSECTION])] == [CHILE_ONLY, BOTH]
    assert [names(found) for found in asyncio.run(retriever.abatch([DIFFERENCE, INTERSECTION]))] == [CHILE_ONLY, BOTH]


def test_one_retriever_serves_16_threads_at_once(birds: InMemoryVectorStore) -> None:
    retriever, together = set_retriever(birds), threading.Barrier(16)

    def ask(question: str) -> set[str | None]:
        together.wait()
        return names(retriever.invoke(question))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, [DIFFERENCE, INTERSECTION] * 8))

    assert found == [CHILE_ONLY, BOTH] * 8


def test_a_copy_asks_the_same_retriever(birds: InMemoryVectorStore) -> None:
    retriever = set_retriever(birds, k=2, entity="title", tags=["mine"])

    for copied in (copy.copy(retriever), copy.deepcopy(retriever), retriever.model_copy(deep=True)):
        assert copied.retriever is birds
        assert (copied.tags, copied.entity) == (["mine"], "title")
        assert copied.invoke(DIFFERENCE) == retriever.invoke(DIFFERENCE)


def test_a_pickle_is_made_with_the_same_settings() -> None:
    retriever = SetQueryRetriever(EmptyRetriever(), k=3, depth=7, min_confidence=0.5)

    again = pickle.loads(pickle.dumps(retriever))  # noqa: S301  # our own

    assert (again.k, again.depth, again.min_confidence) == (3, 7, 0.5)
    assert again.invoke(PLAIN) == []


def test_a_chain_answers_from_what_belongs(birds: InMemoryVectorStore) -> None:
    chain = rag(set_retriever(birds), ScriptedChatModel(script={"mockingbird": "Four birds."}))

    assert chain.invoke(DIFFERENCE) == "Four birds."


@pytest.mark.parametrize("is_async", [False, True])
def test_a_recording_has_a_step_for_each_atom_and_a_fusion(birds: InMemoryVectorStore, *, is_async: bool) -> None:
    retriever = set_retriever(birds, depth=8)

    with recorder() as handler:
        told = config(handler)
        _ = asyncio.run(retriever.ainvoke(DIFFERENCE, told)) if is_async else retriever.invoke(DIFFERENCE, told)
        trace = only(handler)

    *searches, kept = trace.steps
    assert sorted((step.kind, step.query, len(step.passages)) for step in searches) == [
        ("retrieve", "birds of Chile", 8),
        ("retrieve", "birds of Peru", 8),
    ]
    assert (kept.kind, kept.query) == ("fuse", DIFFERENCE)
    assert set(kept.input_ids) == {step.id for step in searches}
    assert {passage.id for passage in kept.passages} <= CHILE_ONLY
    assert all(passage.score is not None for passage in kept.passages)


def test_coverage_and_utility_are_measured_on_a_recording(birds: InMemoryVectorStore) -> None:
    with recorder(
        measures=["coverage", "utility"],
        judge=KeywordScorer(),
        entailer=KeywordEntailer(),
        receiver=ScriptedReceiver({"mockingbird": ("The Chilean mockingbird.",)}),
        references={DIFFERENCE: "The Chilean mockingbird."},
    ) as handler:
        set_retriever(birds).invoke(DIFFERENCE, config(handler))
        assert handler.flush(60)

    (result,) = handler.results
    assert result.failures == {}
    assert result.coverage is not None
    assert result.coverage.sub_questions
    assert result.utility is not None
    assert [step.kind for step in result.utility.steps] == ["retrieve", "retrieve", "fuse"]
    assert result.utility.total.value > 0
