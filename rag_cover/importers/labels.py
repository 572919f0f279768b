"""People's labels read from tables: a question, a text, and whether the text answers it; errors say where and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError, InvalidValueError, nearest
from rag_cover.importers.records import Record, Row, json_records
from rag_cover.importers.row_values import identifier_in, list_of_cell, present, row_texts, text_in
from rag_cover.importers.tabular_files import TABLE_ENDINGS, csv_records, table_kind, unescape_formula
from rag_cover.labels import LabelledText
from rag_cover.stores.files import require_file
from rag_cover.stores.validation import describe_value, json_path

__all__ = ["LABEL_COLUMNS", "read_labels"]

LABEL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "question": ("sub_question", "subquestion", "question", "query"),
    "text": ("text", "passage", "answer", "response"),
    "label": ("label", "covered", "answered", "correct"),
    "references": ("references", "reference", "gold_answers", "ground_truth"),
    "group": ("group", "role"),
    "key": ("key", "question_id", "query_id", "trace_id"),
}
"""What a column can hold, and the names under which it is found without a map."""

_BY_OPTION = " (judge check and judge fit: --column {}=COLUMN)"
_SEVERAL = ("question", "key")  # of these the first name wins; two texts or two labels in a row must be told apart by the user
_NEEDED = ("question", "text")
_REPLIES = ("answer", "response")
_CORRECTS = "corrects"  # the column by which a correction of a sub-question is told from a label
_LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "covered", "answered", "correct"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", "not", "uncovered", "unanswered", "incorrect"), False),
    **dict.fromkeys(("not covered", "not answered", "not correct", "partly"), False),
}


def read_labels(
    path: Path | str, *, columns: Mapping[str, str] | None = None, labelled: bool = True
) -> tuple[LabelledText, ...]:
    """Read labels from a CSV, TSV, JSONL or JSON file, gzipped or not.

    A row without a label is an unlabelled row. References are a list, or texts with "|" between them. Where a table has
    ``question`` and ``sub_question``, the sub-question is what was judged, and the question's rows are resampled as one. A text
    in a column ``answer`` or ``response`` is judged as a reply to the question, one in another column as a passage. Where a
    column ``annotator`` says who labelled, the last label counts that each gave to a text: files of labels
    (`rag_cover.append_labels`) are only ever appended to. There a label of null is one that was skipped or taken back, and its
    row is left out; a label that is ``adjudicated`` stands in place of all others of its text; a row whose ``sampled`` is
    "chosen" is no part of a random sample (`LabelledText.chosen`). Corrections of sub-questions are passed over.

    Args:
        path: the file.
        columns: the column of a kind in `LABEL_COLUMNS` that goes by another name, such as ``{"text": "Antwort"}``.
        labelled: whether the file is to have labels; otherwise a label in it is an error.

    Raises:
        InputError: the file or one of its rows cannot be read; says where, and what to do.
        InvalidValueError: ``columns`` maps what no column can hold.
    """
    file, mapped = Path(path), dict(columns or {})
    _refuse_unknown(mapped)
    records = [each for each in _good(_records(file)) if not present(each.data, (_CORRECTS,))]
    if not records:
        problem = "the file holds no rows; a row has a question, a text and a label"
        raise InputError(problem, file=file)
    _refuse_absent({kind: mapped[kind] for kind in mapped if labelled or kind in _NEEDED}, records)
    rows = _last_said([(_row(record, mapped, labelled=labelled), record) for record in records])
    if labelled and all(row.label is None for row in rows):
        problem = f"no row has a label; write 1 or 0 into a column 'label', or {_rename('label')}"
        raise InputError(problem, file=file)
    return rows


def _rename(kind: str) -> str:
    """Say how a column is made known as that of a kind; only two commands, and `read_labels`, take a map of columns."""
    return f"rename your column to {kind!r}{_BY_OPTION.format(kind)}"


def _last_said(rows: Sequence[tuple[LabelledText, Record]]) -> tuple[LabelledText, ...]:
    """Keep the last label that each annotator gave to a text, and every row that does not say who labelled it."""
    last: dict[tuple[object, ...], tuple[LabelledText, bool]] = {}
    for place, (row, record) in enumerate(rows):
        who, trace = (str(record.data.get(name) or "") for name in ("annotator", "trace_id"))
        key = ((trace, row.item, row.cluster), who) if who else (place,)
        last[key] = (row, _is_adjudicated(record))
    return tuple(_standing(last))


def _standing(last: Mapping[tuple[object, ...], tuple[LabelledText, bool]]) -> Iterator[LabelledText]:
    """Yield the labels that nobody took back; of a text whose label was adjudicated that one alone."""
    settled_by = {key[0]: key for key, (row, adjudicated) in last.items() if adjudicated and row.label is not None}
    picked_at_random = {key[0] for key, (row, _) in last.items() if not row.chosen}
    for key, (row, _) in last.items():
        is_said_by_somebody = len(key) > 1
        if not is_said_by_somebody:
            yield row
        elif row.label is not None and settled_by.get(key[0], key) == key:
            yield replace(row, chosen=row.chosen and key[0] not in picked_at_random)


def _is_adjudicated(record: Record) -> bool:
    return str(record.data.get("adjudicated") or "").strip().lower() in ("true", "1", "1.0")


def _refuse_unknown(columns: Mapping[str, str]) -> None:
    for kind in columns:
        if kind not in LABEL_COLUMNS:
            known = ", ".join(LABEL_COLUMNS)
            message = f"columns maps {kind!r}, which is none of {known}.{nearest(kind, LABEL_COLUMNS)}"
            raise InvalidValueError(message)


def _refuse_absent(columns: Mapping[str, str], records: Sequence[Record]) -> None:
    there = dict.fromkeys(str(name) for record in records for name in record.data)
    for kind, column in columns.items():
        if column not in there:
            has = ", ".join(map(repr, there))
            problem = f"there is no column {column!r} for the {kind}.{nearest(column, list(there))} It has: {has}"
            raise InputError(problem, file=records[0].file)


def _records(path: Path) -> Iterator[Record | InputError]:
    require_file(path)
    kind = table_kind(path)
    if kind == "csv":
        return map(_without_apostrophes, csv_records(path))
    if kind == "json":
        return json_records(path)
    problem = f"labels are read from {', '.join(TABLE_ENDINGS['csv'] + TABLE_ENDINGS['json'])}; rename the file to what it is"
    raise InputError(problem, file=path)


def _without_apostrophes(record: Record | InputError) -> Record | InputError:
    if isinstance(record, InputError):
        return record
    cells = {name: unescape_formula(value) if isinstance(value, str) else value for name, value in record.data.items()}
    return replace(record, data=cells)


def _good(records: Iterable[Record | InputError]) -> Iterator[Record]:
    for record in records:
        if isinstance(record, InputError):
            raise record
        yield record


def _row(record: Record, columns: Mapping[str, str], *, labelled: bool) -> LabelledText:
    row = record.data
    try:
        names = {kind: _names(kind, row, columns) for kind in LABEL_COLUMNS}
        return LabelledText(
            _require(row, "question", names),
            _require(row, "text", names),
            _label(row, names["label"]) if labelled else _is_unlabelled(row, names["label"]),
            _references(row, names["references"]),
            text_in(row, names["group"]),
            _key(row, names),
            _user_question(row, names),
            chosen=row.get("sampled") == "chosen",
            annotator=text_in(row, ("annotator",)),
        )
    except InvalidValueError as invalid:
        raise record.locate(InputError(str(invalid))) from invalid
    except InputError as bad:
        raise record.locate(bad) from bad


def _names(kind: str, row: Row, columns: Mapping[str, str]) -> Sequence[str]:
    """Name the row's columns of a kind, the first to be looked at first."""
    if kind in columns:
        return (columns[kind],)
    plain = {re.sub(r"[\s\-]+", "_", str(name).strip().lower()): str(name) for name in reversed(list(row))}
    found = [plain[name] for name in LABEL_COLUMNS[kind] if name in plain and plain[name] not in columns.values()]
    if len(found) > 1 and kind == "text" and len(filled := [name for name in found if text_in(row, (name,))]) == 1:
        return filled  # a table of passages and answers, where each row has one of the two
    if len(found) > 1 and kind not in _SEVERAL:
        problem = (
            f"the columns {found[0]!r} and {found[1]!r} can both be the {kind}; rename one of them{_BY_OPTION.format(kind)}"
        )
        raise InputError(problem)
    return found


def _require(row: Row, kind: str, names: Mapping[str, Sequence[str]]) -> str:
    value = text_in(row, names[kind])
    if value is None:
        asked = " or ".join(map(repr, names[kind] or LABEL_COLUMNS[kind]))
        problem = f"there is no {kind}: {asked} is missing or empty; fill it, or {_rename(kind)}"
        raise InputError(problem, field=_field(names[kind][0] if names[kind] else None))
    return value


def _is_unlabelled(row: Row, names: Sequence[str]) -> bool | None:
    if (label := _label(row, names)) is not None:
        problem = "this row has a label, and these are the unlabelled rows; move it to the labelled ones"
        raise InputError(problem, field=_field(present(row, names)))
    return label


def _label(row: Row, names: Sequence[str]) -> bool | None:
    name = present(row, names)
    value = row[name] if name is not None else None
    if isinstance(value, bool) or value is None:
        return value
    word = " ".join(str(value).lower().replace("_", " ").replace("-", " ").split())
    if not word:
        return None
    if word not in _LABELS:
        problem = (
            f"{describe_value(value)} is no label; write 1 or 0 (true or false, yes or no, covered or not, answered or "
            "unanswered), or nothing where the row is unlabelled"
        )
        raise InputError(problem, field=_field(name))
    return _LABELS[word]


def _references(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    name = present(row, names)
    if name is None:
        return ()
    value: Any = row[name]
    if isinstance(value, str) and list_of_cell(value, name) == [value]:
        return tuple(part.strip() for part in value.split("|") if part.strip())
    return tuple(text for text in row_texts(row, names) or () if text.strip())


def _key(row: Row, names: Mapping[str, Sequence[str]]) -> str | None:
    """Return the row's key; where a sub-question was judged, the question it belongs to stands in."""
    key = identifier_in(row, names["key"])
    return _asked_within(row, names) if key is None else key


def _user_question(row: Row, names: Mapping[str, Sequence[str]]) -> str:
    """Return what the text replies to, where its column says that it is a reply: the question, or the sub-question itself."""
    column = present(row, names["text"])
    if column is None or str(column).strip().lower() not in _REPLIES:
        return ""
    return _asked_within(row, names) or _require(row, "question", names)


def _asked_within(row: Row, names: Mapping[str, Sequence[str]]) -> str | None:
    """Return the question of which a sub-question was judged; None where the question itself was."""
    filled = [name for name in names["question"] if present(row, (name,))]
    return text_in(row, filled[1:])


def _field(name: str | None) -> str | None:
    return None if name is None else "$" + json_path([name])
