"""Claims as a measure: RAGChecker's eleven metrics, what they need of a trace, and how a block of traces is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_cover.claims.judging import judge_claims
from rag_cover.claims.prompts import ClaimPrompts
from rag_cover.claims.result import METRIC_NAMES, ClaimsResult
from rag_cover.measures import ModelKind, Outcome, Score, SummaryMetric, ratio
from rag_cover.model_calls import threshold_in_range
from rag_cover.short_forms import join_words
from rag_cover.traces import Trace, content_hash

__all__ = ["ClaimsMeasure"]

Floats = NDArray[np.float64]

_FEWEST = 2  # of answer, gold answer and passages: claims of one are held against another

_ANSWER, _GOLD = "an answer", "a gold answer (references)"
_PROMPT, _PASSAGES = "a prompt or retrieval steps", "retrieval steps"

_INPUTS: Mapping[str, tuple[str, ...]] = {
    "precision": (_ANSWER, _GOLD),
    "recall": (_ANSWER, _GOLD),
    "f1": (_ANSWER, _GOLD),
    "claim_recall": (_GOLD, _PASSAGES),
    "context_precision": (_GOLD, _PASSAGES),
    "context_utilization": (_ANSWER, _GOLD, _PROMPT),
    "noise_sensitivity_in_relevant": (_ANSWER, _GOLD, _PROMPT),
    "noise_sensitivity_in_irrelevant": (_ANSWER, _GOLD, _PROMPT),
    "hallucination": (_ANSWER, _GOLD, _PROMPT),
    "self_knowledge": (_ANSWER, _GOLD, _PROMPT),
    "faithfulness": (_ANSWER, _PROMPT),
}
"""What a trace must have for each metric."""

_ABOUT: Mapping[str, tuple[str, str, bool | None, str]] = {
    "precision": ("correct claims", "claims of the answer that the gold answer entails / claims of the answer", True, ""),
    "recall": ("gold claims answered", "claims of the gold answer that the answer entails / its claims", True, ""),
    "f1": ("F1 of claims", "harmonic mean of an answer's precision and recall", True, ""),
    "claim_recall": (
        "gold claims retrieved",
        "claims of the gold answer that a retrieved passage entails / its claims",
        True,
        "",
    ),
    "context_precision": (
        "relevant passages",
        "retrieved passages that entail a claim of the gold answer / retrieved passages",
        True,
        "",
    ),
    "context_utilization": (
        "gold claims in the prompt that are answered",
        "claims of the gold answer that a passage of the prompt and the answer entail / those that such a passage entails",
        True,
        "no passage of a prompt entails a claim of a gold answer",
    ),
    "noise_sensitivity_in_relevant": (
        "incorrect claims from relevant passages",
        "claims of the answer that a relevant passage entails and the gold answer does not / claims of the answer",
        False,
        "",
    ),
    "noise_sensitivity_in_irrelevant": (
        "incorrect claims from irrelevant passages",
        "claims of the answer that only irrelevant passages entail and the gold answer does not / claims of the answer",
        False,
        "",
    ),
    "hallucination": (
        "incorrect claims from no passage",
        "claims of the answer that neither a passage of the prompt nor the gold answer entails / claims of the answer",
        False,
        "",
    ),
    "self_knowledge": (
        "correct claims from no passage",
        "claims of the answer that the gold answer entails and no passage of the prompt does / claims of the answer",
        None,
        "",
    ),
    "faithfulness": (
        "claims supported by the prompt",
        "claims of the answer that a passage of the prompt entails / claims of the answer",
        True,
        "",
    ),
}
"""Label, formula, which way is better, and why it may be undefined, of each metric."""


def claim_sums(result: ClaimsResult) -> Floats:
    """Return the values of one trace, 0 where undefined, followed by which are defined: (22,)."""
    values = tuple(result.values.values())
    return np.array([*(value or 0.0 for value in values), *(value is not None for value in values)], dtype=np.float64)


_KNOWN_AS = {
    "f1": "F1",
    "claim_recall": "claim recall, context recall",
    "noise_sensitivity_in_relevant": "relevant noise sensitivity",
    "noise_sensitivity_in_irrelevant": "irrelevant noise sensitivity",
    "self_knowledge": "self-knowledge",
}
"""What other tools call a metric, where that is not its name in words."""


def _mean_at(place: int, sums: Floats) -> Floats:
    """Return the mean over traces of the value at a place."""
    return ratio(sums[..., [place, len(METRIC_NAMES) + place]])


@dataclass(frozen=True, slots=True)
class ClaimsMeasure:
    """Measure which claims of an answer and of its gold answer follow from which texts (`judge_claims`).

    Its metrics are RAGChecker's (Ru et al., NeurIPS 2024 D&B, §3.3), under its names: means over traces of what
    `rag_cover.claims.metrics` defines. A trace's undefined values are left out of the mean.

    Args:
        threshold: the probability from which a claim follows from a text.
        prompts: the instructions to the generator, where there is one; None: the shipped ones.
    """

    threshold: float = 0.5
    prompts: ClaimPrompts | None = None

    name: ClassVar[str] = "claims"
    version: ClassVar[int] = 2
    required_inputs: ClassVar[tuple[str, ...]] = ("two of an answer, a gold answer, and passages",)
    required_models: ClassVar[tuple[ModelKind, ...]] = ("entailer",)
    optional_models: ClassVar[tuple[ModelKind, ...]] = ("generator", "abstention")
    result_type: ClassVar[type[ClaimsResult]] = ClaimsResult
    metrics: ClassVar[tuple[SummaryMetric[ClaimsResult], ...]] = tuple(
        SummaryMetric(
            name,
            label,
            f"{formula}, mean over traces",
            claim_sums,
            statistic=partial(_mean_at, place),
            higher_is_better=higher_is_better,
            undefined_because=undefined
            or f"it takes {join_words(_INPUTS[name])}, and claims in them: no trace has all of these",
            required_inputs=_INPUTS[name],
            known_as=_KNOWN_AS.get(name, name.replace("_", " ")),
        )
        for place, (name, (label, formula, higher_is_better, undefined)) in enumerate(_ABOUT.items())
    )

    def __post_init__(self) -> None:
        """Refuse a threshold that is no probability."""
        threshold_in_range(self.threshold)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that change its results, as JSON data."""
        prompts = self.prompts or ClaimPrompts.read()
        return {"threshold": self.threshold, "prompts": content_hash(prompts.extract)[:16]}

    def not_applicable_reason(self, trace: Trace) -> str | None:
        """Return why a trace cannot be measured, None where it can."""
        there = (
            trace.answer is not None,
            any(reference.strip() for reference in trace.question.references),
            bool(trace.steps) or trace.prompt is not None,
        )
        return None if sum(there) >= _FEWEST else f"claims needs {self.required_inputs[0]}"

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Judge all the traces, in one call to the entailer and one to the generator."""
        return judge_claims(
            traces,
            models["entailer"],
            threshold=self.threshold,
            generator=models.get("generator"),
            prompts=self.prompts,
            abstention=models.get("abstention"),
        )

    def score(self, result: ClaimsResult) -> Score:
        """Return F1, in [0, 1]; without a gold answer faithfulness."""
        name = "faithfulness" if result.gold_claims is None else "f1"
        value = result.values[name]
        return Score(value, f"{name} of {result.reason}" if value is not None else f"{name} is undefined for {result.reason}")
