"""Which labels are of texts that an evaluation holds, and what is said of the others."""

from __future__ import annotations

from rag_cover.label_matches import HeldTexts, LabelMatches, LabelPlace, match_labels
from rag_cover.labels import LabelledText
from rag_cover.questions import Question

ANSWER = "Air scatters light."


def _label(asked: str = "Why is it blue?", text: str = ANSWER, *, chosen: bool = False) -> LabelledText:
    return LabelledText(asked, text, label=True, user_question="Why is the sky blue?", chosen=chosen)


def _matches(*rows: LabelledText) -> LabelMatches:
    held = HeldTexts(map(LabelPlace.of_row, rows))
    held.add_question(Question("Why is the sky BLUE", id="q1"), "t1")
    held.add_text("why is it blue", "air scatters  light")
    held.add_text("does it rain", "no")
    return match_labels(rows, held)


def test_a_label_is_matched_up_to_case_white_space_and_the_mark_at_the_end() -> None:
    assert _matches(_label()) == LabelMatches(1, 1)


def test_each_label_that_is_not_used_has_one_reason() -> None:
    elsewhere = LabelledText("Who?", "Me.", label=True, user_question="Who?")
    passage = LabelledText("Why is it blue?", ANSWER, label=True)

    found = _matches(
        _label(),
        elsewhere,
        _label("Does it snow?"),
        _label(text="Dust."),
        passage,
        _label("Does it rain?", "No.", chosen=True),
        _label(),
    )

    assert found == LabelMatches(7, 1, questions=1, sub_questions=1, texts=1, passages=1, chosen=1, repeated=1)
    assert found.reasons == (
        "1 is of a question that is not here, 1 is of a sub-question that is not asked here, "
        "1 is of an answer that is not here, 1 is of a passage, which no figure rests on, 1 is of a chosen verdict, "
        "1 is of an answer that another label is of"
    )


def test_a_drawn_label_is_used_whatever_was_chosen_before_it_and_one_of_several_of_a_text() -> None:
    other = LabelledText("Why is it blue?", ANSWER, label=True, user_question="Why is the sky blue?", key="t1")

    assert _matches(_label(chosen=True), _label()) == LabelMatches(2, 1, chosen=1)
    assert _matches(_label(), other) == LabelMatches(2, 1, repeated=1)


def test_a_key_names_the_question_by_its_id_or_its_trace() -> None:
    rows = [LabelledText("Who?", "Me.", label=True, key=key, user_question="Who?") for key in ("q1", "t1", "q2")]

    found = _matches(*rows)

    assert (found.questions, found.sub_questions) == (1, 2)
