"""Augment many questions at a time; one that fails does not stop the others. The results are traces."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from rag_cover.augmentation import Augmentation, AugmentationMode
from rag_cover.augmentation.augmenter import MODES, unknown_mode
from rag_cover.backends import Failure
from rag_cover.coverage import Augmenter, by_rules
from rag_cover.decomposition.strategies import Decomposer
from rag_cover.errors import InvalidValueError, ModelFailedError, StoreError
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.measures import ModelKind
from rag_cover.questions import SubQuestion
from rag_cover.registry import Models
from rag_cover.reports.gains import AugmentedQuestion, Gains
from rag_cover.stores import write_traces
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["Cast", "Files", "Work", "augmentation_document", "mode_called"]

_EMBEDDED, _NONE, _RULES = "embedded", "none", "rules"
_PLAIN = "plain retrieval"


@dataclass(frozen=True, slots=True)
class Cast:
    """Which models augment, by their names; ``utility`` also asks what each search was worth."""

    judge: str
    generator: str | None = None
    receiver: str | None = None
    decompose_with: str | None = None
    entailer: str | None = None
    utility: bool = False

    def open(self, run: LLMSession) -> Mapping[ModelKind, Any]:
        """Open them for a run.

        Raises:
            InvalidValueError: a search's worth is asked for, and nobody offers to tell what follows from what.
            RagCoverError: a model that cannot be opened.
        """
        receiver = self.receiver or (_EMBEDDED if self.utility or self.generator is None else _NONE)
        reads = receiver != _NONE
        models = Models(
            judge=self.judge,
            entailer=self.entailer,
            receiver=receiver if reads else None,
            generator=self.generator,
            decomposer=self._decomposer(answers=reads or self.generator is not None),
        )
        kinds: list[ModelKind] = ["scorer", "receiver", "generator", "decomposer"]
        found = bind_models(models.open([*kinds, "entailer"] if self.utility else kinds), run)
        if self.utility and not {"entailer", "receiver"} <= found.keys():
            message = "the worth of a search is measured by a receiver and an entailer: name both (--receiver, --entailer)"
            raise InvalidValueError(message)
        return found

    def _decomposer(self, *, answers: bool) -> str | Path | Decomposer | None:
        name = self.decompose_with
        if name == _RULES:
            return by_rules(answers=answers)
        is_file = name is not None and (Path(name).is_file() or name.endswith((".jsonl", ".jsonl.gz")))
        return Path(name) if name is not None and is_file else name


@dataclass(frozen=True, slots=True)
class Files:
    """Where the traces go: those that were augmented, and those of retrieval by the question alone."""

    out: Path
    baseline: Path | None

    def __post_init__(self) -> None:
        """Refuse what could not be written in the end.

        Raises:
            BadParameter: one file for both.
            StoreError: a folder, or a file in none.
        """
        if self.baseline is not None and self.baseline.resolve() == self.out.resolve():
            message = f"{self.out} cannot hold the traces both before and after; name another file"
            raise typer.BadParameter(message, param_hint="--baseline")
        for path in (self.out, *([self.baseline] if self.baseline else [])):
            if path.is_dir() or not path.parent.is_dir():
                message = f"{path} cannot be written: it is a folder, or in one that does not exist; name another file"
                raise StoreError(message)

    @property
    def next(self) -> str:
        """Return what to try next."""
        if self.baseline is None:
            return f"rag-cover evaluate {self.out}"
        return f"rag-cover compare {self.baseline} {self.out}"


@dataclass(frozen=True, slots=True)
class Work:
    """An augmenter at work on a file's questions; ``plain`` retrieves for the question alone, to compare with."""

    augmenter: Augmenter
    plain: Augmenter | None
    workers: int

    @classmethod
    def of(cls, augmenter: Augmenter, *, baseline: bool, workers: int | None) -> Work:
        """Set up the work; a baseline is answered like the rest, where a generator is given.

        Modes that search for the question alone need no second search to say what that brings back.
        """
        plain = replace(augmenter, mode="retrieval", depth=None, max_calls=1, receiver=None, entailer=None, decomposer=None)
        if not baseline:
            plain = replace(plain, generator=None)
        needed = baseline or augmenter.mode not in ("retrieval", "auto")
        return cls(augmenter, plain if needed else None, workers or max(1, (os.cpu_count() or 2) // 2))

    def augment(self, traces: Iterable[Trace]) -> Iterator[AugmentedQuestion]:
        """Augment the questions of traces, in their order."""
        pending: deque[Future[AugmentedQuestion]] = deque()
        pool = ThreadPoolExecutor(self.workers)
        try:
            for trace in traces:
                pending.append(pool.submit(self._augment_questions, trace))
                if len(pending) > 2 * self.workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def write(self, results: Sequence[AugmentedQuestion], out: Path, baseline: Path | None) -> None:
        """Write the traces.

        Beside a baseline the passages that were kept stand alone, as if one search had brought them: otherwise the one side
        would be credited with all that it found, the other with k passages.

        Raises:
            StoreError: a file cannot be written.
        """
        pipeline = f"augmented by {self.augmenter.mode}"
        write_traces(out, (_trace(each.asked, each.made, pipeline, alone=baseline is not None) for each in results))
        if baseline is not None:
            sides = ((each, Failure("baseline", "not asked") if each.plain is None else each.plain) for each in results)
            write_traces(baseline, (_trace(each.asked, plain, _PLAIN, alone=True) for each, plain in sides))

    def _augment_questions(self, trace: Trace) -> AugmentedQuestion:
        try:
            made = self.augmenter.augment(trace.question, sub_questions=trace.sub_questions or None)
        except ModelFailedError as failed:
            return AugmentedQuestion(trace, Failure.of(failed), self._plainly(trace, trace.sub_questions or ()))
        return AugmentedQuestion(trace, made, self._plainly(trace, made.trace().sub_questions or ()))

    def _plainly(self, trace: Trace, sub_questions: Sequence[SubQuestion]) -> Augmentation | Failure | None:
        if self.plain is None:
            return None
        try:
            found = self.plain.augment(trace.question, sub_questions=sub_questions)
        except ModelFailedError as failed:
            return Failure.of(failed)
        return replace(found, notes=())  # that sub-questions were not searched for is what makes it plain


def mode_called(name: str, *, generator: str | None) -> AugmentationMode:
    """Find a mode by its name, with or without the hyphen.

    >>> mode_called("endtoend", generator="openai:gpt-4.1-mini")
    'end-to-end'

    Raises:
        InvalidValueError: there is none, or it needs a generator.
    """
    found = {mode.replace("-", ""): mode for mode in MODES}.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        raise unknown_mode(name)
    if found == "end-to-end" and generator is None:
        message = "augmentation by 'end-to-end' writes answers; name who does with --generator, such as openai:gpt-4.1-mini"
        raise InvalidValueError(message)
    return found


def augmentation_document(
    results: Sequence[AugmentedQuestion], gains: Gains, out: Path, baseline: Path | None
) -> dict[str, Any]:
    """Write as JSON data what augmenting changed, what became of each question, and where the traces are."""
    return {
        "summary": asdict(gains),
        "questions": [_question(each) for each in results],
        "out": str(out),
        "baseline": None if baseline is None else str(baseline),
    }


def _question(each: AugmentedQuestion) -> dict[str, Any]:
    about: dict[str, Any] = {"trace": each.asked.id}
    if isinstance(each.made, Failure):
        question = each.asked.question.model_dump(mode="json", exclude_defaults=True)
        return about | {"question": question, "failed": f"{each.made.kind}: {each.made.message}"}
    compared = [{"text": row.sought.text, "before": row.before, "after": row.after} for row in each.rows]
    return about | each.made.to_dict() | {"compared": compared}


def _trace(asked: Trace, made: Augmentation | Failure, pipeline: str, *, alone: bool) -> Trace:
    """Write a question's augmentation as its trace, under its own id and with its own metadata."""
    told: Mapping[str, Any] = {"augmentation": {"failures": [asdict(made)]}} if isinstance(made, Failure) else {}
    trace = Trace(question=asked.question, sub_questions=asked.sub_questions, pipeline=pipeline, metadata=told)
    if isinstance(made, Augmentation):
        trace = made.trace(pipeline=pipeline)
    steps = (RetrievalStep(query=asked.question.text, passages=trace.prompt or ()),) if alone and trace.steps else trace.steps
    metadata = {**asked.metadata, **trace.metadata}
    return Trace.model_validate({**trace.model_copy(update={"steps": steps}).to_dict(), "id": asked.id, "metadata": metadata})
