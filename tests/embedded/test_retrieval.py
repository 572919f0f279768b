"""The embedded retriever: what it finds, in which order, with which scores, whatever the corpus and the query."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rag_cover.backends import Retriever
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.registry import build_retriever, find_backends
from rag_cover_embedded.retrieval import EmbeddedRetriever

pytestmark = pytest.mark.usefixtures("judge")  # skips where there are no weights, and keeps the network open between tests

RIVERS = (
    Passage("The river Moselle runs through the town of Zell.", id="zell", metadata={"source": "an atlas"}),
    Passage("It is eaten with butter and salt, mostly in summer.", title="Sweetcorn", score=7.5),
    Passage("Glaciers carve valleys over thousands of years."),
    Passage("Physicians treat illnesses of people."),
)
Build = Callable[..., EmbeddedRetriever]


@pytest.fixture(scope="module")
def rivers() -> EmbeddedRetriever:
    return EmbeddedRetriever(RIVERS)


@pytest.fixture(scope="module")
def demo_retriever(passages: list[str]) -> EmbeddedRetriever:
    return EmbeddedRetriever([Passage(text, id=str(number)) for number, text in enumerate(passages)])


def test_the_scheme_embedded_offers_the_retriever() -> None:
    found = build_retriever("embedded", RIVERS)

    assert "retriever" in find_backends()["embedded"].offers
    assert isinstance(found, Retriever)
    assert found.retrieve("Which river runs through Zell?", k=1)[0].id == "zell"


def test_what_stands_first_by_words_and_by_meaning_scores_one(rivers: EmbeddedRetriever) -> None:
    first, *others = rivers.retrieve("Which river runs through Zell?", k=4)

    assert first.id == "zell"
    assert first.score == pytest.approx(1)
    assert all(other.score is not None and 0 < other.score < 1 for other in others)


def test_a_passage_is_found_by_meaning_where_no_word_is_shared(rivers: EmbeddedRetriever) -> None:
    found = rivers.retrieve("What does a doctor do?", k=1)

    assert found[0].text == RIVERS[3].text


def test_a_passage_is_found_by_its_title(rivers: EmbeddedRetriever) -> None:
    assert rivers.retrieve("sweetcorn", k=1)[0].title == "Sweetcorn"


def test_passages_come_back_as_they_were_but_for_the_score(rivers: EmbeddedRetriever) -> None:
    found = rivers.retrieve("Which river runs through Zell?", k=10)

    assert sorted(passage.model_copy(update={"score": None}).key for passage in found) == sorted(each.key for each in RIVERS)
    assert found[0].metadata == {"source": "an atlas"}
    assert RIVERS[1].score == 7.5


@pytest.mark.slow
def test_scores_never_rise_and_a_smaller_k_is_the_head_of_a_larger(demo_retriever: EmbeddedRetriever, asked: list[str]) -> None:
    for question in asked[:20]:
        found = demo_retriever.retrieve(question, k=20)

        scores = [passage.score for passage in found if passage.score is not None]
        assert len(scores) == 20
        assert scores == sorted(scores, reverse=True)
        assert demo_retriever.retrieve(question, k=5) == found[:5]


def test_threads_find_what_one_thread_finds(demo_retriever: EmbeddedRetriever, asked: list[str]) -> None:
    alone = [demo_retriever.retrieve(question, k=5) for question in asked[:24]]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: demo_retriever.retrieve(question, k=5), asked[:24]))

    assert together == alone


def test_a_retriever_built_again_finds_the_same(rivers: EmbeddedRetriever) -> None:
    again = EmbeddedRetriever(iter(RIVERS))

    assert again.retrieve("a town by the water", k=4) == rivers.retrieve("a town by the water", k=4)
    assert again.fingerprint == rivers.fingerprint


def test_another_corpus_has_another_fingerprint(rivers: EmbeddedRetriever) -> None:
    assert EmbeddedRetriever(RIVERS[1:]).fingerprint != rivers.fingerprint


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="at least one passage"):
        EmbeddedRetriever([])


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(rivers: EmbeddedRetriever, k: int) -> None:
    with pytest.raises(InvalidValueError, match=f"k is {k}; give a whole number of at least 1"):
        rivers.retrieve("river", k=k)


def test_a_query_that_is_no_text_is_refused(rivers: EmbeddedRetriever) -> None:
    with pytest.raises(InvalidValueError, match="a query is a text, not NoneType"):
        rivers.retrieve(None, k=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "  \n", "?!…", "\ud800", "\u0301"])
def test_a_query_without_a_letter_or_digit_finds_nothing(rivers: EmbeddedRetriever, query: str) -> None:
    assert rivers.retrieve(query, k=3) == ()


def test_a_query_of_function_words_is_ranked_by_meaning_alone(rivers: EmbeddedRetriever) -> None:
    found = rivers.retrieve("where is it", k=4)

    assert len(found) == 4
    assert found[0].score == pytest.approx(0.5)


def test_equal_passages_are_each_found_in_their_order() -> None:
    twins = [Passage("The river Moselle.", id="a"), Passage("Glaciers carve."), Passage("The river Moselle.", id="b")]

    found = EmbeddedRetriever(twins).retrieve("Moselle", k=2)

    assert [passage.id for passage in found] == ["a", "b"]


def test_passages_without_a_letter_or_digit_are_never_found() -> None:
    corpus = [Passage(""), Passage("?!", title=" "), Passage("\ud800"), Passage("The river Moselle.")]

    found = EmbeddedRetriever(corpus).retrieve("river", k=4)

    assert [passage.text for passage in found] == ["The river Moselle."]


def test_a_corpus_of_blank_passages_finds_nothing() -> None:
    assert EmbeddedRetriever([Passage(""), Passage(" ")]).retrieve("river", k=2) == ()


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("\U0001f4a9\U0001f44d\U0001f3fe", id="emoji"),
        pytest.param("\x00\x07\x1b[31m\x7f\u0085\u2028\ufeff", id="control characters"),
        pytest.param("\u202e\u0645\u0631\u062d\u0628\u0627\u202c", id="right to left"),
        pytest.param("river \ud800\udfff \udc00", id="lone surrogates"),
        pytest.param("字" * 3_000, id="no spaces"),
        pytest.param("x" * 20_000, id="one endless word"),
        pytest.param("z" + "\u0301" * 2_000, id="combining marks"),
        pytest.param("[CLS] [SEP] [PAD] [MASK] [unused1]", id="special tokens"),
    ],
)
def test_odd_passages_and_queries_are_borne(odd: str) -> None:
    retriever = EmbeddedRetriever([Passage(odd, title=odd), *RIVERS])

    assert len(retriever.retrieve(odd, k=5)) <= 5
    assert retriever.retrieve("Which river runs through Zell?", k=1)[0].id == "zell"


def test_what_stands_late_in_a_long_passage_is_found() -> None:
    filler = "Glaciers carve valleys over thousands of years. " * 120
    long = Passage(filler + "A doctor at the clinic treats patients.", title="Notes", id="long")
    corpus = [*[Passage("Salt and butter taste good.") for _ in range(5)], long, Passage(filler, title="Notes")]

    found = EmbeddedRetriever(corpus).retrieve("Who helps sick persons?", k=1)

    assert found[0].id == "long"


def test_words_in_other_languages_are_found() -> None:
    corpus = [Passage("Die Mosel fließt durch Zell."), Passage("長城在中國。"), Passage("Река Мозель течёт."), Passage("Paris")]
    retriever = EmbeddedRetriever(corpus)

    for query, wanted in [("Mosel", 0), ("長城", 1), ("мозель", 2)]:
        assert retriever.retrieve(query, k=1)[0].text == corpus[wanted].text


def test_a_rare_word_weighs_more_than_a_common_one(demo_retriever: EmbeddedRetriever) -> None:
    encoder, vectors = demo_retriever._encoder, demo_retriever._indexed.index.vectors
    asked = encoder.query("the quokka")
    assert asked is not None

    weights = vectors.weights(asked.ids)

    assert weights.sum() == pytest.approx(1)
    assert weights[0] < weights[1:].min()
    assert np.all(weights > 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_goes_on_searching(rivers: EmbeddedRetriever) -> None:
    before = rivers.retrieve("the river of Zell", k=3)  # the parent's threads have started

    if not (child := os.fork()):
        signal.alarm(60)
        os._exit(0 if rivers.retrieve("the river of Zell", k=3) == before else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
