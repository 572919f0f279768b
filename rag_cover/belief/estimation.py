"""One receiver's belief as it is formed of sampled answers: their weights, what an entailer says of them, how it would vary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.belief.entailment import EntailmentTask
from rag_cover.belief.kernels import entailment_kernel
from rag_cover.belief.result import Belief, BeliefKind, Preset, SampledAnswer, Utility
from rag_cover.belief.scoring import (
    Over,
    agreements_of,
    bootstrap_scores,
    likelihood_weights,
    score_of,
    uniform_weights,
)
from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval
from rag_cover.traces import Sample

__all__ = [
    "BeliefEstimate",
    "estimate_belief",
    "kind_in_range",
    "preset_for",
    "references_in_range",
    "utility_of",
    "weights_for",
]


_DIGITS = 12  # of an interval's ends


@dataclass(frozen=True, slots=True)
class BeliefEstimate:
    """A belief, and its score over bootstrap resamples of its answers; None where it was not resampled or has only one."""

    belief: Belief
    resampled: NDArray[np.float64] | None


def estimate_belief(
    references: Sequence[str],
    samples: Sequence[Sample],
    *,
    question: str,
    kind: BeliefKind,
    preset: Preset,
    clusters: bool = False,
    seed: Sequence[int] | None = None,
) -> EntailmentTask[BeliefEstimate]:
    """Ask what the belief in references is, of sampled answers; resample it where there is a seed for that.

    Raises:
        InvalidValueError: no samples, or none of any probability; before anything is asked.
    """
    weights = weights_for(samples, preset)
    texts = [sample.text for sample in samples]
    task = entailment_kernel(references, texts, question=question, kind=kind, preset=preset, clusters=clusters)
    agreement = yield from task
    over: Over = "mean" if preset == "paper" else "best"
    agreements = agreements_of(weights, agreement.kernel, over=over)
    answers = zip(texts, weights, agreement.clusters or (None,) * len(texts), agreements, strict=True)
    score = score_of(weights, agreement.kernel, over=over)
    belief = Belief(score, kind, preset, tuple(SampledAnswer(*answer) for answer in answers))
    return BeliefEstimate(belief, None if seed is None else bootstrap_scores(weights, agreement.kernel, over=over, seed=seed))


def utility_of(prior: BeliefEstimate, posterior: BeliefEstimate) -> Utility:
    """Subtract two beliefs; the interval takes the samples of both as drawn independently."""
    value = posterior.belief.score - prior.belief.score
    interval = None
    if prior.resampled is not None and posterior.resampled is not None:
        bounds = np.nanquantile(posterior.resampled - prior.resampled, [0.025, 0.975])
        lower, upper = np.round(bounds, _DIGITS) + 0.0  # equal answers weighed in another order differ by a rounding
        interval = Interval(value, float(lower), float(upper), prior.belief.n + posterior.belief.n)
    return Utility(value, prior.belief, posterior.belief, interval)


def preset_for(samples: Iterable[Sample], preset: Preset | None) -> Preset:
    """Choose the preset for samples; None is ``official``, or ``unbiased`` where any log-probability is missing.

    Raises:
        InvalidValueError: no samples, an unknown preset, or one that weighs by log-probabilities where some are missing.
    """
    if preset not in (None, "official", "paper", "unbiased"):
        message = f"preset is {preset!r}; it is 'official', 'paper' or 'unbiased', or None to choose by what there is"
        raise InvalidValueError(message)
    samples = tuple(samples)
    if not samples:
        message = "there are no samples; a belief needs at least one"
        raise InvalidValueError(message)
    missing = [position for position, sample in enumerate(samples) if not sample.token_logprobs]
    if preset in ("official", "paper") and missing:
        message = (
            f"preset {preset!r} weighs samples by their log-probabilities, which samples[{missing[0]}] lacks ({len(missing)} "
            "do); leave the preset out, or use 'unbiased'"
        )
        raise InvalidValueError(message)
    return preset or ("unbiased" if missing else "official")


def weights_for(samples: Sequence[Sample], preset: Preset) -> tuple[float, ...]:
    """Weigh samples as a preset does; the weights sum to 1.

    Raises:
        InvalidValueError: no samples, or none of any probability.
    """
    if preset == "unbiased":
        return uniform_weights(len(samples))
    return likelihood_weights([sample.token_logprobs or () for sample in samples])


def references_in_range(references: Sequence[str]) -> None:
    """Refuse references that no belief can be measured by.

    Raises:
        InvalidValueError: there are none, one is blank, or a plain string stands for a sequence.
    """
    if isinstance(references, str):
        message = "references is a plain string; give a sequence of right answers, such as [answer]"
        raise InvalidValueError(message)
    if not references:
        message = "there are no references; a belief is measured by one right answer at least"
        raise InvalidValueError(message)
    if blank := [position for position, reference in enumerate(references) if not reference.strip()]:
        message = f"references[{blank[0]}] is blank; leave it out, or say what the right answer is"
        raise InvalidValueError(message)


def kind_in_range(kind: BeliefKind) -> BeliefKind:
    """Return a kind of belief that there is, and refuse any other."""
    if kind not in ("soft", "hard"):
        message = f"kind is {kind!r}; it is 'soft' or 'hard'"
        raise InvalidValueError(message)
    return kind
