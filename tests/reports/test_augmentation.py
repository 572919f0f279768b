"""What augmenting retrieval changed, counted and shown: nothing undefined counts, and foreign texts do nothing."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from rag_cover.augmentation import Augmentation, Purchase, Sought
from rag_cover.backends import Failure
from rag_cover.questions import Passage, Question
from rag_cover.reports import augmentation_panel, before_and_after
from rag_cover.reports.augmentation import gain_sentence
from rag_cover.reports.gains import AugmentedQuestion, gains_of, select_most_changed
from rag_cover.traces import RetrievalStep, Trace

Verdicts = Sequence[tuple[bool | None, bool | None]]
VERDICTS = st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=4)


def augmented(
    verdicts: Verdicts,
    *,
    question: str = "Is it loud?",
    bought: Sequence[Purchase] = (),
    failures: Sequence[Failure] = (),
    notes: Sequence[str] = (),
    plain: Augmentation | Failure | None = None,
) -> AugmentedQuestion:
    sought = tuple(
        Sought(f"part {number}", f"part {number}", step=f"step-{number + 1}", covered_at_first=before, covered=after)
        for number, (before, after) in enumerate(verdicts, 1)
    )
    steps = (RetrievalStep(id="step-1", query=question), *(RetrievalStep(id=each.step, query=each.query) for each in bought))
    made = Augmentation(
        Question(question),
        "retrieval",
        sought,
        steps,
        (Passage("It is."),),
        bought=tuple(bought),
        failures=tuple(failures),
        notes=tuple(notes),
    )
    return AugmentedQuestion(Trace(question=question), made, plain)


def failed(question: str = "Why?") -> AugmentedQuestion:
    return AugmentedQuestion(Trace(question=question), Failure("retrieval", "the retriever failed on every search"))


def printed(renderable: RenderableType, *, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(renderable)
    return out.getvalue()


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_core_sub_questions_are_counted_before_and_after() -> None:
    results = [augmented([(True, True), (False, True), (False, False)]), augmented([(True, False)])]

    gains = gains_of(results, "retrieval")

    assert (gains.core, gains.covered_before, gains.covered) == (4, 2, 2)
    assert (gains.gained, gains.lost) == (1, 1)
    assert gains.gain is not None
    assert (gains.gain.estimate, gains.gain.n) == (0.0, 2)


def test_a_sub_question_that_was_not_judged_on_both_sides_counts_on_neither() -> None:
    gains = gains_of([augmented([(None, True), (True, True)])], "retrieval")

    assert (gains.core, gains.uncompared) == (1, 1)
    assert (gains.covered_before, gains.covered) == (1, 1)


def test_without_a_judged_sub_question_shares_are_undefined() -> None:
    gains = gains_of([augmented([]), failed()], "auto")

    assert (gains.before, gains.after, gains.gain, gains.utility) == (None, None, None, None)
    assert gain_sentence(gains) == "No core sub-question was judged before and after."


def test_plain_retrieval_says_what_was_there_before_where_it_was_asked() -> None:
    plain = augmented([(None, False)]).made

    with_plain = augmented([(True, True)], plain=plain)
    without_any = augmented([(True, True)], plain=Failure("retrieval", "down"))

    assert [(row.before, row.after) for row in with_plain.rows] == [(False, True)]
    assert without_any.rows == ()
    assert gains_of([without_any], "retrieval").uncompared == 1


def test_searches_beyond_the_questions_own_are_weighed() -> None:
    bought = [Purchase("step-2", "part 1", ("part 1",), 0.5), Purchase("step-3", "part 2", (), 0.1)]

    gains = gains_of([augmented([(False, True)], bought=bought), augmented([(True, True)])], "retrieval")

    assert (gains.searches, gains.extra, gains.paid) == (4, 2, 1)
    assert gains.utility is not None
    assert gains.utility.estimate == pytest.approx(0.3)
    assert "An extra search was worth +0.30 ΔSePer on average (no interval, 1 question)." in words(
        printed(augmentation_panel(gains, judge="words"), width=120)
    )


@given(st.lists(VERDICTS, max_size=6))
def test_counts_agree_with_each_other(many: list[Verdicts]) -> None:
    gains = gains_of([augmented(verdicts) for verdicts in many], "retrieval")

    assert gains.core + gains.uncompared == sum(map(len, many))
    assert gains.gained + gains.lost <= gains.questions == len(many)
    assert (gains.gain is None) == (gains.core == 0)
    if gains.gain and gains.before and gains.after:
        assert gains.gain.estimate == pytest.approx(gains.after.estimate - gains.before.estimate)
        assert gains.covered == pytest.approx(gains.after.estimate * gains.core)


def test_the_questions_that_gained_most_come_first() -> None:
    same, more = augmented([(True, True)], question="Same?"), augmented([(False, True)], question="More?")
    less = augmented([(True, False)], question="Less?")

    chosen = select_most_changed([less, same, failed(), more], limit=2)

    assert [each.asked.question.text for each in chosen] == ["More?", "Same?"]


def test_a_question_is_listed_with_the_search_that_brought_what_was_missing() -> None:
    bought = [Purchase("step-2", "part 1", ("part 1", "part 2"), 0.25)]

    listed = words(printed(before_and_after([augmented([(False, True), (False, True), (True, False)], bought=bought)])))

    assert "Is it loud? 1 → 2 of 3 core sub-questions" in listed
    assert "✗ → ✓ part 1 found by its own search, ΔSePer +0.25" in listed
    assert "✗ → ✓ part 2 found by the search for 'part 1', ΔSePer +0.25" in listed
    assert "✓ → ✗ part 3" in listed


def test_the_panel_says_what_changed_what_failed_and_what_was_left_out() -> None:
    down = Failure("retrieval", "the search for 'part 1' failed: OSError: down")
    note = "1 sub-question was not searched for: no more than 2 searches were allowed"
    results = [augmented([(False, True), (None, True)], failures=[down], notes=[note]), augmented([(True, True)], notes=[note])]

    shown = words(printed(augmentation_panel(gains_of([*results, failed()], "retrieval"), judge="words"), width=160))

    assert "The passages kept cover 100% of the core sub-questions; those found by the question alone, 50%." in shown
    assert "3 questions · by retrieval · judge words" in shown
    assert "gain +1 +50 points" in shown
    assert "Questions: 1 gained, 0 lost, 1 as before." in shown
    assert "1 question could not be augmented." in shown
    assert "Failed: retrieval: the search for 'part 1' failed: OSError: down" in shown
    assert f"· Left out (2 times): {note}" in shown
    assert "· 1 core sub-question not compared: not judged before and after." in shown


def test_many_failures_are_named_by_the_most_frequent() -> None:
    failures = [Failure("retrieval", f"search {number} failed") for number in range(7)]

    shown = words(printed(augmentation_panel(gains_of([augmented([], failures=failures)], "retrieval"), judge="words")))

    assert shown.count("Failed: retrieval: search") == 5
    assert "… and 2 more" in shown


def test_foreign_texts_are_shown_and_do_nothing() -> None:
    evil = "[red]Is \x1b[31mit\x1b[0m loud?"

    listed = printed(before_and_after([augmented([(True, True)], question=evil)]))
    panel = printed(augmentation_panel(gains_of([augmented([], notes=[evil])], "auto"), judge=evil))

    for text in (listed, panel):
        assert "\x1b" not in text
        assert "[red]Is ␛[31mit" in text
