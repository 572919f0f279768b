"""Context relevance: how many of the retrieved passages help with the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_cover.backends import ScoringItem
from rag_cover.measures import ModelKind, NumberResult, Score, SummaryMetric, number_metric
from rag_cover.model_calls import ask_probabilities
from rag_cover.traces import Trace

__all__ = ["ContextRelevanceMeasure"]


@dataclass(frozen=True, slots=True)
class ContextRelevanceMeasure:
    """Measure the share of a trace's retrieved passages that answer its question or one of its sub-questions, in [0, 1].

    The passages are the distinct ones of all retrieve and tool steps. It is what information retrieval calls precision, with
    the scorer as the judge of relevance; *context relevance* in Saad-Falcon et al., ARES (NAACL 2024), §3.
    """

    name: ClassVar[str] = "context_relevance"
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Any]] = {}
    required_inputs: ClassVar[tuple[str, ...]] = ("retrieval steps",)
    required_models: ClassVar[tuple[ModelKind, ...]] = ("scorer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ()
    result_type: ClassVar[type[NumberResult]] = NumberResult
    metrics: ClassVar[tuple[SummaryMetric[NumberResult], ...]] = (
        number_metric("context_relevance", low=0.0, high=1.0, higher_is_better=True),
    )

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, or None where it can."""
        return None if trace.chunks else "context_relevance needs retrieval steps that found passages"

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> list[NumberResult]:
        """Measure all the traces, in one call to the scorer."""
        scorer = models["scorer"]
        asked = [_items(trace) for trace in traces]
        found = ask_probabilities(scorer, (item for passages in asked for items in passages for item in items))
        results = []
        for passages in asked:
            relevant = sum(max(found[item] for item in items) >= scorer.threshold for items in passages)
            reason = f"{relevant} of {len(passages)} retrieved passages answer the question or a part of it"
            results.append(NumberResult(relevant / len(passages), reason))
        return results

    def score(self, result: NumberResult) -> Score:
        """Return the share."""
        return Score(result.value, result.reason)


def _items(trace: Trace) -> list[list[ScoringItem]]:
    """Ask of each passage the question and its sub-questions."""
    questions = dict.fromkeys([trace.question.text, *(each.text for each in trace.sub_questions or ())])
    return [[ScoringItem(question, passage.text) for question in questions] for passage in trace.chunks]
