"""A language model that says which nuggets a text states: as a whole, in part, or not (AutoAssign, `NuggetPrompts`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Failure, Generator, Span, fingerprint_of
from rag_cover.errors import MalformedReplyError
from rag_cover.llm.nugget_prompts import NuggetPrompts
from rag_cover.llm.nugget_replies import AssignmentsReply, WrittenAssignment, assignments_in
from rag_cover.llm.prompt_safety import Quotable
from rag_cover.llm.session import LLMSession, Remote
from rag_cover.llm.structured import replies_to
from rag_cover.nuggets import Assignment
from rag_cover.statements import StatementItem, StatementVerdict
from rag_cover.texts import character_windows
from rag_cover.traces import content_hash

__all__ = ["AT_ONCE", "NuggetAssigner"]

AT_ONCE = 10
"""Nuggets of one call, as in the TREC 2024 RAG track."""

_NOTHING = StatementVerdict(0.0)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One call: a piece of a text that begins at ``offset``, and what is asked of it."""

    text: str
    offset: int
    items: tuple[StatementItem, ...]


class NuggetAssigner:
    """Assigns nuggets by asking a Generator (`rag_cover.statements.StatementJudge`).

    A verdict's probability is 1 for support and 0 for all else. Thread-safe; what was judged is remembered, within a run what
    failed is, too.

    Args:
        generator: the model to ask.
        prompts: the instructions; the shipped ones unless given.
        at_once: nuggets of one call at most.
        longest: characters of a text that are judged in one call; a longer one is read in windows of whole sentences, and each
            nugget counts as in the window that states it best.
        run: the run it is bound to (`for_run`).
    """

    def __init__(
        self,
        generator: Generator,
        *,
        prompts: NuggetPrompts | None = None,
        at_once: int = AT_ONCE,
        longest: int = 60_000,
        run: LLMSession | None = None,
    ) -> None:
        refuse_below(1, at_once=at_once, longest=longest)
        self._generator, self._prompts = generator, prompts or NuggetPrompts.read()
        self._at_once, self._longest, self._run = at_once, longest, run
        self._lock = threading.Lock()
        self._known: dict[StatementItem, StatementVerdict | Failure] = {}

    @property
    def fingerprint(self) -> str:
        """Return what names this assigner in caches: the model, its instructions, and how texts are cut."""
        settings = content_hash([self._prompts.assign, self._at_once, self._longest])
        return f"{fingerprint_of(self._generator)}:assign:{settings[:16]}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same assigner, going by this run's cache, ledger and clock; it begins without memories."""
        generator = self._generator.for_run(run) if isinstance(self._generator, Remote) else self._generator
        return type(self)(generator, prompts=self._prompts, at_once=self._at_once, longest=self._longest, run=run)

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        """Return one verdict for each item; a blank text states nothing.

        Raises:
            ModelFailedError: some assignments could not be had; those that could are remembered, and not asked for again.
        """
        found = self.assign(items)
        for verdict in found:
            if isinstance(verdict, Failure):
                raise verdict.error()
        return [verdict for verdict in found if not isinstance(verdict, Failure)]

    def assign(self, items: Sequence[StatementItem]) -> list[StatementVerdict | Failure]:
        """Return one verdict for each item; in place of one that could not be had, why."""
        with self._lock:
            known = {item: self._known[item] for item in items if item in self._known}
        known |= {item: _NOTHING for item in items if not item.text.strip()}
        asked = self._ask([item for item in dict.fromkeys(items) if item not in known])
        with self._lock:
            kept = asked.items() if self._run is not None else ((i, v) for i, v in asked.items() if not isinstance(v, Failure))
            self._known.update(kept)
        known |= asked
        return [known[item] for item in items]

    def _ask(self, items: Sequence[StatementItem]) -> dict[StatementItem, StatementVerdict | Failure]:
        sheets = list(self._sheets(items))
        prompts = [
            self._prompts.assigning(sheet.text, [item.statement for item in sheet.items], question=sheet.items[0].user_question)
            for sheet in sheets
        ]

        def read(index: int, reply: str) -> list[StatementVerdict]:
            return _verdicts(sheets[index], reply, misquoted=_refuse_misquoted)

        def read_labels(index: int, reply: str) -> list[StatementVerdict]:
            return _verdicts(sheets[index], reply)

        read_sheets = replies_to(prompts, self._generator, read, at_last=read_labels, schema=AssignmentsReply, purpose="judge")
        found: dict[StatementItem, StatementVerdict | Failure] = {}
        for sheet, verdicts in zip(sheets, read_sheets, strict=True):
            for place, item in enumerate(sheet.items):
                new = verdicts if isinstance(verdicts, Failure) else verdicts[place]
                found[item] = _better(found.get(item), new)
        return found

    def _sheets(self, items: Sequence[StatementItem]) -> Iterator[_Sheet]:
        by_text: dict[tuple[str, str], list[StatementItem]] = {}
        for item in items:
            by_text.setdefault((item.text, item.user_question), []).append(item)
        for (text, _), asked in by_text.items():
            for window in character_windows(text, self._longest):
                yield from (_Sheet(window.of(text), window.start, some) for some in _batches(asked, self._at_once))


def _batches(items: Sequence[StatementItem], size: int) -> Iterator[tuple[StatementItem, ...]]:
    for start in range(0, len(items), size):
        yield tuple(items[start : start + size])


def _verdicts(sheet: _Sheet, reply: str, *, misquoted: Callable[[str], None] = lambda _: None) -> list[StatementVerdict]:
    """Hold a reply to its form: every nugget has one label; a fragment that does not stand in the text is none."""
    labels = assignments_in(reply, len(sheet.items))
    if missing := [str(number) for number, label in enumerate(labels, 1) if label is None]:
        message = f"it gives no single label to nugget {', '.join(missing)}"
        raise MalformedReplyError(message, raw=reply)
    source = Quotable(sheet.text)
    stated = [label for label in labels if label is not None]
    if any(each.fragment and source.find(each.fragment) is None for each in stated if each.label is not Assignment.NOT_SUPPORT):
        misquoted(reply)
    return [_verdict(each, source, sheet.offset) for each in stated]


def _refuse_misquoted(reply: str) -> None:
    message = "a fragment did not stand in the text; copy it letter for letter"
    raise MalformedReplyError(message, raw=reply)


def _verdict(written: WrittenAssignment, source: Quotable, offset: int) -> StatementVerdict:
    if written.label is Assignment.NOT_SUPPORT or written.label is None:
        return _NOTHING
    found = source.find(written.fragment or "")
    span = None if found is None else Span(found.start + offset, found.end + offset)
    return StatementVerdict(
        float(written.label is Assignment.SUPPORT), partial=written.label is Assignment.PARTIAL_SUPPORT, fragment=span
    )


def _better(old: StatementVerdict | Failure | None, new: StatementVerdict | Failure) -> StatementVerdict | Failure:
    """Take the window that states a nugget best; one that failed in a window has failed."""
    if old is None or isinstance(old, Failure) or isinstance(new, Failure):
        return new if old is None or not isinstance(old, Failure) else old
    return new if (new.probability, new.partial) > (old.probability, old.partial) else old
