from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.importers import read_labels
from rag_cover.labelling import LabelSampling, LabelSession, import_labels, list_items
from rag_cover.labelling.tables import corrected_lines, corrections_jsonl, explain_unknown, labels_csv, labels_jsonl
from rag_cover.nuggets import Nugget
from rag_cover.questions import Passage, Question, Role
from rag_cover.registry import Models
from rag_cover.stores import Label, append_labels, current_labels, read_label_file, read_nuggets, read_traces
from rag_cover.testing import KeywordScorer
from rag_cover.traces import RetrievalStep, Trace

OpenSession = Callable[..., LabelSession]


@pytest.fixture
def labelled(open_session: OpenSession) -> LabelSession:
    session = open_session()
    for number in range(24):
        draw = session.next()
        assert draw is not None
        session.say(draw.key, ("yes", "no", "partly", "skip")[number % 4])
    session.undo()
    return session


@pytest.mark.parametrize(("name", "write"), [("out.jsonl", labels_jsonl), ("out.csv", labels_csv)])
def test_labels_come_back_from_an_export_as_they_were(
    labelled: LabelSession, tmp_path: Path, name: str, write: Callable[[tuple[Label, ...]], str]
) -> None:
    labels = read_label_file(labelled.path)
    (tmp_path / name).write_text(write(labels), "utf-8")

    again = import_labels(tmp_path / name, "nobody")

    assert again == tuple(label for label in current_labels(labels) if label.label is not None)
    assert read_labels(tmp_path / name) == read_labels(labelled.path)


def test_a_label_of_a_passage_with_a_title_is_found_again() -> None:
    passage = Passage("It moves heat.", title="Pumps")
    trace = Trace(question=Question("What is a pump?"), answer="A pump.", steps=(RetrievalStep(passages=(passage,)),), id="t1")
    results = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer(), decomposer="rules")).results
    labels = [
        Label(question="What is a pump?", sub_question="What is a pump?", passage=text, label=True, trace_id="t1")
        for text in ("Pumps\nIt moves heat.", "It moves heat.", "It moves water.")
    ]

    assert [item.judged_text for item in list_items(results) if item.kind == "passage"] == ["Pumps\nIt moves heat."]
    assert explain_unknown(labels, results) == (1, "1 is of a text that is not here")


def test_an_export_runs_no_formula_in_a_spreadsheet_and_loses_nothing(tmp_path: Path) -> None:
    label = Label(question="=HYPERLINK(1)", answer="- 12 euros", references=("=1+1", "b"), label=True, annotator="@ada")
    (tmp_path / "out.csv").write_text(labels_csv([label]), "utf-8")

    assert b"'=HYPERLINK(1)," in (tmp_path / "out.csv").read_bytes()
    assert import_labels(tmp_path / "out.csv", "nobody") == (label,)
    assert [(row.question, row.text) for row in read_labels(tmp_path / "out.csv")] == [("=HYPERLINK(1)", "- 12 euros")]


def test_another_tools_table_is_imported_as_the_annotators(tmp_path: Path) -> None:
    table = tmp_path / "theirs.csv"
    table.write_text("question_id,sub_question,answer,covered\nq1,Why blue?,Air.,1\nq1,Why red?,Air.,\n", "utf-8")

    (label,) = import_labels(table, "bob")

    assert (label.sub_question, label.answer, label.label, label.annotator) == ("Why blue?", "Air.", True, "bob")
    assert append_labels(tmp_path / "run.labels.jsonl", [label]) == 1
    (row,) = read_labels(tmp_path / "run.labels.jsonl")
    assert row.user_question


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("labels.txt", b"x", "rename the file to what it is"),
        ("labels.csv", b"", "no rows"),
        ("labels.csv", b"\x00\xff\xfe", "UTF-8"),
        ("labels.jsonl", b"{", "not JSON"),
        ("labels.csv", b"question,answer,label\nWhy?,Air.,maybe\n", "label"),
        ("labels.csv", b"question,answer,label\nWhy?,,1\n", "line 2"),
        ("labels.csv", b"question,answer,label,annotator\nWhy?,,1,ada\n", "give the text of one of the two"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InputError, match=why):
        import_labels(tmp_path / name, "ada")


def test_corrected_sub_questions_are_a_file_for_the_next_evaluation(
    open_session: OpenSession, evaluation: Evaluation, tmp_path: Path
) -> None:
    session = open_session()
    item = next(iter(session.items.values()))
    session.correct(item.key, "What colour is it?", Role.BACKGROUND)

    (tmp_path / "corrected.jsonl").write_text(corrected_lines(evaluation.results, session.corrections), "utf-8")

    traces = {trace.question.id: trace for trace in read_traces(tmp_path / "corrected.jsonl")}
    first, *rest = traces[item.question.id].sub_questions or ()
    assert len(traces) == 30
    assert (first.text, first.role, first.role_source) == ("What colour is it?", Role.BACKGROUND, "given")
    assert len(rest) == 2
    assert json.loads(corrections_jsonl(session.corrections))["corrects"] == item.facet


def test_corrected_nuggets_are_a_file_of_nuggets(tmp_path: Path) -> None:
    nuggets = [
        Nugget("Air scatters light.", importance="vital", question="What scatters light?"),
        Nugget("The sky is high.", importance="okay", question="How high is the sky?"),
    ]
    results = evaluate(
        [Trace(question=Question("Why blue?"), answer="Air scatters light.", nuggets=tuple(nuggets))],
        measures=["coverage"],
        models=Models(judge=KeywordScorer()),
    ).results
    items = list_items(results)
    session = LabelSession(items, tmp_path / "n.labels.jsonl", annotator="ada", plan=LabelSampling(items))
    session.correct(items[1].key, "The sky is blue.", Role.CORE)

    (tmp_path / "nuggets.jsonl").write_text(corrected_lines(results, session.corrections), "utf-8")

    (read,) = read_nuggets(tmp_path / "nuggets.jsonl")
    assert [(each.text, each.importance) for each in read.nuggets] == [
        ("Air scatters light.", "vital"),
        ("The sky is blue.", "vital"),
    ]
