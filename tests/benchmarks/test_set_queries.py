"""The benchmark of set queries: its corpus is what its questions say, and its baselines are computed as they should be."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rag_cover.backends import ScoringItem
from rag_cover.questions import Passage
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.testing import KeywordScorer, ScriptedRetriever
from rag_cover_embedded.training.splits import trains

Import = Callable[[str], ModuleType]

VECTORS = Path(__file__).resolve().parents[1] / "setqueries/vectors/quest.json"
WORLDS = ("validation", "test")
SMALL = 600  # entities: enough for most questions, and quickly drawn

MODULES = (
    "support.bm25_reference",
    "support.entities",
    "support.entities_phrases",
    "support.entities_prose",
    "support.entities_wording",
    "support.limit",
    "support.plain_retrieval",
    "support.set_figures",
    "set_queries.answers",
)


@pytest.fixture(scope="module")
def worlds(module: Import) -> dict[str, Any]:
    return {name: module("support.entities").world(name) for name in WORLDS}


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.slow
def test_the_examples_in_docstrings_hold(name: str, module: Import) -> None:
    assert doctest.testmod(module(name)).failed == 0


@pytest.mark.slow
def test_the_reference_bm25_scores_as_gensim_3_did(module: Import) -> None:
    reference = module("support.bm25_reference").ReferenceBM25
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["bm25_cases"]

    assert cases
    for case in cases:
        assert reference(case["corpus"]).scores(case["query"]) == pytest.approx(case["scores"], abs=1e-9)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_a_world_is_the_same_each_time_it_is_built(name: str, module: Import) -> None:
    build = module("support.entities").world

    first, again = build(name, size=SMALL), build(name, size=SMALL)

    assert first.passages == again.passages
    assert [each.question for each in first.questions] == [each.question for each in again.questions]


@pytest.mark.slow
def test_another_seed_makes_another_world(module: Import) -> None:
    build = module("support.entities").world

    assert build("validation", size=SMALL, seed=1).passages != build("validation", size=SMALL, seed=2).passages


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_world_asks_forty_questions_of_each_template(name: str, module: Import, worlds: dict[str, Any]) -> None:
    entities = module("support.entities")

    counts = Counter(each.template for each in worlds[name].questions)

    assert counts == dict.fromkeys(entities.TEMPLATES, entities.PER_TEMPLATE)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_gold_is_what_set_algebra_makes_of_the_atoms(name: str, worlds: dict[str, Any]) -> None:
    world = worlds[name]
    ids = {passage.id for passage in world.passages}

    for each in world.questions:
        assert each.gold == each.query.members(world.members)
        assert each.gold <= ids
        assert each.query.template == each.template


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_every_text_is_prose_of_a_readable_length(name: str, worlds: dict[str, Any]) -> None:
    lengths = [len(passage.text.split()) for passage in worlds[name].passages]

    assert len(lengths) >= 2000
    assert min(lengths) >= 60
    assert max(lengths) <= 150
    assert not any(mark in passage.text for passage in worlds[name].passages for mark in ("{", "}", "(n)", " ,", ",.", "  "))


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_names_are_unique_and_serve_as_ids(name: str, worlds: dict[str, Any]) -> None:
    passages = worlds[name].passages

    assert len({passage.title for passage in passages}) == len(passages)
    assert all(passage.title == passage.id for passage in passages)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_some_members_are_never_called_by_the_word_of_the_question(name: str, module: Import, worlds: dict[str, Any]) -> None:
    world, kinds = worlds[name], module("support.entities_wording").wording(name).kinds
    texts = {passage.id: passage.text for passage in world.passages}
    atom = module("support.entities_phrases").Atom

    told = [
        value.name in texts[member]
        for kind in kinds
        for attribute in kind.attributes
        for value in attribute.values
        for member in world.members.get(atom(kind, attribute, value).text, ())
    ]

    assert 0.6 < sum(told) / len(told) < 0.9


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.slow
def test_what_only_mentions_a_value_has_its_word_and_is_no_member(name: str, worlds: dict[str, Any]) -> None:
    world = worlds[name]

    mentioning = sum(len(each) for each in world.mentioning.values())

    assert mentioning > len(world.passages)
    assert not any(world.mentioning[atom] & members for atom, members in world.members.items())


@pytest.mark.slow
def test_the_two_worlds_share_no_kind_no_value_and_no_wording(module: Import) -> None:
    first, second = (module("support.entities_wording").wording(name) for name in WORLDS)

    def said(words: Any, *lists: str) -> set[Any]:
        attributes = [attribute for kind in words.kinds for attribute in kind.attributes]
        return {each for attribute in attributes for name in lists for each in getattr(attribute, name)}

    assert not {kind.plural for kind in first.kinds} & {kind.plural for kind in second.kinds}
    assert not said(first, "says", "hints", "denies") & said(second, "says", "hints", "denies")
    assert not {value.name for value in said(first, "values")} & {value.name for value in said(second, "values")}
    assert not {each for kind in first.kinds for each in (*kind.opens, *kind.fillers)} & {
        each for kind in second.kinds for each in (*kind.opens, *kind.fillers)
    }
    assert not {each for some in first.questions.values() for each in some} & {
        each for some in second.questions.values() for each in some
    }


@pytest.mark.slow
def test_more_entities_change_neither_questions_nor_gold(module: Import) -> None:
    build = module("support.entities").world

    small, large = build("validation", size=SMALL), build("validation", size=SMALL, of=2 * SMALL)

    assert len(large.passages) == 2 * SMALL
    assert len({passage.id for passage in large.passages}) == 2 * SMALL
    assert small.questions == large.questions
    assert small.members == large.members


@pytest.mark.slow
def test_an_attribute_has_at_least_four_ways_to_be_said(module: Import) -> None:
    for name in WORLDS:
        for kind in module("support.entities_wording").wording(name).kinds:
            for attribute in kind.attributes:
                assert len(attribute.says) + len(attribute.hints) >= 4, (kind.plural, attribute.name)
                assert attribute.denies


@pytest.mark.slow
def test_a_question_is_not_asked_whose_gold_is_that_of_a_part(module: Import) -> None:
    worth = module("support.entities").worth_asking
    many, few = frozenset("abcdefgh"), frozenset("ab")

    assert not worth("A ∩ B", [many, frozenset("abcdefg")])
    assert worth("A ∩ B", [many, frozenset("abxyz")])
    assert not worth("A \\ B", [many, frozenset("a")])
    assert worth("A \\ B", [many, few])
    assert not worth("A ∪ B", [many, few])
    assert not worth("A ∩ B", [few, frozenset("xy")])


@pytest.mark.slow
def test_a_sentence_takes_the_article_its_next_word_asks_for(module: Import) -> None:
    written = module("support.entities_prose").written

    assert written("a(n) {value} of a(n) {adj} kind", value="atlas", adj="rare") == "An atlas of a rare kind"


@pytest.mark.slow
def test_pairs_are_labelled_by_membership(module: Import, worlds: dict[str, Any]) -> None:
    world = worlds["validation"]

    pairs = module("support.entities").membership_pairs(world, 300, 0)

    assert {pair.why for pair in pairs} == {"member", "mentioned", "retrieved", "kind", "other"}
    assert all(pair.label == (pair.passage.id in world.members[pair.atom]) for pair in pairs)
    assert pairs == module("support.entities").membership_pairs(world, 300, 0)


@pytest.mark.slow
def test_hard_pairs_come_from_the_retriever_that_is_given(module: Import, worlds: dict[str, Any]) -> None:
    world = worlds["validation"]
    found = world.passages[0]

    pairs = module("support.entities").membership_pairs(world, 100, 0, retriever=ScriptedRetriever(default=[found]))

    assert {pair.passage.id for pair in pairs if pair.why == "retrieved"} == {found.id}


@pytest.mark.slow
def test_the_best_k_is_the_least_of_equally_good_ones(module: Import) -> None:
    plain, entities = module("support.plain_retrieval"), module("support.entities")
    asked = [
        entities.SetQuestion("?", SetQuery.atom("a"), "A", frozenset({"1", "2"})),
        entities.SetQuestion("?", SetQuery.atom("a") | "b", "A ∪ B", frozenset({"1", "2", "3"})),
    ]
    rankings = [["1", "2"], ["1", "2", "3", "4"]]

    assert plain.best_k(asked, rankings) == 3  # 1 + 1; two of them give 1 + 0.8, and four 1 + 6/7
    assert plain.best_k_by_template(asked, rankings) == {"A": 2, "A ∪ B": 3}


@pytest.mark.slow
def test_a_ratio_to_nothing_is_undefined(module: Import) -> None:
    ratio = module("support.set_figures").ratio_of

    assert ratio(np.array([3.0, 2.0])) == 1.5
    assert np.isnan(ratio(np.array([3.0, 0.0])))


@pytest.mark.slow
def test_a_question_that_is_refused_returns_nothing(module: Import) -> None:
    script = module("set_queries.answers")
    answer = script.answering(ScriptedRetriever(), KeywordScorer())

    found = script.found_for(answer, " ")

    assert (list(found.kept), list(found.ranked)) == ([], [])


@pytest.mark.slow
def test_ours_returns_the_ids_of_what_it_keeps_and_of_all_that_it_found(module: Import) -> None:
    script = module("set_queries.answers")
    passages = [Passage("Kea lives in the mountains of Otago.", id="Kea", title="Kea"), Passage("Tea.", id="Tea", title="Tea")]
    answer = script.answering(ScriptedRetriever(default=passages), KeywordScorer())

    found = script.found_for(answer, SetQuery.atom("birds of Otago"))

    assert set(found.kept) <= set(found.ranked) == {"Kea", "Tea"}


@pytest.mark.slow
def test_a_remembered_scorer_is_asked_for_each_pair_once(module: Import) -> None:
    plain = KeywordScorer()
    scorer = module("set_queries.answers").Remembered(plain)
    items = [ScoringItem("Who sang?", text) for text in ("Ada sang.", "Nobody.", "Ada sang.")]

    first, again = scorer.correctness(items), scorer.correctness(items)

    assert first.tolist() == again.tolist() == KeywordScorer().correctness(items).tolist()
    assert plain.asked.items == 2


@pytest.mark.shared
@pytest.mark.slow
def test_limits_documents_say_what_its_judgments_say(module: Import, shared_folder: Path) -> None:
    limit = module("support.limit")

    said, judged = limit.likers(limit.passages(shared_folder / "data")), limit.asked_for(shared_folder / "data")

    assert len(judged) == 1000
    assert all(said[thing] == people for thing, people in judged.items())


@pytest.mark.shared
@pytest.mark.slow
def test_limits_composed_questions_have_gold_by_set_algebra_and_their_own_part(module: Import, shared_folder: Path) -> None:
    limit, data = module("support.limit"), shared_folder / "data"
    members = {f"People who like {thing}": people for thing, people in limit.asked_for(data).items()}

    validation, test = limit.questions(data, "validation"), limit.questions(data, "test")

    assert all(trains(each.question) for each in validation)
    assert not any(trains(each.question) for each in test)
    assert len(validation) == len(test) == 7 * limit.PER_PART
    for each in (*validation, *test):
        assert each.gold == each.query.members(members) != frozenset()
        assert each.query.template == each.template
