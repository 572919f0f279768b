"""What a notebook shows of an evaluation."""

from __future__ import annotations

from dataclasses import replace

from rag_cover import Models, Question, SubQuestion, Trace, evaluate
from rag_cover.reports.notebook import summary_fragment
from rag_cover.summaries import Summary
from rag_cover.testing import KeywordScorer


def test_it_says_the_headline_and_every_metric_that_has_a_value(summary: Summary) -> None:
    page = summary_fragment(summary)

    assert page.count("<tr>") == 1 + sum(metric.interval is not None for metric in summary.metrics.values())
    assert "Answers cover" in page
    assert "undefined" not in page


def test_nothing_in_it_can_run(summary: Summary) -> None:
    page = summary_fragment(replace(summary, judge="<script>alert(1)</script>"))

    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_an_evaluation_shows_itself() -> None:
    trace = Trace(question=Question("What?"), answer="red paint", sub_questions=(SubQuestion("red paint?", role="core"),))

    page = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()))._repr_html_()

    assert "Answers cover <" not in page
    assert "100%" in page
