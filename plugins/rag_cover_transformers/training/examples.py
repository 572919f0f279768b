"""Training examples as they stand in a file: JSON Lines, one judgment a line.

``{"question": "…", "text": "…", "correct": true, "references": ["…"], "relevant": ["…"]}``: ``references`` (may be absent) are
accepted answers, ``relevant`` (may be absent) the words or phrases of the question that the text is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import InputError, nearest
from rag_cover_transformers.geneval.layout import InputLayout, Laid

__all__ = ["EncodedExample", "TrainingExample", "encode_examples", "read_examples"]

FIELDS = ("question", "text", "correct", "references", "relevant")
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One judgment, and the line of the file it stands on; ``relevant`` are (start, end) code points of the question."""

    line: int
    question: str
    text: str
    correct: bool
    references: tuple[str, ...]
    relevant: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """One encoded example: ``relevant`` is the share of each of the question's tokens, None where nothing is known of it."""

    laid: Laid
    correct: float
    relevant: NDArray[np.float32] | None
    reference_free: bool


def read_examples(path: Path) -> list[TrainingExample]:
    """Read a file of examples.

    Raises:
        InputError: a line that is no example, with file, line and field.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            found = [_example(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read as UTF-8 text: {error}"
        raise InputError(problem, file=path) from error
    if len({example.correct for example in found}) < 2:
        problem = f"{len(found)} examples, and it takes at least one that is correct and one that is not"
        raise InputError(problem, file=path)
    return found


def _example(path: Path, number: int, line: str) -> TrainingExample:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        problem = f"no JSON: {error.msg}"
        raise InputError(problem, file=path, line=number) from error
    if not isinstance(row, dict):
        problem = f"an example is an object, not {type(row).__name__}"
        raise InputError(problem, file=path, line=number)
    try:
        return _read(row, number)
    except InputError as error:
        raise InputError(error.problem, file=path, line=number, field=error.field) from None


def _read(row: Mapping[str, Any], number: int) -> TrainingExample:
    for name in row:
        if name not in FIELDS:
            problem = f"no such field.{nearest(name, FIELDS)} An example has: {', '.join(FIELDS)}"
            raise InputError(problem, field=name)
    question, text = (_text(row.get(name), name) for name in ("question", "text"))
    correct = row.get("correct")
    if not isinstance(correct, bool) and correct not in (0, 1):
        problem = f"is true or false, not {json.dumps(correct)}"
        raise InputError(problem, field="correct")
    references, phrases = (_texts(row.get(name), name) for name in ("references", "relevant"))
    return TrainingExample(number, question, text, bool(correct), references, tuple(_find_phrases(question, phrases)))


def _text(value: object, field: str) -> str:
    if not isinstance(value, str) or not value.strip():
        problem = "is missing" if value is None else f"is a text that is not blank, not {json.dumps(value)}"
        raise InputError(problem, field=field)
    return value


def _texts(value: object, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problem = f"is a list of texts, not {json.dumps(value)}"
        raise InputError(problem, field=field)
    return tuple(_text(each, f"{field}[{place}]") for place, each in enumerate(value))


def _find_phrases(question: str, phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    for place, phrase in enumerate(phrases):
        start = question.lower().find(phrase.lower())
        if start < 0:
            problem = f"{phrase!r} does not stand in the question {question!r}"
            raise InputError(problem, field=f"relevant[{place}]")
        yield start, start + len(phrase)


def encode_examples(layout: InputLayout, path: Path, examples: Sequence[TrainingExample]) -> list[EncodedExample]:
    """Encode examples, each as one input.

    Raises:
        InputError: a text too long for one input, in which nobody says where the answer is.
    """
    return [
        target
        for start in range(0, len(examples), _CHUNK)
        for target in _encode_examples(layout, path, examples[start : start + _CHUNK])
    ]


def _encode_examples(layout: InputLayout, path: Path, examples: Sequence[TrainingExample]) -> Iterator[EncodedExample]:
    strings = dict.fromkeys(text for each in examples for text in (each.question, each.text, *each.references))
    texts = dict(zip(strings, layout.encoder.tokenise(list(strings)), strict=True))
    for example in examples:
        asked = texts[example.question]
        inputs = layout.inputs(asked, texts[example.text], [texts[given] for given in example.references])
        if len(inputs) != 1:
            problem = (
                f"with its references it fills {len(inputs)} inputs of {layout.encoder.max_tokens} tokens; an example fills "
                "one. Cut the text around its answer, give fewer references, or raise --max-tokens"
            )
            raise InputError(problem, file=path, line=example.line, field="text")
        offsets = asked.offsets[: inputs[0].question.stop - inputs[0].question.start]
        yield EncodedExample(inputs[0], float(example.correct), _shares(offsets, example.relevant), not example.references)


def _shares(offsets: NDArray[np.int64], spans: Sequence[tuple[int, int]]) -> NDArray[np.float32] | None:
    """Share 1 among the tokens that the spans touch."""
    touched = np.array([any(start < stop and end > first for first, stop in spans) for start, end in offsets.tolist()], bool)
    return (touched / touched.sum()).astype(np.float32) if touched.any() else None
