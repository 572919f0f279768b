"""Coverage as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_other_than
from rag_cover.backends import Failure, ScoringItem
from rag_cover.coverage.judging import coverage_table, judge_coverage, tiers_of
from rag_cover.coverage.metrics import METRICS, statistics_as_rated
from rag_cover.coverage.notes import declines_in_words
from rag_cover.coverage.ratings import RATING_WEIGHTS, check_weights
from rag_cover.coverage.result import CoverageResult
from rag_cover.decomposition.embedded_roles import Untyped
from rag_cover.decomposition.given_nuggets import add_nuggets
from rag_cover.decomposition.strategies import split_failures
from rag_cover.english.topics import ASKS_NOTHING, is_small_talk
from rag_cover.measures import ModelKind, Outcome, Score, SummaryMetric, Unit
from rag_cover.model_calls import threshold_in_range
from rag_cover.questions import Role
from rag_cover.stats.logistic import recentre
from rag_cover.traces import Trace

__all__ = ["CoverageMeasure", "coverage_sums"]

Floats = NDArray[np.float64]


def coverage_sums(result: CoverageResult) -> Floats:
    """Return what one trace adds to the sums that the metrics #1 to #6 and the rating are made of (`statistics_as_rated`)."""
    return statistics_as_rated(coverage_table(result), result.rating)


def abstention_sums(result: CoverageResult) -> tuple[float, float]:
    """Return whether the answer declines to answer as a whole, and whether that is known."""
    return result.abstained == "wholly", result.abstained is not None


def abstention_sums_of_retrieved(result: CoverageResult) -> tuple[float, float]:
    """Return, of an answer that declines as a whole, whether retrieved passages cover a core sub-question all the same."""
    retrieved = result.core_retrieved
    if result.abstained != "wholly" or retrieved is None:
        return 0.0, 0.0
    return float(retrieved), 1.0


def _units_of(role: Role, result: CoverageResult) -> list[Unit]:
    """List the judge's verdicts on the answer of sub-questions of one role."""
    cut = result.threshold if result.reply_threshold is None else result.reply_threshold
    units = []
    for each in result.sub_questions:
        if each.role == role and each.answer is not None:
            known = each.evidence if each.answer.judged is None else None  # a label changes the evidence, too
            units.append(Unit(each.text, known.answer if known else recentre(each.answer.probability, cut=cut)))
    return units


_UNITS = {
    "core_coverage": partial(_units_of, Role.CORE),
    "background_coverage": partial(_units_of, Role.BACKGROUND),
    "follow_up_coverage": partial(_units_of, Role.FOLLOW_UP),
}


def echo_sums(result: CoverageResult) -> tuple[float, float]:
    """Return how many core sub-questions the question itself would cover, of how many that were tried."""
    return (float(result.controls.echoed), float(result.controls.of)) if result.controls else (0.0, 0.0)


def refusal_sums(result: CoverageResult) -> tuple[float, float]:
    """Return how many core sub-questions a sentence that declines to answer would cover, of how many that were tried."""
    return (float(result.controls.refused), float(result.controls.of)) if result.controls else (0.0, 0.0)


def unsure_answer_sums(result: CoverageResult) -> tuple[float, float]:
    """Return how many verdicts on the answer lie between the judge's two cuts, and how many there are."""
    verdicts = [each.answer for each in result.sub_questions if each.answer is not None]
    return float(sum(not verdict.certain for verdict in verdicts)), float(len(verdicts))


def unsure_passage_sums(result: CoverageResult) -> tuple[float, float]:
    """Return how many verdicts on chunks lie between the judge's two cuts, and how many there are."""
    verdicts = [verdict for each in result.sub_questions for verdict in each.chunks or ()]
    return float(sum(not verdict.certain for verdict in verdicts)), float(len(verdicts))


_PAPER_METRICS = tuple(
    SummaryMetric(
        metric.name,
        metric.label,
        metric.formula,
        coverage_sums,
        statistic=metric.statistic,
        units=_UNITS.get(metric.name),
        low=metric.low,
        high=metric.high,
        higher_is_better=metric.higher_is_better,
        undefined_because="no sub-question of the traces counts in it",
        plain_words=metric.plain_words,
        known_as=metric.known_as,
    )
    for metric in METRICS.values()
)


def _divide(traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> tuple[list[Trace], dict[int, Failure]]:
    """Add nuggets and split questions; return the traces that can be judged, and by place why the others cannot."""
    found = dict(enumerate(add_nuggets(traces, models.get("nuggets"))))
    failed = {index: each for index, each in found.items() if isinstance(each, Failure)}
    able = {index: each for index, each in found.items() if not isinstance(each, Failure)}
    unsplit = split_failures(list(able.values()), models.get("decomposer"))
    failed |= {index: unsplit[place] for place, index in enumerate(able) if place in unsplit}
    return [trace for index, trace in able.items() if index not in failed], failed


@dataclass(frozen=True, slots=True)
class CoverageMeasure:
    """Measure which sub-questions a trace's chunks, prompt and answer cover (`judge_coverage`).

    ``threshold=None`` is the scorer's own. ``untyped`` tells whether sub-questions without a role are typed by the embedder
    (by rules where there is none), by rules, or left to count in no role. A trace whose question could not be split is a
    `Failure` that says so, and costs no other trace its result.
    """

    threshold: float | None = None
    weights: Mapping[Role, float] = field(default_factory=lambda: RATING_WEIGHTS)
    untyped: Untyped = "embedded"

    name: ClassVar[str] = "coverage"
    required_inputs: ClassVar[tuple[str, ...]] = ("an answer, retrieval steps or a prompt",)
    required_models: ClassVar[tuple[ModelKind, ...]] = ("scorer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ("locator", "decomposer", "embedder", "abstention", "nuggets", "corpus")
    version: ClassVar[int] = 4
    result_type: ClassVar[type[CoverageResult]] = CoverageResult
    metrics: ClassVar[tuple[SummaryMetric[CoverageResult], ...]] = (
        *_PAPER_METRICS,
        SummaryMetric(
            "abstentions",
            "answers that decline to answer",
            "answers that say as a whole that they cannot tell / answers",
            abstention_sums,
            higher_is_better=None,
            undefined_because="no answer was looked at for whether it declines",
            plain_words="How many answers say that they cannot tell.",
            known_as="refusal rate",
        ),
        SummaryMetric(
            "abstentions_though_retrieved",
            "declined though it was retrieved",
            "answers that decline although a retrieved passage covers a core sub-question / answers that decline",
            abstention_sums_of_retrieved,
            higher_is_better=False,
            undefined_because="no answer to a question with retrieved passages declines",
            plain_words="Where an answer says so, how often a retrieved passage had what was asked.",
        ),
        SummaryMetric(
            "echo_coverage",
            "core answered by the question itself",
            "core sub-questions that the question, given as its own answer, would cover / core sub-questions",
            echo_sums,
            higher_is_better=False,
            undefined_because="it was not tried: there are no answers, or a remote judge would be paid for it",
            plain_words="What an answer would score that only repeats the question: a check of the judge.",
        ),
        SummaryMetric(
            "refusal_coverage",
            "core answered by a refusal",
            "core sub-questions that a sentence that declines to answer would cover / core sub-questions",
            refusal_sums,
            higher_is_better=False,
            undefined_because="it was not tried: there are no answers, or a remote judge would be paid for it",
            plain_words="What an answer would score that declines to answer: a check of the judge.",
        ),
        SummaryMetric(
            "unsure_answers",
            "unsure verdicts on answers",
            "verdicts on answers between the judge's two cuts / verdicts on answers",
            unsure_answer_sums,
            higher_is_better=None,
            undefined_because="no answer was judged",
            plain_words="How often the judge cannot tell whether an answer covers a sub-question.",
        ),
        SummaryMetric(
            "unsure_passages",
            "unsure verdicts on passages",
            "verdicts on retrieved passages between the judge's two cuts / verdicts on retrieved passages",
            unsure_passage_sums,
            higher_is_better=None,
            undefined_because="no retrieved passage was judged",
            plain_words="How often the judge cannot tell whether a passage covers a sub-question.",
        ),
    )

    def __post_init__(self) -> None:
        """Refuse what no rating can be made from; keep the weights as a plain dict, which travels between processes."""
        if self.threshold is not None:
            threshold_in_range(self.threshold)
        refuse_other_than(get_args(Untyped), untyped=self.untyped)
        object.__setattr__(self, "weights", check_weights(self.weights))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        weights = {str(role): weight for role, weight in self.weights.items()}
        return {"threshold": self.threshold, "weights": weights, "untyped": self.untyped}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can."""
        if trace.answer is None and trace.prompt is None and not trace.steps:
            return f"coverage needs {self.required_inputs[0]}"
        if trace.sub_questions is None and trace.nuggets is None and is_small_talk(trace.question.text):
            return ASKS_NOTHING
        return None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Split the questions that need it, then judge all the traces, in one call to the scorer and one to the locator."""
        able, failed = _divide(traces, models)
        judged = iter(
            judge_coverage(
                able,
                models["scorer"],
                locator=models.get("locator"),
                threshold=self.threshold,
                decomposer=models.get("decomposer"),
                untyped=self.untyped,
                embedder=models.get("embedder"),
                abstention=models.get("abstention"),
                corpus=models.get("corpus"),
                weights=self.weights,
            )
        )
        return [failed[index] if index in failed else next(judged) for index in range(len(traces))]

    def weigh(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> list[Mapping[ScoringItem, int]]:
        """List for each trace that can be measured what its scorer is asked, and how that weighs (`tiers_of`)."""
        able, _ = _divide(traces, models)
        decomposer, embedder = models.get("decomposer"), models.get("embedder")
        return tiers_of(able, models["scorer"], decomposer=decomposer, untyped=self.untyped, embedder=embedder)

    def score(self, result: CoverageResult) -> Score:
        """Return the share of core sub-questions that the answer covers, in [0, 1] (metric #1)."""
        core = [each.answer for each in result.sub_questions if each.role == Role.CORE and each.answer is not None]
        if result.core_coverage is None:
            of = f"none of its {len(result.sub_questions)} {result.noun_of(None)}s"
            return Score(None, f"{of} is {'vital' if result.on_nuggets else 'core'}")
        done = "stated" if result.on_nuggets else "answered"
        said = f"{sum(each.covered for each in core)} of {len(core)} {result.noun_of(Role.CORE)}s are {done}"
        return Score(result.core_coverage, "; ".join(part for part in (said, declines_in_words(result)) if part))
