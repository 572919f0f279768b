"""A judge's check in the terminal: 80 columns, every reason said, and nothing that foreign text could do to it."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from rag_cover.judge_check import JudgeCheck
from rag_cover.judge_check.run import check_judge
from rag_cover.labels import LabelledText
from rag_cover.reports import check_panels
from rag_cover.testing import KeywordScorer

HOSTILE = "Is the sky blue? [red]\x1b[2J"


def labels(count: int, unlabelled: int = 0, references: tuple[str, ...] = ()) -> list[LabelledText]:
    return [
        LabelledText(
            f"Is the sky number {number} blue?",
            "The sky is blue" if number % 3 else "Grass grows",
            (number % 4 > 0) if number < count else None,
            references,
            group=("core", "background", "follow-up", "a group with a very long name")[number % 4],
        )
        for number in range(count + unlabelled)
    ]


def printed(check: JudgeCheck, *, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=80, no_color=True, color_system=None).print(check_panels(check))
    stream.seek(0)
    return stream.read()


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_everything_fits_80_columns() -> None:
    check = check_judge([*labels(1200, 300), *labels(60, references=("yes",))], judge=KeywordScorer())

    assert max(map(len, printed(check).splitlines())) <= 80


def test_the_two_kinds_of_rows_have_a_panel_each() -> None:
    shown = printed(check_judge([*labels(8), *labels(9, references=("yes",))], judge=KeywordScorer(threshold=0.4)))

    assert "─ Without references ─" in shown
    assert "─ With references ─" in shown
    assert "8 labels of 8 questions, 6 covered; 0 unlabelled rows; no references; covered from 0.4 on" in words(shown)
    assert "9 labels of 9 questions, 6 covered; 0 unlabelled rows; references; covered from 0.5 on" in words(shown)


def test_a_threshold_is_passed_on_only_where_evaluate_uses_it() -> None:
    free = words(printed(check_judge(labels(60), judge=KeywordScorer())))
    referred = words(printed(check_judge(labels(60, references=("yes",)), judge=KeywordScorer())))

    assert "with rag-cover evaluate" in free
    assert "--threshold" not in referred


def test_few_labels_are_said_to_be_few() -> None:
    shown = words(printed(check_judge(labels(8, 20), judge=KeywordScorer())))

    assert "No interval for all: 8 labels; an interval needs 50." in shown


def test_a_judge_that_fails_is_named_first() -> None:
    check = check_judge(labels(8), judge=KeywordScorer())

    shown = words(printed(check))

    assert shown.startswith("The judge fails: ")
    assert "to “What is the capital of France?” is judged as" in shown


def test_notes_are_shown() -> None:
    check = replace(check_judge(labels(8), judge=KeywordScorer()), notes=("the moon is full",))

    assert "Take care: the moon is full." in words(printed(check))


def test_foreign_text_does_nothing() -> None:
    shown = printed(check_judge([LabelledText(HOSTILE, "The sky is blue", label=False)], judge=KeywordScorer()))

    assert "[red]␛[2J" in shown
    assert "\x1b" not in shown


def test_a_terminal_without_unicode_gets_plain_characters() -> None:
    assert printed(check_judge(labels(60, 20), judge=KeywordScorer()), encoding="ascii").isascii()


def test_the_worst_disagreements_are_counted() -> None:
    check = check_judge(labels(100), judge=KeywordScorer())

    assert check.reference_free is not None
    assert len(check.reference_free.disagreements) == 10
    assert f"The worst of {check.reference_free.disagreeing} disagreements" in words(printed(check))
