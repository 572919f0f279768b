"""What retrieval steps were worth: beliefs, their differences, and how these go to JSON with each belief written once.

Dai et al., "SePer: measure retrieval utility through the lens of semantic perplexity reduction" (ICLR 2025).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Self

from rag_cover.measures.texts import ModelName, PassageKey, Text
from rag_cover.stats.intervals import Interval
from rag_cover.traces import StepKind

__all__ = [
    "Approximation",
    "Attribution",
    "Belief",
    "BeliefKind",
    "PassageUtility",
    "Preset",
    "ReferenceSource",
    "SampledAnswer",
    "StepUtility",
    "TraceUtility",
    "Utility",
]

BeliefKind = Literal["soft", "hard"]
Preset = Literal["official", "paper", "unbiased"]
ReferenceSource = Literal["gold", "answer"]
Attribution = Literal["leave-one-out", "add-one-in"]
Approximation = Literal["normalised", "skip-identity"]


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """One sampled answer: what it weighs, which meaning it has, how far it agrees with the references.

    ``agreement``, in [0, 1], is toward the reference that the belief is highest in (preset ``paper``: the mean over all
    references), so that a belief's score is the weighted sum of its answers' agreements. With kind ``hard`` it is that of the
    founder of the answer's cluster. ``cluster`` is None where clusters were not asked for.
    """

    text: Annotated[str, Text()]
    weight: float
    cluster: int | None
    agreement: float


@dataclass(frozen=True, slots=True)
class Belief:
    """How much of a receiver's probability lies on a right answer (SePer): ``score``, in [0, 1].

    >>> answers = SampledAnswer("Paris", 0.75, None, 1.0), SampledAnswer("Rome", 0.25, None, 0.0)
    >>> float(Belief(0.75, "soft", "official", answers))
    0.75
    """

    score: float
    kind: BeliefKind
    preset: Preset
    answers: tuple[SampledAnswer, ...]

    @property
    def n(self) -> int:
        """Return how many answers were sampled."""
        return len(self.answers)

    @property
    def weights(self) -> tuple[float, ...]:
        """Return the answers' weights, which sum to 1."""
        return tuple(answer.weight for answer in self.answers)

    @property
    def clusters(self) -> tuple[int, ...] | None:
        """Return the answers' cluster numbers; None where clusters were not asked for (kind ``soft`` needs none)."""
        clusters = tuple(answer.cluster for answer in self.answers if answer.cluster is not None)
        return clusters if len(clusters) == len(self.answers) else None

    @property
    def empty(self) -> int:
        """Count the answers without a text."""
        return sum(not answer.text.strip() for answer in self.answers)

    def __float__(self) -> float:
        return self.score

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        answers = [asdict(answer) for answer in self.answers]
        return {"score": self.score, "kind": self.kind, "preset": self.preset, "answers": answers}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        answers = tuple(SampledAnswer(**answer) for answer in data["answers"])
        return cls(data["score"], data["kind"], data["preset"], answers)


@dataclass(frozen=True, slots=True)
class Utility:
    """How far passages moved a belief (ΔSePer): ``value`` = posterior - prior, in [-1, 1]; below 0 they did harm.

    ``interval`` is the 95% percentile bootstrap interval over the samples of both sides; None where a side has fewer than
    two. Of few samples it is too sure: simulated, ten a side hold the truth in 92% of cases (79% where nearly all answers
    agree), twenty in 95%. Where all agree it has no width.
    """

    value: float
    prior: Belief
    posterior: Belief
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "value": self.value,
            "prior": self.prior.to_dict(),
            "posterior": self.posterior.to_dict(),
            "interval": _interval_to_dict(self.interval),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        prior, posterior = Belief.from_dict(data["prior"]), Belief.from_dict(data["posterior"])
        return cls(data["value"], prior, posterior, _interval_from_dict(data["interval"]))


@dataclass(frozen=True, slots=True)
class PassageUtility:
    """What one passage of a step was worth, in [-1, 1]; ``passage`` is its `Passage.key`."""

    passage: PassageKey
    value: float
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {"passage": self.passage, "value": self.value, "interval": _interval_to_dict(self.interval)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(data["passage"], data["value"], _interval_from_dict(data["interval"]))


@dataclass(frozen=True, slots=True)
class StepUtility:
    """What one retrieval step was worth.

    ``alone`` is that of its passages by themselves; None for a step without passages, and where the trace's recorded samples
    hold none of them by themselves. ``marginal`` is that of the context after the step over the context before it.
    ``passages`` is empty unless attribution was asked for.
    """

    step: Annotated[str, Text(kind="step")]
    kind: StepKind
    query: Annotated[str, Text()]
    alone: Utility | None
    marginal: Utility
    passages: tuple[PassageUtility, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceUtility:
    """What each retrieval step of one trace was worth; the steps' marginals add up to ``total.value``.

    ``receiver`` names whose belief it is. With ``references="answer"`` the trace's own answer stood in for gold answers: that
    is self-consistency, not correctness. ``samples`` counts the sampled answers it rests on, those of equal contexts once;
    ``approximations`` names inputs that were treated as equal although a model might distinguish them. ``holds_reference``
    tells whether a gold answer stands, word for word, in the last context; None where answers stood in for references.
    """

    receiver: ModelName
    references: ReferenceSource
    kind: BeliefKind
    preset: Preset
    prior: Belief
    steps: tuple[StepUtility, ...]
    total: Utility
    samples: int
    per_passage: Attribution | None = None
    approximations: tuple[Approximation, ...] = ()
    holds_reference: bool | None = None

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return what all steps together were worth, in [-1, 1]."""
        return {"delta_seper": self.total.value}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data: ``beliefs`` holds each belief once, the rest names them by index."""
        table = _Beliefs()
        return {
            "receiver": self.receiver,
            "references": self.references,
            "kind": self.kind,
            "preset": self.preset,
            "prior": table.index(self.prior),
            "steps": [_step_to_dict(step, table) for step in self.steps],
            "total": table.utility(self.total),
            "samples": self.samples,
            "per_passage": self.per_passage,
            "approximations": list(self.approximations),
            "holds_reference": self.holds_reference,
            "beliefs": [belief.to_dict() for belief in table.found],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        beliefs = tuple(map(Belief.from_dict, data["beliefs"]))
        return cls(
            receiver=data["receiver"],
            references=data["references"],
            kind=data["kind"],
            preset=data["preset"],
            prior=beliefs[data["prior"]],
            steps=tuple(_step_from_dict(step, beliefs) for step in data["steps"]),
            total=_utility_of(data["total"], beliefs),
            samples=data["samples"],
            per_passage=data["per_passage"],
            approximations=tuple(data["approximations"]),
            holds_reference=data.get("holds_reference"),
        )


class _Beliefs:
    """The distinct beliefs of a trace, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.found: dict[Belief, int] = {}

    def index(self, belief: Belief) -> int:
        return self.found.setdefault(belief, len(self.found))

    def utility(self, utility: Utility) -> dict[str, Any]:
        return {
            "value": utility.value,
            "prior": self.index(utility.prior),
            "posterior": self.index(utility.posterior),
            "interval": _interval_to_dict(utility.interval),
        }


def _utility_of(data: Mapping[str, Any], beliefs: tuple[Belief, ...]) -> Utility:
    prior, posterior = beliefs[data["prior"]], beliefs[data["posterior"]]
    return Utility(data["value"], prior, posterior, _interval_from_dict(data["interval"]))


def _step_to_dict(step: StepUtility, table: _Beliefs) -> dict[str, Any]:
    return {
        "step": step.step,
        "kind": step.kind,
        "query": step.query,
        "alone": table.utility(step.alone) if step.alone else None,
        "marginal": table.utility(step.marginal),
        "passages": [passage.to_dict() for passage in step.passages],
    }


def _step_from_dict(data: Mapping[str, Any], beliefs: tuple[Belief, ...]) -> StepUtility:
    return StepUtility(
        step=data["step"],
        kind=data["kind"],
        query=data["query"],
        alone=_utility_of(data["alone"], beliefs) if data["alone"] else None,
        marginal=_utility_of(data["marginal"], beliefs),
        passages=tuple(map(PassageUtility.from_dict, data["passages"])),
    )


def _interval_to_dict(interval: Interval | None) -> dict[str, Any] | None:
    return asdict(interval) if interval else None


def _interval_from_dict(data: Mapping[str, Any] | None) -> Interval | None:
    return Interval(**data) if data else None
