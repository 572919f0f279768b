"""Who wins over whom, as it is shown: every figure with its interval, what is undefined with its reason, nothing that runs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from rag_cover.pairwise import PairVerdict, PairwiseComparison, UnjudgedPair, position_bias, win_rates_of
from rag_cover.pairwise.win_rates import Winner, overall_win_rate
from rag_cover.reports import winning_table, write_pairwise
from rag_cover.reports.pairwise import winning_view

EVIL = '<script>alert("x")</script>\u202e\x1b[31m'


def comparison_of(
    *told: PairVerdict,
    names: tuple[str, ...] = ("plain", "broad"),
    lacking: tuple[UnjudgedPair, ...] = (),
    judge: str = "a model",
) -> PairwiseComparison:
    return PairwiseComparison(
        pipelines=names,
        judge=judge,
        questions=len({each.question for each in told} | {each.question for each in lacking}),
        left_out=dict.fromkeys(names, 0) | {names[0]: 2},
        win_rates=win_rates_of(names, told, lacking),
        overall={name: overall_win_rate(name, told) for name in names},
        position_bias=position_bias(told),
        agreement=None,
        verdicts=told,
        unjudged=lacking,
        notes=("A note of its own.",),
    )


def verdicts(*winners: tuple[Winner, Winner], a: str = "plain", b: str = "broad") -> list[PairVerdict]:
    return [PairVerdict(str(number), a, b, ab, ba) for number, (ab, ba) in enumerate(winners)]


def printed(comparison: PairwiseComparison, *, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(winning_table(comparison))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def page_of(comparison: PairwiseComparison, folder: Path) -> str:
    write_pairwise(folder / "page.html", comparison)
    return (folder / "page.html").read_text(encoding="utf-8")


WON: tuple[Winner, Winner] = ("a", "a")
LOST: tuple[Winner, Winner] = ("b", "b")
CLEAR = verdicts(*[LOST] * 9, ("a", "b"))


def test_the_headline_says_who_wins_and_how_surely() -> None:
    text = " ".join(printed(comparison_of(*CLEAR)).split())

    assert "broad wins 95% against plain (95% interval 72–99, 10 questions)" in text
    assert "10 questions on both sides; 2 only in plain, left out. Judged by a model, in both orders." in text
    assert "the verdict changed with the order in 10% of 10 pairs" in text
    assert "A note of its own." in text


def test_of_two_pipelines_the_matrix_has_both_directions_and_says_which_is_clear() -> None:
    view = winning_view(comparison_of(*CLEAR))

    cells = [[cell and (cell.rate, cell.interval, cell.verdict) for cell in row.cells] for row in view.rows]
    assert cells == [[None, ("5%", "1–28", "worse")], [("95%", "72–99", "better"), None]]
    assert [(row.name.replace("\xa0", " "), row.wins, row.ties, row.losses) for row in view.pairs] == [
        ("A over B", "0", "1", "9")
    ]


def test_without_any_verdict_the_reason_stands_in_place_of_a_number(tmp_path: Path) -> None:
    lacking = tuple(UnjudgedPair(str(number), "plain", "broad", "timeout: 60 s", failed=True) for number in range(3))

    comparison = comparison_of(lacking=lacking)

    text = " ".join(printed(comparison).split())
    assert "Whose answers are better cannot be said: timeout: 60 s" in text
    assert "3 pairs without a verdict: timeout: 60 s" in text
    assert "0%" not in text
    assert "timeout: 60 s" in page_of(comparison, tmp_path)


def test_where_nobody_wins_that_is_said() -> None:
    view = winning_view(comparison_of(*verdicts(("a", "a"), ("b", "b"))))

    assert view.headline.text.startswith("No pipeline wins more often than it loses: 50% each")


def test_of_many_reasons_the_most_frequent_are_shown_and_the_others_counted() -> None:
    lacking = tuple(UnjudgedPair(str(number), "plain", "broad", f"reason {number}", failed=False) for number in range(8))

    notes = winning_view(comparison_of(lacking=lacking)).notes

    assert [note for note in notes if "without a verdict" in note] == [
        *(f"1 pair without a verdict: reason {number}" for number in range(5)),
        "3 more pairs without a verdict, for other reasons.",
    ]


@pytest.mark.parametrize(("order", "favoured"), [(("a", "b"), "first"), (("b", "a"), "second")])
def test_a_judge_that_favours_a_place_is_named(order: tuple[Winner, Winner], favoured: str) -> None:
    notes = winning_view(comparison_of(*verdicts(*[order] * 9))).notes

    assert f"The judge favours what is shown {favoured};" in notes[0]


def test_three_pipelines_fit_eighty_columns_with_a_rate_over_all() -> None:
    told = [*CLEAR, *verdicts(*[WON] * 4, b="deep"), *verdicts(("tie", "tie"), ("a", "b"), a="broad", b="deep")]

    text = printed(comparison_of(*told, names=("plain", "broad", "deep")))

    assert "over all" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "A over B" in text.replace("\xa0", " ")


def test_names_and_reasons_from_outside_are_shown_and_never_run(tmp_path: Path) -> None:
    lacking = (UnjudgedPair("9", EVIL, "broad", f"{EVIL} has no answer", failed=False),)
    comparison = comparison_of(*verdicts(("a", "a"), ("a", "b"), a=EVIL), names=(EVIL, "broad"), lacking=lacking, judge=EVIL)

    page, text = page_of(comparison, tmp_path), printed(comparison)

    assert page.count("<script>") == 1
    assert "&lt;script&gt;" in page
    assert not re.search("[\x1b\u202e]", page + text)
    assert "⟦RLO⟧" in page


def test_the_same_comparison_gives_the_same_page(tmp_path: Path) -> None:
    comparison = comparison_of(*CLEAR)

    assert page_of(comparison, tmp_path) == page_of(comparison, tmp_path)
