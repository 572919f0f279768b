"""Citations as a measure: ALCE's recall and precision, what they need of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.citations.judging import judge_citations
from rag_cover.citations.result import CitationsResult
from rag_cover.errors import InvalidValueError
from rag_cover.measures import ModelKind, Outcome, Score, SummaryMetric, ratio
from rag_cover.model_calls import threshold_in_range
from rag_cover.traces import Trace

__all__ = ["CitationsMeasure"]

Floats = NDArray[np.float64]

_NOTHING_CITED = "no answer cites anything"


def citation_sums(result: CitationsResult) -> Floats:
    """Return recall and precision of one trace, 0 where undefined, then which are defined: (4,)."""
    values = (result.values["citation_recall"], result.values["citation_precision"])
    return np.array([*(value or 0.0 for value in values), *(value is not None for value in values)], dtype=np.float64)


def misattributed_sums(result: CitationsResult) -> tuple[float, float]:
    """Return how many citations of one trace are misattributed, and how many there are."""
    counted, wrong = result.misattributed_counts
    return float(wrong), float(counted)


def _mean_at(place: int, sums: Floats) -> Floats:
    return ratio(sums[..., [place, 2 + place]])


@dataclass(frozen=True, slots=True)
class CitationsMeasure:
    """Measure whether what an answer cites supports it (`judge_citations`).

    Citation recall and precision are ALCE's (Gao et al., EMNLP 2023, §3), means over answers of what
    `rag_cover.citations.metrics` defines.

    Args:
        threshold: the probability from which a statement follows from passages.
        most_citations: so many citations of a statement count at most, the first; None: all. ALCE's script takes 3.
        first_number: the number of the prompt's first passage, 1 or 0. An answer that cites 0 is read from 0 in any case.
    """

    threshold: float = 0.5
    most_citations: int | None = None
    first_number: Literal[0, 1] = 1

    name: ClassVar[str] = "citations"
    version: ClassVar[int] = 2
    required_inputs: ClassVar[tuple[str, ...]] = ("an answer", "a prompt or retrieval steps")
    required_models: ClassVar[tuple[ModelKind, ...]] = ("entailer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ("abstention",)
    result_type: ClassVar[type[CitationsResult]] = CitationsResult
    metrics: ClassVar[tuple[SummaryMetric[CitationsResult], ...]] = (
        SummaryMetric(
            "citation_recall",
            "statements supported by their citations",
            "statements that the passages they cite entail together / statements, mean over answers",
            citation_sums,
            statistic=partial(_mean_at, 0),
            undefined_because="no answer has a statement",
            known_as="citation recall",
        ),
        SummaryMetric(
            "citation_precision",
            "precise citations",
            "citations of supported statements that are not irrelevant / citations, mean over answers",
            citation_sums,
            statistic=partial(_mean_at, 1),
            undefined_because=_NOTHING_CITED,
            known_as="citation precision",
        ),
        SummaryMetric(
            "misattributed_citations",
            "misattributed citations",
            "citations whose passage does not entail their statement while another passage does / citations in sentences",
            misattributed_sums,
            higher_is_better=False,
            undefined_because=_NOTHING_CITED,
        ),
    )

    def __post_init__(self) -> None:
        """Refuse a threshold that is no probability, and numbers that citations do not have."""
        threshold_in_range(self.threshold)
        refuse_below(1, **without_none(most_citations=self.most_citations))
        if self.first_number not in (0, 1):
            message = f"first_number is {self.first_number}; the first passage of a prompt has the number 1 or 0"
            raise InvalidValueError(message)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        return {"threshold": self.threshold, "most_citations": self.most_citations, "first_number": self.first_number}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can."""
        present = (trace.answer is not None, trace.prompt is not None or bool(trace.steps))
        missing = [needed for needed, there in zip(self.required_inputs, present, strict=True) if not there]
        if missing:
            return f"citations needs {' and '.join(missing)}"
        return "what the answer was written from is not known" if trace.effective_prompt[0] is None else None

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Judge all the traces, in one call to the entailer."""
        return judge_citations(
            traces,
            models["entailer"],
            threshold=self.threshold,
            most_citations=self.most_citations,
            first_number=self.first_number,
            abstention=models.get("abstention"),
        )

    def score(self, result: CitationsResult) -> Score:
        """Return citation recall, in [0, 1]."""
        value = result.values["citation_recall"]
        return Score(value, "the answer has no statement" if value is None else result.reason)
