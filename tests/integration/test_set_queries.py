"""Set queries are answered with what a framework found, and other questions are left to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover import Passage
from rag_cover.backends import Failure, Scorer, ScoringItem
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.integration import (
    EntityNames,
    Search,
    SetFound,
    answer_set_query,
    answer_set_query_if_possible,
    explain_empty_result,
    set_answerer_by,
)
from rag_cover.integration.choosing import OnRerankError
from rag_cover.registry import Models
from rag_cover.setqueries import SetAnswerer
from rag_cover.testing import KeywordLocator, ScriptedGenerator, ScriptedRetriever, ScriptedScorer
from tests.birds import BIRDS, BOTH, CHILE, CHILE_ONLY, bird_judge

DIFFERENCE = "birds of Chile but not birds of Peru"
INTERSECTION = "birds of Chile that are also birds of Peru"
PLAIN = "Why do birds sing?"
NEGATION = "not birds of Peru"
CONTRADICTION = "birds of Chile that are not birds of Chile"
NOWHERE = "birds of New Zealand that are also birds of Peru"

PASSAGES = [Passage(text, id=name.lower(), title=name) for name, text in BIRDS.items()]


class DownScorer(ScriptedScorer):
    """A judge whose server is down."""

    def correctness(self, items: Sequence[ScoringItem]) -> NoReturn:
        message = f"the judge's server is down: {len(items)} items"
        raise ModelFailedError(message)


def answering(judge: Scorer | None = None, *, explain: bool = False, **settings: Any) -> SetAnswerer:
    models = Models(judge=judge or bird_judge(), **settings)
    retriever = ScriptedRetriever(default=PASSAGES)
    return set_answerer_by(retriever, models, depth=30, max_pairs=500, threshold=None, explain=explain)


def named_by(
    entity: str | Callable[[Passage], object] | None = None, source_of: Callable[[Passage], str | None] = lambda _: None
) -> EntityNames[Passage]:
    return EntityNames(entity, source_of)


def searching(
    passages: Sequence[Passage] = PASSAGES, *, down: str = "never", asked: list[str] | None = None
) -> Search[Passage]:
    """Find all passages for every query but those with a word that cannot be searched for."""

    def find(query: str, k: int) -> Sequence[Passage]:
        if asked is not None:
            asked.append(query)
        if down in query:
            message = "shard is down"
            raise ConnectionError(message)
        return passages[:k]

    return Search(find, lambda found: found)


def made(
    question: str,
    *,
    answerer: SetAnswerer | None = None,
    search: Search[Passage] | None = None,
    names: EntityNames[Passage] | None = None,
    min_confidence: float = 0.0,
    on_error: OnRerankError = "raise",
) -> SetFound[Passage] | None:
    return answer_set_query_if_possible(
        answerer or answering(),
        search or searching(),
        question,
        names=names or EntityNames(),
        min_confidence=min_confidence,
        on_error=on_error,
    )


def found(question: str, **settings: Any) -> SetFound[Passage]:
    answered = made(question, **settings)
    assert answered is not None
    return answered


def names_of(answered: SetFound[Passage]) -> set[str]:
    return {str(member.find.title) for member in answered.members()}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (DIFFERENCE, CHILE_ONLY),
        (INTERSECTION, BOTH),
        ("birds of New Zealand or trees of Chile", {"Kiwi", "Kea", "Monkey puzzle", "Chilean wine palm"}),
    ],
)
def test_what_belongs_comes_back_as_it_was_found(question: str, expected: set[str]) -> None:
    answered = found(question)

    assert names_of(answered) == expected
    assert all(any(member.find is passage for passage in PASSAGES) for member in answered.members())


def test_a_member_says_why_it_belongs_as_json_data() -> None:
    member = found(DIFFERENCE, answerer=answering(locator=KeywordLocator(), explain=True)).members()[0]

    told = json.loads(json.dumps(member.explanation))

    assert told["entity"] == member.find.title
    assert told["probability"] == member.probability == pytest.approx(0.95 * 0.98)
    assert [(each["negated"], each["probability"]) for each in told["atoms"]] == [
        (False, pytest.approx(0.95)),
        (True, pytest.approx(0.02)),
    ]
    assert told["atoms"][0]["fragment"] in f"{member.find.title} {member.find.text}"
    assert told["atoms"][1]["fragment"] is None
    assert told["reason"]
    assert "birds of chile" in told["query"].lower()


@pytest.mark.parametrize(("explain", "located"), [(True, len(CHILE_ONLY)), (False, 0)])
def test_words_are_sought_of_what_is_returned_alone_and_only_to_explain(located: int, *, explain: bool) -> None:
    locator = KeywordLocator()

    made(DIFFERENCE, answerer=answering(locator=locator, explain=explain))

    assert locator.asked.items == located


def test_at_most_as_many_are_kept_as_are_asked_for() -> None:
    answered = found(DIFFERENCE)

    assert answered.members(2) == answered.members()[:2]
    assert len(answered.members(9)) == len(CHILE_ONLY)


def test_of_one_entitys_finds_those_come_back_that_tell_most() -> None:
    tern = "Inca tern, a bird of "
    passages = [Passage(f"{tern}{place}.", id=place, title="Inca tern") for place in ("Chile", "Peru", "rocks")]
    known = {
        ("What are examples of birds of Chile?", passages[0].text): 0.9,
        ("What are examples of birds of Peru?", passages[1].text): 0.9,
    }

    answered = found(INTERSECTION, answerer=answering(ScriptedScorer(known)), search=searching(passages))

    assert [(member.find.id, member.explanation["entity"]) for member in answered.members()] == [
        ("Chile", "Inca tern"),
        ("Peru", "Inca tern"),
    ]


def test_every_atom_is_searched_for_by_itself_in_the_users_words() -> None:
    asked: list[str] = []

    made(DIFFERENCE, search=searching(asked=asked))

    assert sorted(asked) == ["birds of Chile", "birds of Peru"]


@pytest.mark.parametrize("question", [PLAIN, "birds of Chile", "  "])
def test_what_is_no_set_query_is_left_alone(question: str, caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []

    with caplog.at_level(logging.INFO):
        assert made(question, search=searching(asked=asked)) is None

    assert asked == []
    assert caplog.messages == []


def test_what_may_be_no_set_query_is_left_alone_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert made(DIFFERENCE, min_confidence=1.0) is None

    assert "is searched for as it is: its reading as" in caplog.text
    assert "below 1.00" in caplog.text


@pytest.mark.parametrize(
    ("question", "settings", "message"),
    [
        (NEGATION, {}, "only says what is not wanted"),
        (" or ".join(f"birds of place {number}" for number in range(30)), {}, "at most 20"),
        (DIFFERENCE, {"search": searching(down="birds")}, "no search succeeded: ConnectionError: shard is down"),
        (DIFFERENCE, {"answerer": answering(DownScorer())}, "the judge's server is down"),
        (DIFFERENCE, {"answerer": answering(generator=ScriptedGenerator(default=Failure("timeout", "60 s")))}, "60 s"),
    ],
)
def test_what_cannot_be_answered_is_left_alone_with_a_warning_or_raised(
    question: str, settings: dict[str, Any], message: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert made(question, on_error="keep", **settings) is None
    with pytest.raises((InvalidValueError, ModelFailedError), match=message):
        made(question, **settings)

    (warned,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "is searched for as it is" in warned.getMessage()
    assert message in warned.getMessage()


def test_a_search_that_fails_costs_that_search_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    answered = found(DIFFERENCE, search=searching(down="Peru"), on_error="keep")

    assert names_of(answered) == CHILE_ONLY
    assert "is answered in part (failures: 1): " in caplog.text
    assert "shard is down" in caplog.text


def test_nothing_belongs_to_a_contradiction_and_that_is_explained(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []

    answered = found(CONTRADICTION, search=searching(asked=asked))

    assert (answered.members(), asked) == ([], [])
    assert "nothing belongs to" in caplog.text
    assert "nothing can be left of it" in caplog.text


def test_where_nothing_belongs_the_nearest_is_named(caplog: pytest.LogCaptureFixture) -> None:
    answered = found(NOWHERE)

    assert answered.members() == []
    assert "nothing belongs to" in caplog.text
    assert "nearest of 20 candidates is" in caplog.text
    assert "kept above 0.50" in caplog.text


def test_where_nothing_is_found_that_is_the_reason() -> None:
    answered = found(DIFFERENCE, search=searching([]))

    assert "the search for 'Birds of Chile' found nothing" in explain_empty_result(answered.answer)
    assert explain_empty_result(replace(answered.answer, notes=())) == "no search found a candidate"


def test_what_the_answer_notes_is_logged_for_those_who_look(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        found("birds of Chile but not birds of Mars")

    assert "so nothing is taken away for it" in caplog.text
    assert all(record.levelno == logging.INFO for record in caplog.records)


def test_a_generator_reads_questions_where_there_is_one() -> None:
    read = '{"sets": ["birds of Chile", "birds of Peru"], "expression": "A - B"}'
    generator = ScriptedGenerator({"purpose: set-query": read})

    answered = found("Chile has which birds that Peru lacks?", answerer=answering(generator=generator))

    assert names_of(answered) == CHILE_ONLY
    assert answered.answer.parsed.source == "model:scripted"
    assert generator.asked.items == 1


def test_any_question_can_be_answered_with_reasons() -> None:
    answered = answer_set_query(answering(), searching(), "birds of Chile", names=named_by())

    assert set(answered.answer.names) == CHILE
    assert all(each.reason for each in answered.answer.ranked)
    with pytest.raises(InvalidValueError, match="only says what is not wanted"):
        answer_set_query(answering(), searching(), NEGATION, names=named_by())


PARTS = [
    Passage("The gull lives in Chile.", id="1", metadata={"species": "gull", "book": "a", "page": 3}),
    Passage("The gull lives in Peru.", id="2", title="Gulls", metadata={"species": " ", "book": "a"}),
    Passage("The tern lives in Peru.", id="3", metadata={"book": ""}),
    Passage("A wren."),
]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (named_by(), ["1", "Gulls", "3", "A wren."]),
        (named_by(source_of=lambda passage: passage.metadata.get("book")), ["a", "Gulls", "3", "A wren."]),
        (named_by("species"), ["gull", "Gulls", "3", "A wren."]),
        (named_by("page"), ["3", "Gulls", "3", "A wren."]),
        (named_by(lambda passage: passage.text.split()[1]), ["gull", "gull", "tern", "wren."]),
        (named_by(lambda passage: passage.title), ["1", "Gulls", "3", "A wren."]),
    ],
)
def test_an_entity_is_what_its_name_says_else_its_title_its_source_or_itself(
    names: EntityNames[Passage], expected: list[str]
) -> None:
    search = searching(PARTS)

    passages = search.retrieve("anything", k=9)

    assert [names.within(search)(passage) for passage in passages] == expected


@given(
    title=st.none() | st.text(),
    name=st.none() | st.text(),
    source=st.none() | st.text(),
    text=st.text(min_size=1).filter(str.strip),
)
def test_no_entity_is_without_a_name(title: str | None, name: str | None, source: str | None, text: str) -> None:
    passage = Passage(text, title=title, metadata={"name": name})
    search = searching([passage])
    search.retrieve("anything", k=1)

    named = named_by("name", source_of=lambda _: source).within(search)(passage)

    assert named.strip()
    assert named in {each.strip() for each in (name, title, source, text) if each}


@pytest.mark.parametrize("entity", [5, " ", "", ["title"]])
def test_what_names_no_entity_is_refused(entity: Any) -> None:
    with pytest.raises(InvalidValueError, match="give the key of the metadata that names what each is about, or a function"):
        EntityNames(entity)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"depth": 0}, "depth is 0"), ({"max_pairs": 0}, "max_pairs is 0"), ({"threshold": 1.0}, "threshold is 1")],
)
def test_numbers_out_of_range_are_refused_when_it_is_set_up(settings: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {"depth": 3, "max_pairs": 5, "threshold": None, "explain": True} | settings

    with pytest.raises(InvalidValueError, match=message):
        set_answerer_by(ScriptedRetriever(), Models(judge=bird_judge()), **given_)
