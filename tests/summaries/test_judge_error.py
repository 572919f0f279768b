"""What the judge's errors do to the figures of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Question, SubQuestion, Trace, evaluate
from rag_cover.backends import CalibrationShift, Mode, ScoringItem
from rag_cover.coverage import Loss
from rag_cover.evaluation.comparison import compare
from rag_cover.label_matches import LabelMatches
from rag_cover.labels import LabelledText
from rag_cover.reports.comparison import comparison_headline
from rag_cover.reports.text import controls_sentence, headline, judge_error_sentence, loss_error_sentence
from rag_cover.summaries import Summary
from rag_cover.traces import RetrievalStep


class SpokenScorer:
    """Reads the probability off the text's last word; a text without one answers nothing."""

    threshold = 0.5

    def __init__(self, shifts: dict[Mode, CalibrationShift] | None = None) -> None:
        if shifts is not None:
            self.calibration_shifts = shifts

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return np.array([_spoken(item.text) for item in items], dtype=np.float32)


def _spoken(text: str) -> float:
    try:
        return float(text.rsplit(maxsplit=1)[-1])
    except (ValueError, IndexError):
        return 0.0


KNOWN = CalibrationShift(shift=0.0, spread=0.5, sets=9, labels=1000, agreed=800)


def _traces(number: int = 40) -> list[Trace]:
    shares = np.random.default_rng(0).uniform(0.05, 0.95, size=number)
    return [
        Trace(
            question=Question(f"What of {index}?"),
            answer=f"It says {share:.3f}",
            sub_questions=(SubQuestion(f"sub {index}?", role="core"),),
            steps=(RetrievalStep.model_validate({"passages": ["passage 0.9", "passage 0.1"]}),),
            prompt=("passage 0.9",),
        )
        for index, share in enumerate(shares)
    ]


def _evaluated(shifts: dict[Mode, CalibrationShift] | None, store: Path | None = None) -> Evaluation:
    return evaluate(_traces(), measures=["coverage"], models=Models(judge=SpokenScorer(shifts)), store=store)


def _width(summary: Summary) -> float:
    found = summary.metrics["core_coverage"].with_judge_error
    assert found is not None
    assert found.lower is not None
    assert found.upper is not None
    return found.upper - found.lower


def test_a_judge_of_whose_errors_nothing_is_known_adds_nothing() -> None:
    summary = _evaluated(None).summary()

    assert summary.judge_error is None
    assert summary.metrics["core_coverage"].with_judge_error is None
    assert judge_error_sentence(summary) == loss_error_sentence(summary) == ""


def test_known_errors_widen_the_interval_and_are_told() -> None:
    summary = _evaluated({"reply": KNOWN, "passage": KNOWN}).summary()
    plain = summary.metrics["core_coverage"].interval

    assert plain is not None
    assert plain.lower is not None
    assert plain.upper is not None
    assert _width(summary) > 0.8 * (plain.upper - plain.lower)
    assert summary.judge_error is not None
    assert not summary.judge_error.own_labels
    assert "80% of 1,000 labels of 9 test sets" in judge_error_sentence(summary)
    assert set(summary.judge_error.losses) == {Loss.UNUSED, Loss.DROPPED, Loss.NOT_RETRIEVED}
    assert summary.judge_error.losses[Loss.UNUSED].estimate > summary.judge_error.losses[Loss.NOT_RETRIEVED].estimate
    assert "in the prompt and not used" in loss_error_sentence(summary)
    assert summary.metrics["abstentions"].with_judge_error is None


def test_few_labels_of_these_answers_make_it_surer() -> None:
    evaluation = _evaluated({"reply": KNOWN})
    labels = [_label(trace, yes=_spoken(trace.answer or "") >= 0.5) for trace in _traces()[:30]]

    summary = evaluation.with_labels(labels).summary()

    assert _width(summary) < _width(evaluation.summary())
    assert summary.judge_error is not None
    assert summary.judge_error.own_labels
    assert summary.judge_error.agreement.labels == summary.judge_error.agreement.agreed == 30
    assert "People labelled 30 verdicts." in judge_error_sentence(summary)
    assert "it agrees with 100% of the labels. From 50 labels on" in judge_error_sentence(summary)


def test_from_fifty_labels_on_a_share_rests_on_them() -> None:
    evaluation = evaluate(_traces(80), measures=["coverage"], models=Models(judge=SpokenScorer()))
    labels = [_label(trace, yes=index % 4 == 0) for index, trace in enumerate(_traces(80))]

    found = evaluation.with_labels(labels).summary().metrics["core_coverage"].with_judge_error

    assert found is not None
    assert found.estimate == pytest.approx(0.25)


def test_a_share_of_which_all_verdicts_are_labelled_is_that_of_the_labels() -> None:
    traces = _traces()[:12]
    evaluation = evaluate(traces, measures=["coverage"], models=Models(judge=SpokenScorer({"reply": KNOWN})))

    some = evaluation.with_labels([_label(trace, yes=index % 4 == 0) for index, trace in enumerate(traces)]).summary()
    none = evaluation.with_labels([_label(trace, yes=False) for trace in traces]).summary()

    found, zero = some.metrics["core_coverage"].with_judge_error, none.metrics["core_coverage"].with_judge_error
    assert found is not None
    assert zero is not None
    assert some.judge_error is not None
    assert some.judge_error.all_labelled
    assert found.estimate == pytest.approx(0.25)
    assert (zero.estimate, zero.lower) == (0.0, 0.0)
    assert 0.1 < (zero.upper or 0) < 0.3
    assert "People labelled all 12 verdicts. The judge alone says" in judge_error_sentence(some)
    assert headline(some).text.startswith("Answers cover 25% of the core sub-questions")
    assert "(by people’s labels, 95% interval" in headline(some).text


def test_one_labelled_question_has_the_labels_share_without_an_interval() -> None:
    evaluation = evaluate(_traces()[-1:], measures=["coverage"], models=Models(judge=SpokenScorer({"reply": KNOWN})))
    said = _spoken(_traces()[-1].answer or "") >= 0.5

    summary = evaluation.with_labels([_label(_traces()[-1], yes=not said)]).summary()

    expected = f"Answers cover {'0%' if said else '100%'} of the core sub-questions"
    assert headline(summary).text.startswith(expected)
    assert "(by people’s labels, no interval from a single question, 1 question)" in headline(summary).text


def test_where_some_are_labelled_headline_losses_and_corpus_follow_the_labels() -> None:
    traces = _traces()[:12]
    evaluation = evaluate(traces, measures=["coverage"], models=Models(judge=SpokenScorer({"reply": KNOWN, "passage": KNOWN})))

    summary = evaluation.with_labels([_label(trace, yes=False) for trace in traces[:6]]).summary()
    yes = evaluation.with_labels([_label(trace, yes=True) for trace in traces]).summary()

    assert summary.judge_error is not None
    assert (summary.judge_error.own_labels, summary.judge_error.rests_on_labels) == (True, False)
    assert "(with people’s labels, 95% interval" in headline(summary).text
    assert sum(summary.losses.values()) + summary.unclear_losses >= 6
    assert sum(yes.losses.values()) + yes.unclear_losses == 0


def test_a_comparison_of_which_all_is_labelled_is_of_what_people_find() -> None:
    evaluation = _evaluated({"reply": KNOWN})
    none, all_of = ([_label(trace, yes=yes) for trace in _traces()] for yes in (False, True))

    found = compare(evaluation.with_labels(all_of), evaluation.with_labels(none))

    metric = found.metrics["core_coverage"]
    assert found.by_labels
    assert metric.a is not None
    assert metric.b is not None
    assert (metric.a.estimate, metric.b.estimate, metric.with_judge_error) == (1.0, 0.0, None)
    assert sum(found.losses_a.values()) == 0
    assert sum(found.losses_b.values()) + found.unclear_b == 40
    assert "(by people’s labels, −100.0 points, p < 0.001, 40 questions)" in comparison_headline(found)


def test_all_figures_are_people_s_where_all_is_labelled() -> None:
    labels = [_label(trace, yes=False) for trace in _traces()]

    summary = _evaluated({"reply": KNOWN, "passage": KNOWN}).with_labels(labels).summary()

    assert summary.metrics["core_coverage"].interval is not None
    assert summary.metrics["core_coverage"].interval.estimate == 0.0
    assert summary.judge_error is not None
    assert summary.judge_error.losses == {}
    assert 0.3 < (summary.judge_error.judged or 0) < 0.8
    assert f"it agrees with {summary.judge_error.agreement.agreed / 40:.0%} of the labels" in judge_error_sentence(summary)


def test_a_comparison_counts_losses_by_the_judge_on_both_sides() -> None:
    evaluation = evaluate(_traces(), measures=["coverage"], models=Models(judge=SpokenScorer({"reply": KNOWN})))
    labelled = evaluation.with_labels([_label(trace, yes=False) for trace in _traces()])

    found = compare(labelled, evaluation)

    assert found.losses_a == found.losses_b


@settings(max_examples=20)
@given(st.lists(st.booleans(), min_size=1, max_size=11))
def test_few_labels_leave_no_share_that_they_rule_out(labels: list[bool]) -> None:
    traces = _traces()[:12]
    evaluation = evaluate(traces, measures=["coverage"], models=Models(judge=SpokenScorer({"reply": KNOWN})))

    given_labels = [_label(trace, yes=yes) for trace, yes in zip(traces, labels, strict=False)]
    found = evaluation.with_labels(given_labels).summary().metrics["core_coverage"].with_judge_error

    assert found is not None
    assert sum(labels) / 12 - 0.01 <= found.estimate <= (12 - labels.count(False)) / 12 + 0.01
    assert 0 <= (found.lower or 0) <= found.estimate <= (found.upper or 1) <= 1


def test_labels_of_other_answers_are_not_used_and_a_note_says_so() -> None:
    other = LabelledText("sub 1?", "Another.", label=True, user_question="What?")

    summary = _evaluated({"reply": KNOWN}).with_labels([other]).summary()

    assert any("no label is of" in note for note in summary.notes)
    assert "0 of 1 labels of people are used; 1 is of a question that is not here" in summary.notes
    assert summary.labels == LabelMatches(1, 0, questions=1)
    assert summary.judge_error is not None
    assert not summary.judge_error.own_labels


def test_a_store_keeps_what_is_known_of_the_judge(tmp_path: Path) -> None:
    evaluation = _evaluated({"reply": KNOWN, "passage": KNOWN}, tmp_path / "kept.sqlite")

    opened = Evaluation.open(tmp_path / "kept.sqlite")

    assert opened.shifts == {"reply": KNOWN, "passage": KNOWN}
    assert opened.summary() == evaluation.summary()


def test_a_comparison_tells_the_difference_that_people_would_find() -> None:
    models = Models(judge=SpokenScorer({"reply": KNOWN}))
    better = [trace.model_copy(update={"answer": "It says 0.97"}) for trace in _traces()]
    a, b = evaluate(_traces(), models=models, measures=["coverage"]), evaluate(better, models=models, measures=["coverage"])

    found = compare(a, b).metrics["core_coverage"].with_judge_error

    assert found is not None
    assert found.lower is not None
    assert 0 < found.lower < found.estimate < 1
    assert compare(a, a).metrics["core_coverage"].with_judge_error is not None


def test_answers_that_say_nothing_are_tried_on_the_same_questions() -> None:
    summary = _evaluated(None).summary()

    assert controls_sentence(summary) == "An answer that only repeats the questions would score 0%, a refusal 0%."


def _label(trace: Trace, *, yes: bool) -> LabelledText:
    assert trace.sub_questions
    return LabelledText(trace.sub_questions[0].text, trace.answer or "", yes, user_question=trace.question.text)
