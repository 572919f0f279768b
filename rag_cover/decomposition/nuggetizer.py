"""Nuggets of a question made by a language model: AutoNuggetizer's iterative creation, then the importance of each.

Pradeep et al., "The Great Nugget Recall" (SIGIR 2025), §4.1.1: passages come in windows of ten, and with each the model brings
its list of at most thirty nuggets up to date; then it labels them vital or okay, ten at a time. The track kept the first
twenty, vital ones first (``keep=20``); the authors' program keeps all. What was made once is remembered, in the cache of the
run where it has one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self, TypedDict

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.backends import Failure, Generator, fingerprint_of
from rag_cover.errors import MalformedReplyError
from rag_cover.llm.memory import Memory
from rag_cover.llm.nugget_prompts import NuggetPrompts
from rag_cover.llm.nugget_replies import ImportanceReply, NuggetsReply, WrittenNugget, importance_in, nuggets_in
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.llm.structured import replies_to
from rag_cover.nuggets import Importance, Nugget, NuggetSource
from rag_cover.questions import Passage, Question, prepend_title
from rag_cover.traces import content_hash

__all__ = ["MOST", "WINDOW", "Nuggetizer"]

MOST = 30
"""Nuggets of one question, unless told otherwise."""

WINDOW = 10
"""Passages that the model sees at once, and nuggets that it weighs at once, unless told otherwise."""

_WINDOW_CHARACTERS = 60_000  # of passages: a window of longer ones has fewer of them

Made = tuple[Nugget, ...]
Window = Sequence[tuple[str, str]]
"""Passages of one call, each with its id or key and its text."""


class _Options(TypedDict):
    prompts: NuggetPrompts
    window: int
    max_nuggets: int
    keep: int | None


@dataclass(slots=True)
class _Work:
    """A question under way: the windows that are left, and the list so far with the passages that state each nugget."""

    question: str
    windows: list[Window]
    nuggets: list[str] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)

    def update(self, written: Sequence[WrittenNugget]) -> None:
        """Take the list that the model wrote about the first window; what it left as it was keeps its passages."""
        window = self.windows.pop(0)
        for each in written:
            named = [window[number - 1][0] for number in each.passages if 1 <= number <= len(window)]
            self.sources[each.text] = list(dict.fromkeys([*self.sources.get(each.text, []), *named]))
        self.nuggets = [each.text for each in written]

    def nugget(self, text: str, importance: Importance | None, by: str) -> Nugget:
        sources = tuple(NuggetSource(kind="passage", id=key) for key in self.sources[text])
        return Nugget(text, importance=importance, importance_source=by if importance else None, sources=sources)


class Nuggetizer:
    """Makes nuggets by asking a Generator.

    Thread-safe: the same question and passages in two threads are asked once. Failures are remembered within a run.

    Args:
        generator: the model to ask.
        prompts: the instructions; the shipped ones unless given.
        window: how many passages the model sees at once, and how many nuggets it weighs at once.
        max_nuggets: at most so many are on the list.
        keep: so many are kept in the end, vital ones first; all unless given.
        run: whose cache, ledger and clock it goes by.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        prompts: NuggetPrompts | None = None,
        window: int = WINDOW,
        max_nuggets: int = MOST,
        keep: int | None = None,
        run: LLMSession | None = None,
    ) -> None:
        refuse_below(1, window=window, max_nuggets=max_nuggets, **without_none(keep=keep))
        self._generator = generator
        self._prompts = prompts or NuggetPrompts.read()
        self._window, self._most, self._keep = window, max_nuggets, keep
        self._options: _Options = {"prompts": self._prompts, "window": window, "max_nuggets": max_nuggets, "keep": keep}
        self._memory = Memory(self._ask, self._key, _pack, _unpack, run)

    @property
    def source(self) -> str:
        """Return the name of what makes the nuggets, as their ``importance_source`` has it."""
        return f"model:{getattr(self._generator, 'name', None) or fingerprint_of(self._generator)}"

    @property
    def fingerprint(self) -> str:
        """Return what names this nuggetizer in caches: the model, its instructions, and its settings."""
        settings = content_hash([self._prompts.create, self._prompts.weigh, self._window, self._most, self._keep])
        return f"{fingerprint_of(self._generator)}:nuggetize:{settings[:16]}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same nuggetizer, going by this run's cache, ledger and clock; it begins without memories."""
        return type(self)(bind_models({"generator": self._generator}, run)["generator"], **self._options, run=run)

    def make(self, pools: Sequence[tuple[Question, Sequence[Passage]]]) -> list[Made | Failure]:
        """Make the nuggets of questions of their passages, in the order of these; in place of what could not be made, why.

        The passages should bear on the question: the track took those judged to be related to it.
        """
        return self._memory.make_all([_write_down(question, passages) for question, passages in pools])

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process without memories: a lock cannot."""
        return partial(type(self), self._generator, **self._options), ()

    def _ask(self, texts: Sequence[str]) -> list[Made | Failure]:
        works = [self._work(text) for text in texts]
        found: dict[int, Made | Failure] = {
            index: Failure("no passages", "there are no passages to make nuggets of")
            for index, work in enumerate(works)
            if not work.windows
        }
        while waiting := {index: work for index, work in enumerate(works) if work.windows and index not in found}:
            found |= self._update(waiting)
        found |= self._weigh({index: work for index, work in enumerate(works) if index not in found})
        return [found[index] for index in range(len(works))]

    def _work(self, text: str) -> _Work:
        question, passages = json.loads(text)
        readable = [(key, shown) for key, shown in passages if shown.strip()]
        return _Work(question, _windows(readable, self._window))

    def _update(self, works: Mapping[int, _Work]) -> dict[int, Failure]:
        """Show each question's next window; return which failed."""
        order = list(works.values())
        prompts = [
            self._prompts.creating(work.question, [text for _, text in work.windows[0]], work.nuggets, most=self._most)
            for work in order
        ]

        def read(index: int, reply: str) -> tuple[WrittenNugget, ...]:
            return nuggets_in(reply, most=self._most, before=order[index].nuggets)

        replies = replies_to(prompts, self._generator, read, schema=NuggetsReply, purpose="nuggetize")
        failed: dict[int, Failure] = {}
        for index, work, reply in zip(works, order, replies, strict=True):
            if isinstance(reply, Failure):
                failed[index] = reply.about("its nuggets could not be made")
            else:
                work.update(reply)
        return failed

    def _weigh(self, works: Mapping[int, _Work]) -> dict[int, Made | Failure]:
        """Label the nuggets of each question, and put them in their final order."""
        batches = [
            (index, work.nuggets[start : start + self._window])
            for index, work in works.items()
            for start in range(0, len(work.nuggets), self._window)
        ]
        prompts = [self._prompts.weighing(works[index].question, some) for index, some in batches]

        def read(place: int, reply: str) -> tuple[Importance | None, ...]:
            return importance_in(reply, len(batches[place][1]))

        def read_all(place: int, reply: str) -> tuple[Importance | None, ...]:
            return _complete(read(place, reply), reply)

        replies = replies_to(prompts, self._generator, read_all, at_last=read, schema=ImportanceReply, purpose="weigh")
        labels: dict[int, list[Importance | None]] = {index: [] for index in works}
        failed: dict[int, Made | Failure] = {}
        for (index, _), reply in zip(batches, replies, strict=True):
            if isinstance(reply, Failure):
                failed.setdefault(index, reply.about("its nuggets could not be weighed"))
            else:
                labels[index] += reply
        return {index: failed.get(index) or self._order_nuggets(work, labels[index]) for index, work in works.items()}

    def _order_nuggets(self, work: _Work, importance: Sequence[Importance | None]) -> Made:
        made = [work.nugget(text, label, self.source) for text, label in zip(work.nuggets, importance, strict=True)]
        if self._keep is None:
            return tuple(made)
        return tuple(sorted(made, key=lambda nugget: nugget.importance is not Importance.VITAL)[: self._keep])

    def _key(self, text: str) -> str:
        return content_hash({"nuggets": text, "by": self.fingerprint})


def _windows(passages: Sequence[tuple[str, str]], most: int) -> list[Window]:
    """Cut passages into windows of at most ``most`` and, beyond the first passage, 60,000 characters."""
    found: list[list[tuple[str, str]]] = []
    size = 0
    for passage in passages:
        if not found or len(found[-1]) == most or size + len(passage[1]) > _WINDOW_CHARACTERS:
            found.append([])
            size = 0
        found[-1].append(passage)
        size += len(passage[1])
    return list(found)


def _write_down(question: Question, passages: Sequence[Passage]) -> str:
    """Write down all that a question's nuggets depend on."""
    shown = [[passage.id or passage.key, prepend_title(passage.title, passage.text)] for passage in passages]
    return json.dumps([question.text, shown], ensure_ascii=False)


def _complete(importance: tuple[Importance | None, ...], reply: str) -> tuple[Importance | None, ...]:
    if missing := [str(number) for number, label in enumerate(importance, 1) if label is None]:
        message = f"it gives no single importance to nugget {', '.join(missing)}"
        raise MalformedReplyError(message, raw=reply)
    return importance


def _pack(nuggets: Made) -> bytes:
    return json.dumps([each.model_dump(mode="json", exclude_defaults=True) for each in nuggets], ensure_ascii=False).encode()


def _unpack(answer: bytes) -> Made | None:
    try:
        return tuple(Nugget.model_validate(each) for each in json.loads(answer))
    except ValueError:  # damaged, or of another version: made again
        return None
