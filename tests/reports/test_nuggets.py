"""Reports, comparisons and feedback of results on nuggets speak of nuggets, and show what is stated in part."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from rag_cover.calibration_shift import CalibrationShift
from rag_cover.cli.json_output import summary_document
from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare
from rag_cover.integration.feedback import feedback_on_coverage
from rag_cover.measures import TraceResult
from rag_cover.questions import Question, Role
from rag_cover.reports import write_report
from rag_cover.reports.comparison import comparison_headline
from rag_cover.reports.nugget_text import nuggets_sentence
from rag_cover.reports.text import core_noun, headline, losses_sentence
from rag_cover.summaries import JudgeKnowledge, summarise
from rag_cover.traces import Trace

COVERED, PARTLY, MISSING = Verdict(0.9, covered=True), Verdict(0.0, covered=False, partial=True), Verdict(0.1, covered=False)


def result(number: int, *verdicts: Verdict, on_nuggets: bool = True) -> TraceResult:
    rows = tuple(
        SubQuestionCoverage(f"Fact {number}.{place}", role, "given", verdict, question="Which fact?" if place == 0 else None)
        for place, (verdict, role) in enumerate(zip(verdicts, (Role.CORE, Role.CORE, Role.BACKGROUND), strict=False))
    )
    coverage = CoverageResult(rows, (), 0.5, 0.5, prompt_assumed=False, decomposed_by="given", on_nuggets=on_nuggets)
    trace = Trace(id=f"t{number}", question=Question(f"Question {number}?"), answer="An answer.", pipeline="one")
    return TraceResult(trace, {"coverage": coverage})


RESULTS = [result(1, COVERED, PARTLY, COVERED), result(2, COVERED, MISSING, PARTLY)]


def evaluation(results: list[TraceResult]) -> Evaluation:
    return Evaluation(tuple(results), "judge", ("coverage",))


def test_the_headline_and_the_losses_are_of_vital_nuggets() -> None:
    summary = summarise(RESULTS, judge="judge")

    assert headline(summary).text.startswith("Answers cover 50% of the vital nuggets")
    assert losses_sentence(summary.losses, 2, noun=core_noun(summary)).startswith("Of 2 vital nuggets the answers leave out")


def test_where_some_traces_have_sub_questions_both_are_named() -> None:
    summary = summarise([*RESULTS, result(3, COVERED, on_nuggets=False)], judge="judge")

    assert core_noun(summary) == "core sub-question or vital nugget"
    assert core_noun(summarise([result(3, COVERED, on_nuggets=False)], judge="judge")) == "core sub-question"


def test_the_scores_are_means_over_answers_with_and_without_parts() -> None:
    said = nuggets_sentence(summarise(RESULTS, judge="judge"))

    assert said == (
        "Nugget scores of 2 answers: all 0.67, strictly 0.50; vital 0.62, strictly 0.50; weighted 0.65, strictly 0.50. "
        "2 nuggets in answers only in part."
    )


def test_the_judges_errors_on_questions_are_not_taken_for_those_on_statements() -> None:
    shift = CalibrationShift(0.1, 0.04, 5, 100, 80)
    known = JudgeKnowledge.of({"reply": shift, "passage": shift})
    row = RESULTS[0].coverage.sub_questions[0] if RESULTS[0].coverage else None

    assert row is not None
    asked = [result(1, COVERED), result(2, COVERED)]  # both nuggets have a question
    assert summarise(asked, judge="judge", known_of_judge=known).judge_error is not None
    assert summarise(RESULTS, judge="judge", known_of_judge=known).judge_error is None


def test_the_json_of_a_summary_has_scores_only_of_nuggets() -> None:
    on_nuggets = summary_document(summarise(RESULTS, judge="judge"))
    on_sub_questions = summary_document(summarise([result(3, COVERED, on_nuggets=False)], judge="judge"))

    assert on_nuggets["nuggets"]["scores"]["vital_strict"] == 0.5
    assert (on_nuggets["nuggets"]["traces"], on_nuggets["nuggets"]["of"], on_nuggets["nuggets"]["partial"]) == (2, 2, 2)
    assert "nuggets" not in on_sub_questions


def test_the_page_shows_nuggets_their_importance_and_parts(tmp_path: Path) -> None:
    write_report(tmp_path / "page.html", RESULTS, summarise(RESULTS, judge="judge"))

    page = re.sub(r"<[^>]+>", "", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "Nugget scores of 2 answers" in page
    assert "in part · 0.00" in page
    assert "Which fact? · vital" in page
    assert "okay · " in page
    assert "A text counts as covering a nugget" in page


def test_a_comparison_is_of_vital_nuggets() -> None:
    other = [replace(each, trace=each.trace.model_copy(update={"pipeline": "two"})) for each in RESULTS]

    found = comparison_headline(compare(evaluation(RESULTS), evaluation(other)))

    assert found.startswith("two covers 50% of the vital nuggets, one 50%")


def test_feedback_is_of_vital_nuggets() -> None:
    coverage = RESULTS[0].coverage

    assert coverage is not None
    assert feedback_on_coverage(coverage).startswith("The answer covers 1 of 2 vital nuggets.")
