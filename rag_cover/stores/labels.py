"""People's labels in a file of their own: JSON Lines that are only ever appended to, never a part of a store of results.

A line is one `Label`, or one `Correction` of a sub-question or nugget. `rag_cover.read_labels` reads such a file as it reads
any table of labels, and so do ``check_judge`` and ``rag-cover judge check``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from rag_cover.errors import InputError, StoreError
from rag_cover.private_files import PRIVATE
from rag_cover.questions import NotBlank, Role, Value
from rag_cover.stores.files import require_file
from rag_cover.stores.jsonl import json_of, number_lines
from rag_cover.stores.validation import describe_value, value_from

__all__ = [
    "Correction",
    "Label",
    "append_labels",
    "current_labels",
    "cut_torn_line",
    "labels_beside",
    "read_corrections",
    "read_label_file",
    "refuse_other_file",
]

_SUFFIX = ".jsonl"
_CORRECTS = "corrects"  # the field by which a correction is told from a label


class Label(Value):
    """What one person said of one text: does it answer the sub-question (the question, where there is none)?

    The text is that of a ``passage`` or of an ``answer``, one of the two. ``references`` are accepted answers, where the person
    went by any. ``annotator`` names the person, ``labelled_at`` says when, with its time zone.

    ``label`` is None where the person skipped the text (``skipped``) or took an earlier label back. ``partly`` tells that the
    text answers a part of the question, which counts as not answering it. ``adjudicated`` labels settle a disagreement: they
    stand in place of every other label of the text. ``sampled`` tells how the text was picked: ``random`` ones are the first
    ``draw`` of a random order of ``population`` verdicts, so that each of these had the same chance; ``chosen`` ones are those
    that the judge is unsure of, and no random sample. None: nothing is known, and the text counts as picked at random.
    """

    question: NotBlank
    sub_question: NotBlank | None = None
    role: Role | None = None
    references: tuple[NotBlank, ...] = ()
    passage: NotBlank | None = None
    passage_id: str | None = None
    answer: NotBlank | None = None
    label: bool | None
    trace_id: str | None = None
    question_id: str | None = None
    annotator: NotBlank | None = None
    labelled_at: AwareDatetime | None = None
    partly: bool = False
    skipped: bool = False
    adjudicated: bool = False
    sampled: Literal["random", "chosen"] | None = None
    draw: Annotated[int, Field(ge=1)] | None = None
    population: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_text(self) -> Self:
        if (self.passage is None) == (self.answer is None):
            msg = "a label is of a passage or of an answer; give the text of one of the two"
            raise ValueError(msg)
        if self.passage is None and self.passage_id is not None:
            msg = "passage_id names the labelled passage, and an answer was labelled; leave it out"
            raise ValueError(msg)
        if self.partly and self.label is not False:
            msg = "a text that answers in part counts as not answering: partly goes with the label false"
            raise ValueError(msg)
        if self.skipped and self.label is not None:
            msg = "a skipped text has no label; leave skipped out, or give the label null"
            raise ValueError(msg)
        return self

    def to_json(self) -> str:
        """Write the label as one line of a file of labels."""
        return self.model_dump_json(exclude_defaults=True)


class Correction(Value):
    """What one person changed of a sub-question or a nugget: its text, its role, or both.

    ``corrects`` is the text as it was judged. Of a nugget ``role`` stands for its importance, core for vital.
    """

    question: NotBlank
    corrects: NotBlank
    text: NotBlank
    role: Role | None = None
    is_nugget: bool = False
    trace_id: str | None = None
    question_id: str | None = None
    annotator: NotBlank | None = None
    corrected_at: AwareDatetime | None = None

    def to_json(self) -> str:
        """Write the correction as one line of a file of labels."""
        return self.model_dump_json(exclude_defaults=True)


def append_labels(path: Path | str, labels: Iterable[Label | Correction]) -> int:
    """Add labels, or corrections, at the end of a file, which is made where there is none, and return how many they were.

    They are written at once, whoever else appends meanwhile, and all or none: a full disk leaves the file as it was.

    Raises:
        StoreError: the file's name does not end in ``.jsonl``, or it cannot be written.
    """
    file, lines = Path(path), [label.to_json().encode() + b"\n" for label in labels]
    refuse_other_file(file)
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), PRIVATE)
        try:
            _append(descriptor, b"".join(lines))
        finally:
            os.close(descriptor)
    except OSError as denied:
        problem = f"{file} cannot be written ({denied.strerror or denied}); check the folder, its permissions and the disk"
        raise StoreError(problem) from denied
    return len(lines)


def refuse_other_file(path: Path) -> None:
    """Refuse a file that labels are not kept in.

    Raises:
        StoreError: the file's name does not end in ``.jsonl``.
    """
    if path.suffix != _SUFFIX:
        problem = f"Labels are kept in a file of their own, whose name ends in {_SUFFIX}; {path} is another"
        raise StoreError(problem)


def read_label_file(path: Path | str) -> tuple[Label, ...]:
    """Read the labels of a file, in the order in which they were given; corrections are passed over.

    Raises:
        InputError: the file or one of its lines cannot be read; says where, and what to do.
    """
    return tuple(
        value_from(Label, data, called="label", file=Path(path), line=number)
        for number, data in _objects(Path(path))
        if _CORRECTS not in data
    )


def read_corrections(path: Path | str) -> tuple[Correction, ...]:
    """Read the corrections of a file of labels, in the order in which they were made.

    Raises:
        InputError: the file or one of its lines cannot be read; says where, and what to do.
    """
    return tuple(
        value_from(Correction, data, called="correction", file=Path(path), line=number)
        for number, data in _objects(Path(path))
        if _CORRECTS in data
    )


def cut_torn_line(path: Path | str) -> bytes:
    """Cut off and return what a crash left of a last line that was not written whole; nothing where the file ends well.

    Raises:
        StoreError: the file cannot be read or written.
    """
    file = Path(path)
    try:
        content = file.read_bytes() if file.exists() else b""
        whole, _, torn = content.rpartition(b"\n")
        if not torn.strip() or _is_json(torn):
            return b""
        os.truncate(file, len(whole) + 1 if whole else 0)
    except OSError as denied:
        problem = f"{file} cannot be read or written ({denied.strerror or denied}); check its permissions"
        raise StoreError(problem) from denied
    return torn


def current_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Keep the last label that each person gave to a text: who labels a text again takes back what was said before.

    What was said when annotators were reconciled (``adjudicated``) takes back nothing: both labels are kept.
    """
    last = {
        (each.annotator, each.adjudicated, _make_labelled(each)) if each.annotator else number: each
        for number, each in enumerate(labels)
    }
    return tuple(last.values())


def labels_beside(results: Path | str) -> Path:
    """Name the file for labels of the results in a store or a folder, which lies beside it.

    >>> labels_beside("runs/baseline.sqlite").as_posix()
    'runs/baseline.labels.jsonl'
    """
    path = Path(results)
    return path.with_name(f"{path.stem}.labels{_SUFFIX}")


def _objects(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    require_file(file)
    for number, line in number_lines(file):
        data = json_of(line, file=file, number=number)
        if not isinstance(data, dict):
            problem = f"expected a JSON object, one label a line, got {describe_value(data)}"
            raise InputError(problem, file=file, line=number, field="$")
        yield number, data


def _is_json(line: bytes) -> bool:
    try:
        json_of(line)
    except InputError:
        return False
    return True


def _make_labelled(label: Label) -> tuple[str | None, ...]:
    return label.trace_id or label.question_id, label.question, label.sub_question, label.passage, label.answer


def _append(descriptor: int, content: bytes) -> None:
    """Write in one call, after a line break where the last line has none: whoever was cut off spoils no other's label."""
    size = os.fstat(descriptor).st_size
    if content and size:
        os.lseek(descriptor, -1, os.SEEK_END)
        content = content if os.read(descriptor, 1) == b"\n" else b"\n" + content
    written = os.write(descriptor, content)
    if written < len(content):
        if os.fstat(descriptor).st_size == size + written:  # nobody else has written since
            os.ftruncate(descriptor, size)
        message = f"the disk is full: {written} of {len(content)} bytes could be written"
        raise OSError(message)
    os.fsync(descriptor)
