from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from rag_cover.backends import Span
from rag_cover.demo import kept_results_paths
from rag_cover.errors import InvalidValueError
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.labelling import LabelItem, list_items
from rag_cover.labelling.items import find_fragment
from rag_cover.labelling.views import item_view
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer

_, DEMO = kept_results_paths()


def test_every_verdict_of_the_evaluation_is_an_item_once(evaluation: Evaluation, items: list[LabelItem]) -> None:
    coverages = [result.coverage for result in evaluation.results if result.coverage]
    judged = sum(1 + len(each.chunks or ()) for coverage in coverages for each in coverage.sub_questions)

    assert len(items) == len({item.key for item in items}) == judged
    assert sum(item.counts_in_headline for item in items) == 60


def test_the_same_answer_to_the_same_question_is_one_item() -> None:
    twice = [{"question": "Why blue?", "answer": "Air.", "sub_questions": ["Why blue?"], "id": name} for name in "ab"]
    results = evaluate(twice, measures=["coverage"], models=Models(judge=KeywordScorer())).results

    assert [item.trace_id for item in list_items(results)] == ["a"]


def test_a_blank_answer_cannot_be_labelled() -> None:
    blank = {"question": "Why blue?", "answer": " ", "sub_questions": ["Why blue?"]}

    assert list_items(evaluate([blank], measures=["coverage"], models=Models(judge=KeywordScorer())).results) == []


def test_redacted_texts_are_refused_with_what_to_do() -> None:
    trace = {"question": "Why blue?", "answer": "Air.", "sub_questions": ["Why blue?"]}
    results = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()), redact=True).results

    with pytest.raises(InvalidValueError, match="evaluate the traces without --redact"):
        list_items(results)


def test_verdicts_that_another_judge_gave_otherwise_are_disputed(evaluation: Evaluation) -> None:
    stricter = evaluate(
        [result.trace for result in evaluation.results],
        measures=["coverage"],
        models=Models(judge=KeywordScorer(threshold=0.99)),
    )

    found = list_items(evaluation.results, others=stricter.results)

    other = {item.key: item.covered for item in list_items(stricter.results)}
    assert {item.key for item in found if item.disputed} == {item.key for item in found if item.covered != other[item.key]}
    assert any(item.disputed for item in found)


def test_the_fragment_is_that_of_the_judge_or_the_sentence_with_most_words_of_the_question(items: list[LabelItem]) -> None:
    item = replace(items[0], facet="How high is the tower?", text="It rains. The tower is high. Nobody came.", fragment=None)

    nearest = find_fragment(item)
    own = find_fragment(replace(item, fragment=Span(0, 9)))
    beyond = find_fragment(replace(item, fragment=Span(400, 500)))

    assert nearest is not None
    assert nearest.of(item.text) == "The tower is high."
    assert own == Span(0, 9)
    assert beyond == nearest


def _count_shown_words(item: LabelItem) -> int:
    view = item_view(item)
    shown = [part["text"] for part in (*view["question"], *view["parts"]) if not part["hidden"]]
    return sum(len(text.split()) for text in (*shown, view["facet"], view["title"]))


def test_half_of_the_demos_verdicts_are_read_in_60_words_or_fewer() -> None:
    words = [_count_shown_words(item) for item in list_items(Evaluation.open(DEMO).results)]

    assert len(words) > 1000
    assert statistics.median(words) <= 60


@pytest.mark.parametrize("fragment", [None, Span(0, 5), Span(0, 900), Span(2000, 2600), Span(2995, 3000)])
def test_a_long_text_is_cut_around_its_fragment_and_nothing_of_it_is_lost(
    items: list[LabelItem], fragment: Span | None
) -> None:
    text = ("word " * 600).strip() + "."
    item = replace(items[0], text=text, fragment=fragment)

    parts = item_view(item)["parts"]

    assert "".join(part["text"] for part in parts) == text
    assert 0 < sum(len(part["text"].split()) for part in parts if not part["hidden"]) <= 40
    if fragment:
        assert any(part["mark"] and not part["hidden"] for part in parts)


def test_nothing_shown_tells_what_the_judge_said(items: list[LabelItem]) -> None:
    item = replace(items[0], fragment=None)

    views = [item_view(replace(item, covered=covered, probability=float(covered))) for covered in (True, False)]

    assert views[0] == views[1]
