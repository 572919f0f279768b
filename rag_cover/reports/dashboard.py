"""A dashboard as it is shown: several evaluations over time, what was lost by cause, and the worst questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.text import Text

from rag_cover.dashboards import (
    CauseFigures,
    Dashboard,
    PipelineFigures,
    Spread,
    StoreFigures,
    WorstTrace,
    describe_remedies,
)
from rag_cover.reports.figures import Bar, loss_bar
from rag_cover.reports.focus import headline_of
from rag_cover.reports.loss_text import losses_listed
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, Headline, core_share, format_count, interval_text, number_text, percent, scale_of
from rag_cover.reports.trends import TrendChart, TrendValue, draw_trend
from rag_cover.short_forms import capitalise

__all__ = ["DashboardView", "dashboard_table", "dashboard_view"]

_NAMED = 3  # pipelines of a store
_SERIES = 4  # pipelines that have a colour of their own
_CHARTS = 12
_REFUSED_SHOWN = 20
_NO_NAME = "no name"
_FIRST = ("core_coverage", "core_retrieved", "core_use", "groundedness", "utility", "rating", "abstentions")
"""The metrics that come first, where they were measured."""


@dataclass(frozen=True, slots=True)
class StoreRow:
    """One evaluation in the list of stores."""

    name: str
    when: str
    pipelines: str
    judge: str
    measures: str
    traces: str
    questions: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one pipeline of one store takes; a dash where its traces do not tell."""

    when: str
    pipeline: str
    median: str
    upper: str
    tokens: str
    cost: str
    n: str


@dataclass(frozen=True, slots=True)
class WorstRow:
    """One of the worst questions."""

    question: str
    count: str
    about: str
    answer: str | None
    lost: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class CauseCard:
    """What one cause lost, what is known to bring it back, and the worst questions of which it is the main cause."""

    name: str
    counts: str
    remedies: tuple[str, ...]
    worst: tuple[WorstRow, ...]


@dataclass(frozen=True, slots=True)
class DashboardView:
    """All that is shown of a dashboard; ``warnings`` come first."""

    headline: Headline
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    refused_left_out: int
    stores: tuple[StoreRow, ...]
    charts: tuple[TrendChart, ...]
    charts_left_out: int
    series: tuple[str, ...]
    series_left_out: int
    loss_bars: tuple[Bar, ...]
    agreement: TrendChart | None
    costs: tuple[CostRow, ...]
    causes: tuple[CauseCard, ...]


def dashboard_view(dashboard: Dashboard) -> DashboardView:
    """Gather what is shown of a dashboard."""
    shown = [store for store in dashboard.stores if store.traces]
    series, left_out = _choose_series(shown)
    whens = _name_times(shown)
    charts = list(_charts(shown, series, whens))
    return DashboardView(
        headline=_headline(dashboard, shown, whens),
        facts=tuple(_facts(dashboard, shown, whens)),
        warnings=tuple(_warnings(dashboard, shown)),
        refused=tuple((one_line(each.name, limit=200), clip(each.reason, 400)) for each in dashboard.refused[:_REFUSED_SHOWN]),
        refused_left_out=max(0, len(dashboard.refused) - _REFUSED_SHOWN),
        stores=tuple(map(_store_row, reversed(dashboard.stores))),
        charts=tuple(charts[:_CHARTS]),
        charts_left_out=max(0, len(charts) - _CHARTS),
        series=tuple(one_line(name or _NO_NAME, limit=60) for name in series),
        series_left_out=left_out,
        loss_bars=tuple(_loss_bars(shown, whens)),
        agreement=_agreement(shown, whens),
        costs=tuple(_costs(shown, series, whens)),
        causes=tuple(map(_cause_card, dashboard.causes)),
    )


def dashboard_table(dashboard: Dashboard) -> RenderableType:
    """Show the latest figures and what was lost by which cause in the terminal."""
    view = dashboard_view(dashboard)
    figures = (("Traces", "right"), ("Core coverage", "right"), ("95%", "right"))
    stores = plain_table(("Store", "left"), ("Time", "left"), ("Pipelines", "left"), *figures)
    names = _short_names([row.name for row in view.stores])
    for name, row in zip(names, view.stores, strict=True):
        stores.add_row(Text(name), row.when, Text(row.pipelines), row.traces, row.value, row.interval)
    lines = [Text(f"! {one_line(line, limit=400)}", style="yellow") for line in view.warnings]
    for name, reason in view.refused:
        lines.append(Text(f"! {name}: {one_line(reason, limit=300)}", style="yellow"))
    lines += [
        Text(said)
        for store, name in zip(reversed(dashboard.stores), names, strict=True)
        if (said := _labels_sentence(store, name))
    ]
    causes: list[RenderableType] = []
    for card in view.causes:
        causes.append(Text(f"{card.name}: {card.counts}", style="bold"))
        causes += [Text(f"  {one_line(line, limit=300)}", style="dim") for line in card.remedies]
    return Encodable(Group(Text(view.headline.text, style="bold"), *lines, stores, *causes))


def _labels_sentence(store: StoreFigures, name: str) -> str:
    """Say what became of people's labels in a store; empty where it holds no text that one is of."""
    if store.agreement is None:
        return ""
    agreed = f"{percent(store.agreement.estimate)} of {format_count(store.labels, 'labelled core verdict')}"
    return f"People’s labels: the judge agrees with {agreed} in {one_line(name, limit=60)}."


def _short_names(names: Sequence[str]) -> Sequence[str]:
    """Leave the folders out, unless two stores have one name."""
    short = [PurePath(name).name or name for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _headline(dashboard: Dashboard, shown: Sequence[StoreFigures], whens: _Whens) -> Headline:
    if not shown:
        if dashboard.selection:
            return Headline(f"No trace has {one_line(dashboard.selection)}", "", "", f"of {dashboard.held:,}")
        return Headline("The stores hold no traces", "", "", "")
    latest = shown[-1]
    found = headline_of(latest.all.summary)
    before = [store for store in shown[:-1] if store.basis == latest.basis and _pipelines_of(store) == _pipelines_of(latest)]
    first, last = (core_share(each.all.summary) for each in (before[0], latest)) if before else (None, None)
    since = ""
    if first and last and first.by == last.by:
        since = f"; {percent(first.interval.estimate)} in {one_line(before[0].name, limit=60)}, {_when(before[0], whens)}"
    basis = ", ".join(
        part for part in (found.basis, f"{one_line(latest.name, limit=60)}, {_when(latest, whens)}{since}") if part
    )
    return replace(found, before=f"Latest: {found.before[:1].lower()}{found.before[1:]}".strip(), basis=basis)


def _facts(dashboard: Dashboard, shown: Sequence[StoreFigures], whens: _Whens) -> Iterable[tuple[str, str]]:
    yield "Stores", f"{len(dashboard.stores):,}"
    yield "Traces", f"{dashboard.traces:,}" + (f" of {dashboard.held:,}" if dashboard.selection else "")
    if dashboard.selection:
        yield "Only", one_line(dashboard.selection)
    if shown:
        yield "From", f"{_when(shown[0], whens)} to {_when(shown[-1], whens)}"
        judges = list(dict.fromkeys(one_line(store.judge, limit=80) for store in shown))
        yield "Judge" if len(judges) == 1 else "Judges", ", ".join(judges[:3]) + (" …" if len(judges) > 3 else "")  # noqa: PLR2004


def _warnings(dashboard: Dashboard, shown: Sequence[StoreFigures]) -> Iterable[str]:
    judges = len({store.judge for store in shown})
    units = list(dict.fromkeys(store.units for store in shown if store.units))
    if judges > 1:
        yield f"{judges} judges judged these stores. Figures of different judges are not compared, and no line joins them."
    if len(units) > 1:
        ways = " / ".join(one_line(each, limit=120) for each in units[:3])
        yield f"Coverage was measured in {len(units)} ways ({ways}). No line joins stores that differ in that."
    if refused := len(dashboard.refused):
        are = "is" if refused == 1 else "are"
        yield f"{format_count(refused, 'store')} could not be read and {are} not in any figure."
    if files := sum(store.time_source == "file" for store in shown):
        yield f"The traces of {format_count(files, 'store')} record no times: the time is that at which the file was written."
    if left := sum(store.pipelines_left_out for store in shown):
        yield f"{format_count(left, 'pipeline')} beyond the first twelve of a store are in its totals alone."


def _store_row(store: StoreFigures) -> StoreRow:
    core = core_share(store.all.summary)
    interval = core.interval if core else None
    return StoreRow(
        name=one_line(store.name, limit=80),
        when=f"{store.time:%Y-%m-%d %H:%M}" + (" (file)" if store.time_source == "file" else ""),
        pipelines=_pipelines_text(store),
        judge=one_line(store.judge, limit=80),
        measures=one_line(", ".join(store.measures), limit=160),
        traces=f"{store.traces:,}" + (f" of {store.held:,}" if store.held != store.traces else ""),
        questions=f"{store.all.summary.questions:,}",
        value=percent(interval.estimate) if interval else "–",
        interval=interval_text(interval, SHARE) if interval else "undefined",
    )


def _pipelines_text(store: StoreFigures) -> str:
    """Name the pipelines of a store; a dash where its traces name none."""
    names = [one_line(part.name, limit=40) for part in store.pipelines[:_NAMED] if part.name]
    more = len(store.pipelines) + store.pipelines_left_out - len(names)
    return ", ".join([*names, f"{more:,} more"] if names and more else names) or "–"


def _pipelines_of(store: StoreFigures) -> frozenset[str]:
    return frozenset(part.name for part in store.pipelines)


def _choose_series(shown: Sequence[StoreFigures]) -> tuple[list[str], int]:
    """Choose the pipelines that get lines of their own: those with most traces; and count the others."""
    sizes: Counter[str] = Counter()
    for store in shown:
        for part in store.pipelines:
            sizes[part.name] += part.summary.traces
    chosen = [name for name, _ in sizes.most_common(_SERIES)]
    return chosen, len(sizes) - len(chosen)


def _charts(shown: Sequence[StoreFigures], series: Sequence[str], whens: _Whens) -> Iterable[TrendChart]:
    metrics = {name: metric for store in shown for name, metric in store.all.summary.metrics.items()}
    names = [*(name for name in _FIRST if name in metrics), *(name for name in metrics if name not in _FIRST)]
    for name in names:
        figures = {pipeline or _NO_NAME: _values(shown, pipeline, name, whens) for pipeline in series}
        chart = draw_trend(
            name,
            capitalise(one_line(metrics[name].label)),
            figures,
            scale_of(metrics[name]),
            whens=[_when(each, whens) for each in shown],
        )
        if chart is not None:
            yield chart


def _values(shown: Sequence[StoreFigures], pipeline: str, metric: str, whens: _Whens) -> list[TrendValue]:
    return [
        TrendValue(
            place, _when(store, whens), store.basis, found.interval if (found := part.summary.metrics.get(metric)) else None
        )
        for place, store in enumerate(shown)
        for part in store.pipelines
        if part.name == pipeline
    ]


def _loss_bars(shown: Sequence[StoreFigures], whens: _Whens) -> Iterable[Bar]:
    listed = losses_listed(*(store.all.summary.losses for store in shown))  # one key explains all bars
    for store in shown:
        losses, unclear = store.all.summary.losses, store.all.summary.unclear_losses
        if (bar := loss_bar(losses, unclear, listed)) is not None:
            name = f"{_when(store, whens)}: {sum(losses.values()) + unclear:,} lost"
            yield replace(bar, name=name, words=f"{name}, {one_line(store.name, limit=60)}, {bar.words}")


def _agreement(shown: Sequence[StoreFigures], whens: _Whens) -> TrendChart | None:
    values = [TrendValue(place, _when(store, whens), store.judge, store.agreement) for place, store in enumerate(shown)]
    label = "Labels with which the judge agrees"
    return draw_trend("agreement", label, {"agreement": values}, SHARE, whens=[_when(store, whens) for store in shown])


def _costs(shown: Sequence[StoreFigures], series: Sequence[str], whens: _Whens) -> Iterable[CostRow]:
    for store in reversed(shown):
        for part in store.pipelines:
            if part.name in series and (part.latency_s or part.tokens or part.cost):
                yield _cost_row(_when(store, whens), part)


def _cost_row(when: str, part: PipelineFigures) -> CostRow:
    latency = part.latency_s
    return CostRow(
        when=when,
        pipeline=one_line(part.name or _NO_NAME, limit=60),
        median=f"{number_text(latency.median)} s" if latency else "–",
        upper=f"{number_text(latency.upper)} s" if latency else "–",
        tokens=_mean(part.tokens),
        cost=_mean(part.cost),
        n=f"{max(each.n for each in (latency, part.tokens, part.cost) if each):,} of {part.summary.traces:,}",
    )


def _mean(spread: Spread | None) -> str:
    return number_text(spread.mean) if spread else "–"


def _cause_card(figures: CauseFigures) -> CauseCard:
    parts = f"{format_count(figures.lost, 'core sub-question')} in {format_count(figures.traces, 'trace')}"
    return CauseCard(
        name=capitalise(str(figures.cause)),
        counts=f"{parts}, {figures.in_latest:,} of them in the latest store",
        remedies=tuple(describe_remedies(figures.cause, figures.evidence)),
        worst=tuple(map(_worst_row, figures.worst)),
    )


def _worst_row(worst: WorstTrace) -> WorstRow:
    about = [worst.pipeline or "", worst.store, worst.trace_id or ""]
    return WorstRow(
        question=one_line(worst.question, limit=300),
        count=f"{worst.covered}/{worst.core}",
        about=" · ".join(one_line(each, limit=80) for each in about if each),
        answer=None if worst.answer is None else one_line(worst.answer, limit=400),
        lost=tuple(one_line(each, limit=300) for each in worst.lost),
        more=worst.lost_count - len(worst.lost),
    )


_Whens = Mapping[tuple[str, datetime], str]
"""When each store is of, by its name and time."""


def _name_times(shown: Sequence[StoreFigures]) -> _Whens:
    """Say when stores are of: the day; where stores share it, with the time; where they share that, too, with the name."""
    written = [
        (f"{store.time:%Y-%m-%d}", f"{store.time:%Y-%m-%d %H:%M}", f"{store.time:%Y-%m-%d %H:%M} {_short_name(store)}")
        for store in shown
    ]
    counts = Counter(text for forms in written for text in forms[:-1])
    told = (next((text for text in forms[:-1] if counts[text] == 1), forms[-1]) for forms in written)
    return {(store.name, store.time): text for store, text in zip(shown, told, strict=True)}


def _short_name(store: StoreFigures) -> str:
    return one_line(PurePath(store.name).stem, limit=24)


def _when(store: StoreFigures, whens: _Whens) -> str:
    return whens[store.name, store.time]
