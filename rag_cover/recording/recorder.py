"""A recording: drafts in, traces and results out, on a thread of its own behind a queue that never makes the host wait."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4
from weakref import finalize

from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError, RagCoverError
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.forks import reset_after_fork
from rag_cover.known_measures import DEFAULT_MEASURES
from rag_cover.llm.session import LLMSession
from rag_cover.measures import Measure, TraceResult
from rag_cover.notebook_views import show_in_notebook
from rag_cover.questions import SubQuestion
from rag_cover.recording.arguments import (
    MeasuringIn,
    make_question_context,
    refuse_closed,
    refuse_unkept,
    refuse_unmeasured,
    refuse_unusable,
)
from rag_cover.recording.calls import Call, OpenTrace, QuestionContext, TraceDraft
from rag_cover.recording.collector import CallCollector
from rag_cover.recording.identities import equality_key
from rag_cover.recording.notifications import LOG, FailureLog, notify
from rag_cover.recording.options import RecordingOptions, document_options
from rag_cover.recording.recent import recent_results, recent_traces
from rag_cover.recording.recording_counts import RecordingCounts
from rag_cover.recording.score_sender import ScoreSender, SendScore
from rag_cover.recording.sendable import pack_plan
from rag_cover.recording.shutdown import close_at_exit, unregister
from rag_cover.recording.sinks import RecordingSinks
from rag_cover.recording.telemetry import place
from rag_cover.recording.trace_builder import References, TraceBuilder, references_by_spelling
from rag_cover.recording.worker import Worker, WorkerThread
from rag_cover.recording.worker_process import WorkerProcess
from rag_cover.redaction import Redaction
from rag_cover.registry import Models
from rag_cover.traces import Trace

__all__ = ["LIVE_MODELS", "Recording"]

LIVE_MODELS = Models(receiver="embedded")
"""What a recording asks by default: all of it local."""

_ERRORS = 1000
_CAPACITY: Mapping[MeasuringIn, int] = {"thread": 1000, "process": 100_000}


@document_options(RecordingOptions)
class Recording:
    """What a pipeline did with each question, recorded while it runs and measured beside it.

    Whoever answers questions hands over what happened in microseconds; a thread of the recording's own makes traces of it and
    measures them. Recordings of the same measures and models share a thread; one that is neither closed nor held any more is
    gone once it has measured what waits. Nothing that goes wrong here reaches the pipeline: it is counted (`counts`), kept
    (`errors`) and logged (logger ``rag_cover.recording``). With ``measuring="process"`` a trace is made and written at once,
    and measured by another process.

    Args:
        models: the models that are asked; local ones unless given.
        **options: every other parameter, as `RecordingOptions` describes it.

    Raises:
        InvalidValueError: a share outside [0, 1], a capacity below 1, an unknown measure, a trace file of redacted traces.
        StoreError: a store or a trace file that cannot be used.
    """

    def __init__(  # noqa: PLR0913  # the public interface: all by name
        self,
        *,
        measures: Sequence[str | Measure] | None = None,
        models: Models = LIVE_MODELS,
        references: References | None = None,
        traces: Path | str | None = None,
        store: Path | str | None = None,
        on_result: Callable[[TraceResult], object] | None = None,
        measuring: MeasuringIn = "thread",
        sampling: float = 1.0,
        capacity: int | None = None,
        keep: int = 10_000,
        pipeline: str | None = None,
        own_sub_questions: bool = True,
        seed: int = 0,
        user_ids: bool = False,
        redact: bool | Redaction = False,
    ) -> None:
        refuse_unusable(sampling=sampling, capacity=capacity, keep=keep, references=references, on_result=on_result)
        refuse_unkept(measures, traces=traces, store=store, redact=redact)
        refuse_unmeasured(measuring, measures=measures, store=store, redact=redact, on_result=on_result)
        redaction = Redaction.from_option(redact)
        self._plan = _plan(measures, models, redaction)
        self._assembly = TraceBuilder(references_by_spelling(references or {}), pipeline, own_sub_questions, user_ids)
        names = self._plan.names if self._plan else ()
        self._store = store
        kept_here = store if measuring == "thread" else None
        self._keeping = RecordingSinks(traces, kept_here, measures=names, seed=seed, redaction=redaction)
        self._on_result, self._seed = on_result, seed
        self.gathering = CallCollector(self._finish, sampling=sampling, seed=seed)
        self._worker = Worker(
            self._work,
            partial(self.fail, where="recording"),
            capacity=capacity or _CAPACITY["thread"],
            name="rag-cover-recording",
            key=equality_key((None if measures is None else tuple(measures), models if self._plan else None)),
        )
        self._process = None
        if measuring == "process" and self._plan is not None and store is not None:
            packed, path = pack_plan(self._plan), Path(store)
            most = capacity or _CAPACITY["process"]
            self._process = WorkerProcess(packed, names, path, seed=seed, capacity=most, failed=self.fail)
        self._unclosed = finalize(self, _close_unheld, self._worker.shared, self._keeping, self._process)
        self._unclosed.atexit = False
        self._most_kept = keep
        self._reset()
        reset_after_fork(self._reset)
        self._asked: ContextVar[QuestionContext | None] = ContextVar("rag_cover_asked", default=None)
        self._failures = FailureLog(redaction)
        self._closed = False
        self._entered = 0
        self._held: object = None
        self._detach: Callable[[], object] | None = None
        self._scores: ScoreSender | None = None
        close_at_exit(self)
        if self._plan is None and traces is None:
            LOG.warning(
                "nothing is measured, and no trace file is named (traces=…): traces stay in memory, and end with the process"
            )
        if self._process is not None:
            self._process.begin()
        elif self._plan is not None:
            self._worker.begin(self._plan.open)

    def _reset(self) -> None:
        """Begin without results; a process that is forked off has none, and counts what it records itself."""
        self._results = recent_results(self._most_kept)
        self._traces = recent_traces(self._most_kept)
        self._errors: deque[Failure] = deque(maxlen=_ERRORS)
        self._lock = threading.RLock()  # taken twice where a stream is collected while it is held
        self._counts = Counter[str]()

    def __repr__(self) -> str:
        return f"<Recording {'closed' if self._closed else 'open'}: {self.counts}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    @property
    def asked(self) -> QuestionContext | None:
        """Return what was said of the question that is being asked on this thread or task (`question`)."""
        return self._asked.get()

    @property
    def results(self) -> tuple[TraceResult, ...]:
        """Return what was measured so far, in the order in which the answers were done; `flush` waits for the rest.

        Raises:
            InvalidValueError: a process of its own measures (``measuring="process"``).
        """
        self._refuse_elsewhere()
        return self._results.values()

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Return what was recorded so far."""
        return self._traces.values()

    @property
    def errors(self) -> tuple[Failure, ...]:
        """Return what went wrong in recording, the last thousand."""
        return tuple(self._errors)

    @property
    def counts(self) -> RecordingCounts:
        """Count the questions by what became of them."""
        with self._lock:
            counts = Counter(self._counts)
        counts.update({"waiting": self._worker.pending} if self._process is None else self._process.counts)
        return RecordingCounts(
            begun=self.gathering.begun,
            under_way=len(self.gathering.under_way),
            unsampled=self.gathering.unsampled,
            skipped=self.gathering.skipped,
            dropped=counts.pop("dropped", 0) + self.gathering.refused,
            **counts,
            **(self._scores.counts if self._scores else {}),
        )

    @property
    def evaluation(self) -> Evaluation:
        """Return the results so far as an evaluation, with its summary, its report and its comparison with others.

        Raises:
            InvalidValueError: nothing is measured here.
        """
        self._refuse_elsewhere()
        if self._plan is None:
            message = "this recording measures nothing; give evaluate() its traces, or attach it with measures"
            raise InvalidValueError(message)
        plan = self._plan
        return Evaluation(self.results, plan.judge, plan.names, self._seed, plan.ledger.spending, plan.measures, plan.shifts)

    @contextmanager
    def question(
        self,
        text: str | None = None,
        *,
        id: str | None = None,  # noqa: A002  # the field's name
        references: str | Sequence[str] = (),
        sub_questions: Sequence[SubQuestion | str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        thread_id: str | None = None,
        user_id: str | None = None,
    ) -> Iterator[None]:
        """Say what is known of the questions that are asked within: gold answers, sub-questions, an id, data of your own.

        ``text`` takes the place of what the pipeline was asked, such as a question that a chat turn only hints at.
        Sub-questions that are given as texts are core ones. ``thread_id`` names the conversation, and ``user_id`` who asks,
        which is kept with ``user_ids=True`` alone. It holds for this thread or task and what it starts.

        Raises:
            InvalidValueError: a blank text, one text in place of a list, or references that are no texts.
        """
        asked = make_question_context(
            text, id, references, sub_questions, metadata, tags=tags, thread_id=thread_id, user_id=user_id
        )
        with self.asking(asked):
            yield

    @contextmanager
    def asking(self, asked: QuestionContext) -> Iterator[None]:
        """Say what is known of the questions that are asked within, as one value (`question`)."""
        token = self._asked.set(asked)
        try:
            yield
        finally:
            self._asked.reset(token)

    @contextmanager
    def trace(self, question: str, *, pipeline: str | None = None) -> Iterator[OpenTrace]:
        """Record all that is called within, on this thread or task and what it starts, as one trace of a question.

        It is for pipelines that are composed by hand, whose parts would be traces of their own. ::

            with recording.trace(question) as trace:
                nodes = retriever.retrieve(question)
                trace.answer(write(question, nodes))

        What `Recording.question` says around it holds for the trace. Without `OpenTrace.answer`, the answer is that of the last
        part within that answers questions itself, such as a response synthesizer; None where there is none.

        Args:
            question: the question's text.
            pipeline: the name of the pipeline; "trace" unless given.

        Raises:
            InvalidValueError: a blank question.
        """
        make_question_context(question, None, (), None, None)
        call = Call(f"trace-{uuid4()}", "question", pipeline or "trace", query=question, place=place())
        with self.gathering.within(call, self.asked):
            try:
                yield OpenTrace(call)
            except BaseException as error:
                call.error = f"{type(error).__name__}: {error}"
                raise

    def fail(self, error: BaseException, where: str) -> None:
        """Keep an error that must not reach the pipeline."""
        self._errors.append(self._failures.warn(error, where))

    def hold(self, value: object) -> None:
        """Keep something alive for as long as this recording is."""
        self._held = value

    def on_detach(self, detach: Callable[[], object]) -> None:
        """Remember how to stop listening; for whoever listens for this recording."""
        self._detach = detach

    @property
    def is_attached(self) -> bool:
        """Tell whether somebody listens for this recording."""
        return self._detach is not None and not self._closed

    def open_models(self) -> None:
        """Open the models now, in place of when the first trace is measured.

        Raises:
            RagCoverError: one of them cannot be opened.
        """
        if self._process is not None:
            self._process.wait_until_ready()
        elif self._plan is not None:
            self._plan.open()

    def send_scores(self, send: SendScore) -> None:
        """Send the scores of every result from now on by ``send``, which is called with the id of its outermost call.

        That is done on a thread of its own, and bounded; what fails is counted (`counts`), kept and logged.

        Raises:
            InvalidValueError: a process of its own measures (``measuring="process"``).
        """
        self._refuse_elsewhere()
        self._scores = ScoreSender(send, self.fail)

    def detach(self) -> None:
        """Stop listening: runs that begin or end from now on are not recorded. Finished runs are still measured."""
        detach, self._detach = self._detach, None
        if detach is not None:
            detach()

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all that is over is measured; tell whether it is, within the time given.

        In a coroutine, use ``await asyncio.to_thread(recording.flush)``.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        if not (self._worker if self._process is None else self._process).flush(timeout_s):
            return False
        left_s = None if until is None else max(0.0, until - time.monotonic())
        return self._scores is None or self._scores.flush(left_s)

    def close(self, timeout_s: float | None = None) -> None:
        """Stop listening, measure what waits, then stop; what is not measured within the time given is recorded unmeasured.

        Answers that are still being streamed are not waited for: their traces are recorded without them. A process of its own
        measures what waits for ten seconds longer, and leaves the rest to the next recording with the same store.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.detach()
        self._unclosed.detach()
        unregister(self)
        for draft in self.gathering.abandon():
            self._finish(draft)
        until = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            (self._worker if self._process is None else self._process).flush(timeout_s)
        finally:  # also where somebody interrupts the waiting: what waits is kept as it is
            left = self._worker.stop()
            for draft in left:
                self._record(draft, count="recorded")
            if left and self._plan is not None:
                LOG.warning(
                    "%d answers were not measured: there was no time left when the recording was closed; call close() or "
                    "flush() before the process ends, or measure traces later (traces=…)",
                    len(left),
                )
            try:
                self._keeping.close()
            except (OSError, RagCoverError) as unwritable:
                self.fail(unwritable, "closing what is kept")
            self._close_process(until)
            if self._scores is not None:
                self._scores.close(None if until is None else max(0.0, until - time.monotonic()))

    @property
    def is_closed(self) -> bool:
        """Tell whether nothing is recorded any more."""
        return self._closed

    def __enter__(self) -> Self:
        refuse_closed(self.is_closed)
        with self._lock:
            self._entered += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._entered -= 1
            is_last = self._entered == 0
        if is_last:  # of all who attached the same
            self.close()

    def _close_process(self, until: float | None) -> None:
        """Wait until the process that measures has ended, and say what it left."""
        if self._process is None:
            return
        if left := self._process.close(None if until is None else max(0.0, until - time.monotonic())):
            LOG.warning(
                "%d answers were not measured when the recording was closed: they wait at %s, and the next recording with this "
                "store and measuring='process' measures what is left then",
                left,
                self._store,
            )

    def _refuse_elsewhere(self) -> None:
        """Refuse what only a recording has that measures in its own process."""
        if self._process is not None:
            message = (
                "a process of its own measures (measuring='process'), so that results are in the store alone: read them with "
                f"rag_cover.Evaluation.open({str(self._store)!r}), or measure here (measuring='thread')"
            )
            raise InvalidValueError(message)

    def _hand_over(self, process: WorkerProcess, draft: TraceDraft) -> bool:
        """Write a trace to where the process that measures finds it; tell whether it was taken."""
        if (trace := self._record(draft, count="")) is None:
            return True  # counted as unreadable
        try:
            return process.offer(trace)
        except (OSError, ValueError) as unwritable:
            self.fail(unwritable, "writing a trace to be measured")
            return False

    def _finish(self, draft: TraceDraft) -> None:
        is_taken = self._worker.offer(draft) if self._process is None else self._hand_over(self._process, draft)
        if not is_taken:
            self._count("dropped")
            if self._counts["dropped"] == 1:
                LOG.warning(
                    "traces are dropped: more questions wait than fit; measure fewer (sampling), or later (measures=())"
                )

    def _work(self, drafts: Sequence[TraceDraft]) -> None:
        counted = "recorded" if self._plan is None else ""
        recorded = [(draft.root.id, trace) for draft in drafts if (trace := self._record(draft, count=counted)) is not None]
        traces = [trace for _, trace in recorded]
        if self._plan is None or not traces:
            return
        try:
            results = self._plan(traces)
        except Exception as error:  # noqa: BLE001  # the handlers' boundary: recorded, and the traces are kept
            self._count("unmeasured", len(traces))
            self.fail(error, "measuring")
            return
        self._keep(self._plan, traces, results)
        for (call_id, _), result in zip(recorded, results, strict=True):
            notify(result, self._on_result, self.fail)
            if self._scores is not None:
                self._scores.offer(call_id, result)

    def _record(self, draft: TraceDraft, *, count: str) -> Trace | None:
        """Make a draft a trace, and keep it."""
        try:
            trace = self._assembly.trace(draft)
        except Exception as error:  # noqa: BLE001  # the handlers' boundary: recorded
            self._count("unreadable")
            self.fail(error, "recording a trace")
            return None
        self._traces.extend([trace])
        try:
            self._keeping.add_trace(trace)
        except (OSError, ValueError) as error:
            self.fail(error, "writing a trace")
        if count:
            self._count(count)
        return trace

    def _keep(self, plan: EvaluationPlan, traces: Sequence[Trace], results: Sequence[TraceResult]) -> None:
        self._results.extend(results)
        self._count("measured", len(results))
        self._count("failed", sum(bool(result.failures) for result in results))
        if not self._keeping.stores_results:
            return
        try:
            keyed = list(zip(map(plan.key_of, traces), results, strict=True))
            self._keeping.add_results(keyed, judged_by=plan.judged_by)
        except RagCoverError as unwritable:
            self.fail(unwritable, "keeping results")

    def _count(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._counts[name] += number


def _close_unheld(thread: WorkerThread, keeping: RecordingSinks, process: WorkerProcess | None) -> None:
    """Close what a recording wrote to that nobody closed, once what waits is measured; a process does so by itself."""
    thread.run_later(keeping.close)
    if process is not None:
        process.close(0)


def _plan(measures: Sequence[str | Measure] | None, models: Models, redaction: Redaction | None) -> EvaluationPlan | None:
    """Plan what is measured of each trace; None where nothing is to be."""
    if measures is not None and not measures:
        return None
    models.refuse_budget()
    chosen = DEFAULT_MEASURES if measures is None else measures
    return EvaluationPlan.of(chosen, models, LLMSession(), redaction=redaction, self_consistency=True)
