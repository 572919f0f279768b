"""What each retrieval step of a trace was worth: ΔSePer over the contexts that the steps made, many traces at a time.

alone_k = SePer(passages of step k) - SePer(∅) and marginal_k = SePer(context_k) - SePer(context_{k-1}), so that the marginals
add up to the total: SePer(last context) - SePer(∅). One trace has one preset.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from rag_cover.backends import Entailer, Failure, Receiver
from rag_cover.belief.contexts import ContextKey, StepContexts, key_of
from rag_cover.belief.entailment import EntailmentTask, Judgments, approximations_of, gather
from rag_cover.belief.estimation import BeliefEstimate, estimate_belief, preset_for, utility_of
from rag_cover.belief.gold_strings import holds_reference
from rag_cover.belief.result import (
    Approximation,
    Attribution,
    BeliefKind,
    PassageUtility,
    Preset,
    ReferenceSource,
    StepUtility,
    TraceUtility,
    Utility,
)
from rag_cover.belief.sample_cache import SampleCache
from rag_cover.belief.sampling import SamplingPlan, plan_samples
from rag_cover.belief.settings import UtilitySettings
from rag_cover.errors import InvalidValueError
from rag_cover.traces import Trace

__all__ = ["step_utilities", "utilities_of"]

BeliefEstimates = dict[ContextKey, BeliefEstimate]
Utilities = Mapping[tuple[ContextKey, ContextKey], Utility]


def step_utilities(  # noqa: PLR0913  # the public interface: all but the trace by name
    trace: Trace,
    *,
    entailer: Entailer,
    receiver: Receiver | None = None,
    n: int = 10,
    references: ReferenceSource = "gold",
    per_passage: Attribution | None = None,
    seed: int = 0,
    kind: BeliefKind = "soft",
    preset: Preset | None = None,
    clusters: bool = False,
    adaptive: float | None = None,
    approximations: Collection[Approximation] = (),
) -> TraceUtility:
    """Measure what each retrieval step of a trace was worth, in [-1, 1]: how far it moved the belief in a right answer.

    Args:
        trace: with its steps, and its references or its answer.
        entailer: who judges whether one text entails another.
        receiver: whose belief it is. Samples recorded in the trace under its fingerprint are used first; with None, those of
            the first receiver that the trace has enough of.
        n: how many answers are sampled in each context, and at most used of recorded ones.
        references: ``gold``: the question's references; ``answer``: the trace's own answer, which makes it a measure of
            self-consistency and not of correctness.
        per_passage: ``leave-one-out``: what the context after the step loses without the passage; ``add-one-in``: what the
            passage is worth by itself.
        seed: seed of the random generator (samples and bootstrap).
        kind: ``soft`` or ``hard``, as in `rag_cover.belief.seper`.
        preset: likewise; None is ``unbiased`` for the whole trace where any log-probability is missing.
        clusters: whether the answers' clusters are found with kind ``soft`` too.
        adaptive: the half width of intervals at which sampling may stop before ``n``; `TraceUtility.samples` says how many were
            drawn. It stops after four answers where these happen to agree: for a rough figure at half the cost.
        approximations: ``normalised`` and ``skip-identity`` (`rag_cover.belief.entailment.Judgments`).

    Raises:
        InvalidValueError: a trace without steps, references (or answer), or samples and no receiver; samples that no belief can
            be formed from, or that all are without a text; an argument out of range.
        ModelFailedError: the receiver or the entailer failed.
    """
    procedure = UtilitySettings(n, kind, preset, references, per_passage, adaptive, clusters, approximations, seed)
    (outcome,) = _measure([trace], entailer, receiver, procedure)
    if isinstance(outcome, InvalidValueError):
        raise outcome
    return outcome


def utilities_of(
    traces: Sequence[Trace], *, entailer: Entailer, receiver: Receiver | None = None, procedure: UtilitySettings
) -> list[TraceUtility | Failure]:
    """Measure traces together, as `step_utilities` does each: equal contexts are sampled once, equal pairs judged once.

    Kind ``soft`` takes one call to the receiver and one to the entailer; ``hard``, clusters and adaptive sampling take a few.
    A trace whose utility is undefined is a `Failure`, and does not affect the others.

    Raises:
        ModelFailedError: the receiver or the entailer failed.
    """
    outcomes = _measure(traces, entailer, receiver, procedure)
    return [
        Failure(type(outcome).__name__, str(outcome)) if isinstance(outcome, InvalidValueError) else outcome
        for outcome in outcomes
    ]


def _measure(
    traces: Sequence[Trace], entailer: Entailer, receiver: Receiver | None, procedure: UtilitySettings
) -> list[TraceUtility | InvalidValueError]:
    draws = None if receiver is None else SampleCache(receiver, procedure.rounds, procedure.seed)
    judgments = Judgments(entailer, procedure.approximations)
    outcomes: dict[int, TraceUtility | InvalidValueError] = {}
    plans: dict[int, SamplingPlan] = {}
    for index, trace in enumerate(traces):
        try:
            plans[index] = plan_samples(trace, receiver, procedure)
        except InvalidValueError as unfit:
            outcomes[index] = unfit
    while plans:
        if draws is not None:
            draws.fetch(wanted for plan in plans.values() for wanted in plan.rounds_to_sample())
        formed = judgments.settle(gather(_estimate_beliefs(plan, draws, procedure) for plan in plans.values()))
        for index, estimates in zip(tuple(plans), formed, strict=True):
            done = _utility_or_more_samples(plans[index], estimates, procedure)
            if done is not None:
                outcomes[index] = done
                del plans[index]
    return [outcomes[index] for index in range(len(traces))]


def _estimate_beliefs(
    plan: SamplingPlan, draws: SampleCache | None, procedure: UtilitySettings
) -> EntailmentTask[BeliefEstimates | InvalidValueError]:
    """Ask for the belief in every context that has samples, under one preset; come to why that cannot be, where it cannot."""
    samples = plan.samples(draws)
    drawn = [sample for each in samples.values() for sample in each]
    if drawn and not any(sample.text.strip() for sample in drawn):
        silent = f"all {len(drawn)} answers of {plan.receiver} are without a text, so that nothing tells what it believes"
        return InvalidValueError(silent)
    try:
        preset = preset_for(drawn, procedure.preset)
        formed = yield from gather(
            estimate_belief(
                plan.references,
                each,
                question=plan.trace.question.text,
                kind=procedure.kind,
                preset=preset,
                clusters=procedure.clusters,
                seed=(procedure.seed, position),
            )
            for position, each in enumerate(samples.values())
        )
    except InvalidValueError as unfit:
        return unfit
    return dict(zip(samples, formed, strict=True))


def _utility_or_more_samples(
    plan: SamplingPlan, estimates: BeliefEstimates | InvalidValueError, procedure: UtilitySettings
) -> TraceUtility | InvalidValueError | None:
    """Return a trace's utility by its beliefs, or the error; None where more samples are needed first."""
    if isinstance(estimates, InvalidValueError):
        return estimates
    utilities = {
        (prior, posterior): utility_of(estimates[prior], estimates[posterior])
        for prior, posterior in dict.fromkeys(plan.contexts.comparisons())
        if prior in estimates and posterior in estimates
    }
    if procedure.adaptive is not None and plan.sample_more(_wide(utilities, procedure.adaptive), procedure.rounds):
        return None
    total = utilities[(), key_of(plan.contexts.final)]
    return TraceUtility(
        receiver=plan.receiver,
        references=procedure.references,
        kind=procedure.kind,
        preset=total.prior.preset,
        prior=total.prior,
        steps=tuple(_step(step, utilities) for step in plan.contexts.steps),
        total=total,
        samples=sum(estimate.belief.n for estimate in estimates.values()),
        per_passage=procedure.per_passage,
        approximations=approximations_of(procedure.approximations),
        holds_reference=holds_reference(plan.trace) if procedure.references == "gold" else None,
    )


def _wide(utilities: Utilities, half_width: float) -> set[ContextKey]:
    """Name the contexts of every interval that is wider than asked for, or unknown."""
    return {key for pair, utility in utilities.items() if _half_width(utility) > half_width for key in pair}


def _half_width(utility: Utility) -> float:
    interval = utility.interval
    return (
        math.inf
        if interval is None or interval.lower is None or interval.upper is None
        else (interval.upper - interval.lower) / 2
    )


def _step(contexts: StepContexts, utilities: Utilities) -> StepUtility:
    step = contexts.step
    passages = ((each.passage, utilities.get((key_of(each.prior), key_of(each.posterior)))) for each in contexts.passages)
    return StepUtility(
        step=step.id,
        kind=step.kind,
        query=step.query,
        alone=None if contexts.alone is None else utilities.get(((), key_of(contexts.alone))),
        marginal=utilities[key_of(contexts.before), key_of(contexts.after)],
        passages=tuple(PassageUtility(key, worth.value, worth.interval) for key, worth in passages if worth is not None),
    )
