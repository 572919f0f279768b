from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_cover.errors import InvalidValueError, StoreError
from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_labels
from rag_cover.labelling import LabelSession
from rag_cover.questions import Role
from rag_cover.stores import read_corrections, read_label_file

OpenSession = Callable[..., LabelSession]


def _next(session: LabelSession) -> str:
    draw = session.next()
    assert draw is not None
    return draw.key


def test_every_label_is_in_the_file_with_how_it_was_picked(open_session: OpenSession) -> None:
    session = open_session()

    for grade in ("yes", "no", "partly", "skip"):
        session.say(_next(session), grade)

    labels = read_label_file(session.path)
    assert [label.label for label in labels[:4]] == [True, False, False, None]
    assert [label.partly for label in labels[:4]] == [False, False, True, False]
    assert labels[3].skipped
    assert {label.annotator for label in labels} == {"ada"}
    assert {(label.sampled, label.draw is None, label.population) for label in labels} == {
        ("random", False, 60),
        ("chosen", True, None),
    }


def test_a_session_goes_on_where_the_last_one_ended(open_session: OpenSession) -> None:
    first = open_session()
    for grade in ("yes", "skip", "no"):
        first.say(_next(first), grade)

    second = open_session()

    assert second.answered == first.answered
    assert second.next() == first.next()
    assert second.counts() == first.counts()


def test_two_annotators_of_one_file_do_not_see_each_others_labels(open_session: OpenSession) -> None:
    ada, bob = open_session(), open_session("bob")
    first = _next(ada)

    ada.say(first, "yes")

    assert _next(bob) == first
    assert open_session("bob").counts() == (0, 0, 0)


def test_undo_takes_labels_back_one_after_the_other_and_shows_them_again(open_session: OpenSession) -> None:
    session = open_session()
    keys = []
    for _ in range(3):
        keys.append(_next(session))
        session.say(keys[-1], "yes")

    undone = [session.undo(), session.undo()]

    assert undone == [keys[2], keys[1]]
    assert _next(session) == keys[1]
    assert session.counts()[0] == 1
    assert open_session().counts()[0] == 1
    session.say(keys[1], "no")
    assert [row.label for row in read_labels(session.path)] == [True, False]
    assert [session.undo(), session.undo(), session.undo()] == [keys[1], keys[0], None]


def test_a_label_given_anew_counts_once(open_session: OpenSession) -> None:
    session = open_session()
    key = _next(session)

    session.say(key, "yes")
    session.say(key, "no")

    assert session.counts()[0] == 1
    assert [row.label for row in read_labels(session.path)] == [False]


def test_a_chosen_verdict_that_the_random_order_reaches_becomes_part_of_the_sample(open_session: OpenSession) -> None:
    session = open_session(random_share=1.0)
    second = session.plan.random_order[1]
    session.say(second, "yes")
    assert session.answered[second].sampled == "chosen"

    session.say(session.plan.random_order[0], "no")

    assert (session.answered[second].sampled, session.answered[second].draw) == ("random", 2)
    assert not any(row.chosen for row in read_labels(session.path))
    assert open_session(random_share=1.0).answered == session.answered
    assert session.undo() == session.plan.random_order[0]  # the last key, not what was drawn in by it


def test_chosen_labels_are_known_as_such_by_those_who_read_the_file(open_session: OpenSession) -> None:
    session = open_session()
    for _ in range(10):
        session.say(_next(session), "yes")

    rows = read_labels(session.path)

    labels, drawn, _ = session.counts()
    assert sum(not row.chosen for row in rows) == drawn
    assert 0 < drawn < labels == len(rows)


def test_chosen_labels_change_no_headline(open_session: OpenSession, evaluation: Evaluation) -> None:
    session = open_session()
    while session.counts()[1] < 55:
        key = _next(session)
        session.say(key, "yes" if session.items[key].probability > 0.3 else "no")
    rows = read_labels(session.path)
    drawn = [row for row in rows if not row.chosen]
    assert len(drawn) < len(rows)

    both, random_alone = (evaluation.with_labels(each).summary().metrics["core_coverage"] for each in (rows, drawn))

    assert both.with_judge_error == random_alone.with_judge_error
    assert both.with_judge_error is not None
    assert f"{len(rows) - len(drawn)} labels are of chosen verdicts" in " ".join(evaluation.with_labels(rows).summary().notes)


def test_a_correction_is_kept_and_labels_from_then_on_are_of_it(open_session: OpenSession) -> None:
    session = open_session()
    key = _next(session)
    before = session.items[key]

    shown = session.correct(key, "  Which colour has the sky?", Role.BACKGROUND)
    session.say(key, "yes")

    (correction,) = read_corrections(session.path)
    assert (shown.facet, shown.role) == ("Which colour has the sky?", Role.BACKGROUND)
    assert (correction.corrects, correction.text, correction.role) == (before.facet, "Which colour has the sky?", "background")
    assert [label.sub_question for label in read_label_file(session.path)] == ["Which colour has the sky?"]
    again = open_session()
    assert again.shown(key).facet == "Which colour has the sky?"
    assert key in again.answered
    assert [row.question for row in read_labels(session.path)] == ["Which colour has the sky?"]


def test_a_correction_holds_for_every_text_of_the_question(open_session: OpenSession) -> None:
    session = open_session()
    item = session.items[_next(session)]
    same = [each for each in session.items.values() if (each.facet, each.cluster) == (item.facet, item.cluster)]

    session.correct(item.key, "Better?", None)

    assert len(same) > 1
    assert {session.shown(each.key).facet for each in same} == {"Better?"}


def test_what_is_no_verdict_no_grade_or_blank_is_refused_and_not_kept(open_session: OpenSession) -> None:
    session = open_session()

    with pytest.raises(InvalidValueError, match="no such verdict"):
        session.say("nobody", "yes")
    with pytest.raises(InvalidValueError, match="'maybe' is no grade"):
        session.say(_next(session), "maybe")  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="needs a text"):
        session.correct(_next(session), " ", None)
    assert not session.path.exists()


def test_a_label_that_cannot_be_written_is_not_counted(open_session: OpenSession) -> None:
    session = open_session(name="no/such/folder/run.labels.jsonl")

    with pytest.raises(StoreError, match="cannot be written"):
        session.say(_next(session), "yes")

    assert session.counts() == (0, 0, 0)


@pytest.mark.parametrize("torn", [b'{"question": "Why', b"\xff\xfe", b'{"question": "Why?"'])
def test_what_a_crash_left_of_a_line_is_cut_off_and_told(open_session: OpenSession, torn: bytes) -> None:
    session = open_session()
    session.say(_next(session), "yes")
    with session.path.open("ab") as file:
        file.write(torn)

    again = open_session()
    again.say(_next(again), "no")

    assert again.torn == torn
    assert open_session().counts()[0] == 2
    assert open_session().torn == b""


def test_a_whole_last_line_without_a_line_break_is_kept(open_session: OpenSession) -> None:
    session = open_session()
    session.say(_next(session), "yes")
    session.path.write_bytes(session.path.read_bytes().rstrip(b"\n"))

    again = open_session()
    again.say(_next(again), "no")

    assert again.torn == b""
    assert open_session().counts()[0] == 2


def test_labels_of_other_texts_in_the_file_do_no_harm(open_session: OpenSession, tmp_path: Path) -> None:
    line = json.dumps({"question": "Other?", "answer": "Other.", "label": True, "annotator": "ada"})
    (tmp_path / "run.labels.jsonl").write_text(line + "\n", "utf-8")

    session = open_session()

    assert session.counts() == (0, 0, 0)
