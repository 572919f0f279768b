"""Outcomes of pipelines or models read from tables, for skills: which question, answered by whom, how well, at what cost.

Two forms are read. Long: a row for each question and model.

    question,model,outcome,cost,subject
    Who wrote Emma?,small,1,0.2,books

Wide, as RouterBench (Hu et al., 2024) has it: a row for each question, a column of outcomes for each model, and its costs in a
column ``MODEL|total_cost``.

    prompt,eval_name,small,small|total_cost,large,large|total_cost
    Who wrote Emma?,books,0,0.2,1,4
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from rag_cover.errors import IncomparableError, InputError
from rag_cover.importers.records import Record, Row, json_records
from rag_cover.importers.row_values import present, row_question, row_texts, text_in
from rag_cover.importers.tabular_files import TABLE_ENDINGS, TableKind, csv_records, parquet_records, table_kind
from rag_cover.question_keys import normalise_question
from rag_cover.routing import Outcomes, Responses
from rag_cover.routing.subjects import agreed_subjects
from rag_cover.stores.files import require_file
from rag_cover.stores.validation import describe_value, json_path

__all__ = ["OUTCOME_COLUMNS", "read_outcomes"]

OUTCOME_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "prompt"),
    "model": ("model", "pipeline", "agent", "system"),
    "outcome": ("outcome", "success", "correct", "score"),
    "cost": ("cost", "total_cost", "price"),
    "subject": ("subject", "topic", "collection", "tag", "eval_name"),
}
"""What a column can hold, and the names under which it is found; a table with a model's column is of the long form."""

_COST, _ANSWER = "|total_cost", "|model_response"
_NO_MODELS = frozenset(("sample_id", "id", "question_id", "oracle_model_to_route_to"))
_TRUTHS: Mapping[str, float] = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}

_READERS: Mapping[TableKind, Callable[[Path], Iterator[Record | InputError]]] = {
    "csv": csv_records,
    "json": json_records,
    "parquet": parquet_records,
}


@dataclass(slots=True)
class _Sheet:
    """What was read so far: (model, question, outcome), costs of models, subjects by question, what is left out."""

    observed: list[tuple[str, str, float]] = field(default_factory=list)
    costs: dict[str, list[float]] = field(default_factory=dict)
    subjects: list[tuple[str, str | None]] = field(default_factory=list)
    models: dict[str, None] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    rows: int = 0

    def add(self, model: str, question: str, outcome: float | None, cost: float | None) -> None:
        self.models.setdefault(model)
        if outcome is None:
            self.left_out["has no outcome"] += 1
        else:
            self.observed.append((model, question, outcome))
        if cost is not None:
            self.costs.setdefault(model, []).append(cost)


def read_outcomes(path: Path | str) -> Outcomes:
    """Read which model answered which question rightly, from a CSV, TSV, JSONL, JSON or Parquet file, gzipped or not.

    An outcome is a number in [0, 1], or true or false; an empty one was not observed. A model's cost is the mean of those that
    are given. A question whose rows name several subjects has none.

    Args:
        path: the file; its columns are named as `OUTCOME_COLUMNS` says.

    Raises:
        InputError: the file or one of its rows cannot be read; says where, and what to do.
        IncomparableError: it holds outcomes of one model only.
    """
    file = Path(path)
    records = _records(file)
    first = next(records, None)
    if first is None:
        problem = "the file holds no rows; a row has a question, a model and an outcome"
        raise InputError(problem, file=file)
    if _column("model", first.data) is not None:
        return _outcomes(_read_long(chain([first], records)), file, f"the table's {_required(first, 'outcome')!r}")
    rows = [first, *records]
    models = _model_columns(rows)
    return _outcomes(_read_wide(rows, models), file, "the outcomes in the models' columns")


def _read_long(records: Iterator[Record]) -> _Sheet:
    sheet = _Sheet()
    for record in records:
        row = record.data
        model = text_in(row, OUTCOME_COLUMNS["model"])
        if model is None or not model.strip():
            problem = "there is no model here; name the one whose outcome this is"
            raise _at(record, _column("model", row) or "model", problem)
        question = _question(record, sheet)
        outcome, cost = _required(record, "outcome"), _column("cost", row)
        sheet.add(model.strip(), question, _outcome(record, outcome), None if cost is None else _cost(record, cost))
    return sheet


def _read_wide(records: Sequence[Record], models: Sequence[str]) -> _Sheet:
    sheet = _Sheet()
    for record in records:
        question = _question(record, sheet)
        for model in models:
            sheet.add(model, question, _outcome(record, model), _cost(record, model + _COST))
    return sheet


def _question(record: Record, sheet: _Sheet) -> str:
    """Return the row's question, parts of a conversation below one another, and note its subject."""
    names = OUTCOME_COLUMNS["question"]
    try:
        text = row_question(record.data, names)
    except InputError as bad:
        if (name := present(record.data, names)) is None or not isinstance(record.data[name], list | tuple):
            raise record.locate(bad) from bad
        text = ""
    try:
        text = "\n".join(row_texts(record.data, names) or (text,))
    except InputError as bad:
        raise record.locate(bad) from bad
    if not normalise_question(text):
        problem = "the question has no letters or digits"
        raise _at(record, present(record.data, names) or names[0], problem)
    subject = text_in(record.data, OUTCOME_COLUMNS["subject"])
    sheet.subjects.append((normalise_question(text), subject.strip() if subject and subject.strip() else None))
    sheet.rows += 1
    return text


def _outcome(record: Record, name: str) -> float | None:
    """Return an outcome in [0, 1]; None where it was not observed."""
    if present(record.data, (name,)) is None:
        return None
    value = record.data[name]
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        problem = f"{describe_value(value)} is no outcome; write a number from 0 to 1, true or false, or nothing"
        raise _at(record, name, problem)
    return number


def _cost(record: Record, name: str) -> float | None:
    """Return a cost; None where there is none."""
    if present(record.data, (name,)) is None:
        return None
    value = record.data[name]
    number = None if isinstance(value, bool) else _number(value)
    if number is None or not (0 <= number < math.inf):
        problem = f"{describe_value(value)} is no cost; write a number of at least 0, or nothing where it is not known"
        raise _at(record, name, problem)
    return number


def _number(value: object) -> float | None:
    """Read a number, or true or false as 1 or 0; None where it is neither.

    >>> _number("0.5"), _number("True"), _number(1), _number("good"), _number([1])
    (0.5, 1.0, 1.0, None, None)
    """
    match value:
        case str() if value.strip().lower() in _TRUTHS:
            return _TRUTHS[value.strip().lower()]
        case bool() | int() | float() | str():
            try:
                return float(value)
            except (ValueError, OverflowError):  # a whole number beyond all floats is neither
                return None
        case _:
            return None


def _model_columns(records: Sequence[Record]) -> list[str]:
    """Name the columns of a wide table that are models': those with costs beside them, else those that hold numbers."""
    columns = dict.fromkeys(str(name) for record in records for name in record.data)
    with_costs = [name for name in columns if name + _COST in columns]
    if with_costs:
        return with_costs
    known = {name for names in OUTCOME_COLUMNS.values() for name in names} | _NO_MODELS
    models = [name for name in columns if name not in known and _holds_numbers(name, records)]
    if not models:
        problem = (
            "this table names no models: give a column 'model' and a column 'outcome', or a column of outcomes for each model; "
            f"it has {', '.join(map(repr, columns)) or 'no columns'}"
        )
        raise InputError(problem, file=records[0].file, line=records[0].line)
    return models


def _holds_numbers(name: str, records: Sequence[Record]) -> bool:
    """Check whether the first value of a column is a number, or true or false."""
    first = next((record.data[name] for record in records if present(record.data, (name,))), None)
    return _number(first) is not None


def _column(kind: str, row: Row) -> str | None:
    return next((name for name in OUTCOME_COLUMNS[kind] if name in row), None)


def _required(record: Record, kind: str) -> str:
    """Name the column of a kind that every row of a long table has."""
    name = _column(kind, record.data)
    if name is None:
        has = ", ".join(repr(str(name)) for name in list(record.data)[:12])
        problem = f"there is no {kind} here: no column is called {' or '.join(map(repr, OUTCOME_COLUMNS[kind]))}; it has {has}"
        raise _at(record, OUTCOME_COLUMNS[kind][0], problem)
    return name


def _at(record: Record, name: str, problem: str) -> InputError:
    return record.locate(InputError(problem, field="$" + json_path([name])))


def _records(path: Path) -> Iterator[Record]:
    require_file(path)
    kind = table_kind(path)
    if kind is None:
        kinds = ", ".join(chain.from_iterable(TABLE_ENDINGS.values()))
        problem = f"outcomes are read from {kinds}; rename the file to what it is, or write a pickle as CSV or JSONL"
        raise InputError(problem, file=path)
    for record in _READERS[kind](path):
        if isinstance(record, InputError):
            raise record
        data = {name: value for name, value in record.data.items() if not str(name).endswith(_ANSWER)}
        yield Record(data, record.file, record.line, record.at)


def _outcomes(sheet: _Sheet, file: Path, criterion: str) -> Outcomes:
    _refuse_few(sheet, file)
    responses = Responses.from_observations(sheet.observed)
    keys = [normalise_question(text) for text in responses.questions]
    priced = [agent for agent in responses.agents if agent in sheet.costs]
    is_priced = len(priced) == len(responses.agents)
    remarks = [f"Costs are given of {', '.join(priced)} alone, so none are kept."] if priced and not is_priced else []
    remarks += [f"No outcome of {model!r} is known; it is left out." for model in sheet.models if model not in responses.agents]
    return Outcomes(
        responses=responses,
        success="table",
        criterion=criterion,
        traces=sheet.rows,
        left_out={},
        repeated=len(sheet.observed) - responses.observed,
        subjects=agreed_subjects(sheet.subjects, keys),
        costs={agent: sum(sheet.costs[agent]) / len(sheet.costs[agent]) for agent in priced} if is_priced else {},
        remarks=(*remarks, *(f"Not observed: {count:,} outcomes." for count in sheet.left_out.values())),
    )


def _refuse_few(sheet: _Sheet, file: Path) -> None:
    models = dict.fromkeys(model for model, _, _ in sheet.observed)
    if not models:
        problem = "no row has an outcome; write a number from 0 to 1, or true or false"
        raise InputError(problem, file=file)
    if len(models) == 1:
        message = (
            f"{file} holds outcomes of one model, {next(iter(models))!r}; skills tell several apart. Add another's, "
            "on the same questions."
        )
        raise IncomparableError(message)
