"""Questions over several passages, read step by step: the bridge first, its answer filled in, and the next passage with it.

The steps are those of `rag_cover.decomposition.multihop.hops_of`. With D_k the answers to step k and c the likeliest answers to
the step that k builds on, D_k = Σ_c P(c) · D(step k with c filled in), and what is left of P is unanswerable. A chain's last
step and the question as it stands are two readings (`answers_in`). A comparison is decided by its last two steps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_cover.belief.compared_values import is_less, is_same
from rag_cover.belief.readings import UNANSWERABLE, answers_in, as_reading
from rag_cover.decomposition.multihop import hops_of
from rag_cover.decomposition.multihop.comparison_rules import ComparisonRule, comparison_rule_of
from rag_cover.decomposition.multihop.slots import fill_slots, slots_in
from rag_cover.questions import Passage

__all__ = ["Item", "Read", "answer_in_steps", "likely_answers", "settle_comparison"]

Item = tuple[str, tuple[Passage, ...]]
"""A question and the passages that it is asked of."""

Read = Callable[[Sequence[Item]], Sequence[Mapping[str, float]]]
"""Reads each question as it stands: every answer's probability, with that of `UNANSWERABLE`; they sum to 1."""

_BRIDGES = 2  # answers of a step that are followed
_COMPARED = 30  # answers of each side that decide a comparison; the rest is noise
_YES, _NO = "yes", "no"


@dataclass(slots=True)
class _Reading:
    """A question on its way: its steps, and the answers to those that were read."""

    steps: tuple[str, ...]
    rule: ComparisonRule | None
    passages: tuple[Passage, ...]
    answers: list[dict[str, float]] = field(default_factory=list)

    def ask(self, number: int) -> list[tuple[float, str]]:
        """Return a step with the likeliest answers to what it builds on filled in, and how likely these are."""
        text = self.steps[number]
        needed = slots_in(text, position=number + 1)
        bridges = [[(slot, *each) for each in likely_answers(self.answers[slot - 1], most=_BRIDGES)] for slot in needed]
        return [
            (math.prod(likely for _, _, likely in chosen), fill_slots(text, {slot: answer for slot, answer, _ in chosen}))
            for chosen in itertools.product(*bridges)
        ]

    def settle(self, found: Sequence[tuple[float, Mapping[str, float]]]) -> None:
        """Take the answers to the next step, each reading of it with the probability of what was filled in."""
        answers = {UNANSWERABLE: 0.0}
        for likely, read in found:
            for text, probability in read.items():
                answers[text] = answers.get(text, 0.0) + likely * probability
        answers[UNANSWERABLE] = max(0.0, 1 - math.fsum(value for text, value in answers.items() if text != UNANSWERABLE))
        self.answers.append(answers)

    def conclude(self, whole: Mapping[str, float]) -> dict[str, float]:
        """Return the answers to the question, which as it stands was read as ``whole``; a comparison need not be."""
        if self.rule is not None:
            return settle_comparison(self.rule, *self.answers[-2:])
        return answers_in([as_reading(whole), as_reading(self.answers[-1])])


def answer_in_steps(items: Sequence[Item], read: Read) -> list[dict[str, float]]:
    """Return every answer's probability, read in steps where rules find a question's steps, and as it stands elsewhere.

    Args:
        items: questions with their passages.
        read: asked for all questions at once, once for each step.
    """
    plans = {question: _plan(question) for question in dict.fromkeys(asked for asked, passages in items if passages)}
    started = {
        at: _Reading(*plan, passages) for at, (question, passages) in enumerate(items) if passages and (plan := plans[question])
    }
    whole = [at for at in range(len(items)) if at not in started or started[at].rule is None]
    found = dict(zip(whole, map(dict, read([items[at] for at in whole]) if whole else ()), strict=True))
    for number in range(max((len(reading.steps) for reading in started.values()), default=0)):
        asked = {at: reading.ask(number) for at, reading in started.items() if number < len(reading.steps)}
        wanted = dict.fromkeys((text, started[at].passages) for at, texts in asked.items() for _, text in texts)
        answers = dict(zip(wanted, read(list(wanted)), strict=True))
        for at, texts in asked.items():
            reading = started[at]
            reading.settle([(likely, answers[text, reading.passages]) for likely, text in texts])
    concluded = {at: reading.conclude(found.get(at, {})) for at, reading in started.items()}
    return [concluded.get(at) or found[at] for at in range(len(items))]


def _plan(question: str) -> tuple[tuple[str, ...], ComparisonRule | None] | None:
    """Return a question's steps, and what decides it where it is a comparison; None where it is read as it stands.

    That is where rules find no steps, and where nothing decides a comparison.
    """
    steps = hops_of(question)
    if not steps:
        return None
    rule = comparison_rule_of(question)
    chains = slots_in(steps[-1], position=len(steps)) == (len(steps) - 1,)
    return (steps, rule) if rule is not None or chains else None


def likely_answers(answers: Mapping[str, float], *, most: int) -> list[tuple[str, float]]:
    """Return the likeliest answers and P of each, where those that contain one another or share most words are one.

    The text of each is its likeliest wording.

    >>> likely_answers({"unanswerable": 0.1, "Austen": 0.3, "Jane Austen": 0.5, "Emma": 0.1}, most=2)
    [('Jane Austen', 0.8), ('Emma', 0.1)]
    """
    found: list[tuple[str, float]] = []
    for text, probability in sorted(answers.items(), key=lambda item: (-item[1], item[0])):
        if text == UNANSWERABLE or probability <= 0:
            continue
        place = next((at for at, (other, _) in enumerate(found) if _share_words(text, other)), None)
        if place is not None:
            found[place] = found[place][0], found[place][1] + probability
        else:
            found.append((text, probability))
    return sorted(found, key=lambda item: -item[1])[:most]


def _share_words(one: str, other: str) -> bool:
    mine, theirs = set(one.casefold().split()), set(other.casefold().split())
    return 2 * len(mine & theirs) >= max(1, min(len(mine), len(theirs)) * 2) or len(mine & theirs) * 2 > len(mine | theirs)


def settle_comparison(rule: ComparisonRule, first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Decide a comparison by the answers to both sides; what they do not decide is unanswerable.

    >>> older = ComparisonRule("Homer", "Plato", "less", names=True)
    >>> settle_comparison(older, {"unanswerable": 0.5, "750 BC": 0.5}, {"unanswerable": 0.0, "428 BC": 1.0})
    {'unanswerable': 0.5, 'Homer': 0.5}
    """
    wins = loses = 0.0
    for (mine, likely), (theirs, likely_too) in itertools.product(_top(first), _top(second)):
        holds = _holds(rule, mine, theirs)
        wins += likely * likely_too * (holds is True)
        loses += likely * likely_too * (holds is False)
    positive, negative = (rule.first, rule.second) if rule.names else (_YES, _NO)
    decided = {text: value for text, value in ((positive, wins), (negative, loses)) if value > 0}
    return {UNANSWERABLE: max(0.0, 1 - wins - loses), **decided}


def _holds(rule: ComparisonRule, mine: str, theirs: str) -> bool | None:
    if rule.takes == "same":
        return is_same(mine, theirs)
    less = is_less(mine, theirs)
    return less if less is None or rule.takes == "less" else not less


def _top(answers: Mapping[str, float]) -> list[tuple[str, float]]:
    told = [(text, likely) for text, likely in answers.items() if text != UNANSWERABLE and likely > 0]
    return sorted(told, key=lambda item: (-item[1], item[0]))[:_COMPARED]
