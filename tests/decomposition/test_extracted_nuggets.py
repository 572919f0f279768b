"""Nuggets made without a language model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.decomposition.nuggets import NuggetMaker, NuggetsMissing
from rag_cover.decomposition.nuggets.selection import select_covering
from rag_cover.decomposition.nuggets.statements import StatementSource, statements_in
from rag_cover.errors import InvalidValueError
from rag_cover.nuggets import Nugget
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordEntailer, ScriptedRetriever
from rag_cover.traces import RetrievalStep, Trace

HEAT = "How does a heat pump heat a house?"
PUMP = "A heat pump moves heat from the outside air into the house."
COST = "A heat pump for a house costs about 12,000 euros."
NOISE = "How loud a heat pump hums does a house owner hear at night."


class WordEmbedder:
    """Unit vectors that count words."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        cut = [text.lower().strip("?.").split() for text in texts]
        words = sorted({word for text in cut for word in text})
        counts = np.array([[text.count(word) for word in words] for text in cut], dtype=np.float32)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)


def trace(pipeline: str, answer: str | None, *passages: str) -> Trace:
    found = tuple(Passage(text, id=text.split()[-1]) for text in passages)
    return Trace(question=Question(HEAT), id=pipeline, pipeline=pipeline, answer=answer, steps=(RetrievalStep(passages=found),))


def maker(corpus: ScriptedRetriever | None = None) -> NuggetMaker:
    return NuggetMaker(WordEmbedder(), KeywordEntailer(), corpus=corpus)


def texts(made: tuple[Nugget, ...] | NuggetsMissing) -> set[str]:
    assert isinstance(made, tuple), made
    return {nugget.text for nugget in made}


@pytest.mark.parametrize(
    ("text", "title", "said"),
    [
        ("Steel rusts in damp air. It needs paint every ten years.", None, "Steel needs paint every ten years."),
        ("It needs paint every ten years.", "Steel bridges", "Steel bridges needs paint every ten years."),
        ("The bar seats 40 guests. It closes at midnight.", None, "The bar closes at midnight."),
        ("The hotel has twelve rooms. They face the lake and the park.", None, "The hotel has twelve rooms."),
        ("It's sold in bags of ten kilograms.", "Cement", "Cement is sold in bags of ten kilograms."),
        ("Its price fell by half in two years.", "Cement", "Cement's price fell by half in two years."),
        ("However, cement hardens under water too.", None, "Cement hardens under water too."),
        ("According to the provided context, cement hardens under water.", None, "Cement hardens under water."),
        ("It is important to note that cement hardens under water.", None, "Cement hardens under water."),
        ("It is important to keep cement dry in winter.", "Cement", "It is important to keep cement dry in winter."),
        ("- **Cement** hardens under water [2].", None, "Cement hardens under water ."),
    ],
)
def test_a_statement_stands_by_itself(text: str, title: str | None, said: str) -> None:
    *_, last = statements_in(StatementSource("passage", "p", text, "p", title))

    assert " ".join(last.text.replace(" .", ".").split()) == said.replace(" .", ".")


@pytest.mark.parametrize(
    "text",
    [
        "Why does steel rust in damp air?",
        "## Rust of steel bridges in damp air",
        "It needs paint every ten years.",
        "This leads to rust on many bridges.",
        "There are several reasons why steel bridges rust.",
        "The provided context does not mention rust of bridges.",
        "We paint our bridges every ten years.",
        "Rust.",
        "1.",
        "",
    ],
)
def test_what_says_nothing_by_itself_is_no_statement(text: str) -> None:
    assert list(statements_in(StatementSource("answer", "a", text, "a"))) == []


def test_a_statement_knows_its_place() -> None:
    text = "Steel rusts in damp air. It needs paint every ten years."

    *_, last = statements_in(StatementSource("passage", "p", text, "p"))

    assert last.fragment == text[last.start : last.end] == "It needs paint every ten years."


def test_an_answer_never_votes_on_its_own_nuggets() -> None:
    one, two, three = maker().make([trace("one", COST, PUMP), trace("two", NOISE, PUMP), trace("three", None, PUMP)])

    assert COST not in texts(one)
    assert texts(two) >= {PUMP, COST}
    assert texts(three) >= {PUMP, COST, NOISE}


def test_a_question_with_fewer_than_two_other_sources_gets_none_and_says_why() -> None:
    (made,) = maker().make([trace("one", COST, PUMP)])

    assert isinstance(made, NuggetsMissing)
    assert "fewer than two other sources" in made.reason


def test_what_more_sources_state_is_vital_and_names_them() -> None:
    _, _, made = maker().make([trace("one", PUMP, COST), trace("two", PUMP, NOISE), trace("three", None)])

    assert isinstance(made, tuple)
    first = made[0]
    assert (first.text, first.importance, first.importance_source) == (PUMP, "vital", "embedded")
    assert {(source.kind, source.id) for source in first.sources} == {("answer", "one"), ("answer", "two")}
    assert first.sources[0].fragments[0].text == PUMP


def test_a_corpus_is_searched_in_place_of_what_was_retrieved() -> None:
    corpus = ScriptedRetriever({HEAT: [Passage(PUMP, id="a"), Passage(COST, id="b")]})

    (made,) = maker(corpus).make([trace("one", None, NOISE)])

    assert texts(made) == {PUMP, COST}


def test_what_has_nothing_to_do_with_the_question_is_left_out() -> None:
    other = "Many sailors of old Genoa feared strange winter storms."

    (made,) = maker().make([trace("one", None, PUMP, COST, other)])

    assert other not in texts(made)


def test_nuggets_do_not_depend_on_the_order_of_the_traces() -> None:
    traces = [trace("one", COST, PUMP), trace("two", NOISE, PUMP, COST), trace("three", None, NOISE)]

    forwards, backwards = maker().make(traces), maker().make(traces[::-1])[::-1]

    assert [texts(made) for made in forwards] == [texts(made) for made in backwards]


@pytest.mark.parametrize(("depth", "most"), [(0, 12), (50, 0)])
def test_numbers_that_leave_nothing_to_do_are_refused(depth: int, most: int) -> None:
    with pytest.raises(InvalidValueError, match="give a whole number of at least 1"):
        NuggetMaker(WordEmbedder(), KeywordEntailer(), depth=depth, most=most)


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**16))
def test_selection_keeps_at_most_so_many_each_once_and_no_repeats(size: int, most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(size, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = np.clip(vectors @ vectors.T, 0, 1)

    chosen = select_covering(similarity, random.uniform(size=size), most=most)

    assert len(chosen) == len(set(chosen)) <= most
    assert all(similarity[a, b] < 0.75 for a in chosen for b in chosen if a != b)
