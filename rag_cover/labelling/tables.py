"""Labels and corrections as tables: CSV and JSONL out of a file of labels, and labels of other tables into one."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers import read_labels
from rag_cover.importers.records import Record, json_records
from rag_cover.importers.tabular_files import csv_records, escape_formula, unescape_formula
from rag_cover.label_matches import HeldTexts, LabelPlace, explain_mismatches
from rag_cover.labels import LabelledText
from rag_cover.measures import TraceResult
from rag_cover.nuggets import Nugget, importance_for
from rag_cover.question_keys import question_key
from rag_cover.questions import Passage, Question, SubQuestion, prepend_title
from rag_cover.stores.labels import Correction, Label, current_labels
from rag_cover.stores.nugget_files import NuggetList
from rag_cover.stores.validation import value_from
from rag_cover.traces import Trace

__all__ = ["corrected_lines", "corrections_jsonl", "explain_unknown", "import_labels", "labels_csv", "labels_jsonl"]

_COLUMNS = tuple(Label.model_fields)
_OWN = ("annotator", "labelled_at", "sampled")  # columns that tables of others hardly have
_BETWEEN = "|"
_COUNT = re.compile(r"[0-9]{1,18}")


def labels_jsonl(labels: Iterable[Label]) -> str:
    """Write the labels that stand, one a line: the last of each annotator on each text."""
    return "".join(f"{label.to_json()}\n" for label in _standing(labels))


def labels_csv(labels: Iterable[Label]) -> str:
    """Write the labels that stand as CSV, with a header, as `read_labels` reads it.

    A cell that a spreadsheet would run as a formula begins with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for label in _standing(labels):
        writer.writerow({name: _cell(value) for name, value in label.model_dump(mode="json").items()})
    return text.getvalue()


def corrections_jsonl(corrections: Iterable[Correction]) -> str:
    """Write corrections, one a line."""
    return "".join(f"{correction.to_json()}\n" for correction in corrections)


def corrected_lines(results: Iterable[TraceResult], corrections: Sequence[Correction]) -> str:
    """Write each question with its sub-questions, or nuggets, as they were corrected: a file for the next evaluation.

    Questions with sub-questions are lines for ``rag-cover evaluate --sub-questions``; those with nuggets, for ``--nuggets``.
    """
    corrected = {(question_key(Question(each.question, id=each.question_id)), each.corrects): each for each in corrections}
    lines: dict[str, str] = {}
    for result in results:
        key = question_key(result.trace.question)
        if result.coverage is not None and key not in lines:
            lines[key] = _line_of(result, key, corrected)
    return "".join(f"{line}\n" for line in lines.values())


def import_labels(path: Path, annotator: str) -> tuple[Label, ...]:
    """Read labels of another file: one that was exported here, or any table of labels (`read_labels`).

    Labels that do not say who gave them (in a column ``annotator``) are the annotator's.

    Raises:
        InputError: the file cannot be read; says the line and the field.
    """
    records = list(_records(path))
    if records and all(_is_ours(record) for record in records):
        read = [_label_of(record) for record in records]
        return tuple(each.model_copy(update={"annotator": each.annotator or annotator}) for each in read)
    return tuple(_label_of_row(row, annotator) for row in read_labels(path) if row.label is not None)


def explain_unknown(labels: Iterable[Label], results: Iterable[TraceResult]) -> tuple[int, str]:
    """Count the labels of texts that an evaluation does not hold, and say what it does not hold of them."""
    places = [_place_of(each) for each in labels]
    held = HeldTexts(places)
    for result in results:
        held.add_question(result.trace.question, result.trace.id)
        for each in result.coverage.sub_questions if result.coverage else ():
            for text in (result.trace.answer or "", *chain.from_iterable(map(_texts_of, result.trace.chunks))):
                held.add_text(each.text, text)
    unknown = Counter(found for place in places if (found := held.find_mismatch(place)))
    said = explain_mismatches(unknown["question"], unknown["sub_question"], unknown["text"], text="text")
    return unknown.total(), ", ".join(said)


def _texts_of(passage: Passage) -> tuple[str, str]:
    """Return a passage's text as it stands, and as judges read it."""
    return passage.text, prepend_title(passage.title, passage.text)


def _place_of(label: Label) -> LabelPlace:
    names = (label.question, label.question_id, label.trace_id)
    return LabelPlace.of(names, label.sub_question or label.question, label.answer or label.passage or "")


def _standing(labels: Iterable[Label]) -> list[Label]:
    return [label for label in current_labels(labels) if label.label is not None]


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return escape_formula(_BETWEEN.join(map(str, value)))
        case _:
            return escape_formula(str(value))


def _line_of(result: TraceResult, key: str, corrected: Mapping[tuple[str, str], Correction]) -> str:
    coverage, question = result.coverage, result.trace.question
    found = [(each, corrected.get((key, each.text))) for each in (coverage.sub_questions if coverage else ())]
    if coverage is not None and coverage.on_nuggets:
        nuggets = [
            Nugget(new.text, importance=importance_for(new.role))
            if new
            else Nugget(each.text, importance=importance_for(each.role), question=each.question)
            for each, new in found
        ]
        return NuggetList.of(question, nuggets).model_dump_json(exclude_unset=True)
    sub_questions = [
        SubQuestion(new.text, role=new.role) if new else SubQuestion(each.text, role=each.role, role_source=each.role_source)
        for each, new in found
    ]
    return Trace(question=question, sub_questions=tuple(sub_questions)).to_json()


def _records(path: Path) -> Iterable[Record]:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".jsonl", ".ndjson", ".json"):
        problem = "labels are imported from .csv, .tsv, .jsonl, .ndjson or .json; rename the file to what it is"
        raise InputError(problem, file=path)
    for record in csv_records(path) if suffix in (".csv", ".tsv") else json_records(path):
        if isinstance(record, InputError):
            raise record
        yield record


def _is_ours(record: Record) -> bool:
    names = set(record.data)
    return names <= set(_COLUMNS) and {"question", "label"} <= names and not names.isdisjoint(_OWN)


def _label_of(record: Record) -> Label:
    given = {name: _value(name, value) for name, value in record.data.items() if value is not None and value != ""}
    return value_from(Label, {"label": None} | given, called="label", file=record.file, line=record.line)


def _value(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = unescape_formula(value)
    match name:
        case "references":
            return text.split(_BETWEEN)
        case "label" | "partly" | "skipped" | "adjudicated":
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower(), text)
        case "draw" | "population":
            return int(text) if _COUNT.fullmatch(text) else text
        case _:
            return text


def _label_of_row(row: LabelledText, annotator: str) -> Label:
    asked = {"question": row.user_question or row.question, "sub_question": row.question, "question_id": row.key}
    text = {"answer": row.text} if row.user_question else {"passage": row.text}
    sampled = {"sampled": "chosen"} if row.chosen else {}
    return Label.model_validate(
        asked | text | sampled | {"label": row.label, "annotator": row.annotator or annotator, "labelled_at": datetime.now(UTC)}
    )
