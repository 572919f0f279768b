from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_cover.errors import InputError, StoreError
from rag_cover.importers import read_labels
from rag_cover.judge_check.run import check_judge
from rag_cover.labels import LabelledText
from rag_cover.stores import Label, Store, append_labels, current_labels, labels_beside, read_label_file
from rag_cover.testing import KeywordScorer

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANSWERED = Label(
    question="Why is the sky blue?",
    sub_question="What does air scatter most?",
    role="core",
    answer="Air scatters blue light most.",
    label=True,
    trace_id="t1",
    question_id="q1",
    annotator="ada",
    labelled_at=NOON,
)
PASSAGE = Label(question="Why is the sky blue?", passage="Dust settles.", passage_id="p2", label=False, annotator="ada")


def test_labels_are_read_as_they_were_appended(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"

    counts = [append_labels(path, [ANSWERED]), append_labels(path, []), append_labels(path, [PASSAGE, ANSWERED])]

    assert counts == [1, 0, 2]
    assert read_label_file(path) == (ANSWERED, PASSAGE, ANSWERED)


def test_a_line_holds_what_was_said_of_what_by_whom(tmp_path: Path) -> None:
    append_labels(tmp_path / "labels.jsonl", [ANSWERED])

    assert json.loads((tmp_path / "labels.jsonl").read_text("utf-8")) == {
        "question": "Why is the sky blue?",
        "sub_question": "What does air scatter most?",
        "role": "core",
        "answer": "Air scatters blue light most.",
        "label": True,
        "trace_id": "t1",
        "question_id": "q1",
        "annotator": "ada",
        "labelled_at": "2026-01-31T12:00:00Z",
    }


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(str.strip)


@given(
    st.builds(
        Label,
        question=TEXT,
        sub_question=st.none() | TEXT,
        role=st.sampled_from([None, "core", "follow-up"]),
        references=st.lists(TEXT, max_size=2).map(tuple),
        answer=TEXT,
        label=st.booleans(),
        trace_id=st.none() | TEXT,
        annotator=st.none() | TEXT,
        labelled_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    )
)
def test_any_label_survives_its_own_json(label: Label) -> None:
    assert Label.model_validate_json(label.to_json()) == label
    assert "\n" not in label.to_json()


def test_a_judge_is_checked_by_a_file_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    append_labels(path, [ANSWERED, PASSAGE])

    rows = read_labels(path)
    check = check_judge(path, judge=KeywordScorer())

    asked, answer = "What does air scatter most?", "Air scatters blue light most."
    reply = LabelledText(asked, answer, label=True, group="core", key="q1", user_question="Why is the sky blue?")
    assert rows == (reply, LabelledText("Why is the sky blue?", "Dust settles.", label=False))
    assert check.reference_free is not None
    assert check.reference_free.labelled == 2


def test_the_last_label_of_a_person_counts(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    corrected = ANSWERED.model_copy(update={"label": False, "labelled_at": None})
    other, elsewhere = (ANSWERED.model_copy(update=change) for change in ({"annotator": "bob"}, {"trace_id": "t2"}))
    nobody = ANSWERED.model_copy(update={"annotator": None})
    append_labels(path, [ANSWERED, other, elsewhere, nobody, nobody, corrected])

    found = current_labels(read_label_file(path))

    assert found == (corrected, other, elsewhere, nobody, nobody)
    assert [row.label for row in read_labels(path)] == [False, True, True, True, True]


def test_what_was_settled_takes_nothing_back() -> None:
    settled = ANSWERED.model_copy(update={"label": False, "adjudicated": True})

    assert current_labels([ANSWERED, settled]) == (ANSWERED, settled)


def test_labels_of_many_threads_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    labels = [ANSWERED.model_copy(update={"trace_id": f"t{number}"}) for number in range(60)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda label: append_labels(path, [label, label]), labels))

    assert sorted(label.trace_id or "" for label in read_label_file(path)[::2]) == sorted(f"t{n}" for n in range(60))


def test_a_line_that_was_cut_off_spoils_no_other_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"question": "Why?", "ans', "utf-8")

    append_labels(path, [ANSWERED])

    with pytest.raises(InputError, match=r"labels.jsonl, line 1: not JSON"):
        read_label_file(path)
    path.write_text(path.read_text("utf-8").partition("\n")[2], "utf-8")
    assert read_label_file(path) == (ANSWERED,)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.jsonl"
    append_labels(path, [ANSWERED])
    write: Callable[[int, bytes], int] = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:20]))

    with pytest.raises(StoreError, match="the disk is full: 20 of"):
        append_labels(path, [PASSAGE])

    monkeypatch.undo()
    assert read_label_file(path) == (ANSWERED,)


@pytest.mark.parametrize("name", ["run.sqlite", "labels.csv", "labels.jsonl.gz"])
def test_labels_are_written_into_no_other_file(tmp_path: Path, name: str) -> None:
    with Store(tmp_path / "run.sqlite"):
        pass
    before = (tmp_path / "run.sqlite").read_bytes()

    with pytest.raises(StoreError, match="Labels are kept in a file of their own, whose name ends in .jsonl"):
        append_labels(tmp_path / name, [ANSWERED])

    assert (tmp_path / "run.sqlite").read_bytes() == before


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written .* check the folder"):
        append_labels(tmp_path / "none" / "labels.jsonl", [ANSWERED])


def test_the_file_beside_a_store_or_a_folder() -> None:
    assert labels_beside("runs/baseline.sqlite") == Path("runs/baseline.labels.jsonl")
    assert labels_beside(Path("runs/parts")) == Path("runs/parts.labels.jsonl")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"answer": None}, "give the text of one of the two"),
        ({"passage": "x"}, "give the text of one of the two"),
        ({"passage_id": "p1"}, "an answer was labelled; leave it out"),
        ({"question": " "}, "this is blank"),
        ({"label": "perhaps"}, "label"),
        ({"labelled_at": datetime(2026, 1, 31)}, "labelled_at"),  # noqa: DTZ001  # without a time zone is what is tried
        ({"partly": True}, "partly goes with the label false"),
        ({"skipped": True}, "a skipped text has no label"),
        ({"sampled": "guessed"}, "sampled"),
        ({"draw": 0}, "draw"),
        ({"remark": "sure"}, "unknown field 'remark' of Label"),
    ],
)
def test_what_is_no_label_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Label.model_validate({**dict(ANSWERED), **change})


def test_a_line_that_is_no_label_names_its_place(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{ANSWERED.to_json()}\n{{"question": "Why?", "answer": "x"}}\n', "utf-8")

    with pytest.raises(InputError, match=r"labels.jsonl, line 2, at \$.label: this field is missing, and a label needs it"):
        read_label_file(path)
    path.write_text("[1]\n", "utf-8")
    with pytest.raises(InputError, match=r"line 1, at \$: expected a JSON object, one label a line, got a list"):
        read_label_file(path)
