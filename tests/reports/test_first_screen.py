"""What a reader sees first: the worst questions with what they lost, unclear losses with both texts, figures that are firm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rag_cover.coverage import Loss, LossEvidence, SubQuestionCoverage
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.reports import write_report
from rag_cover.reports.first_screen import pick_worst_questions
from rag_cover.reports.question_page import question_view
from rag_cover.reports.unclear_losses import find_nearest_part
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import Summary

MakeResult = Callable[..., TraceResult]
SUNSET = "Why is the sunset red?"
UNCLEAR = LossEvidence(0.44, 0.52, 0.52)


def without_clear_loss(result: TraceResult, *texts: str) -> TraceResult:
    """Leave open where some sub-questions were lost."""
    assert result.coverage is not None

    def row(each: SubQuestionCoverage) -> SubQuestionCoverage:
        return replace(each, evidence=UNCLEAR) if each.text in texts else each

    coverage = replace(result.coverage, sub_questions=tuple(map(row, result.coverage.sub_questions)))
    return replace(result, outcomes={**result.outcomes, "coverage": coverage})


def without_answer(result: TraceResult) -> TraceResult:
    assert result.coverage is not None
    rows = tuple(replace(each, answer=None, loss=None) for each in result.coverage.sub_questions)
    trace = result.trace.model_copy(update={"answer": None})
    return TraceResult(trace, {"coverage": replace(result.coverage, sub_questions=rows)})


@pytest.fixture
def page(tmp_path: Path, summary: Summary) -> Callable[..., str]:
    def written(results: list[TraceResult], of: Summary = summary) -> str:
        write_report(tmp_path / "report.html", results, of)
        return (tmp_path / "report.html").read_text(encoding="utf-8")

    return written


def test_the_worst_questions_come_with_their_answer_and_a_named_loss_first(make_result: MakeResult) -> None:
    result = without_clear_loss(make_result(), SUNSET)

    (found,) = pick_worst_questions([question_view(result, "q1")])

    assert (found.question, found.count, found.came) == ("Why is the sky blue?", "1/4", "answered")
    assert found.answer == "Rayleigh scattering makes it blue. It was discovered on a Tuesday."
    assert (found.lost_text, found.lost.state, found.more) == ("Why is it not violet?", "retrieved, then dropped", 2)
    assert found.target == "q1-s3"


def test_of_equally_bad_questions_those_with_named_losses_come_first(make_result: MakeResult) -> None:
    vague = without_clear_loss(make_result("Vague?"), SUNSET, "Why is it not violet?", "What do eyes see?")
    named = make_result("Named?")

    found = pick_worst_questions([question_view(vague, "q1"), question_view(named, "q2")])

    assert [each.question for each in found] == ["Named?", "Vague?"]
    assert found[1].target == "q1-u2"  # both its texts


def test_a_question_without_an_answer_shows_what_was_not_retrieved(make_result: MakeResult) -> None:
    (found,) = pick_worst_questions([question_view(without_answer(make_result()), "q1")])

    assert found.answer is None
    assert (found.count, found.came, found.lost_text) == ("3/4", "retrieved", "What do eyes see?")


def test_questions_that_lost_nothing_are_not_among_the_worst(make_result: MakeResult) -> None:
    unmeasured = TraceResult(make_result().trace, {"coverage": NotApplicable("no answer")})

    assert pick_worst_questions([question_view(unmeasured, "q1")]) == []


def test_long_texts_are_cut_in_the_list_of_the_worst(make_result: MakeResult) -> None:
    (found,) = pick_worst_questions([question_view(make_result("why " * 400, answer="because " * 400), "q1")])

    assert found.question.endswith("…")
    assert found.answer is not None
    assert len(found.question) <= 161
    assert len(found.answer) <= 261


def test_the_first_screen_comes_before_tiles_and_every_link_of_it_has_its_target(
    page: Callable[..., str], make_result: MakeResult
) -> None:
    source = page([without_clear_loss(make_result(), SUNSET)])

    order = [source.index(f'id="{name}"') for name in ("overview", "losses", "worst", "scenarios", "questions", "metrics")]
    assert order == sorted(order)
    assert source.index('id="worst"') < source.index('class="tiles"')
    assert set(re.findall(r'href="#([^"]+)"', source)) <= set(re.findall(r'id="([^"]+)"', source))


def test_an_unclear_loss_shows_the_answer_and_the_likeliest_passage_side_by_side(
    page: Callable[..., str], make_result: MakeResult
) -> None:
    result = without_clear_loss(make_result(), SUNSET)

    (found,) = question_view(result, "q1").unclear
    source = page([result])

    assert found.verdict == "answer 0.10 · passage 2 0.80: unclear"
    assert found.passage == "At sunset the light takes a longer way."
    assert 'id="q1-u2"' in source
    assert 'href="#q1-p2">Passage 2</a> <b>0.80</b>' in source


def test_a_loss_that_its_answer_contradicts_says_so(make_result: MakeResult) -> None:
    result = make_result()
    assert result.coverage is not None
    contradicted = LossEvidence(0.1, 0.8, 0.8, contradicted=True)
    rows = tuple(
        replace(each, evidence=contradicted, loss=Loss.UNUSED) if each.text == SUNSET else each
        for each in result.coverage.sub_questions
    )
    declined = replace(result, outcomes={"coverage": replace(result.coverage, sub_questions=rows)})

    (found,) = question_view(declined, "q1").unclear

    assert found.verdict == "answer 0.10, which declines it · passage 2 0.80: unclear"


def test_an_unclear_loss_without_judged_passages_says_so(make_result: MakeResult) -> None:
    result = make_result()
    assert result.coverage is not None
    rows = tuple(
        replace(each, chunks=None, evidence=UNCLEAR if each.text == SUNSET else None) for each in result.coverage.sub_questions
    )
    bare = replace(result, outcomes={"coverage": replace(result.coverage, sub_questions=rows)})

    (found,) = question_view(bare, "q1").unclear

    assert found.passage_number is None
    assert found.verdict == "answer 0.10 · the passages 0.52: unclear"


def test_a_clear_loss_shows_no_texts_to_decide_by(page: Callable[..., str], make_result: MakeResult) -> None:
    assert "read for yourself" not in page([make_result()])


def test_of_a_long_text_the_part_nearest_to_the_question_is_shown() -> None:
    text = "Nothing here. " * 60 + "The borehole needs a permit of the water authority. " + "Nothing there. " * 60

    part = find_nearest_part(text, "Is a permit needed for a borehole?", limit=100)

    assert part.startswith("… The borehole needs a permit")
    assert part.endswith(" …")
    assert len(part) <= 104


def test_metrics_of_few_questions_and_undefined_ones_are_folded(page: Callable[..., str], results: list[TraceResult]) -> None:
    source = page(results)

    assert "1 metric with fewer than 5 questions, 1 undefined" in source
    assert "1 figure with fewer than 5 questions<" in source
    folded = source[source.index("1 metric with fewer") :]
    assert folded.index("Order alignment") < folded.index("</details>")


def test_of_a_single_question_every_figure_is_folded(
    page: Callable[..., str], make_result: MakeResult, summary: Summary
) -> None:
    alone = {name: replace(metric, interval=Interval(0.5, None, None, 1)) for name, metric in summary.metrics.items()}

    source = page([make_result()], of=replace(summary, traces=1, questions=1, metrics=alone))

    assert "5 metrics with fewer than 5 questions<" in source
    assert "In figures" not in source


def test_metrics_say_by_what_name_others_know_them(page: Callable[..., str], results: list[TraceResult]) -> None:
    source = page(results)

    assert source.count("≈ context recall") == 2  # in its tile and in the table
    assert source.count("≈ faithfulness") == 2
    assert source.count("≈ answer completeness (recall)") == 1


def test_where_nothing_was_lost_the_first_screen_says_so(
    page: Callable[..., str], make_result: MakeResult, summary: Summary
) -> None:
    sentence = "No core sub-question is known to have been lost on the way."

    assert sentence in page([make_result()], of=replace(summary, losses={}))
    assert sentence not in page([make_result()])
    assert sentence not in page([], of=replace(summary, losses={}, metrics={}))
