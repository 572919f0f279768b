"""Answer relevance: the probability that an answer replies to the user's question, right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_cover.backends import ScoringItem
from rag_cover.measures import ModelKind, NumberResult, Score, SummaryMetric, number_metric
from rag_cover.model_calls import ask_probabilities
from rag_cover.traces import Trace

__all__ = ["AnswerRelevanceMeasure"]


@dataclass(frozen=True, slots=True)
class AnswerRelevanceMeasure:
    """Measure P(the answer replies to the user's question), in [0, 1], by the scorer.

    It asks whether the answer is about what was asked, not whether it is true (groundedness) or complete (coverage): a wrong
    answer of the right kind is relevant, a refusal and a repetition of the question are not. The same idea, by a language model
    and cosine similarity, is *answer relevancy* in Es et al., Ragas (EACL 2024), §3.
    """

    name: ClassVar[str] = "answer_relevance"
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Any]] = {}
    required_inputs: ClassVar[tuple[str, ...]] = ("an answer",)
    required_models: ClassVar[tuple[ModelKind, ...]] = ("scorer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ()
    result_type: ClassVar[type[NumberResult]] = NumberResult
    metrics: ClassVar[tuple[SummaryMetric[NumberResult], ...]] = (
        number_metric("answer_relevance", low=0.0, high=1.0, higher_is_better=True),
    )

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, or None where it can."""
        return "answer_relevance needs an answer" if trace.answer is None else None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> list[NumberResult]:
        """Measure all the traces, in one call to the scorer; a blank answer has relevance 0."""
        items = [ScoringItem(trace.question.text, trace.answer or "", user_question=trace.question.text) for trace in traces]
        found = ask_probabilities(models["scorer"], (item for item in items if item.text.strip()))
        values = [float(found.get(item, 0.0)) for item in items]
        return [NumberResult(value, f"the answer replies to the question with probability {value:.2f}") for value in values]

    def score(self, result: NumberResult) -> Score:
        """Return the probability."""
        return Score(result.value, result.reason)
