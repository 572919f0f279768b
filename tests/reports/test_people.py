"""The judge beside people."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from rag_cover import Evaluation, Models, Question, SubQuestion, Trace, evaluate
from rag_cover.demo.labelled import read_labelled_answers
from rag_cover.labels import LabelledText
from rag_cover.measures import TraceResult
from rag_cover.reports.people import LabelComparison, compare_with_labels, people_table
from rag_cover.summaries import JudgeKnowledge
from rag_cover.testing import KeywordScorer


def _known(*labels: tuple[str, str, bool]) -> JudgeKnowledge:
    return JudgeKnowledge.of({}, [LabelledText(asked, text, said, user_question="Q?") for asked, text, said in labels])


def _evaluation(answer: str) -> Evaluation:
    asked = (
        SubQuestion("red paint?", role="core"),
        SubQuestion("green sky?", role="core"),
        SubQuestion("x?", role="background"),
    )
    trace = Trace(question=Question("What?"), answer=answer, sub_questions=asked)
    return evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()))


def _results(answer: str) -> list[TraceResult]:
    return list(_evaluation(answer).results)


def _shown(*sides: LabelComparison) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(people_table(sides))
    return out.getvalue()


def test_only_labelled_core_sub_questions_count_and_differences_are_listed() -> None:
    found = compare_with_labels(
        "a", _results("red paint"), _known(("red paint?", "red paint", False), ("x?", "red paint", True))
    )

    assert (found.labels, found.judge, found.people) == (1, 1, 0)
    assert [each.sub_question for each in found.differences] == ["red paint?"]
    assert "people: no, judge: yes" in _shown(found)
    assert "0% of 1 verdict" in _shown(found)


def test_agreement_is_no_difference() -> None:
    found = compare_with_labels(
        "a", _results("red paint"), _known(("red paint?", "red paint", True), ("green sky?", "red paint", False))
    )

    assert (found.labels, found.judge, found.people, found.differences) == (2, 1, 1, ())
    assert "100% of 2 verdicts" in _shown(found)


def test_a_report_with_labels_shows_judge_and_people_and_both_verdicts_where_they_differ(tmp_path: Path) -> None:
    evaluation = _evaluation("red paint")
    labels = [LabelledText("red paint?", "red paint", label=False, user_question="Q?")]

    evaluation.with_labels(labels).to_html(tmp_path / "labelled.html")
    evaluation.to_html(tmp_path / "plain.html")

    shown = " ".join(re.sub("<[^>]*>", " ", (tmp_path / "labelled.html").read_text(encoding="utf-8")).split())
    assert "Of 1 labelled core sub-question, answers cover: the judge says 100%, people say 0%; they agree on 0%." in shown
    assert re.search(r"red paint\? red paint no yes \(", shown)
    assert "Judge and people" not in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_labels_of_other_answers_are_none() -> None:
    found = compare_with_labels("a", _results("red paint"), _known(("red paint?", "another", True)))

    assert found.labels == 0
    assert "No label is of" in _shown(found)


def test_the_demo_s_labels_are_of_its_answers() -> None:
    rows = read_labelled_answers("narrow")

    assert len(rows) == 148
    assert all(row.user_question and row.label is not None for row in rows)
