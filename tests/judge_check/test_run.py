from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import JudgeCheck, LabelledText, check_judge
from rag_cover.backends import ScoringItem
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.judge_check.result import Agreement, JudgeThreshold
from rag_cover.stats.intervals import Interval
from rag_cover.testing import Counter, KeywordScorer, ScriptedScorer


@dataclass(frozen=True)
class Oracle:
    """Reads its probability from the text, and knows the canaries by their words no better than a counter of words."""

    threshold: float = 0.5
    asked: Counter = field(default_factory=Counter, compare=False)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.asked.count(len(items))
        return np.array([float(item.text) if item.text.startswith("0.") else 0.0 for item in items], dtype=np.float32)


def rows(
    labelled: int,
    unlabelled: int = 0,
    *,
    references: tuple[str, ...] = (),
    group: str | None = None,
    key: str | None = None,
) -> list[LabelledText]:
    """Make rows of questions of their own, covered with the probability that their text says."""
    rng = np.random.default_rng(0)
    drawn = [round(float(p), 3) for p in rng.uniform(0.01, 0.99, labelled + unlabelled)]
    said = [bool(rng.random() < p) if number < labelled else None for number, p in enumerate(drawn)]
    return [
        LabelledText(f"q{number}", f"{p:.3f}", label, references, group, key)
        for number, (p, label) in enumerate(zip(drawn, said, strict=True))
    ]


def of(block: Agreement | None) -> Agreement:
    assert block is not None
    return block


def test_a_case_worked_by_hand() -> None:
    labels = [
        LabelledText("a", "0.9", label=True),
        LabelledText("b", "0.8", label=False),
        LabelledText("c", "0.3", label=True),
        LabelledText("d", "0.1", label=False),
        LabelledText("e", "0.2", label=None),
    ]

    found = of(check_judge(labels, judge=Oracle()).reference_free)

    assert (found.labelled, found.positives, found.unlabelled, found.questions) == (4, 2, 1, 4)
    figures = (found.agreement, found.kappa, found.precision, found.recall, found.area_under_roc)
    assert [figure and figure.estimate for figure in figures] == [0.5, 0.0, 0.5, 0.5, 0.75]
    assert found.majority == 0.5
    assert found.calibration_error == pytest.approx((0.1 + 0.8 + 0.7 + 0.1) / 4)
    assert [(each.text, each.label) for each in found.disagreements] == [("0.8", False), ("0.3", True)]


def test_a_calibrated_judge_is_found_calibrated_and_its_threshold_kept() -> None:
    found = of(check_judge(rows(2000), judge=Oracle()).reference_free)

    assert found.calibration_error is not None
    assert found.calibration_error < 0.04
    assert len(found.reliability) == 10
    assert found.threshold.fitted == pytest.approx(0.5, abs=0.15)
    assert not found.threshold.is_better


def test_a_wrong_threshold_is_found_out() -> None:
    fit = of(check_judge(rows(400), judge=Oracle(threshold=0.9)).reference_free).threshold

    assert fit.is_better
    assert fit.shipped == 0.9
    assert fit.fitted == pytest.approx(0.5, abs=0.2)


def test_rows_with_references_are_another_judgment_with_another_cut() -> None:
    mixed = [*rows(60), *rows(80, references=("Ada",))]

    check = check_judge(mixed, judge=Oracle(threshold=0.3))

    assert (of(check.reference_free).labelled, of(check.reference_free).cut) == (60, 0.3)
    assert (of(check.with_references).labelled, of(check.with_references).cut) == (80, 0.5)


def test_unlabelled_rows_make_the_share_surer() -> None:
    (share,) = of(check_judge(rows(100, 2000), judge=Oracle()).reference_free).shares

    assert share.weight is not None
    assert share.weight > 0.5
    assert share.by_labels is not None
    assert share.powered is not None
    assert share.by_labels.upper is not None
    assert share.powered.upper is not None
    assert share.powered.upper - share.powered.estimate < 0.9 * (share.by_labels.upper - share.by_labels.estimate)


def test_shares_are_given_by_group_where_it_has_labels_enough() -> None:
    labels = [*rows(60, 200, group="core"), *rows(49, 200, group="background")]

    shares = {share.group: share for share in of(check_judge(labels, judge=Oracle()).reference_free).shares}

    assert list(shares) == [None, "background", "core"]
    assert shares["core"].powered is not None
    assert (shares["background"].powered, shares["background"].by_labels) == (None, None)
    assert shares["background"].undefined_because == "49 labels; an interval needs 50"


def test_many_labels_of_few_questions_are_few() -> None:
    (share,) = of(check_judge(rows(60, 60, key="one"), judge=Oracle()).reference_free).shares

    assert (share.powered, share.undefined_because) == (None, "1 labelled question; an interval needs 10")


def test_labels_that_all_say_the_same_have_no_interval() -> None:
    labels = [LabelledText(f"q{number}", "0.7", label=True) for number in range(60)]

    found = of(check_judge(labels, judge=Oracle()).reference_free)

    assert found.shares[0].undefined_because == "all labels say the same, so nothing tells how they spread"
    assert found.threshold.fitted is None
    assert found.area_under_roc is None


def test_without_unlabelled_rows_the_labels_are_alone() -> None:
    (share,) = of(check_judge(rows(60), judge=Oracle()).reference_free).shares

    assert share.by_labels is not None
    assert (share.powered, share.weight) == (None, None)
    assert share.undefined_because == "there are no unlabelled rows, which the judge could stand in for"


def test_a_block_without_labels_has_the_judge_s_share_and_nothing_else() -> None:
    check = check_judge([*rows(60), *rows(0, 20, references=("Ada",))], judge=Oracle())

    found = of(check.with_references)
    assert (found.labelled, found.unlabelled, found.agreement, found.majority, found.reliability) == (0, 20, None, None, ())
    assert 0 < found.shares[0].judged < 1


def test_a_sample_that_is_not_random_is_noted() -> None:
    labels = [LabelledText(f"q{n}", f"0.{80 + n % 9}", label=n % 5 > 0) for n in range(60)]
    others = [LabelledText(f"u{n}", f"0.{10 + n % 9}", label=None) for n in range(300)]

    check = check_judge(labels, judge=Oracle(), unlabelled=others)

    (note,) = check.notes
    assert note.startswith("the judge's probabilities are 0.70 higher on labelled than on unlabelled rows")
    assert note.endswith("shares covered from both do not hold")


def test_rows_that_are_labelled_and_unlabelled_count_once() -> None:
    labels = rows(60)

    check = check_judge(labels, judge=Oracle(), unlabelled=[LabelledText(row.question, row.text, None) for row in labels[:7]])

    assert of(check.reference_free).unlabelled == 0
    assert check.notes == ("7 unlabelled rows are among the labelled ones too, and counted there alone",)


def test_texts_that_are_labelled_both_ways_are_noted() -> None:
    both = [LabelledText("a", "0.9", label=label) for label in (True, False)]

    (note,) = check_judge([*both, LabelledText("b", "0.1", label=False)], judge=Oracle()).notes

    assert note == "1 of 2 labelled texts are labelled both ways; no judge can agree with both"


def test_a_judge_that_counts_words_fails() -> None:
    check = check_judge([LabelledText("Is the sky blue?", "The sky is blue.", label=True)], judge=KeywordScorer())

    assert not check.passed
    assert check.failed_because is not None
    assert "plain cases of answering are judged wrongly" in check.failed_because


def test_each_text_is_judged_once() -> None:
    judge = Oracle()

    check_judge([*rows(30), *rows(30)], judge=judge)

    assert judge.asked.items == 30 + 46  # and the canaries


def test_a_check_goes_to_json_and_back_without_loss() -> None:
    check = check_judge([*rows(60, 60, group="core"), *rows(20, references=("Ada",))], judge=ScriptedScorer(default=0.7))

    data = json.loads(json.dumps(check.to_dict(), allow_nan=False))

    assert data == check.to_dict()
    assert JudgeCheck.from_dict(data) == check


def test_the_same_labels_give_the_same_figures() -> None:
    assert check_judge(rows(60, 20), judge=Oracle()) == check_judge(rows(60, 20), judge=Oracle())


def test_labels_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("question,text,label\na,0.9,1\nb,0.2,0\n")
    (tmp_path / "more.csv").write_text("question,text\nc,0.4\n")

    check = check_judge(tmp_path / "labels.csv", judge=Oracle(), unlabelled=tmp_path / "more.csv")

    assert (of(check.reference_free).labelled, of(check.reference_free).unlabelled) == (2, 1)


def test_labels_without_a_label_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="no row has a label"):
        check_judge(rows(0, 5), judge=Oracle())


def test_a_label_among_the_unlabelled_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="an unlabelled row has a label"):
        check_judge(rows(5), judge=Oracle(), unlabelled=rows(1))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        check_judge(tmp_path / "labels.csv", judge=Oracle())


def test_chosen_rows_fit_the_threshold_and_change_no_other_figure() -> None:
    drawn = rows(60, 40)
    chosen = [LabelledText(f"c{number}", "0.52", label=False, chosen=True) for number in range(40)]

    without, both = (of(check_judge(each, judge=Oracle()).reference_free) for each in (drawn, [*drawn, *chosen]))

    assert both.threshold.fitted is not None
    assert both.threshold.fitted > 0.52
    assert replace(both, threshold=without.threshold) == without
    assert "40 labels of texts that were chosen" in check_judge([*drawn, *chosen], judge=Oracle()).notes[0]


def test_no_share_rests_on_chosen_rows_alone() -> None:
    chosen = [replace(row, chosen=row.label is not None) for row in rows(60, 40)]

    check = check_judge(chosen, judge=Oracle())

    (share,) = of(check.reference_free).shares
    assert (share.by_labels, share.powered) == (None, None)
    assert share.undefined_because == "the labelled rows were chosen, and are no random sample"
    assert any("it does better on others" in note for note in check.notes)


def test_a_chosen_row_that_is_among_the_unlabelled_ones_counts_there() -> None:
    drawn = rows(60)
    chosen = [LabelledText("c", "0.7", label=False, chosen=True)]
    others = [LabelledText(f"u{number}", f"0.{10 + number}", None) for number in range(30)]

    check = check_judge([*drawn, *chosen], judge=Oracle(), unlabelled=[*others, LabelledText("c", "0.7", None)])

    assert of(check.reference_free).unlabelled == 31


@pytest.mark.parametrize(("questions", "better"), [(9, False), (10, True)])
def test_a_cut_from_few_questions_is_never_clearly_better(questions: int, *, better: bool) -> None:
    gain = Interval(0.5, 0.2, 0.8, questions)

    assert JudgeThreshold(0.5, 0.9, gain, gain).is_better == better
