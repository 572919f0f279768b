"""Which claims of an answer and of a gold answer follow from which texts, and the eleven metrics of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Self

from rag_cover.claims import metrics
from rag_cover.measures.texts import ModelName, PassageKey, Text

__all__ = ["METRIC_NAMES", "ClaimVerdicts", "ClaimsResult"]

METRIC_NAMES = (
    *("precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization"),
    *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination", "self_knowledge", "faithfulness"),
)
"""RAGChecker's own names of its metrics, in its order: of the answer as a whole, of retrieval, of generation."""


@dataclass(frozen=True, slots=True)
class ClaimVerdicts:
    """One claim, and how probable it is that it follows from each text.

    ``by_answer`` is of the other answer: the gold one for claims of the answer, the answer for gold claims; None where there is
    none. ``by_passages`` is in the order of `ClaimsResult.passage_keys`. ``start`` and ``end`` (code points) say where the
    claim's sentence stands in its text, None where a language model wrote the claim.
    """

    text: Annotated[str, Text()]
    by_answer: float | None
    by_passages: tuple[float, ...]
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimsResult:
    """The claims of one trace with their verdicts; a claim follows from a text from ``threshold`` on.

    Args:
        answer_claims: claims of the answer, None where there is no answer.
        gold_claims: claims of the gold answer, None where there is none. Of several gold answers it is the one with which the
            answer agrees best (F1, then recall, then claim recall).
        passage_keys: the passages, those of the prompt among them.
        retrieved: which of them retrieval steps returned, None where there is no step.
        in_prompt: which of them the answer was written from, None where that is not known.
        threshold: the probability from which a claim follows.
        made_by: what took the texts apart: ``sentences``, or the name of a language model.
        prompt_assumed: whether the prompt is taken to be the last context.
        reference: the place of the gold answer among the question's, None where there is none.
    """

    answer_claims: tuple[ClaimVerdicts, ...] | None
    gold_claims: tuple[ClaimVerdicts, ...] | None
    passage_keys: tuple[PassageKey, ...]
    retrieved: tuple[int, ...] | None
    in_prompt: tuple[int, ...] | None
    threshold: float
    made_by: ModelName
    prompt_assumed: bool = False
    reference: int | None = None

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return the eleven metrics by RAGChecker's names, each in [0, 1]; None where one is undefined.

        Claim recall and context precision are of the passages that were retrieved, the other metrics of those in the prompt.
        """
        said, complete = self._answer_by_gold(), self._gold_by_answer()
        answer_seen, gold_seen = (self._by_passages(each, self.in_prompt) for each in (self.answer_claims, self.gold_claims))
        gold_found = self._by_passages(self.gold_claims, self.retrieved)
        noise = None if said is None or answer_seen is None or gold_seen is None else (said, answer_seen, gold_seen)
        unfaithful = None if said is None or answer_seen is None else (said, answer_seen)
        values = (
            None if said is None else metrics.answer_precision(said),
            None if complete is None else metrics.answer_recall(complete),
            None if said is None or complete is None else metrics.answer_f1(said, complete),
            None if gold_found is None else metrics.claim_recall(gold_found),
            None if gold_found is None else metrics.context_precision(gold_found),
            None if complete is None or gold_seen is None else metrics.context_utilization(complete, gold_seen),
            None if noise is None else metrics.relevant_noise_sensitivity(*noise),
            None if noise is None else metrics.irrelevant_noise_sensitivity(*noise),
            None if unfaithful is None else metrics.hallucination(*unfaithful),
            None if unfaithful is None else metrics.self_knowledge(*unfaithful),
            None if answer_seen is None else metrics.faithfulness(answer_seen),
        )
        return dict(zip(METRIC_NAMES, values, strict=True))

    @property
    def reason(self) -> str:
        """Count the claims that the numbers rest on."""
        counts = [
            f"{len(claims)} {'claim' if len(claims) == 1 else 'claims'} of the {of}"
            for of, claims in (("answer", self.answer_claims), ("gold answer", self.gold_claims))
            if claims is not None
        ]
        return f"{' and '.join(counts) or 'no claims'}, by {self.made_by}"

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        lists = {name: _optional(data[name]) for name in ("retrieved", "in_prompt")}
        claims = {name: _claims(data[name]) for name in ("answer_claims", "gold_claims")}
        return cls(**{**data, **lists, **claims, "passage_keys": tuple(data["passage_keys"])})

    def _answer_by_gold(self) -> list[bool] | None:
        return None if self.gold_claims is None else self._by_answer(self.answer_claims)

    def _gold_by_answer(self) -> list[bool] | None:
        return None if self.answer_claims is None else self._by_answer(self.gold_claims)

    def _by_answer(self, claims: Sequence[ClaimVerdicts] | None) -> list[bool] | None:
        if claims is None:
            return None
        return [each.by_answer is not None and each.by_answer >= self.threshold for each in claims]

    def _by_passages(self, claims: Sequence[ClaimVerdicts] | None, places: Sequence[int] | None) -> list[list[bool]] | None:
        if claims is None or places is None:
            return None
        return [[each.by_passages[place] >= self.threshold for place in places] for each in claims]


def _claims(rows: Sequence[Mapping[str, Any]] | None) -> tuple[ClaimVerdicts, ...] | None:
    return None if rows is None else tuple(ClaimVerdicts(**{**row, "by_passages": tuple(row["by_passages"])}) for row in rows)


def _optional(places: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if places is None else tuple(places)
