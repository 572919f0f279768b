"""Searches are made once, in parallel, within a number of calls; a retriever's faults cost the query and nothing else."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from threading import Barrier, BrokenBarrierError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.questions import Passage, plain_query
from rag_cover.searching import Searches
from rag_cover.testing import ScriptedRetriever

SKY, GRASS = "Why is the sky blue?", "Why is grass green?"


class OddRetriever:
    """Returns whatever it is given to return, or calls it."""

    def __init__(self, found: object) -> None:
        self.found = found

    def retrieve(self, query: str, *, k: int) -> object:
        return self.found(query, k) if callable(self.found) else self.found


def searches(retriever: object, *, k: int = 3, most: int | None = None, workers: int = 4) -> Searches:
    return Searches(retriever, k=k, most=most, workers=workers)  # type: ignore[arg-type]  # some are wrong on purpose


def test_searches_are_kept_in_the_order_of_asking() -> None:
    retriever = ScriptedRetriever({SKY: ["Air scatters."], GRASS: ["Chlorophyll."]})

    steps = searches(retriever).search([SKY, GRASS])

    assert [(step.id, step.query, step.passages) for step in steps] == [
        ("step-1", SKY, (Passage("Air scatters."),)),
        ("step-2", GRASS, (Passage("Chlorophyll."),)),
    ]


@pytest.mark.parametrize("workers", [1, 2, 16])
def test_what_is_slow_to_come_keeps_its_place(workers: int) -> None:
    def slow(query: str, _: int) -> list[str]:
        time.sleep(0.02 if query == "query 0" else 0)
        return [f"found by {query}"]

    steps = searches(OddRetriever(slow), workers=workers).search([f"query {number}" for number in range(5)])

    assert [step.passages[0].text for step in steps] == [f"found by query {number}" for number in range(5)]


def test_searches_run_at_the_same_time() -> None:
    meeting = Barrier(3, timeout=10)

    steps = searches(OddRetriever(lambda *_: [str(meeting.wait())]), workers=3).search(["a", "b", "c"])

    assert sorted(step.passages[0].text for step in steps) == ["0", "1", "2"]


def test_no_more_run_at_a_time_than_there_are_workers() -> None:
    meeting = Barrier(3, timeout=0.1)

    steps = searches(OddRetriever(lambda *_: [str(meeting.wait())]), workers=2).search(["a", "b", "c"])

    assert all(step.error and BrokenBarrierError.__name__ in step.error for step in steps)


def test_a_query_is_searched_for_once() -> None:
    retriever = ScriptedRetriever()
    made = searches(retriever)

    made.search([SKY, "why is the  SKY blue"])
    made.search(["Why is the sky blue."])

    assert retriever.queries == [SKY]
    assert made.step_of("WHY is the sky blue") is made.steps[0]
    assert made.step_of(GRASS) is None


def test_the_number_of_calls_bounds_all_searches_together() -> None:
    retriever = ScriptedRetriever()
    made = searches(retriever, most=2)

    made.search([SKY])
    made.search([GRASS, "Why?"])
    made.search(["Who?", "Why?"])

    assert retriever.queries == [SKY, GRASS]
    assert made.unasked == ["Why?", "Who?"]


def test_a_query_that_fails_costs_itself_alone() -> None:
    made = searches(ScriptedRetriever({SKY: TimeoutError("after 60 s")}, default=["Chlorophyll."]))

    failed, good = made.search([SKY, GRASS])

    assert (failed.error, failed.passages) == ("TimeoutError: after 60 s", ())
    assert made.found == [good]


def test_batches_are_those_in_which_something_was_searched_for() -> None:
    made = searches(ScriptedRetriever(), most=2)

    for queries in ([SKY], [SKY], [], [GRASS], ["Why?"]):
        made.search(queries)

    assert made.batches == 2


@pytest.mark.parametrize(
    "found",
    [
        ["a", "a", Passage("a"), "b"],
        ("a", "b"),
        iter(["a", "b"]),
        {"a": 1, "b": 2}.keys(),
        [{"text": "a"}, {"text": "b"}],
        ["a", "b", "c", "d", 7],
    ],
)
def test_the_first_distinct_passages_are_read_in_whatever_they_come(found: object) -> None:
    (step,) = searches(OddRetriever(found), k=2).search([SKY])

    assert [passage.text for passage in step.passages] == ["a", "b"]


@pytest.mark.parametrize("endless", [lambda *_: map(str, count()), lambda *_: (Passage(str(n)) for n in count())])
def test_a_retriever_that_never_stops_yielding_is_stopped(endless: Callable[[str, int], Iterator[object]]) -> None:
    (step,) = searches(OddRetriever(endless), k=2).search([SKY])

    assert [passage.text for passage in step.passages] == ["0", "1"]


def test_passages_are_told_apart_by_id_where_they_have_one() -> None:
    (step,) = searches(OddRetriever([Passage("a", id="1"), Passage("b", id="1"), Passage("a", id="2")])).search([SKY])

    assert [passage.id for passage in step.passages] == ["1", "2"]


def test_nothing_found_is_no_failure() -> None:
    (step,) = searches(OddRetriever([])).search([SKY])

    assert (step.error, step.passages) == (None, ())


def yielding_then_failing(_query: str, _k: int) -> Iterator[str]:
    yield "a"
    message = "the connection was lost"
    raise ConnectionError(message)


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        (None, "TypeError: retrieve returned NoneType; it must return a sequence of passages"),
        ("one text", "TypeError: retrieve returned str;"),
        (b"bytes", "TypeError: retrieve returned bytes;"),
        ({"text": "a"}, "TypeError: retrieve returned dict;"),
        (7, "TypeError: retrieve returned int;"),
        (Passage("one"), "TypeError: retrieve returned Passage"),
        ([None], "TypeError: retrieve returned NoneType among its passages; each must be a Passage, or its text"),
        ([object()], "TypeError: retrieve returned object among its passages"),
        ([("a", 0.5)], "TypeError: retrieve returned tuple among its passages"),
        ([{"page_content": "a"}], "unknown field 'page_content' of Passage"),
        (yielding_then_failing, "ConnectionError: the connection was lost"),
    ],
)
def test_what_is_no_sequence_of_passages_is_a_failure_that_says_so(found: object, complaint: str) -> None:
    (step,) = searches(OddRetriever(found)).search([SKY])

    assert step.error is not None
    assert complaint in step.error
    assert step.passages == ()


def test_what_is_no_retriever_fails_at_every_search() -> None:
    (step,) = searches(object()).search([SKY])

    assert step.error == "AttributeError: 'object' object has no attribute 'retrieve'"


def test_an_interruption_passes_and_begins_nothing_more() -> None:
    asked = []

    def interrupted(query: str, _k: int) -> list[str]:
        asked.append(query)
        if query == "query 0":
            raise KeyboardInterrupt
        time.sleep(0.01)
        return []

    with pytest.raises(KeyboardInterrupt):
        searches(OddRetriever(interrupted), workers=1).search([f"query {number}" for number in range(300)])

    assert len(asked) < 300


@given(st.text())
def test_a_query_is_told_from_others_by_its_words(query: str) -> None:
    assert plain_query(plain_query(query)) == plain_query(query) == plain_query(f"\n{query} ?!")
