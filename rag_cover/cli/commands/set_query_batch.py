"""Set queries on their way to being answered: read by whom the command names, answered one by one, and back as traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import typer

from rag_cover.backends import Failure
from rag_cover.cli.inputs import TraceFile, open_traces
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError, nearest
from rag_cover.llm.session import LLMSession
from rag_cover.registry import open_generator
from rag_cover.setqueries import (
    MOST_ATOMS,
    GeneratedParser,
    Modifiers,
    ParsedQuery,
    Parser,
    SetAnswer,
    SetAnswerer,
    SetQuery,
    parse,
    regroup,
)
from rag_cover.setqueries.generated import UNREADABLE
from rag_cover.stores import write_traces
from rag_cover.traces import Trace

__all__ = ["EMBEDDED", "Answered", "Asked", "answer_questions", "demand_one", "parser_called", "write_answers"]

EMBEDDED = "embedded"
"""Who reads questions by default: the grammar, as under its own name."""

_GRAMMAR = "grammar"
_READERS = f"{EMBEDDED}, {_GRAMMAR}, or a generator such as openai:gpt-4.1-mini"
_PIPELINE = "set query"


@dataclass(frozen=True, slots=True)
class Answered:
    """A question as it came, and its answer, or why there is none."""

    asked: Trace
    answer: SetAnswer | Failure

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        if isinstance(self.answer, Failure):
            return {"question": self.asked.question.text, "failed": f"{self.answer.kind}: {self.answer.message}"}
        return self.answer.to_dict()


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions as they came, and what each was read as; ``many`` where they came in a file."""

    traces: Sequence[Trace]
    read: Sequence[ParsedQuery | Failure]
    many: bool

    @classmethod
    def of(cls, question: str | None, expression: str | None, questions: Path | None, *, parser: str, run: LLMSession) -> Self:
        """Read what is asked; one question alone raises where it cannot be read.

        Raises:
            InputError: the file of questions cannot be read.
            InvalidValueError: the question is no set query.
            ModelFailedError: the language model that was to read it failed.
        """
        if questions is not None:
            traces = list(open_traces(TraceFile(questions)))
            return cls(traces, _read_all(parser_called(parser, run), [each.question.text for each in traces]), many=True)
        parsed = parser_called(parser, run)(question) if question is not None else _read_given(expression or "")
        return cls([Trace(question=parsed.question)], [parsed], many=False)

    def regroup(self, modifiers: Modifiers) -> Self:
        """Take the modifiers of every question in one way; set algebra that was given stays as it is.

        Raises:
            InvalidValueError: the one question that is asked comes to have too many atoms.
        """
        take = _regroup_or_failure if self.many else regroup
        return replace(self, read=[each if isinstance(each, Failure) else take(each, modifiers) for each in self.read])


def demand_one(question: str | None, expression: str | None, questions: Path | None) -> None:
    """Demand one of the three ways to ask.

    Raises:
        BadParameter: there are none, or several.
    """
    ways = sum(each is not None for each in (question, expression, questions))
    if not ways:
        message = "what is to be found? Ask in words, such as 'birds of Chile but not of Peru', or with --expression"
        raise typer.BadParameter(message, param_hint="QUESTION")
    if ways > 1:
        message = "ask in one way: a QUESTION, an --expression, or a file of --questions"
        raise typer.BadParameter(message, param_hint="QUESTION")


def parser_called(name: str, run: LLMSession) -> Parser:
    """Find who reads questions: the grammar, or a generator by its name.

    Raises:
        BadParameter: nobody is called so.
        RagCoverError: there is no such model, or it cannot be opened.
    """
    if name in (EMBEDDED, _GRAMMAR):
        return parse
    try:
        return GeneratedParser(open_generator(name)).for_run(run)
    except BackendNotFoundError as unknown:
        close = nearest(name, (EMBEDDED, _GRAMMAR, *unknown.installed))
        message = f"nobody called {name!r} reads questions.{close} It is {_READERS}"
        raise typer.BadParameter(message, param_hint="--parser") from unknown


def answer_questions(
    answerer: SetAnswerer, asked: Sequence[Trace], read: Sequence[ParsedQuery | Failure]
) -> Iterator[Answered]:
    """Answer questions, in their order; one that fails costs only itself."""
    for trace, parsed in zip(asked, read, strict=True):
        yield Answered(trace, parsed if isinstance(parsed, Failure) else _answer(answerer, parsed))


def write_answers(path: Path, answers: Sequence[Answered]) -> None:
    """Write the answers as traces, each under its question's own id and with its references and metadata.

    Raises:
        StoreError: the file cannot be written.
    """
    write_traces(path, map(_trace, answers))


def _read_given(expression: str) -> ParsedQuery:
    """Read set algebra as it is given, with no doubt about it.

    Raises:
        InvalidValueError: it is none, or has too many atoms.
    """
    query = SetQuery.from_text(expression)
    if (count := len(query.atoms)) > MOST_ATOMS:
        message = f"the expression has {count} atoms; at most {MOST_ATOMS} are searched for: ask in parts"
        raise InvalidValueError(message)
    return ParsedQuery(expression, query, 1.0, "given")


def _read_all(parser: Parser, questions: Sequence[str]) -> list[ParsedQuery | Failure]:
    """Read questions, of a language model all in one call; one that cannot be read costs no other its reading."""
    if isinstance(parser, GeneratedParser):
        return parser.parse_all(questions)
    return [_read(parser, question) for question in questions]


def _read(parser: Parser, question: str) -> ParsedQuery | Failure:
    try:
        return parser(question)
    except InvalidValueError as unfit:
        return Failure(UNREADABLE, str(unfit))


def _regroup_or_failure(parsed: ParsedQuery, modifiers: Modifiers) -> ParsedQuery | Failure:
    try:
        return regroup(parsed, modifiers)
    except InvalidValueError as unfit:
        return Failure(UNREADABLE, str(unfit))


def _answer(answerer: SetAnswerer, parsed: ParsedQuery) -> SetAnswer | Failure:
    try:
        return answerer.answer(parsed)
    except ModelFailedError as failed:
        return Failure.of(failed)


def _trace(each: Answered) -> Trace:
    asked, answer = each.asked, each.answer
    if isinstance(answer, Failure):
        told: dict[str, Any] = {"set_query": {"failures": [asdict(answer)]}}
        made = Trace(question=asked.question, pipeline=_PIPELINE, metadata=told)
    else:
        made = answer.trace(pipeline=_PIPELINE)
    own = {"question": asked.question, "metadata": {**asked.metadata, **made.metadata}}
    return Trace.model_validate({**made.model_copy(update=own).to_dict(), "id": asked.id})
