"""How ``rag-cover set-query`` ends: what was read or found on the screen or as JSON, the traces, the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import typer

from rag_cover.backends import Failure, fingerprint_of
from rag_cover.cli.commands.augmentation_batch import Files
from rag_cover.cli.commands.set_query_batch import Answered, Asked, answer_questions, write_answers
from rag_cover.cli.console import busy, print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.json_output import spending_document
from rag_cover.cli.progress import progress_bar
from rag_cover.evaluation import Progress
from rag_cover.llm.session import LLMSession
from rag_cover.llm.usage import Price
from rag_cover.reports import spending_table
from rag_cover.reports.set_queries import reading_panel, set_answer_report, set_answers_table
from rag_cover.reports.text import format_count
from rag_cover.setqueries import SetAnswerer

__all__ = ["SetQueryEnding"]

_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQueryEnding:
    """What is wanted at the end, read before anything is searched for; without files nothing is written."""

    run: LLMSession
    prices: Mapping[str, Price]
    files: Files | None
    as_json: bool
    quiet: bool
    strict: bool

    @property
    def silent(self) -> bool:
        """Return whether nothing but a document goes to the screen."""
        return self.quiet or self.as_json

    def tell_readings(self, asked: Asked) -> NoReturn:
        """Print how questions were parsed, and exit."""
        failed = [each for each in asked.read if isinstance(each, Failure)]
        if self.as_json:
            read = [
                {"question": trace.question.text, "failed": f"{each.kind}: {each.message}"}
                if isinstance(each, Failure)
                else each.to_dict()
                for trace, each in zip(asked.traces, asked.read, strict=True)
            ]
            self._print_document({"readings": read} if asked.many else {"parsed": read[0]})
        for trace, each in zip(asked.traces, asked.read, strict=True) if not self.as_json else ():
            if isinstance(each, Failure):
                warn(f"'{trace.question.text}' could not be read: {each.message}")
            else:
                screen(quiet=self.quiet).print(reading_panel(each))
        if not self.as_json:
            self._tell_spending()
        self._exit(failed=bool(failed))

    def come(self, asked: Asked, answerer: SetAnswerer, *, shown: int, left_out_shown: int) -> NoReturn:
        """Answer, write the traces, show what was found (or print the document), and exit.

        Raises:
            ModelFailedError: the one question that was asked could not be answered.
            StoreError: the traces cannot be written.
        """
        results = self._results(asked, answerer)
        if not asked.many and isinstance(failure := results[0].answer, Failure):
            raise failure.error()
        if self.files:
            write_answers(self.files.out, results)
        if self.as_json:
            written = [each.to_dict() for each in results]
            self._print_document({"answers": written} if asked.many else written[0])
        elif asked.many:
            self._show_many(results, shown)
        else:
            self._show_one(results, answerer, shown=shown, left_out_shown=left_out_shown)
        self._exit(failed=any(isinstance(each.answer, Failure) or each.answer.failures for each in results))

    def _results(self, asked: Asked, answerer: SetAnswerer) -> list[Answered]:
        """Answer; what was answered is written after an interrupt, too."""
        results, failed = list[Answered](), 0
        one, many = self.silent or asked.many, self.silent or not asked.many
        try:
            with self.run.clock, busy("Searching and judging", quiet=one), progress_bar(quiet=many) as show:
                for each in answer_questions(answerer, asked.traces, asked.read):
                    results.append(each)
                    failed += isinstance(each.answer, Failure)
                    if show:
                        show(Progress(len(results), len(asked.traces), failed, 0))
        except KeyboardInterrupt:
            self._tell_interrupted(results)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        return results

    def _tell_interrupted(self, results: Sequence[Answered]) -> None:
        kept = "Nothing was written."
        if self.files and results:
            write_answers(self.files.out, results)
            kept = f"{format_count(len(results), 'trace')} written to {self.files.out}."
        warn(f"Interrupted. {kept}", style="red")

    def _show_one(self, results: Sequence[Answered], answerer: SetAnswerer, *, shown: int, left_out_shown: int) -> None:
        for each in results:
            if not isinstance(each.answer, Failure):
                judge = fingerprint_of(answerer.scorer)
                screen(quiet=self.quiet).print(set_answer_report(each.answer, judge=judge, limit=shown, shown=left_out_shown))
        self._tell_spending()
        self._tell_where("The answer is")

    def _show_many(self, results: Sequence[Answered], shown: int) -> None:
        answers = [(each.asked.question.text, each.answer) for each in results]
        screen(quiet=self.quiet).print(set_answers_table(answers, limit=shown))
        found = [len(answer.entities) for _, answer in answers if not isinstance(answer, Failure)]
        line = f"{format_count(len(found), 'question')} answered, with {format_count(sum(found), 'entity', 'entities')} in all"
        failed = len(answers) - len(found)
        say(f"{line}; {failed:,} could not be answered." if failed else f"{line}.", quiet=self.quiet)
        self._tell_spending()
        self._tell_where("The answers are")

    def _tell_spending(self) -> None:
        if spending := self.run.ledger.spending:
            screen(quiet=self.quiet).print(spending_table(spending, self.prices))

    def _tell_where(self, what: str) -> None:
        if self.files:
            say(f"{what} in {self.files.out}. Next: {self.files.next}", quiet=self.quiet)

    def _print_document(self, document: Mapping[str, Any]) -> None:
        spending = self.run.ledger.spending
        spent = {"spending": spending_document(spending, self.prices)} if spending else {}
        where = {"out": str(self.files.out)} if self.files else {}
        print_json({"schema": _SCHEMA, **document, **where, **spent})

    def _exit(self, *, failed: bool) -> NoReturn:
        raise typer.Exit(ExitCode.FAILURES if self.strict and failed else ExitCode.OK)
