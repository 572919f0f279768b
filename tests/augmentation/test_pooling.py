"""What several searches found is put together: each passage once, with the best place that it has in any of them."""

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.augmentation.pooling import pool_passages
from rag_cover.questions import Passage
from rag_cover.traces import RetrievalStep, distinct

BLUE = Passage("The sky is blue because air scatters short waves.", id="blue")
COPY = Passage("The sky is BLUE, because air scatters short waves!", id="copy")
GREEN, GREY = Passage("Grass is green.", id="green"), Passage("Clouds are grey.", id="grey")

STEPS = st.lists(st.lists(st.sampled_from([BLUE, COPY, GREEN, GREY]), max_size=4).map(distinct), max_size=4)


def step(*passages: Passage) -> RetrievalStep:
    return RetrievalStep(passages=passages)


def test_a_passage_is_pooled_once_with_its_best_place() -> None:
    pool = pool_passages([step(GREEN, GREY), step(BLUE, GREY, GREEN)])

    assert pool.passages == (GREEN, GREY, BLUE)
    assert pool.scores == (1.0, 0.5, 1.0)


def test_a_repetition_in_other_letters_lends_its_place_to_the_first_one() -> None:
    first, second = step(GREEN, BLUE), step(COPY, GREY)

    pool = pool_passages([first, second])

    assert pool.passages == (GREEN, BLUE, GREY)
    assert pool.scores == (1.0, 1.0, 0.5)
    assert pool.of(second) == {1, 2}


def test_a_repetition_further_down_takes_nothing_from_the_first_one() -> None:
    assert pool_passages([step(BLUE), step(GREEN, COPY)]).scores == (1.0, 1.0)


def test_the_same_words_under_another_title_are_another_passage() -> None:
    one, other = Passage("Its mayor is elected.", title="Paris"), Passage("Its mayor is elected.", title="Rome")

    assert pool_passages([step(one), step(other)]).passages == (one, other)


def test_one_search_stays_as_it_is() -> None:
    assert pool_passages([step(BLUE, COPY, GREEN)]).passages == (BLUE, COPY, GREEN)


def test_of_nothing_comes_nothing() -> None:
    pool = pool_passages([])

    assert (pool.passages, pool.scores, pool.of(step())) == ((), (), frozenset())


@given(STEPS)
def test_every_passage_that_was_found_has_a_place_in_the_pool(found: list[tuple[Passage, ...]]) -> None:
    steps = [step(*passages) for passages in found]

    pool = pool_passages(steps)

    assert frozenset().union(*map(pool.of, steps)) == set(range(len(pool.passages)))
    assert len(pool.scores) == len(pool.passages) == len(set(pool.passages))
    assert all(0 < score <= 1 for score in pool.scores)
