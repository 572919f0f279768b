"""How hard a question is for what retrieval brought back: the verdict, what it rests on, and the evidence of each document.

Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024): RRCP and GenEval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Self

from rag_cover.backends import Failure
from rag_cover.complexity.choices import AnswerSource, CompletenessMethod, Constraints
from rag_cover.measures.texts import ModelName, PassageKey, Text

__all__ = ["Complexity", "DocumentEvidence"]


@dataclass(frozen=True, slots=True)
class DocumentEvidence:
    """What one retrieved document says of its question.

    ``passage`` is its `Passage.key`; ``answer_probability`` is P(it contains a correct answer), None where the scorer failed
    on it (``failure`` says why); ``relevance`` is that to each of the question's tokens, at least 0, empty where no model told;
    ``entropy`` is its normalised entropy over the tokens, in [0, 1], None without relevance. ``unaided_probability`` is what
    the scorer says without seeing references, where it was asked both ways: ``answer_probability`` is the product of the two.
    """

    passage: PassageKey
    answer_probability: float | None
    relevance: tuple[float, ...] = ()
    entropy: float | None = None
    failure: Failure | None = None
    unaided_probability: float | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `Complexity.to_dict` wrote of it."""
        failure = Failure(**data["failure"]) if data["failure"] else None
        return cls(**{**data, "relevance": tuple(data["relevance"]), "failure": failure})


@dataclass(frozen=True, slots=True)
class Complexity:
    """Whether a question is complex for its retrieved set: no single document answers it, and the set is about all of it.

    ``max_answer_probability`` in [0, 1], None without documents; ``completeness`` in [0, 1]. ``completeness`` and ``complete``
    are None where no model tells relevance: answerability then decides alone, and ``constraints`` says so. ``probability`` is
    the calibrated P(complex), None where nothing was fitted. ``calibration`` names what the thresholds were fitted on.
    ``parts`` are what the question asks where that is several things: a document answers where it answers each of them, and
    the documents are complete only where each is answered by one.
    """

    max_answer_probability: float | None
    answerable: bool
    completeness: float | None
    complete: bool | None
    is_complex: bool
    t_ans: float
    t_com: float
    constraints: Constraints = "both"
    reading: CompletenessMethod = "token-entropy"
    references: AnswerSource = "none"
    probability: float | None = None
    calibration: ModelName | None = None
    tokens: tuple[Annotated[str, Text(kind="token")], ...] = ()
    documents: tuple[DocumentEvidence, ...] = ()
    notes: tuple[Annotated[str, Text()], ...] = field(default=())
    parts: tuple[Annotated[str, Text()], ...] = ()

    @property
    def judged(self) -> tuple[DocumentEvidence, ...]:
        """Return the documents that models could judge, which are those that count."""
        return tuple(document for document in self.documents if document.failure is None)

    @property
    def answer_probabilities(self) -> tuple[float, ...]:
        """Return P(it contains a correct answer) of each document that counts."""
        return tuple(document.answer_probability or 0.0 for document in self.judged)

    @property
    def relevance(self) -> tuple[tuple[float, ...], ...] | None:
        """Return the relevance of each document that counts to each of ``tokens``; None where no model told."""
        return None if self.completeness is None else tuple(document.relevance for document in self.judged)

    @property
    def twofold(self) -> bool:
        """Return whether the scorer was asked with references and without."""
        return any(document.unaided_probability is not None for document in self.documents)

    @property
    def failures(self) -> int:
        """Count the documents that the scorer failed on: they count in nothing."""
        return sum(document.failure is not None for document in self.documents)

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return P(the best passage answers) and the completeness of all passages, both in [0, 1]."""
        return {"max_answer_probability": self.max_answer_probability, "completeness": self.completeness}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        parts = {
            "tokens": tuple(data["tokens"]),
            "documents": tuple(map(DocumentEvidence.from_dict, data["documents"])),
            "notes": tuple(data["notes"]),
            "parts": tuple(data.get("parts", ())),
        }
        return cls(**{**data, **parts})
