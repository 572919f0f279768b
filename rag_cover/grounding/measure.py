"""Groundedness as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_cover.grounding.judging import groundedness
from rag_cover.grounding.result import GroundednessResult
from rag_cover.measures import ModelKind, Outcome, Score, SummaryMetric
from rag_cover.model_calls import threshold_in_range
from rag_cover.traces import Trace

__all__ = ["GroundednessMeasure"]


def _support_counts(result: GroundednessResult) -> tuple[float, float]:
    return sum(sentence.supported for sentence in result.sentences), len(result.sentences)


@dataclass(frozen=True, slots=True)
class GroundednessMeasure:
    """Measure which sentences of a trace's answer its prompt entails (`groundedness`)."""

    threshold: float = 0.5

    name: ClassVar[str] = "groundedness"
    required_inputs: ClassVar[tuple[str, ...]] = ("an answer", "a prompt or retrieval steps")
    required_models: ClassVar[tuple[ModelKind, ...]] = ("entailer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ("abstention",)
    version: ClassVar[int] = 4
    result_type: ClassVar[type[GroundednessResult]] = GroundednessResult
    metrics: ClassVar[tuple[SummaryMetric[GroundednessResult], ...]] = (
        SummaryMetric(
            "groundedness",
            "answer sentences supported by the prompt",
            "sentences entailed by a passage of the prompt / sentences of the answer",
            _support_counts,
            undefined_because="no answer has a sentence that claims anything",
            plain_words="How many of the answers’ sentences a passage of the prompt supports.",
            known_as="faithfulness",
        ),
    )

    def __post_init__(self) -> None:
        """Refuse a threshold that is no probability."""
        threshold_in_range(self.threshold)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        return {"threshold": self.threshold}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can."""
        present = (trace.answer is not None, trace.prompt is not None or bool(trace.steps))
        missing = [needed for needed, there in zip(self.required_inputs, present, strict=True) if not there]
        return f"groundedness needs {' and '.join(missing)}" if missing else None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Judge all the traces; each call to the entailer asks about all of them."""
        return groundedness(traces, models["entailer"], threshold=self.threshold, abstention=models.get("abstention"))

    def score(self, result: GroundednessResult) -> Score:
        """Return the share of the answer's sentences that the prompt supports, in [0, 1]."""
        if result.share is None:
            return Score(None, "the answer has no sentence that claims anything")
        supported = sum(each.supported for each in result.sentences)
        return Score(result.share, f"{supported} of {len(result.sentences)} sentences are supported")
