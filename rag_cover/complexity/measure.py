"""Retrieval complexity as a measure: what it needs of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from rag_cover.argument_checks import refuse_other_than, refuse_outside, without_none
from rag_cover.complexity.calibration import Calibration
from rag_cover.complexity.choices import Constraints
from rag_cover.complexity.probing import complexities_of
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.standing import Standing, standing_of
from rag_cover.english.topics import ASKS_NOTHING, is_small_talk
from rag_cover.measures import ModelKind, Outcome, Score, SummaryMetric
from rag_cover.traces import Trace

__all__ = ["ComplexityMeasure"]

_NO_RELEVANCE = "the judge offers no token relevance"


def _complex(result: Complexity) -> tuple[float, float]:
    return standing_of(result) == Standing.COMPLEX, 1.0


def _answerable(result: Complexity) -> tuple[float, float]:
    return result.answerable, 1.0


def _completeness(result: Complexity) -> tuple[float, float]:
    return (0.0, 0.0) if result.completeness is None else (result.completeness, 1.0)


@dataclass(frozen=True, slots=True)
class ComplexityMeasure:
    """Measure how hard a trace's question is for what its retrieval brought back (`rag_cover.complexity.probe`).

    What was brought back are the distinct passages of all retrieve and tool steps. Right answers are told by the question's
    references, where it has any. Thresholds that are None are the ``calibration``'s, else those fitted for the judge;
    ``constraints`` likewise.
    """

    t_ans: float | None = None
    t_com: float | None = None
    calibration: Calibration | None = None
    constraints: Constraints | None = None

    name: ClassVar[str] = "complexity"
    required_inputs: ClassVar[tuple[str, ...]] = ("retrieval steps",)
    required_models: ClassVar[tuple[ModelKind, ...]] = ("scorer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ("relevance",)
    version: ClassVar[int] = 3
    result_type: ClassVar[type[Complexity]] = Complexity
    metrics: ClassVar[tuple[SummaryMetric[Complexity], ...]] = (
        SummaryMetric(
            "complex_questions",
            "complex questions",
            "traces whose passages are about all of the question, though none of them answers it alone / traces with retrieval",
            _complex,
            higher_is_better=None,
            plain_words="How often no single passage answers, though they are about all of the question.",
        ),
        SummaryMetric(
            "answerable_questions",
            "questions a single passage answers",
            "traces of which one retrieved passage answers the question by itself / traces with retrieval",
            _answerable,
            plain_words="How often one retrieved passage is enough to answer the question.",
        ),
        SummaryMetric(
            "completeness",
            "completeness of what was retrieved",
            "how far the retrieved passages are about all of the question's words, mean over traces",
            _completeness,
            higher_is_better=None,
            undefined_because=_NO_RELEVANCE,
            plain_words="How evenly the retrieved passages are about all of the question’s words.",
        ),
    )

    def __post_init__(self) -> None:
        """Refuse thresholds outside [0, 1], and constraints that are none."""
        refuse_outside(0, 1, **without_none(t_ans=self.t_ans, t_com=self.t_com))
        refuse_other_than(get_args(Constraints), **without_none(constraints=self.constraints))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        fitted = self.calibration.to_dict() if self.calibration else None
        return {"t_ans": self.t_ans, "t_com": self.t_com, "calibration": fitted, "constraints": self.constraints}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can; steps that found nothing can be."""
        if all(step.replaces for step in trace.steps):
            return f"complexity needs {self.required_inputs[0]}"
        return ASKS_NOTHING if is_small_talk(trace.question.text) else None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure all the traces, in one call to the scorer and one a question to the relevance model, where there is one."""
        return complexities_of(
            [(trace.question.text, trace.chunks, trace.question.references) for trace in traces],
            models["scorer"],
            relevance=models.get("relevance"),
            t_ans=self.t_ans,
            t_com=self.t_com,
            calibration=self.calibration,
            constraints=self.constraints,
        )

    def score(self, result: Complexity) -> Score:
        """Return P(complex) where that was fitted for the judge, else 1 - P(the best passage answers): lower is easier."""
        if result.max_answer_probability is None:
            return Score(None, "nothing was retrieved by which the complexity of the question could be judged")
        value = 1 - result.max_answer_probability if result.probability is None else result.probability
        return Score(value, str(standing_of(result)))
