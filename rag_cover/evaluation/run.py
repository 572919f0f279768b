"""Traces in, results out: what is measured, by which models, on which engine, into which store.

Traces are read in blocks; a block is measured by `measure_block`, which any engine may run; results go to the store as each
block finishes (`rag_cover.evaluation.loop`), so that an interrupted evaluation loses at most the blocks in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_cover.argument_checks import refuse_no_flag, refuse_no_path
from rag_cover.backends import CalibrationShift, Mode, Retriever, read_shifts
from rag_cover.engines import Engine
from rag_cover.errors import InputError, InvalidValueError, StoreError, needs_extra
from rag_cover.evaluation.blocks import LONGEST_TEXT, OnFailure, select_measures
from rag_cover.evaluation.budget import plan_budget
from rag_cover.evaluation.local_engine import LocalEngine, resolve_engine
from rag_cover.evaluation.loop import MemorySink, Progress, StoreSink, fill
from rag_cover.evaluation.notebook_progress import notebook_watcher
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.frames import PASSAGE_COLUMNS, passage_rows_of, rows_of
from rag_cover.importers import read_any, read_labels, trace_count
from rag_cover.labels import LabelledText
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession
from rag_cover.llm.usage import UsageReport
from rag_cover.measures import Measure, TraceResult
from rag_cover.nuggets import Nugget
from rag_cover.questions import Passage
from rag_cover.redaction import Redaction, redaction_entry, refuse_other_redaction
from rag_cover.registry import Models
from rag_cover.short_forms import quote, shorten
from rag_cover.stores import Origin, Store
from rag_cover.stores.folders import ResultFolder
from rag_cover.stores.locks import hold
from rag_cover.summaries import JudgeKnowledge, LabelledResults, Summary, is_all_labelled, summarise
from rag_cover.traces import Trace, assign_ids

if TYPE_CHECKING:
    import pandas as pd

    from rag_cover.reports.drawings import Drawing
    from rag_cover.reports.people import LabelComparison

__all__ = ["Evaluation", "LocalEngine", "Progress", "evaluate"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of one evaluation, in trace order; read from its store where it has one.

    ``judge`` names the scorer, or the entailer where none scores, by its fingerprint, ``measures`` what was measured,
    ``spending`` what remote models were asked for it, over all the runs it took; ``given`` are the measures as values.
    ``shifts`` tell how far the judge's probabilities lie off on labelled sets, ``labels`` are people's of its own answers
    (`with_labels`): from these, summaries and comparisons tell what the judge's errors do to a figure.
    """

    results: Sequence[TraceResult]
    judge: str
    measures: tuple[str, ...]
    seed: int = 0
    spending: UsageReport = field(default_factory=UsageReport)
    given: tuple[Measure, ...] = field(default=(), repr=False, compare=False)
    shifts: Mapping[Mode, CalibrationShift] = field(default_factory=dict, repr=False, compare=False)
    labels: tuple[LabelledText, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def open(cls, path: Path | str, *, measures: Sequence[Measure] = ()) -> Evaluation:
        """Open the evaluation kept in a store, or in a folder of parts.

        ``measures`` are those of your own that it was made with, if any: results of a measure that is neither among them nor
        installed are kept as they are (`UnknownResult`), and in no summary.

        Raises:
            InvalidValueError: one of ``measures`` is no measure.
            StoreError: there is no such store, it is damaged, or it holds no evaluation.
        """
        given = select_measures(tuple(measures)) if measures else ()
        if Path(path).is_dir():
            return cls._of(ResultFolder(Path(path)), given)
        store = Store.open(Path(path), create=False)
        about = store.meta.get("evaluation")
        if about is None:
            message = f"{path} holds no evaluation yet; make one with 'rag-cover evaluate … --store {path}'"
            raise StoreError(message)
        store.check()
        return cls._read(store.results(given), about, store.spending, given)

    @classmethod
    def _of(cls, folder: ResultFolder, given: tuple[Measure, ...]) -> Evaluation:
        results, kept = folder.results(given), folder.about or {}
        about, spending = kept["evaluation"], UsageReport.from_dict(kept["spending"])
        return cls._read(results, about, spending, given)

    @classmethod
    def _read(
        cls, results: Sequence[TraceResult], about: Mapping[str, Any], spending: UsageReport, given: tuple[Measure, ...]
    ) -> Evaluation:
        shifts = read_shifts(about.get("shifts", {}))
        return cls(results, about["judge"], tuple(about["measures"]), about["seed"], spending, given, shifts)

    def with_labels(self, labels: Iterable[LabelledText] | Path | str) -> Evaluation:
        """Add people's labels of its own answers to sub-questions, as rows or a file of them (`read_labels`).

        They make the intervals that hold the judge's errors narrower. Labels of other texts are not used.

        Raises:
            InputError: a file that cannot be read; says the line and the field.
        """
        rows = read_labels(labels) if isinstance(labels, Path | str) else tuple(labels)
        return replace(self, labels=(*self.labels, *rows))

    @property
    def known_of_judge(self) -> JudgeKnowledge:
        """Return what is known of the judge's errors."""
        return JudgeKnowledge.of(self.shifts, self.labels)

    @property
    def labelled_results(self) -> Sequence[TraceResult]:
        """Return the results as pages show them: people's labels stand in the place of the judge's verdicts on answers."""
        known = self.known_of_judge
        return LabelledResults(self.results, known) if known.labels else self.results

    @property
    def counted_results(self) -> Sequence[TraceResult]:
        """Return the results that figures are of: with people's labels in them where these are of all core verdicts.

        Where people labelled some of them, only losses and core coverage follow the labels; other figures are the judge's.
        """
        labelled = is_all_labelled(self.results, self.known_of_judge)
        return self.labelled_results if labelled else self.results

    def summary(self) -> Summary:
        """Sum up the results, with 95% intervals clustered by question, and others that hold the judge's errors."""
        return summarise(
            self.counted_results, judge=self.judge, seed=self.seed, measures=self.given, known_of_judge=self.known_of_judge
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Tabulate the results, one row per trace and sub-question (needs pandas)."""
        with needs_extra("all", "pandas"):
            import pandas as pd
        return pd.DataFrame.from_records([row for result in self.results for row in rows_of(result)])

    def passages_to_dataframe(self) -> pd.DataFrame:
        """Tabulate the verdicts on passages, one row per trace, sub-question and passage (needs pandas).

        ``passage`` is the `Passage.key`, ``step`` the first step that brought it, ``in_prompt`` None where the trace does not
        record its prompt.
        """
        with needs_extra("all", "pandas"):
            import pandas as pd
        rows = [row for result in self.results for row in passage_rows_of(result)]
        return pd.DataFrame.from_records(rows, columns=list(PASSAGE_COLUMNS))

    def __repr__(self) -> str:
        """Return a short form: how many traces, which measures, which judge."""
        count = f"{len(self.results):,} {'trace' if len(self.results) == 1 else 'traces'}"
        return f"Evaluation({count}, measures={shorten(', '.join(self.measures))}, judge={quote(self.judge)})"

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from rag_cover.reports.cards import framed_card

        return framed_card(self.summary())

    def plot_losses(self) -> Drawing:
        """Draw where core sub-questions were lost, as SVG; where nothing is known to be lost it is a sentence."""
        from rag_cover.reports.drawings import draw_losses

        return draw_losses(self.summary())

    def plot_utility(self) -> Drawing:
        """Draw how the traces' utilities spread over [-1, 1], as SVG; a sentence where none was measured."""
        from rag_cover.reports.drawings import draw_utility

        return draw_utility(self.summary())

    def compare_with_labels(self) -> LabelComparison | None:
        """Hold the judge's verdicts on core sub-questions against people's labels of the same answers; None without labels."""
        from rag_cover.reports.people import compare_with_labels

        if not self.labels:
            return None
        pipelines = dict.fromkeys(result.trace.pipeline for result in self.results if result.trace.pipeline)
        return compare_with_labels(", ".join(pipelines), self.results, self.known_of_judge)

    def to_html(self, path: Path | str) -> None:
        """Write the report: one self-contained HTML file."""
        from rag_cover.reports.html import write_report

        write_report(Path(path), self.labelled_results, self.summary(), people=self.compare_with_labels())


def evaluate(  # noqa: PLR0913  # the public interface: all but the traces by name
    traces: Iterable[Any] | Path | str,
    *,
    measures: Sequence[str | Measure] | None = None,
    models: Models = Models(),  # noqa: B008  # frozen
    store: Store | Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    engine: str | Engine = "local",
    workers: int | None = None,
    on_error: OnFailure = "record",
    seed: int = 0,
    progress: Callable[[Progress], None] | bool | None = None,
    cache: Path | bool = True,
    deadline_s: float | None = None,
    redact: bool | Redaction = False,
    nuggets: Path | str | Mapping[str, Sequence[Nugget | str]] | None = None,
    corpus: Path | str | Retriever | Sequence[Passage] | None = None,
    longest_text: int = LONGEST_TEXT,
    origin: Origin | None = None,
) -> Evaluation:
    """Measure every trace.

    Args:
        traces: traces, dicts with a question each, or the path of a file of any format that `import_traces` reads; a
            pandas or polars data frame, a Hugging Face dataset, ragas's ``EvaluationDataset``, DeepEval's test cases, LangChain
            runs, or pairs of a question and LlamaIndex's response.
        measures: names or measure values; None: every measure whose inputs and models are there.
        models: the models to ask; the embedded judge by default. Where a cascade of judges has a budget, all traces are read
            and judged by its first judge before any is measured, and held in memory.
        store: where results are kept as they come; None keeps them in memory. One process at a time writes a store; any may
            read it meanwhile.
        resume: go on with what the store holds. That is kept and not asked for again, but for traces with a `Failure`: these
            are measured again, whatever its kind.
        overwrite: remove what the store holds, and begin anew.
        engine: ``"local"``, the name of an installed engine, or an engine.
        workers: threads of the local engine; None: one per two cores, since judges use several. Actors of ``"ray"``;
            None: as many as there is room for.
        on_error: ``"record"`` keeps a `Failure` for each item that failed, ``"raise"`` stops at the first.
        seed: seed of the random generator.
        progress: called after every block. By default a bar is shown below the cell of a notebook and nothing is shown in any
            other program; False shows none there either.
        cache: whether the answers of remote models are kept beside the store, where there is one; or the file to keep them in.
        deadline_s: after so many seconds remote models are no longer asked; what is left fails, and says so.
        redact: replace every text of the results by its hash before anything keeps them; a `Redaction` says by which key. The
            answers of remote models are then kept only in a file that ``cache`` names.
        nuggets: what full answers state, in whose place neither the traces' sub-questions count nor a decomposer's: a file of
            them, or a mapping of questions or their ids to nuggets; a short way of writing ``models=Models(nuggets=…)``.
        corpus: what the pipeline could have retrieved: a file of passages, passages, or a retriever over them. What no
            retrieved passage covers is looked for in it; a short way of writing ``models=Models(corpus=…)``.
        longest_text: no model is asked about a trace with a text of more characters: a `Failure` that says so.
        origin: the command and the file that the store names as the origin of its results; a redacted store names none.

    Raises:
        InputError: a trace that cannot be read, something that traces are not read from, or no trace at all.
        StoreInUseError: another process writes the store.
        StoreError: a store that cannot be used, or that holds an evaluation that is neither to be resumed nor written over.
        InvalidValueError: ``resume`` and ``overwrite`` together, one that is neither True nor False, or ``longest_text`` < 1.
        EvaluationError: the first failure, with ``on_error="raise"``.
    """
    refuse_both(resume=resume, overwrite=overwrite)
    if not isinstance(store, Store):
        refuse_no_path(store=store)
    store = Path(store) if isinstance(store, str) else store
    if nuggets is not None:
        models = replace(models, nuggets=Path(nuggets) if isinstance(nuggets, str) else nuggets)
    if corpus is not None:
        models = replace(models, corpus=Path(corpus) if isinstance(corpus, str) else corpus)
    redaction = Redaction.from_option(redact)
    beside = None if redaction else store.path if isinstance(store, Store) else store  # answers are texts
    run = LLMSession(cache_for(cache, beside), clock=Deadline(deadline_s))
    plan = EvaluationPlan.of(measures, models, run, on_error=on_error, redaction=redaction, longest_text=longest_text)
    watcher = progress if callable(progress) else None if progress is False else notebook_watcher()
    total = trace_count(traces)
    stream = _refuse_none(assign_ids(read_any(traces)))
    runner = resolve_engine(engine, workers, run.clock)
    if store is None:
        plan, stream = _spend_budget(plan, stream, runner)
        held = MemorySink(stream, total, watcher)
        with run.clock:
            fill(held, runner, plan)
        return Evaluation(tuple(held.results), plan.judge, plan.names, seed, held.spent, plan.measures, plan.shifts)
    plan.open()  # before the store is made: a wrong name of a model leaves none
    kept = store if isinstance(store, Store) else Store.open(store, create=True)
    with hold(kept.path), run.clock:
        if resume:
            refuse_other_redaction(kept.meta.get("evaluation"), redaction, kept.path)
            _refuse_fewer_measures(kept, plan.names)
        kept.refuse_to_begin(resume=resume, overwrite=overwrite)
        plan, stream = _spend_budget(plan, stream, runner)
        entries = redaction_entry(redaction) if redaction or origin is None else origin.entry()
        about = {**plan.judged_by, "measures": plan.names, "seed": seed, **entries}
        kept.begin(about, resume=resume, overwrite=overwrite)
        if redaction and not resume:
            kept.scrub()  # of what an earlier evaluation kept there, which may not have been redacted
        fill(StoreSink(kept, enumerate(stream), plan.key_of, total, watcher), runner, plan)
    return Evaluation(kept.results(plan.measures), plan.judge, plan.names, seed, kept.spending, plan.measures, plan.shifts)


def _refuse_none(traces: Iterator[Trace]) -> Iterator[Trace]:
    """Read the first trace, and yield it with the others.

    Raises:
        InputError: there is none, as in an empty list, or in an iterator that was read before.
    """
    first = next(traces, None)
    if first is None:
        problem = "there are no traces to measure; give at least one, and a list instead of an iterator that was read before"
        raise InputError(problem)
    return chain([first], traces)


def _spend_budget(plan: EvaluationPlan, traces: Iterator[Trace], engine: Engine) -> tuple[EvaluationPlan, Iterator[Trace]]:
    """Plan what the budget of a judge is spent on, where it has one; that takes all traces."""
    if not plan.needs_budget_plan:
        return plan, traces
    held = tuple(traces)
    return plan_budget(plan, held, engine), iter(held)


def refuse_both(*, resume: bool, overwrite: bool) -> None:
    """Refuse to go on with results and to remove them.

    Raises:
        InvalidValueError: both are wanted, or one is neither True nor False.
    """
    refuse_no_flag(resume=resume, overwrite=overwrite)
    if resume and overwrite:
        message = "resume (--resume) goes on with what is kept and overwrite (--force) removes it; choose one"
        raise InvalidValueError(message)


def _refuse_fewer_measures(store: Store, names: Sequence[str]) -> None:
    """Refuse to go on with a store when results that it holds would be lost: all traces are measured anew by other measures."""
    about = store.meta.get("evaluation") or {}
    lost = [name for name in about.get("measures", ()) if name not in names]
    if lost and len(store):
        message = (
            f"{store.path} holds results of {', '.join(lost)}, which this run does not measure: they would be lost. Name "
            f"{'it' if len(lost) == 1 else 'them'} too, name another store, or begin anew with overwrite=True (--force)."
        )
        raise StoreError(message)
