"""Several evaluations read one after the other, each trace once; what is kept is figures and a bounded number of questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from rag_cover.dashboards.causes import Cause, LostPart, PartEvidence, list_lost_parts
from rag_cover.dashboards.costs import CostSums
from rag_cover.dashboards.question_sets import make_test_question
from rag_cover.dashboards.result import (
    CauseFigures,
    Dashboard,
    PipelineFigures,
    RefusedStore,
    StoreFigures,
    TimeSource,
    WorstTrace,
)
from rag_cover.dashboards.selection import TraceSelection
from rag_cover.llm.usage import Price
from rag_cover.measures import TraceResult, ratio
from rag_cover.question_keys import question_key
from rag_cover.questions import Question, Role
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.question_rows import QuestionRows
from rag_cover.summaries import JudgeKnowledge, SummaryBuilder, list_labelled_verdicts, put_labels
from rag_cover.traces import Trace

__all__ = ["DashboardBuilder", "StoreSource"]

_PIPELINES = 12  # of one store that are told apart
_LOST_SHOWN = 5
_UNTOLD = (Cause.UNCLEAR, Cause.UNKNOWN)  # come last, however many: nothing tells what to mend
_EXCERPT = 2000  # characters that are kept of an answer


@dataclass(frozen=True, slots=True)
class StoreSource:
    """An evaluation to add: its results, how it was judged, and when its answers were given."""

    name: str
    time: datetime
    time_source: TimeSource
    results: Sequence[TraceResult]
    judge: str
    measures: tuple[str, ...] = ()
    seed: int = 0
    known_of_judge: JudgeKnowledge = field(default_factory=JudgeKnowledge)


class DashboardBuilder:
    """Sums up evaluations that are added one after the other, the latest first: of a question its latest trace counts.

    Args:
        selection: which traces count.
        worst: how many questions are kept by cause.
        prices: what a million tokens of the pipelines' models cost.
    """

    def __init__(
        self, selection: TraceSelection | None = None, *, worst: int = 10, prices: Mapping[str, Price] | None = None
    ) -> None:
        self._selection, self._worst, self._prices = selection or TraceSelection(), worst, prices or {}
        self._stores: list[StoreFigures] = []
        self._refused: list[RefusedStore] = []
        self._causes: defaultdict[Cause, _CauseSums] = defaultdict(partial(_CauseSums, worst))
        self._seen = _AskedQuestions()

    def add(self, source: StoreSource) -> None:
        """Add an evaluation; one whose results cannot be read adds nothing.

        Raises:
            StoreError: a result cannot be read.
        """
        one = _OneStore(source, self._selection, self._prices, self._seen, self._worst)
        for result in source.results:
            one.add(result)
        figures = one.figures
        is_latest = not any(store.traces for store in self._stores)
        for cause, sums in one.causes.items():
            self._causes[cause].merge(sums, is_latest=is_latest)
        self._seen.update(one.asked)
        self._stores.append(figures)

    def refuse(self, name: str, reason: str) -> None:
        """Note a store that cannot be read."""
        self._refused.append(RefusedStore(name, reason))

    def build(self) -> Dashboard:
        """Return the figures of what was added."""
        causes = [sums.figures(cause) for cause, sums in self._causes.items()]
        order = list(Cause)
        return Dashboard(
            stores=tuple(sorted(self._stores, key=lambda store: (store.time, store.name))),
            refused=tuple(self._refused),
            causes=tuple(sorted(causes, key=lambda each: (each.cause in _UNTOLD, -each.lost, order.index(each.cause)))),
            selection=str(self._selection),
        )


class _AskedQuestions:
    """Questions that pipelines were asked; they are matched by id, and by text where a side has no id."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str | None]] = set()
        self._texts_of_ids: set[tuple[str, str | None]] = set()

    def add(self, trace: Trace) -> None:
        """Add the question of a trace."""
        self._keys.add((question_key(trace.question), trace.pipeline))
        if trace.question.id is not None:
            self._texts_of_ids.add((_text_key(trace), trace.pipeline))

    def update(self, other: _AskedQuestions) -> None:
        """Add the questions of others."""
        self._keys |= other._keys
        self._texts_of_ids |= other._texts_of_ids

    def has(self, trace: Trace) -> bool:
        """Return whether the question of a trace was added."""
        text = (_text_key(trace), trace.pipeline)
        if trace.question.id is None:
            return text in self._keys or text in self._texts_of_ids
        return text in self._keys or (question_key(trace.question), trace.pipeline) in self._keys


def _text_key(trace: Trace) -> str:
    return question_key(Question(trace.question.text))


class _CauseSums:
    """What was lost by one cause."""

    def __init__(self, worst: int) -> None:
        self._limit = worst
        self.lost = self.traces = self.in_latest = 0
        self.evidence: Counter[PartEvidence] = Counter()
        self.worst: list[WorstTrace] = []

    def add(self, parts: Sequence[LostPart]) -> None:
        self.lost, self.traces = self.lost + len(parts), self.traces + 1
        self.evidence.update(part.evidence for part in parts)

    def merge(self, other: _CauseSums, *, is_latest: bool) -> None:
        self.lost, self.traces = self.lost + other.lost, self.traces + other.traces
        self.in_latest += other.lost if is_latest else 0
        self.evidence.update(other.evidence)
        self.worst.extend(other.worst)
        self.cut()

    def cut(self, most: int | None = None) -> None:
        """Keep the worst; of equal ones those that came first."""
        if len(self.worst) > (most or self._limit):
            self.worst.sort(key=lambda each: each.order)
            del self.worst[self._limit :]

    def figures(self, cause: Cause) -> CauseFigures:
        worst = sorted(self.worst, key=lambda each: each.order)[: self._limit]
        return CauseFigures(cause, self.lost, self.traces, self.in_latest, dict(self.evidence), tuple(worst))


class _Part:
    """The figures of some traces: those of a pipeline, or all."""

    def __init__(self, known: JudgeKnowledge, prices: Mapping[str, Price]) -> None:
        self._summary, self._costs = SummaryBuilder(known_of_judge=known), CostSums(prices)

    def add(self, result: TraceResult) -> None:
        self._summary.add(result)
        self._costs.add(result.trace)

    def figures(self, name: str, source: StoreSource) -> PipelineFigures:
        return PipelineFigures(name, self._summary.build(judge=source.judge, seed=source.seed), *self._costs.spreads)


class _OneStore:
    """Sums up one evaluation."""

    def __init__(
        self,
        source: StoreSource,
        selection: TraceSelection,
        prices: Mapping[str, Price],
        seen: _AskedQuestions,
        worst: int,
    ) -> None:
        self._source, self._selection, self._prices, self._seen, self._limit = source, selection, prices, seen, worst
        self._held = 0
        self._all = _Part(source.known_of_judge, prices)
        self._pipelines: dict[str | None, _Part] = {}
        self._left_out: set[str | None] = set()
        self._units: Counter[str] = Counter()
        self._labels = 0
        self._agreement = QuestionRows(2)
        self.causes: defaultdict[Cause, _CauseSums] = defaultdict(partial(_CauseSums, worst))
        self._listed, self.asked = _AskedQuestions(), _AskedQuestions()

    def add(self, result: TraceResult) -> None:
        self._held += 1
        if not self._selection.has(result.trace):
            return
        self._all.add(result)
        self._add_to_pipeline(result)
        if result.coverage is not None:
            unit = "nuggets" if result.coverage.on_nuggets else "sub-questions"
            reply = result.coverage.reply_threshold
            cuts = f"{result.coverage.threshold:g}" + ("" if reply is None else f" (answers {reply:g})")
            self._units[f"{unit} ({result.coverage.decomposed_by}), threshold {cuts}"] += 1
            self._add_agreement(result)
            self._add_causes(put_labels(result, self._source.known_of_judge))

    @property
    def figures(self) -> StoreFigures:
        source, rows = self._source, self._agreement.matrix()
        agreement: Interval | None = jackknife_share(rows, ratio) if self._labels else None
        return StoreFigures(
            name=source.name,
            time=source.time,
            time_source=source.time_source,
            judge=source.judge,
            measures=source.measures,
            units=max(sorted(self._units), key=self._units.__getitem__, default=""),
            held=self._held,
            all=self._all.figures("all traces", source),
            pipelines=tuple(part.figures(name or "", source) for name, part in self._pipelines.items()),
            pipelines_left_out=len(self._left_out),
            agreement=agreement,
            labels=self._labels,
            causes={cause: sums.lost for cause, sums in self.causes.items()},
        )

    def _add_to_pipeline(self, result: TraceResult) -> None:
        name = result.trace.pipeline or None
        if name not in self._pipelines:
            if len(self._pipelines) == _PIPELINES:
                self._left_out.add(name)
                return
            self._pipelines[name] = _Part(self._source.known_of_judge, self._prices)
        self._pipelines[name].add(result)

    def _add_agreement(self, result: TraceResult) -> None:
        for _, verdict, label in list_labelled_verdicts(result, self._source.known_of_judge):
            self._labels += 1
            self._agreement.add(question_key(result.trace.question), [label == verdict.covered, 1])

    def _add_causes(self, result: TraceResult) -> None:
        parts = list(list_lost_parts(result))
        by_cause: defaultdict[Cause, list[LostPart]] = defaultdict(list)
        for part in parts:
            by_cause[part.cause].append(part)
        for cause, several in by_cause.items():
            self.causes[cause].add(several)
        trace = result.trace
        self.asked.add(trace)
        if parts and not self._seen.has(trace) and not self._listed.has(trace):
            self._listed.add(trace)
            order = list(Cause)
            main = min(by_cause, key=lambda cause: (-len(by_cause[cause]), order.index(cause)))
            sums = self.causes[main]
            sums.worst.append(_worst_question(self._source, result, main, [*by_cause[main], *_others(parts, main)]))
            sums.cut(4 * self._limit)  # sorted now and then, not at every trace


def _others(parts: Iterable[LostPart], main: Cause) -> Iterable[LostPart]:
    return (part for part in parts if part.cause != main)


def _worst_question(source: StoreSource, result: TraceResult, cause: Cause, parts: Sequence[LostPart]) -> WorstTrace:
    coverage, trace = result.coverage, result.trace
    core = sum(each.role == Role.CORE for each in coverage.sub_questions) if coverage else len(parts)
    return WorstTrace(
        store=source.name,
        time=source.time,
        trace_id=trace.id,
        question=trace.question.text,
        pipeline=trace.pipeline,
        answer=None if trace.answer is None else trace.answer[:_EXCERPT],
        covered=core - len(parts),
        core=core,
        cause=cause,
        lost=tuple(part.text for part in parts[:_LOST_SHOWN]),
        lost_count=len(parts),
        test_question=make_test_question(result),
    )
