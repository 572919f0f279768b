"""Pipelines on the same questions: what differs, whether that could be chance, which questions changed, whose answers win.

The p-value is of a paired permutation test: under the null hypothesis the two sides of a question may be swapped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Generator
from rag_cover.coverage.summary import AnswerSums, NuggetSums
from rag_cover.errors import IncomparableError, InvalidValueError
from rag_cover.evaluation.run import Evaluation
from rag_cover.measures import SummaryMetric, TraceResult
from rag_cover.pairwise import AnswersByQuestion, PairwiseComparison, compare_answers
from rag_cover.placeholder import Placeholder
from rag_cover.question_keys import question_key
from rag_cover.questions import Role
from rag_cover.short_forms import letter_of
from rag_cover.stats.intervals import SIGNIFICANT, Interval, jackknife, permutation_p_value
from rag_cover.summaries import (
    ChangedQuestion,
    Comparison,
    MetricComparison,
    OwnedMetric,
    Sums,
    is_all_labelled,
    metrics_of_installed,
)

__all__ = ["compare", "compare_pairwise"]

Floats = NDArray[np.float64]
SubQuestionsAsked = Mapping[str, frozenset[str]]
"""The sub-questions of each question."""


@dataclass(slots=True)
class _Side:
    """One evaluation, gathered by question."""

    sums: Sums
    texts: dict[str, str] = field(default_factory=dict)
    covered: dict[str, dict[str, bool]] = field(default_factory=dict)  # question → core sub-question → answered by some trace
    asked: dict[str, frozenset[str]] = field(default_factory=dict)
    pipelines: Counter[str] = field(default_factory=Counter)
    measured: set[str] = field(default_factory=set)
    answers: AnswerSums = field(default_factory=AnswerSums)
    nuggets: NuggetSums = field(default_factory=NuggetSums)

    def add(self, result: TraceResult) -> None:
        key = question_key(result.trace.question)
        self.sums.add(result)
        self.answers.add(result)
        self.nuggets.add(result)
        self.texts.setdefault(key, result.trace.question.text)
        self.pipelines[result.trace.pipeline or ""] += 1
        self.measured |= result.outcomes.keys()
        if result.coverage is None:
            return
        self.asked[key] = self.asked.get(key, frozenset()) | {each.text for each in result.coverage.sub_questions}
        core = self.covered.setdefault(key, {})
        for each in result.coverage.sub_questions:
            if each.role == Role.CORE and each.answer is not None:
                core[each.text] = core.get(each.text, False) or each.answer.covered

    @property
    def name(self) -> str:
        return ", ".join(name for name in self.pipelines if name)


def compare(a: Evaluation, b: Evaluation, *, sub_questions: Literal["same", "any"] = "same", seed: int = 0) -> Comparison:
    """Compare two evaluations on the questions they share, joined by question id, else by normalised text.

    Args:
        a: the one side.
        b: the other; differences are b - a.
        sub_questions: ``"same"`` refuses questions whose sub-questions differ between the sides, ``"any"`` compares them.
        seed: seed of the random generator.

    Raises:
        IncomparableError: no question in common, or their sub-questions differ.
    """
    labelled = all(is_all_labelled(side.results, side.known_of_judge) for side in (a, b))
    one, other = (_gather(side, side.labelled_results if labelled else side.results) for side in (a, b))
    shared = _find_shared([one.texts, other.texts])
    if sub_questions == "same":
        _refuse_different(one.asked, other.asked, {key: one.texts[key] for key in shared})
    name_a, name_b = _distinct([one.name or "a", other.name or "b"])
    (losses_a, unclear_a), (losses_b, unclear_b) = (side.sums.losses_of(shared) for side in (one, other))
    return Comparison(
        name_a=name_a,
        name_b=name_b,
        questions=len(shared),
        only_a=len(one.texts) - len(shared),
        only_b=len(other.texts) - len(shared),
        metrics={
            name: _compare_metric(metric, one, other, shared, seed, by_labels=labelled)
            for name, metric in _metrics(one, other).items()
        },
        losses_a=losses_a,
        losses_b=losses_b,
        changed=_find_changed(one, other, shared),
        notes=(*_notes([a, b]), *_notes_on_labels({name_a: one, name_b: other}, by_labels=labelled)),
        unclear_a=unclear_a,
        unclear_b=unclear_b,
        single_sub_questions=min(side.answers.single or 0.0 for side in (one, other)),
        share_on_nuggets=min(side.nuggets.share for side in (one, other)),
        labels_a=one.sums.labels,
        labels_b=other.sums.labels,
        by_labels=labelled,
    )


def compare_pairwise(
    evaluations: Sequence[Evaluation],
    *,
    judge: Literal["rating"] | Generator = "rating",
    names: Sequence[str] | None = None,
    sub_questions: Literal["same", "any"] = "same",
) -> PairwiseComparison:
    """Compare two or more evaluations answer by answer, on the questions that all of them have, joined as `compare` does.

    Of a question that an evaluation answers several times the first answer counts, and a note says so.

    Args:
        evaluations: one for each pipeline.
        judge: ``"rating"``: the better coverage rating wins, equal ones tie; or a model that is asked which of two answers is
            better, in both orders.
        names: what to call evaluations whose traces name no pipeline; by default a, b, and so on.
        sub_questions: ``"same"`` refuses to compare ratings by sub-questions that differ between the sides, ``"any"`` does it.

    Raises:
        InvalidValueError: fewer than two evaluations, not as many names, or a judge that is neither.
        IncomparableError: no question in common, ratings by sub-questions that differ, or redacted answers that a model would
            have to read.
        ModelFailedError: the generator did not return one generation for each prompt.
    """
    generator = _generator(judge)
    sides = _name(evaluations, names)
    shared = _find_shared([side.first for side in sides.values()])
    if generator is not None:
        _refuse_redacted(sides, shared)
    notes = _repetitions(sides, shared)
    if generator is None:
        notes = (*_notes(evaluations), *notes)
        if sub_questions == "same":
            _refuse_ratings_by_different(sides, shared)
    return compare_answers(sides, shared, generator=generator, any_sub_questions=sub_questions == "any", notes=notes)


def _gather(evaluation: Evaluation, results: Iterable[TraceResult]) -> _Side:
    side = _Side(Sums(evaluation.given, evaluation.known_of_judge))
    for result in results:
        side.add(result)
    return side


def _find_shared(sides: Sequence[Collection[str]]) -> list[str]:
    first, *rest = sides
    shared = [key for key in first if all(key in side for side in rest)]
    if not shared:
        which = "two" if len(sides) == 2 else str(len(sides))  # noqa: PLR2004 - two have a word
        named = {key.startswith("id:") for side in sides for key in side}
        ids = " Some name their questions by id and others do not: give all of them ids, or none." if len(named) > 1 else ""
        message = f"The {which} evaluations have no question in common; give them the same question ids or texts.{ids}"
        raise IncomparableError(message)
    return shared


def _refuse_different(one: SubQuestionsAsked, other: SubQuestionsAsked, shared: Mapping[str, str]) -> None:
    """Refuse sides whose sub-questions differ on the shared questions, which come with their texts."""
    different = [text for key, text in shared.items() if key in one and key in other and one[key] != other[key]]
    if different:
        message = (
            f"{len(different)} of {len(shared)} shared questions have different sub-questions or nuggets on the two sides, "
            f"such as {different[0]!r}; give both the same ones, or compare them anyway: compare --sub-questions any, "
            "in Python compare(…, sub_questions='any')."
        )
        raise IncomparableError(message)


def _name(evaluations: Sequence[Evaluation], names: Sequence[str] | None) -> dict[str, AnswersByQuestion]:
    if len(evaluations) < 2:  # noqa: PLR2004 - a pair
        message = f"answers are compared between two evaluations or more, not {len(evaluations)}"
        raise InvalidValueError(message)
    if names is not None and len(names) != len(evaluations):
        message = f"{len(names)} names for {len(evaluations)} evaluations; give one for each, or none"
        raise InvalidValueError(message)
    sides = [AnswersByQuestion.of(evaluation.results) for evaluation in evaluations]
    others = names or [letter_of(index).lower() for index in range(len(sides))]
    called = _distinct([", ".join(side.pipelines) or other for side, other in zip(sides, others, strict=True)])
    return dict(zip(called, sides, strict=True))


def _distinct(names: Sequence[str]) -> list[str]:
    """Add letters to sides that have the same name, such as ``broad (a)`` and ``broad (b)``."""
    if len(set(names)) == len(names):
        return list(names)
    lettered = [f"{name} ({letter_of(index).lower()})" for index, name in enumerate(names)]
    return _distinct([name if names.count(name) == 1 else other for name, other in zip(names, lettered, strict=True)])


def _generator(judge: Literal["rating"] | Generator) -> Generator | None:
    if not isinstance(judge, str):
        return judge
    if judge != "rating":
        message = f"judge is 'rating' or a model, such as open_generator({judge!r}) opens, not a name"
        raise InvalidValueError(message)
    return None


def _refuse_redacted(sides: Mapping[str, AnswersByQuestion], shared: Sequence[str]) -> None:
    for name, side in sides.items():
        if any(Placeholder.read(side.first[key].text or "") for key in shared):
            message = f"The answers of {name} are redacted, and no model can compare them; compare their ratings instead."
            raise IncomparableError(message)


def _refuse_ratings_by_different(sides: Mapping[str, AnswersByQuestion], shared: Sequence[str]) -> None:
    """Refuse sides whose sub-questions differ where both have some: an answer without is left unjudged, with its reason."""
    for one, other in combinations(sides.values(), 2):
        a, b = ({key: side.first[key].sub_questions for key in shared} for side in (one, other))
        _refuse_different(a, b, {key: one.first[key].question for key in shared if a[key] and b[key]})


def _repetitions(sides: Mapping[str, AnswersByQuestion], shared: Sequence[str]) -> tuple[str, ...]:
    counts = {name: len(side.repeated.intersection(shared)) for name, side in sides.items()}
    return tuple(
        f"{name} answers {count:,} of the questions several times; the first answer counts."
        for name, count in counts.items()
        if count
    )


def _metrics(one: _Side, other: _Side) -> Mapping[str, OwnedMetric]:
    """Return the metrics of every measure that either side asked for, those of installed measures first."""
    asked = one.measured | other.measured
    installed = {name: each for name, each in metrics_of_installed().items() if each.measure in asked}
    return installed | one.sums.metrics | other.sums.metrics


def _compare_metric(
    owned: OwnedMetric, one: _Side, other: _Side, shared: Sequence[str], seed: int, *, by_labels: bool
) -> MetricComparison:
    a, b = (side.sums.rows_of(owned, shared) for side in (one, other))
    first, second = owned.interval(a), owned.interval(b)
    metric = owned.metric
    judged = None if by_labels else one.sums.verdicts.difference(other.sums.verdicts, metric.name, shared, seed=seed)
    p_value = permutation_p_value(a, b, metric.statistic, seed=seed) if first and second else None
    return MetricComparison(
        name=metric.name,
        label=metric.label,
        a=first,
        b=second,
        difference=second.estimate - first.estimate if first and second else None,
        p_value=p_value,
        questions=len(shared),
        higher_is_better=metric.higher_is_better,
        low=metric.low,
        high=metric.high,
        with_judge_error=_with_chance(judged, p_value),
        interval=_difference_interval(a, b, metric) if first and second else None,
    )


def _difference_interval(a: Floats, b: Floats, metric: SummaryMetric[Any]) -> Interval | None:
    """Return the difference of a metric with its interval over the questions that count on a side."""
    sums, width, span = np.hstack([a, b]), a.shape[1], metric.high - metric.low
    counts = sums.any(axis=1)

    def difference(drawn: Floats) -> Floats:
        return np.asarray(metric.statistic(drawn[..., width:]) - metric.statistic(drawn[..., :width]))

    return jackknife(sums[counts], difference, low=-span, high=span)


def _with_chance(interval: Interval | None, p_value: float | None) -> Interval | None:
    """Let the interval of a difference that may be chance hold 0."""
    if interval is None or p_value is None or interval.lower is None or interval.upper is None or interval.n < 2:  # noqa: PLR2004
        return None
    if p_value < SIGNIFICANT:
        return interval
    return replace(interval, lower=min(0.0, interval.lower), upper=max(0.0, interval.upper))


def _find_changed(one: _Side, other: _Side, shared: Sequence[str]) -> tuple[ChangedQuestion, ...]:
    """List the questions with a core sub-question that one side covers and the other does not, most changed first."""
    found = []
    for key in shared:
        a, b = one.covered.get(key, {}), other.covered.get(key, {})
        gained = tuple(text for text, covered in b.items() if covered and a.get(text) is False)
        lost = tuple(text for text, covered in a.items() if covered and b.get(text) is False)
        if gained or lost:
            found.append(ChangedQuestion(one.texts[key], key, _share(a), _share(b), gained, lost))
    return tuple(sorted(found, key=lambda each: len(each.gained) - len(each.lost)))


def _share(covered: Mapping[str, bool]) -> float | None:
    return sum(covered.values()) / len(covered) if covered else None


def _notes(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    return (*_notes_on_judges(evaluations), *_notes_on_versions(evaluations))


def _notes_on_labels(sides: Mapping[str, _Side], *, by_labels: bool) -> Iterator[str]:
    """Say which labels of people are used: those of A tell the judge's errors, or where none of A's are used those of B."""
    used = {name: labels for name, side in sides.items() if (labels := side.sums.labels)}
    for name, labels in used.items():
        why = f"; {labels.reasons}" if labels.reasons else ""
        yield f"Labels of people, {name}: {labels.used:,} of {labels.given:,} are used{why}."
    if by_labels:
        yield "People labelled all core verdicts of both sides: figures of answers, losses and p-values are by their labels."
    elif first := next((name for name, labels in used.items() if labels.used), None):
        yield (
            f"The intervals with the judge’s errors rest on the labels of {first}, too; shares, losses, p-values and other "
            "intervals are the judge’s."
        )


def _notes_on_versions(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    versions: dict[str, dict[int, None]] = {}
    for measure in (measure for evaluation in evaluations for measure in evaluation.given):
        versions.setdefault(measure.name, {})[measure.version] = None
    return tuple(
        f"{name} was measured by its versions {' and '.join(map(str, found))}: what differs may be the measure."
        for name, found in versions.items()
        if len(found) > 1
    )


def _notes_on_judges(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    judges = list(dict.fromkeys(evaluation.judge for evaluation in evaluations))
    if len(judges) > 1:
        sides = "two sides" if len(evaluations) == 2 else "sides"  # noqa: PLR2004 - two have a word
        return (f"The {sides} were judged by different judges: {', '.join(judges[:-1])} and {judges[-1]}.",)
    return ()
