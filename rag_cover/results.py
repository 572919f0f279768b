"""What measuring a trace gives: frozen values that go to JSON and back without loss.

An outcome is a measure's own result, `NotApplicable` where the trace lacks what the measure needs, or a `Failure`. Nothing
undefined is a number: it is None or absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, Self

from rag_cover.backends import Failure, Span
from rag_cover.questions import Role, RoleSource
from rag_cover.traces import Trace

__all__ = [
    "RESULT_SCHEMA",
    "CoverageResult",
    "GroundednessResult",
    "Loss",
    "Measure",
    "NotApplicable",
    "Outcome",
    "SentenceSupport",
    "SubQuestionCoverage",
    "TraceResult",
    "Verdict",
]

RESULT_SCHEMA = 1
"""Part of every content key: results of another schema are measured again, never misread."""


class Loss(StrEnum):
    """Where an uncovered sub-question was lost."""

    NOT_RETRIEVED = "not retrieved"
    DROPPED = "retrieved, then dropped"
    UNUSED = "in the prompt, not used"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgment of (sub-question, text): its probability, whether that reaches the threshold, the answering fragment.

    ``fragment`` are code points of the answer, or of the passage's own text without its title; None where it is not covered
    or the judge offers no Locator.
    """

    probability: float
    covered: bool
    fragment: Span | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {"p": self.probability, "covered": self.covered} | (
            {"fragment": [self.fragment.start, self.fragment.end]} if self.fragment else {}
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        fragment = data.get("fragment")
        return cls(data["p"], data["covered"], Span(*fragment) if fragment else None)


@dataclass(frozen=True, slots=True)
class SubQuestionCoverage:
    """One sub-question of one trace.

    ``answer`` is None where the trace has no answer, ``chunks`` (aligned with `CoverageResult.chunk_keys`) is None where it
    has no retrieval steps, ``in_prompt`` where what the answer was written from is unknown too. ``position`` is where in the
    answer its fragment begins, in (0, 1] of its words. ``loss`` is set for a sub-question that the answer does not cover,
    None where that cannot be told.
    """

    text: str
    role: Role | None
    role_source: RoleSource | None
    answer: Verdict | None = None
    position: float | None = None
    chunks: tuple[Verdict, ...] | None = None
    in_prompt: bool | None = None
    loss: Loss | None = None

    @property
    def retrieved(self) -> bool | None:
        """Tell whether some chunk covers the sub-question; None without retrieval steps."""
        return None if self.chunks is None else any(verdict.covered for verdict in self.chunks)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "text": self.text,
            "role": self.role,
            "role_source": self.role_source,
            "answer": self.answer.to_dict() if self.answer else None,
            "position": self.position,
            "chunks": None if self.chunks is None else [verdict.to_dict() for verdict in self.chunks],
            "in_prompt": self.in_prompt,
            "loss": self.loss,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(
            text=data["text"],
            role=Role(data["role"]) if data["role"] else None,
            role_source=data["role_source"],
            answer=Verdict.from_dict(data["answer"]) if data["answer"] else None,
            position=data["position"],
            chunks=None if data["chunks"] is None else tuple(map(Verdict.from_dict, data["chunks"])),
            in_prompt=data["in_prompt"],
            loss=Loss(data["loss"]) if data["loss"] else None,
        )


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """The coverage of one trace (coverage paper, §3).

    ``chunk_keys`` are the `Passage.key` of the trace's chunks; ``prompt_assumed`` tells that the prompt was taken to be the
    last context; ``decomposed_by`` who made the sub-questions.
    """

    sub_questions: tuple[SubQuestionCoverage, ...]
    chunk_keys: tuple[str, ...]
    threshold: float
    rating: float | None
    prompt_assumed: bool
    decomposed_by: RoleSource

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "sub_questions": [sub_question.to_dict() for sub_question in self.sub_questions],
            "chunk_keys": list(self.chunk_keys),
            "threshold": self.threshold,
            "rating": self.rating,
            "prompt_assumed": self.prompt_assumed,
            "decomposed_by": self.decomposed_by,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(
            sub_questions=tuple(map(SubQuestionCoverage.from_dict, data["sub_questions"])),
            chunk_keys=tuple(data["chunk_keys"]),
            threshold=data["threshold"],
            rating=data["rating"],
            prompt_assumed=data["prompt_assumed"],
            decomposed_by=data["decomposed_by"],
        )


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """One sentence of the answer (code points), the highest P(entailment) any prompt passage gives it, and which one does.

    ``passage`` is an index into the prompt's passages.
    """

    start: int
    end: int
    probability: float
    supported: bool
    passage: int | None


@dataclass(frozen=True, slots=True)
class GroundednessResult:
    """Which sentences of the answer the prompt's passages entail; ``share`` is None for an answer without sentences."""

    sentences: tuple[SentenceSupport, ...]
    share: float | None
    prompt_assumed: bool

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self) | {"sentences": [asdict(sentence) for sentence in self.sentences]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        sentences = tuple(SentenceSupport(**sentence) for sentence in data["sentences"])
        return cls(sentences, data["share"], data["prompt_assumed"])


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A measure that this trace cannot be measured with, and why: known before any model runs."""

    reason: str


Outcome = CoverageResult | GroundednessResult | NotApplicable | Failure

_KINDS: Mapping[str, type[CoverageResult | GroundednessResult]] = {
    "coverage": CoverageResult,
    "groundedness": GroundednessResult,
}


def outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as JSON data that says which kind it is."""
    match outcome:
        case NotApplicable(reason):
            return {"not_applicable": reason}
        case Failure():
            return {"failure": asdict(outcome)}
        case _:
            return {"result": outcome.to_dict()}


def outcome_from_dict(measure: str, data: Mapping[str, Any]) -> Outcome:
    """Read back what `outcome_to_dict` wrote for a measure."""
    if "not_applicable" in data:
        return NotApplicable(data["not_applicable"])
    if "failure" in data:
        return Failure(**data["failure"])
    return _KINDS[measure].from_dict(data["result"])


@dataclass(frozen=True, slots=True)
class TraceResult:
    """All outcomes of one trace, by measure name, with the trace they are about."""

    trace: Trace
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    @property
    def coverage(self) -> CoverageResult | None:
        """Return the coverage result, None where there is none."""
        outcome = self.outcomes.get("coverage")
        return outcome if isinstance(outcome, CoverageResult) else None

    @property
    def groundedness(self) -> GroundednessResult | None:
        """Return the groundedness result, None where there is none."""
        outcome = self.outcomes.get("groundedness")
        return outcome if isinstance(outcome, GroundednessResult) else None

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the measures that failed, with why."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Failure)}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        outcomes = {name: outcome_to_dict(outcome) for name, outcome in self.outcomes.items()}
        return {"trace": self.trace.to_dict(), "outcomes": outcomes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        outcomes = {name: outcome_from_dict(name, outcome) for name, outcome in data["outcomes"].items()}
        return cls(Trace.model_validate(data["trace"]), outcomes)


class Measure(Protocol):
    """What can be measured of a trace; a frozen dataclass whose parameters are its fields."""

    @property
    def name(self) -> str:
        """Return the measure's name: the key of its outcome."""
        ...

    @property
    def required_inputs(self) -> tuple[str, ...]:
        """Name what a trace must carry, in words a user reads."""
        ...

    @property
    def required_models(self) -> tuple[ModelKind, ...]:
        """Name the models the measure asks."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        ...

    def lacks(self, trace: Trace) -> str | None:
        """Say why a trace cannot be measured, or None where it can; asks no model."""
        ...

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure traces that lack nothing, all in as few model calls as possible; one outcome each, in order."""
        ...


ModelKind = Literal["scorer", "locator", "relevance", "entailer", "receiver", "generator", "embedder", "decomposer"]
