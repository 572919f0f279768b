"""The questions that a pipeline is to be asked, and which of them a store has the answers to already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from rag_cover.argument_checks import describe_argument
from rag_cover.errors import InputError, InvalidValueError, StoreError
from rag_cover.importers import import_traces, read_any
from rag_cover.measures import TraceResult
from rag_cover.questions import Question
from rag_cover.recording import QuestionContext
from rag_cover.redaction import Redaction, redact_trace
from rag_cover.stores import Store
from rag_cover.stores.locks import hold
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace, describe_pipeline_failure

__all__ = ["Dataset", "Questions", "refuse_used_store"]

Questions: TypeAlias = Iterable[str | Question | Trace | Mapping[str, Any]] | Path | str
"""Texts, questions, or traces (rows of them, too) for what else is known, such as sub-questions; or a file of them."""

_WORDS_OF_QUESTION = 3
_TABLES = ("columns", "column_names", "samples", "test_cases")
"""What data frames, data sets and test sets have, and lists have not."""
_SHOWN = 60
_Name = tuple[str | None, str]


class Dataset:
    """The questions of a dataset, each told apart by its id and its text.

    Args:
        questions: see `Questions`. Of traces the question, its sub-questions and nuggets are taken, and their metadata; what
            another pipeline answered is not.
        redaction: how the texts of a store are redacted, which its questions are found by; None: they are not.

    Raises:
        InputError: a file, or one of the questions, cannot be read.
        InvalidValueError: there are none, or two are the same.
    """

    def __init__(self, questions: Questions, redaction: Redaction | None = None) -> None:
        self.questions = tuple(_read(questions))
        self._redaction = redaction
        names = [self._name_of(Question(each.text or "", id=each.id)) for each in self.questions]
        self._places = {name: place for place, name in enumerate(names)}
        if not names:
            message = "there are no questions; give one at least"
            raise InvalidValueError(message)
        if len(self._places) < len(names):
            twice = next(place for place, name in enumerate(names) if self._places[name] != place)
            again = self._places[names[twice]]
            message = f"questions {twice + 1} and {again + 1} are the same; leave one out, or give each an id of its own"
            raise InvalidValueError(message)

    def __len__(self) -> int:
        return len(self.questions)

    def missing_from(self, results: Iterable[TraceResult]) -> tuple[QuestionContext, ...]:
        """List the questions that have no result among these."""
        there = {_name(result.trace.question) for result in results}
        return tuple(each for each, name in zip(self.questions, self._places, strict=True) if name not in there)

    def arrange(self, results: Iterable[TraceResult]) -> tuple[TraceResult, ...]:
        """Put results in the order of their questions, those of other questions last."""
        return tuple(sorted(results, key=self._place_of))

    def resume(self, path: Path, pipeline: str | None) -> tuple[QuestionContext, ...]:
        """List the questions that a store lacks. Results of failures are removed from it: their questions are asked again.

        Where the pipeline has a name, what a store holds of pipelines with other names does not count.

        Raises:
            StoreError: it cannot be used.
        """
        if not path.exists():
            return self.questions
        with Store.open(path) as store, hold(path):
            kept = list(zip(store.keys(), store.results(), strict=True))
            broken = {ordinal for ordinal, result in kept if self._knows(result) and _has_failed(result)}
            store.remove(broken)
        there = [result for ordinal, result in kept if ordinal not in broken]
        return self.missing_from(each for each in there if pipeline in (None, each.trace.pipeline))

    def arrange_store(self, path: Path) -> None:
        """Put the results of a store in the order of their questions.

        Raises:
            StoreError: it cannot be used.
        """
        with Store.open(path) as store, hold(path):
            kept = zip(store.keys(), store.results(), strict=True)
            store.arrange([ordinal for ordinal, _ in sorted(kept, key=lambda each: self._place_of(each[1]))])

    def _knows(self, result: TraceResult) -> bool:
        return _name(result.trace.question) in self._places

    def _place_of(self, result: TraceResult) -> int:
        return self._places.get(_name(result.trace.question), len(self._places))

    def _name_of(self, question: Question) -> _Name:
        return _name(question if self._redaction is None else redact_trace(Trace(question=question), self._redaction).question)


def refuse_used_store(path: Path) -> None:
    """Refuse a store that holds results, where nothing was said of going on with it.

    Raises:
        StoreError: it holds some, or cannot be used.
    """
    if not path.exists():
        return
    with Store.open(path) as store:
        held = len(store)
    if held:
        message = f"{path} holds {held} results already; go on with it (resume=True), or name another file"
        raise StoreError(message)


def _read(questions: Questions) -> Iterator[QuestionContext]:
    if isinstance(questions, str) and _reads_as_question(questions):
        message = f"questions is one text, {questions[:_SHOWN]!r}; give a list of questions, or the path of a file"
        raise InvalidValueError(message)
    if isinstance(questions, str | Path):
        yield from map(_from_trace, import_traces(questions))
        return
    if isinstance(questions, Mapping):
        message = "questions is a mapping; give a list of questions, and their gold answers as references={question: answer}"
        raise InvalidValueError(message)
    if any(hasattr(questions, name) for name in _TABLES):
        yield from map(_from_trace, read_any(questions))
        return
    if not isinstance(questions, Iterable):
        message = f"questions is {describe_argument(questions)}; give a list of texts or questions, or the path of a file"
        raise InvalidValueError(message)
    for number, each in enumerate(questions, 1):
        yield _from_trace(_as_trace(each, number))


def _reads_as_question(text: str) -> bool:
    """Return whether a text is no path but a question: it has several words, or a question mark, and no file is called so."""
    return (text.rstrip().endswith("?") or len(text.split()) >= _WORDS_OF_QUESTION) and not Path(text).suffix[1:].isalnum()


def _as_trace(given: object, number: int) -> Trace:
    match given:
        case Trace():
            return given
        case Question():
            return Trace(question=given)
        case str() | Mapping():
            try:
                return trace_from({"question": given}) if isinstance(given, str) else next(iter(read_any([given])))
            except InputError as wrong:
                problem = f"question {number}: {wrong}"
                raise InputError(problem) from wrong
        case _:
            message = f"question {number} is {describe_argument(given)}; give a text, a Question, or a trace"
            raise InvalidValueError(message)


def _from_trace(trace: Trace) -> QuestionContext:
    question = trace.question
    return QuestionContext(
        question.text,
        question.id,
        question.references,
        trace.sub_questions,
        dict(trace.metadata),
        tags=trace.tags,
        thread_id=trace.thread_id,
        user_id=trace.user_id,
        nuggets=trace.nuggets,
    )


def _name(question: Question) -> _Name:
    return question.id, question.text


def _has_failed(result: TraceResult) -> bool:
    """Tell whether a pipeline failed on a question, or the measuring of its answer did."""
    return bool(result.failures) or describe_pipeline_failure(result.trace) is not None
