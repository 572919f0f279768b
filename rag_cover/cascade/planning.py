"""Which calls a budget is spent on: decided before the first is made, for all traces of an evaluation together.

All that the first judge is unsure of competes: first what weighs most in the headline (tiers), then what is nearest to the
cut. The unit is a text of a trace: one call judges it by all the questions that are unsure. Verdicts that occur in several
traces are chosen together, since they are asked together or not at all. The plan names verdicts, and is made before anything is
asked: it is the same for any number of threads or processes, in any order, and in a run that is resumed. Each call in it is
made at most once, so the limit holds without a count that processes would have to share.

At most a quarter of a budget goes to the audit, in the order of the draw, so that what is checked stays a random sample.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import ScoringItem, certain_cuts_of, mode_of
from rag_cover.cascade.judge import CascadeJudge, cut_of, forecast
from rag_cover.cascade.plan import CascadePlan
from rag_cover.cascade.settings import CascadeSettings, item_key
from rag_cover.llm.usage import CallForecast, Price
from rag_cover.stats.logistic import recentre
from rag_cover.traces import content_hash

__all__ = ["AuditDraw", "CascadePlan", "UnsureText", "WeighedVerdicts", "plan_calls", "weigh"]

_OF_AUDIT = 4  # the audit gets one part in so many of a budget


@dataclass(frozen=True, slots=True)
class UnsureText:
    """The unsure verdicts on one text of one trace: the tier and the distance from the cut of the first in line."""

    tier: int
    distance: float
    keys: tuple[str, ...]
    calls: CallForecast


@dataclass(frozen=True, slots=True)
class AuditDraw:
    """A verdict that may be checked: what it drew, and what asking about it takes."""

    draw: float
    key: str
    calls: CallForecast


@dataclass(frozen=True, slots=True)
class WeighedVerdicts:
    """What a budget can be spent on in some traces."""

    candidates: tuple[UnsureText, ...] = ()
    draws: tuple[AuditDraw, ...] = ()


def weigh(judge: CascadeJudge, tiers: Iterable[Mapping[ScoringItem, int]]) -> WeighedVerdicts:
    """Judge what traces ask by the first judge alone, and tell what asking the model about it takes.

    Args:
        judge: the cascade.
        tiers: for each trace, what is asked of a judge and how it weighs: 0 is the most.
    """
    traces = list(tiers)
    distances = _distances(judge, dict.fromkeys(item for trace in traces for item in trace))
    candidates: list[UnsureText] = []
    draws: list[AuditDraw] = []
    for trace in traces:
        by_text: defaultdict[str, list[ScoringItem]] = defaultdict(list)
        for item in trace:
            if distances[item] is not None:
                by_text[item.text].append(item)
        candidates += [_candidate(judge, several, trace, distances) for several in by_text.values()]
        draws += _draw(judge, trace)
    return WeighedVerdicts(tuple(candidates), tuple(draws))


def plan_calls(weighed: Sequence[WeighedVerdicts], settings: CascadeSettings) -> CascadePlan:
    """Choose what is asked within the budget."""
    draws = _join_draws(draw for each in weighed for draw in each.draws)
    budget = _Budget(settings.max_calls, settings.max_cost, settings.price)
    for_audit = budget.part_for(draws)
    asked: set[str] = set()
    for candidate in sorted(_join(each for several in weighed for each in several.candidates), key=_order):
        if budget.take(candidate.calls, leaving=for_audit):
            asked.update(candidate.keys)
    audited: set[str] = set()
    for draw in draws:
        if draw.key in asked:
            continue
        if not for_audit.take(draw.calls):
            break  # a cheaper one further on would not be drawn at random
        audited.add(draw.key)
    return CascadePlan(frozenset(asked), frozenset(audited))


def _distances(judge: CascadeJudge, items: Iterable[ScoringItem]) -> dict[ScoringItem, float | None]:
    """Return how far the probabilities lie from their cuts, as if these were a half; None where the first judge is sure."""
    certain = certain_cuts_of(judge.first)
    found: dict[ScoringItem, float | None] = {}
    for item, probability in judge.judge_first(list(items)).items():
        low, high = certain.get(mode_of(item), (1.0, 0.0))
        is_unsure = low < probability < high and bool(item.text.strip())
        found[item] = abs(recentre(probability, cut=cut_of(judge.first, item)) - 0.5) if is_unsure else None
    return found


def _draw(judge: CascadeJudge, items: Iterable[ScoringItem]) -> list[AuditDraw]:
    drawn = {item: judge.settings.draw(item_key(item)) for item in items if item.text.strip()}
    return [
        AuditDraw(number, item_key(item), forecast(judge.second, [item]))
        for item, number in drawn.items()
        if number < judge.settings.audit
    ]


def _candidate(
    judge: CascadeJudge,
    items: Sequence[ScoringItem],
    tiers: Mapping[ScoringItem, int],
    distances: Mapping[ScoringItem, float | None],
) -> UnsureText:
    tier, distance = min((tiers[item], distances[item] or 0.0) for item in items)
    return UnsureText(tier, distance, tuple(map(item_key, items)), forecast(judge.second, items))


def _order(candidate: UnsureText) -> tuple[int, float, str]:
    return candidate.tier, candidate.distance, content_hash(sorted(candidate.keys))


def _join(candidates: Iterable[UnsureText]) -> list[UnsureText]:
    """Join candidates that share a verdict, with the calls of all of them: one that is asked is asked wherever it occurs."""
    found: dict[int, UnsureText] = {}
    place_of: dict[str, int] = {}
    for number, candidate in enumerate(candidates):
        for place in {place_of[key] for key in candidate.keys if key in place_of}:
            candidate = _join_parts(found.pop(place), candidate)  # noqa: PLW2901  # it grows
        found[number] = candidate
        place_of.update(dict.fromkeys(candidate.keys, number))
    return list(found.values())


def _join_parts(a: UnsureText, b: UnsureText) -> UnsureText:
    tier, distance = min((a.tier, a.distance), (b.tier, b.distance))
    return UnsureText(tier, distance, tuple(dict.fromkeys((*a.keys, *b.keys))), a.calls + b.calls)


def _join_draws(draws: Iterable[AuditDraw]) -> list[AuditDraw]:
    joined: dict[str, AuditDraw] = {}
    for draw in draws:
        before = joined.get(draw.key)
        joined[draw.key] = draw if before is None else AuditDraw(draw.draw, draw.key, before.calls + draw.calls)
    return sorted(joined.values(), key=lambda draw: (draw.draw, draw.key))


@dataclass(slots=True)
class _Budget:
    """What is left of a budget, in calls and in what they cost by ``price``; None is no limit."""

    calls: int | None
    cost: float | None
    price: Price | None

    def take(self, wanted: CallForecast, *, leaving: _Budget | None = None) -> bool:
        """Take calls from the budget where they leave a part of it; return whether they do."""
        calls = None if self.calls is None else self.calls - wanted.calls
        cost = None if self.cost is None else self.cost - self.cost_of(wanted)
        if calls is not None and calls < ((leaving and leaving.calls) or 0):
            return False
        if cost is not None and cost < ((leaving and leaving.cost) or 0.0):
            return False
        self.calls, self.cost = calls, cost
        return True

    def part_for(self, draws: Sequence[AuditDraw]) -> _Budget:
        """Return the part for the audit: what the draws take, a quarter of the budget at most."""
        wanted = sum((draw.calls for draw in draws), CallForecast())
        calls = None if self.calls is None else min(self.calls // _OF_AUDIT, wanted.calls)
        cost = None if self.cost is None else min(self.cost / _OF_AUDIT, self.cost_of(wanted))
        return _Budget(calls, cost, self.price)

    def cost_of(self, wanted: CallForecast) -> float:
        """Price calls; those without a price are not limited by it."""
        return 0.0 if self.price is None else wanted.cost(self.price)
