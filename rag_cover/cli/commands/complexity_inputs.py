"""Questions on their way to being described: with what is retrieved for them from a corpus, and back with what was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from rag_cover.backends import Retriever
from rag_cover.complexity import Kind, Standing, description_of, kinds_of, standing_of
from rag_cover.errors import InputError, nearest
from rag_cover.measures import TraceResult
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["Questions", "kinds_asked_for"]


@dataclass(slots=True)
class Questions:
    """The questions of a file, kept as they came. Without a retriever, what their traces retrieved is judged."""

    path: Path
    open_retriever: Callable[[], Retriever] | None
    top_k: int
    kinds: Collection[Kind] = ()
    asked: list[Trace] = field(default_factory=list)

    def prepare(self, traces: Iterable[Trace]) -> Iterable[Trace]:
        """Return the traces to measure: those of the kinds asked for, with what is retrieved for each from the corpus.

        Raises:
            InputError: no question is of these kinds, or there are neither a corpus nor retrieval steps.
        """
        self.asked = [trace for trace in traces if not self.kinds or {*self.kinds} & {*kinds_of(trace.question.text)}]
        if not self.asked:
            problem = f"no question here is of this kind, by its wording: {', '.join(self.kinds)}"
            raise InputError(problem, file=self.path)
        if self.open_retriever is not None:
            return _Searched(self.asked, self.open_retriever(), self.top_k)
        if not any(trace.steps for trace in self.asked):
            problem = "no question here comes with retrieved passages; name the passages to retrieve from with --corpus"
            raise InputError(problem, file=self.path)
        return self.asked

    def describe(self, results: Sequence[TraceResult], only: Standing | None) -> list[Trace]:
        """Return the questions as they came, each with what was found under ``complexity`` in its metadata."""
        found = zip(self.asked, results, strict=True)
        return [_describe(trace, result) for trace, result in found if only is None or stands(result, only)]


@dataclass(frozen=True, slots=True)
class _Searched:
    """Traces whose steps are one retrieval from a corpus, made as they are measured."""

    traces: Sequence[Trace]
    retriever: Retriever
    top_k: int

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[Trace]:
        for trace in self.traces:
            passages = tuple(self.retriever.retrieve(trace.question.text, k=self.top_k))
            step = RetrievalStep(query=trace.question.text, passages=passages)
            yield trace.model_copy(update={"steps": (step,), "prompt": None})


def kinds_asked_for(names: Iterable[str] | None) -> tuple[Kind, ...]:
    """Read ``--kind`` options, with or without hyphens.

    >>> kinds_asked_for(["set-operation", "multihop"])
    (<Kind.SET_OPERATION: 'set operation'>, <Kind.MULTI_HOP: 'multi-hop'>)
    """
    known = {_plain(kind): kind for kind in Kind}
    for name in names or ():
        if _plain(name) not in known:
            message = f"no kind of question is called {name!r}.{nearest(name, list(Kind))} There are: {', '.join(Kind)}."
            raise typer.BadParameter(message, param_hint="--kind")
    return tuple(known[_plain(name)] for name in names or ())


def stands(result: TraceResult, standing: Standing) -> bool:
    """Return whether a question was measured and stands there."""
    return result.complexity is not None and standing_of(result.complexity) == standing


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalpha())


def _describe(trace: Trace, result: TraceResult) -> Trace:
    metadata = {**trace.metadata, "complexity": description_of(result)}
    return Trace.model_validate({**trace.to_dict(), "metadata": metadata})
