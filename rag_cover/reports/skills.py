"""A skill model as it is shown: who can do what, what each dimension means, groups of questions, what routing would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from rag_cover.reports.figures import Track, track_of
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.skills_drawings import SkillMap, SkillPlot, map_of, skill_plot
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, Headline, format_count, interval_text, p_value_text, percent
from rag_cover.routing import Dimension, FeatureEffect, Frontier, HeldOut, QuestionCluster, SkillDescription
from rag_cover.stats.intervals import Interval

__all__ = ["AgentRow", "ClusterRow", "DimensionRow", "RouterRow", "SkillsView", "skills_table", "skills_view"]

_EFFECTS = 6
_QUESTIONS = 6


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent: its success and its skills, each in words with the interval beside it."""

    number: int
    name: str
    success: str
    interval: str
    track: Track | None
    n: str
    cost: str
    skills: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DimensionRow:
    """One skill dimension: its weight, the features of the questions that need it, and examples of these."""

    number: int
    relevance: str
    effects: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One group of questions; ``cells`` are (success, interval, is the best) of each agent, in the agents' order."""

    number: int
    colour: int
    size: str
    difficulty: str
    typical: tuple[str, ...]
    cells: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class RouterRow:
    """One way of routing, with its quality less that of the best random mixture at its cost."""

    name: str
    cost: str
    quality: str
    interval: str
    gain: str
    gain_interval: str


@dataclass(frozen=True, slots=True)
class SkillsView:
    """All that is shown of a skill model."""

    headline: Headline
    basis: str
    held_out: str
    agents: tuple[AgentRow, ...]
    has_costs: bool
    dimensions: tuple[DimensionRow, ...]
    clusters: tuple[ClusterRow, ...]
    map: SkillMap
    plot: SkillPlot | None
    routers: tuple[RouterRow, ...]
    frontier_words: str
    notes: tuple[str, ...]


def skills_view(description: SkillDescription) -> SkillsView:
    """Gather what is shown of a skill model."""
    names = [agent.name for agent in description.agents]
    record, frontier = description.record, description.frontier
    return SkillsView(
        headline=_headline(description),
        basis=_basis(description),
        held_out=_describe_held_out(record.held_out),
        agents=tuple(_agent(number, description) for number in range(1, len(names) + 1)),
        has_costs=any(agent.cost is not None for agent in description.agents),
        dimensions=tuple(map(_dimension, description.dimensions)),
        clusters=tuple(_cluster(cluster, names, record.responses.questions) for cluster in description.clusters),
        map=map_of(description),
        plot=skill_plot(frontier) if frontier else None,
        routers=_routers(frontier) if frontier else (),
        frontier_words=_frontier_words(frontier) if frontier else "",
        notes=tuple(one_line(note, limit=400) for note in record.notes),
    )


def skills_table(description: SkillDescription) -> RenderableType:
    """Show a skill model in the terminal."""
    view = skills_view(description)
    table = plain_table(("Agent", "left"), ("Success", "right"), ("95%", "right"), ("Skills, one for each dimension", "left"))
    for agent in view.agents:
        table.add_row(Text(agent.name), agent.success, agent.interval, "  ".join(value for value, _ in agent.skills))
    lines = [Text(_dimension_line(row), style="dim") for row in view.dimensions]
    words = [Text(view.frontier_words)] if view.frontier_words else []
    notes = [Text(f"· {note}", style="dim") for note in view.notes]
    return Encodable(
        Group(
            Text(view.headline.text, style="bold"),
            Text(view.basis, style="dim"),
            table,
            *lines,
            Text(view.held_out),
            *words,
            *notes,
        )
    )


def _headline(description: SkillDescription) -> Headline:
    if description.best is None or description.oracle is None:
        agents, questions = len(description.agents), len(description.points)
        return Headline("Skills of", format_count(agents, "pipeline"), f"from {format_count(questions, 'question')}", "")
    best, oracle = description.best, description.oracle
    basis = (
        f"over the {format_count(best.n, 'question')} that all were asked; 95% intervals {_bounds(best)} and {_bounds(oracle)}"
    )
    return Headline(
        f"The best single pipeline succeeds on {percent(best.estimate)} of the questions, the right one each time on",
        percent(oracle.estimate),
        "",
        basis,
    )


def _basis(description: SkillDescription) -> str:
    responses = description.record.responses
    return (
        f"{format_count(len(responses.agents), 'pipeline')}, {format_count(len(responses.questions), 'question')}, "
        f"{format_count(responses.observed, 'response')}. Success: {one_line(description.record.criterion)}."
    )


def _describe_held_out(figures: HeldOut) -> str:
    gain, area = figures.gain, figures.area
    sure = (
        f" (95% interval {gain.lower:+.3f} to {gain.upper:+.3f})" if gain.lower is not None and gain.upper is not None else ""
    )
    ranks = f" Area under the ROC curve: {area.estimate:.3f}." if area else ""
    return (
        f"On questions it was not fitted on, the model's log-loss is {figures.log_loss:.3f} nats per response, that of each "
        f"pipeline's own mean {figures.agent_means_log_loss:.3f}: a gain of {gain.estimate:+.3f}{sure}.{ranks}"
    )


def _agent(number: int, description: SkillDescription) -> AgentRow:
    agent = description.agents[number - 1]
    success = agent.success
    return AgentRow(
        number=number,
        name=one_line(agent.name, limit=80),
        success=percent(success.estimate) if success else "–",
        interval=interval_text(success, SHARE) if success else "",
        track=track_of(success, SHARE),
        n=f"{success.n if success else 0:,}",
        cost="" if agent.cost is None else f"{agent.cost:g}",
        skills=tuple((_format_signed(skill.estimate), _skill_bounds(skill)) for skill in agent.skills),
    )


def _dimension(dimension: Dimension) -> DimensionRow:
    return DimensionRow(
        number=dimension.number,
        relevance=percent(dimension.mean_relevance),
        effects=tuple(map(_effect, dimension.clear_effects[:_EFFECTS])),
        questions=tuple((one_line(text, limit=160), percent(value)) for text, value in dimension.questions[:_QUESTIONS]),
    )


def _effect(effect: FeatureEffect) -> str:
    per = f" per {effect.per}" if effect.per else ""
    return f"{effect.feature}: odds ×{effect.odds_ratio:.2g}{per} ({p_value_text(effect.adjusted_p_value)})"


def _dimension_line(row: DimensionRow) -> str:
    told = "; ".join(row.effects[:3]) or "nothing readable tells its questions apart"
    return f"Dimension {row.number} ({row.relevance} of relevance): {told}"


def _cluster(cluster: QuestionCluster, names: Sequence[str], questions: Sequence[str]) -> ClusterRow:
    found = [cluster.accuracy.get(name) for name in names]
    best = max((interval.estimate for interval in found if interval), default=None)
    return ClusterRow(
        number=cluster.number,
        colour=(cluster.number - 1) % 5 + 1,
        size=f"{len(cluster.members):,}",
        difficulty=_format_signed(cluster.difficulty),
        typical=tuple(one_line(questions[place], limit=120) for place in cluster.typical),
        cells=tuple(
            (percent(each.estimate), interval_text(each, SHARE), each.estimate == best) if each else ("–", "", False)
            for each in found
        ),
    )


def _routers(frontier: Frontier) -> tuple[RouterRow, ...]:
    shown = frontier.points[:: max(1, -(-len(frontier.points) // 8))]
    points = [*frontier.always, *shown, frontier.oracle]
    return tuple(
        RouterRow(
            name=one_line(point.name, limit=60) if point.setting is None else "router",
            cost=f"{point.cost.estimate:.4g}",
            quality=percent(point.quality.estimate),
            interval=interval_text(point.quality, SHARE),
            gain="" if point.gain is None else _points(point.gain.estimate),
            gain_interval="" if point.gain is None else _point_bounds(point.gain),
        )
        for point in sorted(points, key=lambda point: point.cost.estimate)
    )


def _frontier_words(frontier: Frontier) -> str:
    left = f"; {format_count(frontier.left_out, 'question')} not asked of all, left out" if frontier.left_out else ""
    return (
        f"At equal cost the router gives {_points(frontier.gain.estimate)} against the best random mixture of two pipelines "
        f"(95% interval {_point_bounds(frontier.gain)}), averaged over costs; {format_count(frontier.questions, 'question')}"
        f"{left}. "
        "Every question is routed by a model that was fitted without it."
    )


def _points(difference: float) -> str:
    sign = "+" if difference > 0 else "\N{MINUS SIGN}" if difference < 0 else ""
    return f"{sign}{abs(100 * difference):.1f} points"


def _point_bounds(interval: Interval) -> str:
    if interval.lower is None or interval.upper is None:
        return "no interval"
    return f"{_format_signed(100 * interval.lower, 1)} to {_format_signed(100 * interval.upper, 1)}"


def _bounds(interval: Interval) -> str:
    return interval_text(interval, SHARE)


def _skill_bounds(interval: Interval) -> str:
    if interval.lower is None or interval.upper is None:
        return "no interval"
    return f"{_format_signed(interval.lower)} to {_format_signed(interval.upper)}"


def _format_signed(value: float, digits: int = 2) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else f"{'+' if value > 0 else chr(0x2212)}{text}"
