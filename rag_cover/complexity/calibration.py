"""Thresholds that hold for one judge, its retrieval and its questions, and what makes a probability of being complex.

The paper's 0.15 and 0.80 are its own model's; `rag_cover.complexity.fitting` fits others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, get_args

from rag_cover.argument_checks import refuse_other_than, refuse_outside
from rag_cover.complexity.choices import AnswerSource, CompletenessMethod, Constraints
from rag_cover.complexity.rrcp import T_ANS, T_COM, ComplexityDecision, Evidential, verdict_of
from rag_cover.stats.calibrations import read_calibration
from rag_cover.stats.logistic import PROBABILITY_EDGE, logit_of, probabilities_of

__all__ = ["Calibration", "complexity_features"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "reading": get_args(CompletenessMethod),
    "constraints": get_args(Constraints),
    "references": get_args(AnswerSource),
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds, and how completeness is read: the paper's unless fitted.

    Args:
        t_ans: the probability from which a document answers the question.
        t_ans_single_hop: the same for questions whose words name no hops, where one document more often has the whole answer;
            None: as ``t_ans``.
        t_com: the completeness from which the documents are about the whole question; 0 where it has nothing to say.
        reading: how completeness is read from relevance.
        temperature: of the softmax that peaks relevance; None: relevance as it is.
        constraints: which of the two decide.
        references: what told right answers from wrong in what it was fitted on.
        twofold: whether the scorer is to be asked with references and without (`rag_cover.complexity.evidence`).
        weights: of the probability of being complex: the intercept, then one for each of `complexity_features`; empty: none.
        name: what it was fitted on; empty: on nothing.
        n: on how many questions.
    """

    t_ans: float = T_ANS
    t_com: float = T_COM
    reading: CompletenessMethod = "token-entropy"
    temperature: float | None = None
    constraints: Constraints = "both"
    references: AnswerSource = "none"
    twofold: bool = False
    weights: tuple[float, ...] = ()
    name: str = ""
    n: int = 0
    t_ans_single_hop: float | None = None

    def __post_init__(self) -> None:
        """Refuse thresholds outside [0, 1], and names of nothing."""
        refuse_outside(0, 1, t_ans=self.t_ans, t_com=self.t_com)
        if self.t_ans_single_hop is not None:
            refuse_outside(0, 1, t_ans_single_hop=self.t_ans_single_hop)
        for name, known in _NAMES.items():
            refuse_other_than(known, **{name: getattr(self, name)})

    def for_single_hop(self) -> Self:
        """Return what holds for a question whose words name no hops.

        Its probability of being complex is read from how far the answer probability lies above its own threshold.

        >>> Calibration(t_ans=0.86, t_ans_single_hop=0.7).for_single_hop().t_ans
        0.7
        """
        single, weights = self.t_ans_single_hop, self.weights
        if single is None:
            return self
        if weights and self.constraints != "completeness":
            shift = logit_of(self.t_ans, edge=PROBABILITY_EDGE) - logit_of(single, edge=PROBABILITY_EDGE)
            weights = (weights[0] + weights[1] * shift, *weights[1:])
        return replace(self, t_ans=single, t_ans_single_hop=None, weights=weights)

    def verdict(self, evidence: Evidential) -> ComplexityDecision:
        """Decide whether a question is complex; without relevance, answerability decides alone."""
        return verdict_of(
            evidence.answer_probabilities,
            evidence.relevance,
            t_ans=self.t_ans,
            t_com=self.t_com,
            reading=self.reading,
            temperature=self.temperature,
            constraints=self.constraints,
        )

    def probability(self, evidence: Evidential) -> float | None:
        """Return the fitted P(complex); None where none was fitted, without documents, or without the relevance it reads."""
        verdict = self.verdict(evidence)
        if verdict.max_answer_probability is None or (verdict.completeness is None and self.constraints != "answerability"):
            return None
        features = complexity_features(verdict.max_answer_probability, verdict.completeness or 0.0, self.constraints)
        return float(probabilities_of(self.weights, [features])[0]) if len(self.weights) == 1 + len(features) else None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote.

        Raises:
            InputError: it is nothing that `to_dict` writes.
        """
        return read_calibration(cls, data, name="calibration")


def complexity_features(answer: float, completeness: float, constraints: Constraints) -> list[float]:
    """Return what the probability is read from: the highest answer probability as log-odds, and completeness.

    >>> complexity_features(0.5, 0.8, "both"), complexity_features(0.5, 0.8, "completeness")
    ([0.0, 0.8], [0.8])
    """
    odds = logit_of(float(answer), edge=PROBABILITY_EDGE)
    match constraints:
        case "both":
            return [odds, float(completeness)]
        case "answerability":
            return [odds]
        case "completeness":
            return [float(completeness)]
