"""Two judges as one: the first keeps the verdicts that it is sure of, the second is asked about the others.

A verdict is sure outside the first judge's two cuts of its mode (`rag_cover.backends.CertainCuts`). Of the verdicts that are
kept, some drawn at random are asked of the second, too: they tell how often it would agree. Where it was asked its word counts;
where it failed, or the budget has no call for it, the first judge's verdict stays, and that is told (`Fate`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import (
    CertainCuts,
    Failure,
    Locator,
    Scorer,
    ScoringItem,
    Span,
    certain_cuts_of,
    fingerprint_of,
    languages_of,
    mode_of,
    reads_references,
    reply_threshold_of,
)
from rag_cover.cascade.plan import CascadePlan
from rag_cover.cascade.settings import CascadeSettings, item_key
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.session import LLMSession, Remote
from rag_cover.llm.usage import CallForecast
from rag_cover.model_calls import ask_probabilities, bisect_failures, fragments
from rag_cover.statements import StatementItem, StatementVerdict, judge_statements
from rag_cover.stats.logistic import recentre
from rag_cover.traces import content_hash

__all__ = ["FAILED_CALLS", "CascadeJudge", "CascadeVerdict", "Fate", "VerdictFate", "cut_of", "forecast"]

_VERSION = 1  # of how verdicts are chosen and put together: part of the fingerprint
_REMEMBERED = 65_536  # fragments
FAILED_CALLS = 3
"""How many calls in a row, each with all its attempts, a server may fail before a run's cascade asks it no more."""
_REFERENCE_CUT = 0.5


class Fate(StrEnum):
    """What became of a verdict.

    ``SURE``: the first judge is sure of it. ``ASKED``: it was unsure, and the model's word counts. ``AUDITED``: it was kept,
    and the model was asked to check it; its word counts, too. ``FAILED``: the model was asked and failed, and the first judge's
    verdict stays. ``OVER_BUDGET``: unsure, and no call was left for it.
    """

    SURE = "sure"
    ASKED = "asked"
    AUDITED = "audited"
    FAILED = "failed"
    OVER_BUDGET = "over budget"


@dataclass(frozen=True, slots=True)
class VerdictFate:
    """What became of a verdict, and whether the two judges agree; None where the model gave none.

    ``failure`` says why it gave none, where it failed.
    """

    fate: Fate
    agreed: bool | None = None
    failure: Failure | None = None

    @property
    def is_by_model(self) -> bool:
        """Return whether the model's word counts."""
        return self.agreed is not None


@dataclass(frozen=True, slots=True)
class CascadeVerdict:
    """A probability on the scale of the first judge, and how it came about."""

    probability: float
    how: VerdictFate


@runtime_checkable
class Forecasting(Protocol):
    """A judge that tells what asking it takes."""

    def forecast(self, items: Sequence[ScoringItem]) -> CallForecast:
        """Return what judging items takes."""
        ...


class CascadeJudge:
    """Judges by a first judge, and by a second model where the first is unsure (`rag_cover.backends.Scorer`, `Locator`).

    Thread-safe as its judges are. Cuts, languages and all but the probabilities are those of the first judge.

    Args:
        first: judges everything; it must tell which verdicts it is sure of (`CertainCuts`).
        second: is asked about the others.
        settings: budget and audit.
        plan: what is asked within the budget; without a budget, everything that is unsure is asked.

    Raises:
        InvalidValueError: the first judge does not tell which verdicts it is sure of.
    """

    def __init__(
        self,
        first: Scorer,
        second: Scorer,
        settings: CascadeSettings = CascadeSettings(),  # noqa: B008  # frozen
        *,
        plan: CascadePlan | None = None,
    ) -> None:
        if not certain_cuts_of(first):
            message = (
                f"{fingerprint_of(first)} cannot be the first judge of a cascade: it does not tell which of its verdicts it is "
                "sure of (rag_cover.backends.CertainCuts); the embedded judge does"
            )
            raise InvalidValueError(message)
        self.first, self.second, self.settings, self.plan = first, second, settings, plan
        self._lock = threading.Lock()
        self._located: OrderedDict[ScoringItem, Span | None] = OrderedDict()

    @property
    def threshold(self) -> float:
        """Return the first judge's cut for passages."""
        return self.first.threshold

    @property
    def reply_threshold(self) -> float:
        """Return the first judge's cut for replies."""
        return reply_threshold_of(self.first)

    @property
    def certain(self) -> CertainCuts:
        """Return the first judge's cuts between which a verdict is unsure."""
        return certain_cuts_of(self.first)

    @property
    def languages(self) -> tuple[str, ...] | None:
        """Return the languages that the first judge reads."""
        return languages_of(self.first)

    @property
    def reads_references(self) -> bool:
        """Return whether both judges read references."""
        return reads_references(self.first) and reads_references(self.second)

    @property
    def fingerprint(self) -> str:
        """Return what names this cascade in caches: its judges, its settings, and its plan where it has one."""
        settings, plan = self.settings, self.plan
        limits = [settings.max_calls, settings.max_cost, settings.audit, settings.seed, plan and plan.fingerprint]
        about = content_hash([_VERSION, limits])[:16]
        return f"cascade:{fingerprint_of(self.first)}+{fingerprint_of(self.second)}:{about}"

    @property
    def needs_plan(self) -> bool:
        """Return whether it has a budget, and nobody has planned yet what that is spent on."""
        return self.settings.has_budget and self.plan is None

    def with_plan(self, plan: CascadePlan) -> Self:
        """Return the same cascade, asking what a plan names."""
        return type(self)(self.first, self.second, self.settings, plan=plan)

    def for_run(self, run: LLMSession) -> Self:
        """Return the same cascade, going by this run's cache, ledger and clock; within a budget each call is made once.

        A server that fails `FAILED_CALLS` calls in a row is not asked again: the first judge's verdicts stand.
        """
        first = self.first.for_run(run) if isinstance(self.first, Remote) else self.first
        second_run = replace(run, asks_once=run.asks_once or self.settings.has_budget, gives_up_after=FAILED_CALLS)
        second = self.second.for_run(second_run) if isinstance(self.second, Remote) else self.second
        return type(self)(first, second, self.settings, plan=self.plan)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(the text answers the question), for callers that cannot tell of an audit: nothing is checked.

        With a budget, which is for coverage, the first judge judges alone.
        """
        own = self.judge_first(items)
        asked = [] if self.settings.has_budget else [item for item, p in own.items() if self._fate(item, p) is Fate.ASKED]
        said = self._ask(asked)
        verdicts = [self._verdict(item, own[item], Fate.ASKED if item in said else Fate.SURE, said.get(item)) for item in items]
        return np.array([verdict.probability for verdict in verdicts], dtype=np.float32)

    def judge_first(self, items: Sequence[ScoringItem]) -> Mapping[ScoringItem, float]:
        """Return what the first judge says of each distinct item."""
        return ask_probabilities(self.first, items)

    def judge(self, items: Sequence[ScoringItem]) -> list[CascadeVerdict]:
        """Return each verdict, and how it came about.

        Raises:
            InvalidValueError: it has a budget without a plan.
            ModelFailedError: the first judge failed.
        """
        if self.needs_plan:
            message = "a budget is planned over all traces, as rag_cover.evaluate does; leave max_calls and max_cost out here"
            raise InvalidValueError(message)
        own = self.judge_first(items)
        fates = {item: self._fate(item, probability) for item, probability in own.items()}
        said = self._ask([item for item, fate in fates.items() if fate in (Fate.ASKED, Fate.AUDITED)])
        return [self._verdict(item, own[item], fates[item], said.get(item)) for item in items]

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return the fragment that answers: as the model quoted it where its word counts, else as the first judge finds it."""
        with self._lock:
            known = {item: self._located[item] for item in items if item in self._located}
        if isinstance(self.first, Locator):
            known |= fragments(self.first, (item for item in items if item not in known))
        return [known.get(item) for item in items]

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        """Return of each text whether it states the statement, by the first judge: there are no cuts for statements."""
        said = judge_statements(self.first, items)
        return [said[item] for item in items]

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process without memories: a lock cannot."""
        return partial(type(self), plan=self.plan), (self.first, self.second, self.settings)

    def _fate(self, item: ScoringItem, probability: float) -> Fate:
        low, high = self.certain.get(mode_of(item), (1.0, 0.0))
        is_unsure = low < probability < high and bool(item.text.strip())
        key = item_key(item)
        if self.plan is not None:
            if key in self.plan.asked:
                return Fate.ASKED
            if key in self.plan.audited:
                return Fate.AUDITED
            return Fate.OVER_BUDGET if is_unsure else Fate.SURE
        if is_unsure:
            return Fate.ASKED
        is_drawn = self.settings.draw(key) < self.settings.audit and bool(item.text.strip())
        return Fate.AUDITED if is_drawn else Fate.SURE

    def _ask(self, items: Sequence[ScoringItem]) -> Mapping[ScoringItem, float | Failure]:
        """Ask the model, each item once; remember the fragments that it quotes."""

        def ask(batch: Sequence[ScoringItem]) -> list[float]:
            said = ask_probabilities(self.second, batch)
            return [said[item] for item in batch]

        said = bisect_failures(items, ask)
        covered = [item for item, each in said.items() if isinstance(each, float) and each >= cut_of(self.second, item)]
        if covered and isinstance(self.second, Locator):
            with suppress(ModelFailedError):  # its verdicts count all the same; the first judge finds the fragments
                self._remember(fragments(self.second, covered))
        return said

    def _remember(self, located: Mapping[ScoringItem, Span | None]) -> None:
        with self._lock:
            self._located.update({item: span for item, span in located.items() if span is not None})
            while len(self._located) > _REMEMBERED:
                self._located.popitem(last=False)

    def _verdict(self, item: ScoringItem, own: float, fate: Fate, said: float | Failure | None) -> CascadeVerdict:
        if said is None:
            return CascadeVerdict(own, VerdictFate(fate))
        if isinstance(said, Failure):
            return CascadeVerdict(own, VerdictFate(Fate.FAILED, failure=replace(said, raw=None)))
        cut, covers = cut_of(self.first, item), said >= cut_of(self.second, item)
        probability = _on_scale(recentre(said, cut=cut_of(self.second, item)), cut, covers=covers)
        return CascadeVerdict(probability, VerdictFate(fate, agreed=covers == (own >= cut)))


def cut_of(scorer: Scorer, item: ScoringItem) -> float:
    """Return the probability from which a judge's verdict counts."""
    match mode_of(item):
        case "reference":
            return _REFERENCE_CUT
        case "reply":
            return reply_threshold_of(scorer)
        case _:
            return scorer.threshold


def forecast(judge: Scorer, items: Sequence[ScoringItem]) -> CallForecast:
    """Return what asking a judge takes: one call for each verdict where it does not tell."""
    return judge.forecast(items) if isinstance(judge, Forecasting) else CallForecast(len(items))


def _on_scale(centred: float, cut: float, *, covers: bool) -> float:
    """Map a probability whose cut is a half to the scale of another cut, on the right side of it whatever is rounded."""
    moved = np.float32(recentre(centred, cut=1 - cut))
    edge = np.float32(cut)
    return float(str(max(moved, edge) if covers else min(moved, np.nextafter(edge, np.float32(0)))))
