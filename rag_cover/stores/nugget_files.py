"""Files of nuggets and of assignments: those of nuggetizer and of the TREC 2024 RAG track, and trace files.

A line of a file of nuggets is one question's list, in any of three forms:

- ``{"query": …, "qid": …, "nuggets": [{"text": …, "importance": …}, …]}``, as ``nuggetizer create`` writes it and TREC gives it
  out;
- a trace (`rag_cover.Trace`) with nuggets, of which the question alone is enough beside them;
- ``{"question_id": …, "nuggets": […]}``, for whoever knows only the question's id.

A line of a file of assignments is one text with each nugget's assignment: an answer (``answer_text``, ``run_id``) or a passage
(``candidate_text``, ``docid``), as ``nuggetizer assign`` writes it and TREC gives it out. Fields that are not known here, such
as a model's reasoning, are kept and written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, model_validator

from rag_cover.errors import InputError
from rag_cover.nuggets import Assignment, Importance, Nugget
from rag_cover.questions import NotBlank, Question, Value
from rag_cover.stores.files import replacing, require_file
from rag_cover.stores.jsonl import json_of, number_lines
from rag_cover.stores.validation import describe_value, refuse_unwritable, trace_from, value_from

__all__ = [
    "AssignedNugget",
    "AssignedNuggets",
    "ListedNugget",
    "NuggetList",
    "QuestionNuggets",
    "read_assignments",
    "read_nuggets",
    "write_assignments",
    "write_nuggets",
]

FAILED: Literal["failed"] = "failed"
"""What nuggetizer writes in the place of a label that it could not get."""


class _Record(Value):
    """A record of a format that is not ours: what is not known in it is kept."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, data: object) -> object:
        return data

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data: the fields that were given, those of other programs among them."""
        return self.model_dump(mode="json", exclude_unset=True)


class ListedNugget(_Record):
    """A nugget as nuggetizer writes it; what else a `rag_cover.Nugget` has (``sources`` …) is kept beside it, and read back."""

    text: NotBlank
    importance: Importance | Literal["failed"] | None = None

    @classmethod
    def of(cls, nugget: Nugget) -> Self:
        """Write one of our nuggets in this form."""
        return cls.model_validate(nugget.model_dump(mode="json", exclude_defaults=True))

    @property
    def known(self) -> dict[str, Any]:
        """Return as JSON data what a `Nugget` has of it; a label that failed is an importance that is not known."""
        known = {name: value for name, value in self.to_dict().items() if name in Nugget.model_fields}
        return known | {"importance": None} if known.get("importance") == FAILED else known


class AssignedNugget(ListedNugget):
    """A nugget with its assignment to a text."""

    assignment: Assignment | Literal["failed"]

    @property
    def label(self) -> Assignment | None:
        """Return the assignment, None where it failed."""
        return None if self.assignment == FAILED else Assignment(self.assignment)


class NuggetList(_Record):
    """A question's nuggets: a line that ``nuggetizer create`` writes."""

    query: NotBlank
    qid: str | int | None = None
    nuggets: tuple[ListedNugget, ...]

    @classmethod
    def of(cls, question: Question, nuggets: Iterable[Nugget]) -> Self:
        """Write the nuggets of a question in this form."""
        return cls(query=question.text, **_without_none(qid=question.id), nuggets=tuple(map(ListedNugget.of, nuggets)))


class AssignedNuggets(_Record):
    """The assignments of a question's nuggets to one answer or passage: a line that ``nuggetizer assign`` writes."""

    query: NotBlank | None = None
    text: NotBlank | None = None
    qid: str | int | None = None
    answer_text: str | None = None
    response_length: int | None = None
    run_id: str | None = None
    candidate_text: str | None = None
    docid: str | None = None
    nuggets: tuple[AssignedNugget, ...]

    @model_validator(mode="after")
    def _has_a_question(self) -> Self:
        if self.query is None and self.text is None and self.qid is None:
            msg = "these assignments name no question; give query, or qid"
            raise ValueError(msg)
        return self

    @property
    def question(self) -> str:
        """Tell the question apart from others: its id where there is one, else its text."""
        return str(self.qid) if self.qid is not None else str(self.query or self.text)

    @property
    def run(self) -> str:
        """Name the run that the answer is of; empty where it is not known."""
        return self.run_id or ""

    @property
    def is_of_answer(self) -> bool:
        """Tell assignments to an answer from those to a passage."""
        return self.candidate_text is None and self.docid is None


class QuestionNuggets(Value):
    """A question's nuggets; the question is known by its text, by its id, or by both."""

    question: NotBlank | None = None
    question_id: str | None = None
    nuggets: tuple[Nugget, ...]


class _ById(Value):
    question_id: NotBlank
    nuggets: tuple[Nugget, ...]


def read_nuggets(path: Path | str) -> Iterator[QuestionNuggets]:
    """Read a file of nuggets in any of its forms (``.gz``, too); traces without nuggets are left out.

    Raises:
        InputError: the file or one of its lines cannot be read; says the line and the field.
    """
    file = Path(path)
    found = False
    for number, data in _objects(file, "question with its nuggets"):
        if (read := _question_nuggets(data, file, number)) is not None:
            found = True
            yield read
    if not found:
        problem = 'the file holds no nuggets; a line such as {"question": "…", "nuggets": ["…"]} is a question with its nuggets'
        raise InputError(problem, file=file)


def write_nuggets(path: Path | str, lists: Iterable[NuggetList]) -> int:
    """Write a file of nuggets in nuggetizer's form and return of how many questions they are.

    The file appears whole at the end: after an error, the file that was there before is untouched.
    """
    return _write(Path(path), lists)


def read_assignments(path: Path | str) -> Iterator[AssignedNuggets]:
    """Read a file of assignments (``.gz``, too).

    Raises:
        InputError: the file or one of its lines cannot be read; says the line and the field.
    """
    file = Path(path)
    found = False
    for number, data in _objects(file, "text with its assignments"):
        found = True
        yield value_from(AssignedNuggets, data, called="line of assignments", file=file, line=number)
    if not found:
        problem = "the file holds no assignments; 'rag-cover nuggets assign' and 'nuggetizer assign' write some"
        raise InputError(problem, file=file)


def write_assignments(path: Path | str, assigned: Iterable[AssignedNuggets]) -> int:
    """Write a file of assignments and return of how many texts they are; the file appears whole at the end."""
    return _write(Path(path), assigned)


def _question_nuggets(data: Mapping[str, Any], file: Path, number: int) -> QuestionNuggets | None:
    if "question_id" in data:
        by_id = value_from(_ById, data, called="list of nuggets", file=file, line=number)
        return QuestionNuggets(question_id=by_id.question_id, nuggets=by_id.nuggets)
    if "question" in data:
        trace = trace_from(data, file=file, line=number)
        if trace.nuggets is None:
            return None
        return QuestionNuggets(question=trace.question.text, question_id=trace.question.id, nuggets=trace.nuggets)
    listed = value_from(NuggetList, data, called="list of nuggets", file=file, line=number)
    qid = None if listed.qid is None else str(listed.qid)
    return QuestionNuggets(question=listed.query, question_id=qid, nuggets=_nuggets_of(listed, file, number))


def _nuggets_of(listed: NuggetList, file: Path, number: int) -> tuple[Nugget, ...]:
    return tuple(
        value_from(Nugget, each.known, called="nugget", file=file, line=number, at=f"$.nuggets[{place}]")
        for place, each in enumerate(listed.nuggets)
    )


def _objects(file: Path, what: str) -> Iterator[tuple[int, dict[str, Any]]]:
    require_file(file)
    for number, line in number_lines(file):
        data = json_of(line, file=file, number=number)
        if not isinstance(data, dict):
            problem = f"expected a JSON object, one {what} a line, got {describe_value(data)}"
            raise InputError(problem, file=file, line=number, field="$")
        yield number, data


def _write(path: Path, records: Iterable[_Record]) -> int:
    count = 0
    with replacing(path) as file:
        for count, record in enumerate(records, 1):
            refuse_unwritable(record.model_dump(), file=path, line=count)
            file.write(record.model_dump_json(exclude_unset=True).encode() + b"\n")
    return count


def _without_none(**fields: object) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
