"""SePer and ΔSePer of sampled answers: how much of a receiver's probability lies on a right answer, and how far that moved.

Dai et al., "SePer: measure retrieval utility through the lens of semantic perplexity reduction" (ICLR 2025). Presets:
``official`` as released (likelihood weights; the higher of both directions; the best reference), ``paper`` as written (the
same weights; answer → reference only; the mean over references), ``unbiased`` (equal weights, else as ``official``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_cover.backends import Entailer
from rag_cover.belief.entailment import Judgments, approximations_of, gather
from rag_cover.belief.estimation import estimate_belief, kind_in_range, preset_for, references_in_range, utility_of, weights_for
from rag_cover.belief.kernels import cluster_by_meaning
from rag_cover.belief.result import Approximation, Belief, BeliefKind, Preset, Utility
from rag_cover.belief.scoring import cluster_masses, entropy_of
from rag_cover.traces import Sample

__all__ = ["delta_seper", "semantic_clusters", "semantic_entropy", "seper"]


def seper(
    samples: Sequence[Sample],
    references: Sequence[str],
    *,
    question: str,
    entailer: Entailer,
    kind: BeliefKind = "soft",
    preset: Preset | None = None,
    clusters: bool = False,
    approximations: Collection[Approximation] = (),
) -> Belief:
    """Measure how much of the sampled probability lies on a right answer, in [0, 1].

    Args:
        samples: the sampled answers; one without a text is judged as it is, and counted in `Belief.empty`.
        references: right answers, each by itself: aliases, or different ones.
        question: what was asked; both sides are read after it.
        entailer: who judges whether one text entails another.
        kind: ``soft`` weighs by P(entailment), ``hard`` by whether an answer's cluster means the same as a reference.
        preset: None is ``official``, or ``unbiased`` where any log-probability is missing; `Belief.preset` says which.
        clusters: whether the answers' clusters are found with kind ``soft`` too; that asks about pairs of answers.
        approximations: ``normalised`` and ``skip-identity`` (`Judgments`), which spare the entailer pairs.

    Raises:
        InvalidValueError: no samples or no references, a blank reference, an unknown name, log-probabilities that are missing
            for an explicit preset, or samples none of which has any probability.
        ModelFailedError: the entailer failed.
    """
    references_in_range(references)
    inquiry = estimate_belief(
        references,
        samples,
        question=question,
        kind=kind_in_range(kind),
        preset=preset_for(samples, preset),
        clusters=clusters,
    )
    return Judgments(entailer, approximations_of(approximations)).settle(inquiry).belief


def delta_seper(
    prior: Sequence[Sample],
    posterior: Sequence[Sample],
    references: Sequence[str],
    *,
    question: str,
    entailer: Entailer,
    kind: BeliefKind = "soft",
    preset: Preset | None = None,
    seed: int = 0,
) -> Utility:
    """Measure how far passages moved a receiver's belief, in [-1, 1]: `seper` of ``posterior`` less that of ``prior``.

    Both sides take one preset. ``seed`` is of the bootstrap over the samples of both sides.

    Raises:
        InvalidValueError, ModelFailedError: as `seper`.
    """
    references_in_range(references)
    kind, chosen = kind_in_range(kind), preset_for([*prior, *posterior], preset)
    sides = [
        estimate_belief(references, samples, question=question, kind=kind, preset=chosen, seed=(seed, side))
        for side, samples in enumerate((prior, posterior))
    ]
    before, after = Judgments(entailer).settle(gather(sides))
    return utility_of(before, after)


def semantic_clusters(
    samples: Sequence[Sample], *, question: str, entailer: Entailer, strict: bool = True, reassign: bool = True
) -> tuple[int, ...]:
    """Group answers by meaning (`rag_cover.belief.clustering`); return each one's cluster, numbered in order of founding.

    Raises:
        InvalidValueError: no samples.
        ModelFailedError: the entailer failed.
    """
    preset_for(samples, None)
    texts = [sample.text for sample in samples]
    return Judgments(entailer).settle(cluster_by_meaning(question, texts, strict=strict, reassign=reassign))


def semantic_entropy(
    samples: Sequence[Sample], *, question: str, entailer: Entailer, strict: bool = True, reassign: bool = True
) -> float:
    """Return -Σ_C p(C) ln p(C) over the answers' clusters, in nats: 0 where all mean the same.

    The answers weigh as in `seper` without a preset.

    Raises:
        InvalidValueError: no samples, or none of any probability.
        ModelFailedError: the entailer failed.
    """
    weights = weights_for(samples, preset_for(samples, None))
    clusters = semantic_clusters(samples, question=question, entailer=entailer, strict=strict, reassign=reassign)
    return entropy_of(cluster_masses(weights, clusters))
