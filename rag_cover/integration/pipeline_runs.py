"""A pipeline asked all the questions of a dataset, recorded while it answers and measured beside it.

The framework's adapter says how its pipelines are asked; threads, event loops, interruptions and what is kept are here.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import uuid4

from rag_cover.argument_checks import describe_argument, refuse_below, refuse_no_flag, refuse_no_path
from rag_cover.errors import InvalidValueError, StoreInUseError, refuse_unknown_options
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.loop import Progress, Watcher
from rag_cover.integration.datasets import Dataset, Questions, refuse_used_store
from rag_cover.integration.options import AttachOptions
from rag_cover.integration.progress_bars import show_asking_progress
from rag_cover.question_keys import normalise_question
from rag_cover.recording import Call, QuestionContext, Recording
from rag_cover.recording.notifications import LOG, FailureLog
from rag_cover.redaction import Redaction

__all__ = ["Ask", "AsyncAsk", "PipelineInterruptedError", "PipelineRun"]

Ask = Callable[[str], object]
"""Asks a pipeline a question, and returns its answer in whatever form."""
AsyncAsk = Callable[[str], Awaitable[object]]
"""Asks it asynchronously."""

RecordingType = TypeVar("RecordingType", bound=Recording)

_OWN = ("sampling", "capacity", "keep", "measuring")
"""Options of a recording that a dataset decides: every question is asked, and kept."""
_MOST_WAITING = 64
_PATIENCE_S = 5.0


class PipelineInterruptedError(KeyboardInterrupt):
    """Somebody interrupted a pipeline that was being asked questions; ``evaluation`` has what was answered by then."""

    def __init__(self, message: str, evaluation: Evaluation) -> None:
        super().__init__(message)
        self.evaluation = evaluation


class PipelineRun(Generic[RecordingType]):
    """One pass of a pipeline over the questions of a dataset.

    Args:
        questions: what is asked (`Questions`).
        options: of the recording, and the models.
        record: begins the recording.
        name: of the pipeline, where it is recorded by nobody else.
        concurrency: how many questions are under way at a time.
        resume: go on with the store: what it has an answer to is not asked again.
        progress: show a bar on stderr, or a function that is called after every question.

    Raises:
        InputError: a question, or a file of them, cannot be read.
        InvalidValueError: an argument is out of range, there are no questions, or two are the same.
        UnknownOptionError: there is no such option.
        StoreError: the store cannot be used, or holds results and ``resume`` is False.
    """

    def __init__(
        self,
        questions: Questions,
        options: AttachOptions[Any, Any],
        record: Callable[..., RecordingType],
        *,
        name: str,
        concurrency: int,
        resume: bool,
        progress: bool | Watcher,
    ) -> None:
        _refuse_unusable(options, concurrency, resume=resume, progress=progress)
        redaction = Redaction.from_option(options.get("redact", False))
        self._dataset = Dataset(questions, redaction)
        self._store = None if (store := options.get("store")) is None else Path(store)
        for kind in ("references", "nuggets"):
            _refuse_foreign(kind, options.get(kind), self._dataset)
        self._left = self._choose_questions(options.get("pipeline"), resume=resume)
        self._name, self._concurrency, self._progress = name, concurrency, progress
        kept = max(1, len(self._dataset))
        told = {"on_result": _make_own(options.get("on_result"))}
        self.recording = record(**{**options, **told, "capacity": kept, "keep": 2 * kept})
        self.recording.gathering.only_asked = True
        self._log = FailureLog(redaction)
        self._watcher: Watcher = lambda _: None
        self._lock = threading.Lock()
        self._failures = Counter[str]()
        self._resumed = len(self._dataset) - len(self._left)
        self._done = self._resumed

    def evaluate(self, ask: Ask) -> Evaluation:
        """Ask every question, in threads; with a concurrency of 1, on the thread of the caller.

        Raises:
            PipelineInterruptedError: somebody interrupted it. What was answered is measured before this is raised, unless
                it is interrupted again.
        """
        return self._interruptible(lambda: self._ask_in_threads(ask))

    def evaluate_on_a_loop(self, ask: AsyncAsk) -> Evaluation:
        """Ask every question of a pipeline that is asynchronous alone, on an event loop in a thread of its own.

        Raises:
            PipelineInterruptedError: as `evaluate` does.
        """
        return self._interruptible(lambda: self._ask_on_a_loop(ask))

    async def aevaluate(self, ask: AsyncAsk) -> Evaluation:
        """Ask every question on the event loop of the caller; measuring goes on in threads.

        Where the task is cancelled, what was answered is measured, and in the store, before that is passed on.
        """
        try:
            await asyncio.to_thread(self.recording.open_models)
            with self._shown():
                await self._ask_concurrently(ask)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self._finish))
            raise
        except BaseException:
            self.recording.close(0.0)
            raise
        return await asyncio.to_thread(self._finish)

    def _choose_questions(self, pipeline: str | None, *, resume: bool) -> tuple[QuestionContext, ...]:
        if self._store is None:
            return self._dataset.questions
        if resume:
            return self._dataset.resume(self._store, pipeline)
        refuse_used_store(self._store)
        return self._dataset.questions

    def _interruptible(self, ask_all: Callable[[], object]) -> Evaluation:
        try:
            self.recording.open_models()  # what cannot be opened is known before any answer is paid for
            with self._shown():
                ask_all()
        except KeyboardInterrupt as stopped:
            raise PipelineInterruptedError(self._describe_interruption(), self._finish()) from stopped
        except BaseException:
            self.recording.close(0.0)
            raise
        return self._finish()

    def _ask_in_threads(self, ask: Ask) -> None:
        if self._concurrency == 1:
            for question in self._left:
                copy_context().run(self._ask, ask, question)
            return
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="rag-cover-asking") as pool:
            asked = [pool.submit(copy_context().run, self._ask, ask, question) for question in self._left]
            try:
                wait(asked)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # those under way are waited for by the pool
                raise
        for each in asked:
            each.result()

    def _ask_on_a_loop(self, ask: AsyncAsk) -> None:
        """Run an event loop in a thread: the caller's may have one that is running."""
        loop = asyncio.new_event_loop()
        task = loop.create_task(self._ask_concurrently(ask))
        with ThreadPoolExecutor(1, thread_name_prefix="rag-cover-loop") as pool:
            running = pool.submit(_run, loop, task)
            try:
                running.result()
            except BaseException:
                loop.call_soon_threadsafe(task.cancel)
                raise

    async def _ask_concurrently(self, ask: AsyncAsk) -> None:
        waiting = iter(self._left)

        async def ask_in_turn() -> None:
            for question in waiting:
                await asyncio.create_task(self._aask(ask, question), context=copy_context())

        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(ask_in_turn())

    def _ask(self, ask: Ask, question: QuestionContext) -> None:
        self._make_room()
        answer: object = None
        failed: Exception | None = None
        with self.recording.asking(question):
            try:
                answer = _refuse_awaitable(ask(question.text or ""))
            except Exception as error:  # noqa: BLE001  # of the pipeline: counted, logged, and shown in its result
                failed = error
        self._note(question, answer, failed)

    async def _aask(self, ask: AsyncAsk, question: QuestionContext) -> None:
        if self.recording.counts.waiting >= _MOST_WAITING:
            await asyncio.to_thread(self._make_room)
        answer: object = None
        failed: Exception | None = None
        with self.recording.asking(question):
            try:
                answer = await ask(question.text or "")
            except Exception as error:  # noqa: BLE001  # likewise
                failed = error
        self._note(question, answer, failed)

    def _make_room(self) -> None:
        """Wait where the pipeline is faster than what measures its answers: none may be dropped."""
        if self.recording.counts.waiting >= _MOST_WAITING:
            self.recording.flush()

    def _note(self, question: QuestionContext, answer: object, failed: Exception | None) -> None:
        if not question.drafts:  # of a pipeline that does nothing which the framework tells of, or not before it failed
            self._record(question, answer, failed)
        question.drafts.clear()
        if failed is not None:
            self._log.warn(failed, f"{self._name} failed on a question")
        with self._lock:
            self._done += 1
            self._failures.update([type(failed).__name__] if failed is not None else [])
            self._tell_progress()

    def _record(self, question: QuestionContext, answer: object, failed: Exception | None) -> None:
        call = Call(uuid4().hex, "question", self._name, query=question.text)
        call.answer = None if answer is None else str(answer)
        call.error = None if failed is None else f"{type(failed).__name__}: {failed}"
        self.recording.gathering.begin(call.id, None, call, question)
        self.recording.gathering.settle(call.id)

    def _tell_progress(self) -> None:
        """Call the function that watches; one that fails costs no answers, and is not called again."""
        try:
            self._watcher(self._so_far())
        except Exception as failed:  # noqa: BLE001  # of the caller's function: logged
            self._watcher = lambda _: None
            self._log.warn(failed, "progress failed, and is not called again")

    def _so_far(self) -> Progress:
        return Progress(self._done, len(self._dataset), self._failures.total(), self._resumed)

    def _finish(self) -> Evaluation:
        until = time.monotonic() + _PATIENCE_S
        while self.recording.counts.under_way and time.monotonic() < until:  # such as a workflow that ends after its result
            time.sleep(0.01)
        self.recording.close()
        evaluation = self._collect()
        self._warn(self._dataset.missing_from(evaluation.results))
        return evaluation

    def _collect(self) -> Evaluation:
        measured = self.recording.evaluation
        if self._store is None:
            return replace(measured, results=self._dataset.arrange(measured.results))
        with suppress(StoreInUseError):  # another process adds to it: the order is then that of the answers
            self._dataset.arrange_store(self._store)
        return Evaluation.open(self._store, measures=measured.given)

    def _warn(self, missing: Sequence[QuestionContext]) -> None:
        if self._failures:
            kinds = ", ".join(f"{kind} ({number})" for kind, number in self._failures.most_common())
            LOG.warning(
                "%s failed on %d of %d questions: %s%s",
                self._name,
                self._failures.total(),
                len(self._dataset),
                kinds,
                "" if self._store is None else "; resume=True asks them again",
            )
        if (lost := len(missing) - (len(self._dataset) - self._done)) > 0:
            why = f": {self.recording.errors[-1].message}" if self.recording.errors else ""
            LOG.warning("%d questions were asked and have no result%s", lost, why)

    def _describe_interruption(self) -> str:
        where = "the evaluation of this error" if self._store is None else f"{self._store}; resume=True goes on from there"
        return f"{self._done} of {len(self._dataset)} questions were asked when this was interrupted; they are in {where}"

    @contextmanager
    def _shown(self) -> Iterator[None]:
        if callable(self._progress):
            self._watcher = self._progress
            self._tell_progress()
            yield
        elif self._progress:
            with show_asking_progress() as self._watcher:
                self._watcher(self._so_far())
                yield
        else:
            yield


def _make_own(on_result: Any) -> Any:
    """Return a function of this run's own, so that its recording is taken for no other one with the same options."""
    if on_result is not None and not callable(on_result):
        return on_result  # which the recording refuses
    return lambda result: None if on_result is None else on_result(result)


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _refuse_awaitable(answer: object) -> object:
    """Refuse an answer that is still to come: nobody waits for it on this thread.

    Raises:
        InvalidValueError: it is one.
    """
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        message = f"the pipeline returned {describe_argument(answer)}, to be awaited; give an async function that awaits it"
        raise InvalidValueError(message)
    return answer


def _refuse_foreign(kind: str, given: object, dataset: Dataset) -> None:
    """Refuse gold answers, or nuggets, of other questions alone: their keys are misspelt.

    Raises:
        InvalidValueError: some are given by question, and none of a question of the dataset.
    """
    if not given or not isinstance(given, Mapping):
        return
    asked = {normalise_question(name) for each in dataset.questions for name in (each.text, each.id) if name}
    if asked.isdisjoint(normalise_question(str(key)) for key in given):
        message = f"{kind} has nothing of any of the questions; its first key is {next(iter(given))!r:.80}"
        raise InvalidValueError(message)


def _refuse_unusable(options: Mapping[str, Any], concurrency: object, *, resume: object, progress: object) -> None:
    """Refuse what cannot be meant, before anything is asked.

    Raises:
        InvalidValueError: an argument out of range, options that a dataset decides, or nothing to measure or to go on with.
        UnknownOptionError: there is no such option.
    """
    refuse_below(1, concurrency=concurrency)
    refuse_no_path(store=options.get("store"))
    refuse_no_flag(resume=resume)
    if own := [name for name in _OWN if name in options]:
        message = f"a dataset takes no {own[0]}: every question is asked, measured and kept; leave {own[0]}=… out"
        raise InvalidValueError(message)
    known = [name for name in AttachOptions.__annotations__ if name not in _OWN]
    refuse_unknown_options("evaluate_pipeline", options, [*known, "concurrency", "progress", "resume"])
    if options.get("measures", True) in ((), []):
        message = "measures is empty, and this measures what it records; name some, or attach() with a trace file"
        raise InvalidValueError(message)
    if resume and options.get("store") is None:
        message = "resume=True goes on with a store, and none is named (store=…)"
        raise InvalidValueError(message)
    if not (isinstance(progress, bool) or callable(progress)):
        message = f"progress is {describe_argument(progress)}; give True, False, or a function"
        raise InvalidValueError(message)
