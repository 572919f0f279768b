from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.importers import read_labels
from rag_cover.labels import LabelledText


def csv(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def jsonl(folder: Path, *rows: Mapping[str, Any]) -> Path:
    return csv(folder, "".join(json.dumps(row) + "\n" for row in rows), "labels.jsonl")


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_labels(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value).removeprefix(str(path)).removeprefix(", ").removeprefix(": ")


def test_the_smallest_table(tmp_path: Path) -> None:
    path = csv(tmp_path, "question,text,label\nWho?,Ada did.,1\nWho?,Nobody knows.,0\n")

    yes, no = LabelledText("Who?", "Ada did.", label=True), LabelledText("Who?", "Nobody knows.", label=False)
    assert read_labels(path) == (yes, no)


@pytest.mark.parametrize("question", ["question", "sub_question", "Sub-Question", "QUESTION"])
@pytest.mark.parametrize("text", ["text", "passage", "answer", "Response"])
@pytest.mark.parametrize("label", ["label", "covered", "Answered", "correct"])
def test_columns_go_by_many_names(tmp_path: Path, question: str, text: str, label: str) -> None:
    path = csv(tmp_path, f"{label};{question};{text};remark\nyes;Who?;Ada did.;sure\n")

    replies_to = "Who?" if text in ("answer", "Response") else ""
    assert read_labels(path) == (LabelledText("Who?", "Ada did.", label=True, user_question=replies_to),)


@pytest.mark.parametrize("word", ["1", "1.0", "true", "TRUE", "Yes", "covered", "Answered", "correct"])
def test_words_that_say_yes(tmp_path: Path, word: str) -> None:
    (row,) = read_labels(csv(tmp_path, f"question,text,label\nWho?,Ada.,{word}\n"))

    assert row.label is True


@pytest.mark.parametrize("word", ["0", "0.0", "False", "no", "not", "not covered", "Not_covered", "not-answered", "unanswered"])
def test_words_that_say_no(tmp_path: Path, word: str) -> None:
    rows = read_labels(csv(tmp_path, f"question,text,label\nWho?,Ada.,{word}\n"))

    assert rows[0].label is False


@pytest.mark.parametrize(("value", "label"), [(True, True), (0, False), (1.0, True), ("no", False), (None, None), ("", None)])
def test_labels_in_json_may_be_of_any_type(tmp_path: Path, value: object, label: bool | None) -> None:  # noqa: FBT001
    path = jsonl(tmp_path, {"question": "Who?", "text": "Ada.", "label": value}, {"question": "a", "text": "b", "label": 1})

    assert read_labels(path)[0].label is label


def test_a_row_without_a_label_is_an_unlabelled_row(tmp_path: Path) -> None:
    rows = read_labels(csv(tmp_path, "question,text,label\nWho?,Ada.,1\nWho?,Bob.,\nWho?,Eve., \n"))

    assert [row.label for row in rows] == [True, None, None]


def test_references_stand_between_bars_or_in_lists(tmp_path: Path) -> None:
    cells = csv(tmp_path, 'question,text,label,references\na,b,1,Ada | Ada Lovelace\na,c,1,"[""Ada | Eve""]"\na,d,0,\n')
    lists = jsonl(tmp_path, {"question": "a", "text": "b", "label": 1, "references": ["Ada | Eve", "Bob"]})

    assert [row.references for row in read_labels(cells)] == [("Ada", "Ada Lovelace"), ("Ada | Eve",), ()]
    assert read_labels(lists)[0].references == ("Ada | Eve", "Bob")


def test_a_role_is_a_group_and_an_id_a_key(tmp_path: Path) -> None:
    (row,) = read_labels(csv(tmp_path, "question_id,trace_id,sub_question,role,answer,label\nq1,t1,Who?,core,Ada.,1\n"))

    assert (row.group, row.key, row.cluster) == ("core", "q1", "key:q1")


def test_rows_of_one_question_are_one_cluster_also_by_its_text(tmp_path: Path) -> None:
    path = csv(tmp_path, "question,sub_question,text,label\nWhy?,Who?,Ada.,1\nWhy?,When?,1843.,0\n")

    rows = read_labels(path)

    assert [row.question for row in rows] == ["Who?", "When?"]
    assert len({row.cluster for row in rows}) == 1


def test_other_names_are_mapped(tmp_path: Path) -> None:
    path = csv(tmp_path, "Frage,Antwort,text,Urteil\nWer?,Ada.,egal,1\n")

    rows = read_labels(path, columns={"question": "Frage", "text": "Antwort", "label": "Urteil"})

    assert rows == (LabelledText("Wer?", "Ada.", label=True),)


def test_a_label_that_is_none_names_file_line_and_field(tmp_path: Path) -> None:
    message = refused(csv(tmp_path, "question,text,label\nWho?,Ada.,1\nWho?,Bob.,maybe\n"))

    assert message.startswith("line 3, at row 2, $.label: the string 'maybe' is no label; write 1 or 0")


def test_an_empty_text_names_its_line_and_column(tmp_path: Path) -> None:
    message = refused(csv(tmp_path, "question,answer,label\nWho?,,1\n"))

    assert message.startswith("line 2, at row 1, $.answer: there is no text: 'answer' is missing or empty; fill it")


def test_a_blank_text_cannot_be_judged(tmp_path: Path) -> None:
    message = refused(jsonl(tmp_path, {"question": "Who?", "text": "  ", "label": 1}))

    assert message == "line 1, at $: the text is blank: there is nothing to judge; leave the row out"


def test_two_columns_for_one_thing_are_not_guessed_between(tmp_path: Path) -> None:
    path = csv(tmp_path, "question,passage,answer,label\nWho?,A passage.,Ada.,1\n")

    assert (
        "'passage' and 'answer' can both be the text; rename one of them (judge check and judge fit: --column text=COLUMN)"
        in refused(path)
    )
    assert read_labels(path, columns={"text": "answer"})[0].text == "Ada."


def test_a_table_without_any_label_is_refused(tmp_path: Path) -> None:
    message = refused(csv(tmp_path, "question,text\nWho?,Ada.\n"))

    assert message == (
        "no row has a label; write 1 or 0 into a column 'label', or rename your column to 'label' "
        "(judge check and judge fit: --column label=COLUMN)"
    )


def test_a_label_among_unlabelled_rows_is_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, "question,text,label\nWho?,Ada.,\nWho?,Bob.,0\n")

    assert refused(path, labelled=False).startswith("line 3, at row 2, $.label: this row has a label")


def test_a_column_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = csv(tmp_path, "Frage,text,label\nWer?,Ada.,1\n")

    assert "there is no column 'Farge' for the question. Did you mean 'Frage'?" in refused(path, columns={"question": "Farge"})


def test_a_kind_of_column_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="Did you mean 'question'"):
        read_labels(csv(tmp_path, "question,text,label\na,b,1\n"), columns={"questoin": "Frage"})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("labels.xlsx", "", "labels are read from .csv, .tsv, .jsonl, .ndjson, .json"),
        ("labels.csv", "question,text,label\n", "the file holds no rows"),
        ("labels.jsonl", "", "the file holds no rows"),
        ("labels.jsonl", '{"question": ', "not JSON at column"),
        ("labels.jsonl", "[1]", "expected a JSON object"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refused(csv(tmp_path, text, name))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refused(tmp_path / "labels.csv")


def test_a_row_may_have_a_passage_or_an_answer_of_two_columns(tmp_path: Path) -> None:
    path = csv(tmp_path, "question,passage,answer,label\nWho?,Ada did.,,1\nWho?,,Bob.,partly\n")

    passage, answer = read_labels(path)

    assert (passage.text, passage.user_question, passage.label) == ("Ada did.", "", True)
    assert (answer.text, answer.user_question, answer.label) == ("Bob.", "Who?", False)


def test_a_file_of_labels_is_read_as_it_stands(tmp_path: Path) -> None:
    """Corrections are no labels, what was taken back is gone, and a settled label stands alone."""
    lines = [
        {"question": "Who?", "answer": "Ada.", "label": True, "annotator": "ada", "sampled": "random"},
        {"question": "Who?", "answer": "Ada.", "label": False, "annotator": "bob", "sampled": "random"},
        {"question": "Who?", "answer": "Ada.", "label": False, "annotator": "cyd", "adjudicated": True, "sampled": "chosen"},
        {"question": "Who?", "corrects": "Who?", "text": "Who was it?", "annotator": "ada"},
        {"question": "Who?", "answer": "Bob.", "label": True, "annotator": "ada", "sampled": "chosen"},
        {"question": "Who?", "answer": "Cyd.", "label": True, "annotator": "ada"},
        {"question": "Who?", "answer": "Cyd.", "label": None, "annotator": "ada"},
        {"question": "Who?", "answer": "Dan.", "label": None, "skipped": True, "annotator": "ada"},
        {"question": "Who?", "answer": "Eve.", "label": None},
    ]
    path = csv(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "labels.jsonl")

    rows = read_labels(path)

    assert [(row.text, row.label, row.chosen) for row in rows] == [
        ("Ada.", False, False),
        ("Bob.", True, True),
        ("Eve.", None, False),
    ]


def test_an_adjudication_that_was_taken_back_settles_nothing(tmp_path: Path) -> None:
    said = {"question": "Who?", "answer": "Ada."}
    lines = [
        {**said, "label": True, "annotator": "ada"},
        {**said, "label": False, "annotator": "bob", "adjudicated": True},
        {**said, "label": None, "annotator": "bob"},
    ]
    path = csv(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "labels.jsonl")

    assert [row.label for row in read_labels(path)] == [True]
