"""From the evidence of documents to the result that users read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rag_cover.complexity.calibration import Calibration
from rag_cover.complexity.choices import AnswerSource, CompletenessMethod, Constraints
from rag_cover.complexity.completeness import document_entropies, sharpen
from rag_cover.complexity.result import Complexity, DocumentEvidence
from rag_cover.complexity.rrcp import T_ANS, T_COM, ComplexityDecision, Evidence, verdict_of

__all__ = ["complexity_from", "retrieval_complexity"]


def retrieval_complexity(
    answer_probabilities: Sequence[float],
    relevance: ArrayLike,
    *,
    t_ans: float = T_ANS,
    t_com: float = T_COM,
    reading: CompletenessMethod = "token-entropy",
    constraints: Constraints = "both",
) -> Complexity:
    """Decide from numbers alone whether a question is complex for its documents (`rag_cover.complexity.rrcp`).

    Its documents are called ``1`` to ``D``, and so are its tokens.

    >>> complexity = retrieval_complexity([0.10, 0.05], [[2, 1, 1], [1, 1, 2]])
    >>> complexity.answerable, round(complexity.completeness, 3), complexity.is_complex
    (False, 0.946, True)

    Args:
        answer_probabilities: (D,) P(document i contains a correct answer).
        relevance: (D, Q), at least 0: how much document i is about token j of the question.
        t_ans: the probability from which a document answers the question.
        t_com: the completeness from which the documents are about the whole question.
        reading: how completeness is read from relevance (`rag_cover.complexity.completeness`).
        constraints: which of the two constraints decide.

    Raises:
        InvalidValueError: what is no probability, or relevance of another shape, below 0 or not finite.
    """
    rows = np.asarray(relevance, dtype=np.float64)
    verdict = verdict_of(answer_probabilities, rows, t_ans=t_ans, t_com=t_com, reading=reading, constraints=constraints)
    documents = tuple(
        DocumentEvidence(str(place), float(probability), tuple(row))
        for place, (probability, row) in enumerate(zip(answer_probabilities, rows.tolist(), strict=True), start=1)
    )
    tokens = tuple(str(place) for place in range(1, rows.shape[-1] + 1)) if documents else ()
    calibration = Calibration(t_ans=t_ans, t_com=t_com, reading=reading, constraints=constraints)
    return _complexity(verdict, documents, tokens, calibration)


def complexity_from(
    documents: Sequence[DocumentEvidence],
    tokens: tuple[str, ...],
    calibration: Calibration,
    *,
    references: AnswerSource,
    has_relevance: bool,
) -> Complexity:
    """Decide from what models said; documents that they failed on count in nothing.

    ``has_relevance`` is whether a model was asked for relevance. Where none was, or the question has no tokens to be relevant
    to, answerability decides alone, and a note says why.
    """
    judged = [document for document in documents if document.failure is None]
    known = has_relevance and (bool(tokens) or not judged)
    relevance = tuple(document.relevance for document in judged) if known else None
    evidence = Evidence(tuple(document.answer_probability or 0.0 for document in judged), relevance)
    deciding = calibration if known else replace(calibration, constraints="answerability")
    return _complexity(
        deciding.verdict(evidence),
        documents,
        tokens,
        deciding,
        references=references,
        probability=deciding.probability(evidence),
        notes=(*_notes(documents, has_relevance, known), *_reference_notes(calibration, references)),
    )


def _notes(documents: Sequence[DocumentEvidence], has_relevance: bool, known: bool) -> tuple[str, ...]:  # noqa: FBT001  # facts
    failed = sum(document.failure is not None for document in documents)
    notes = {
        "nothing was retrieved": not documents,
        f"{failed} of {len(documents)} documents could not be judged and count in nothing": failed > 0,
        "completeness is not applicable: no model tells token relevance": not has_relevance,
        "completeness is not applicable: the question has no words to be about": has_relevance and not known,
    }
    return tuple(note for note, holds in notes.items() if holds)


def _reference_notes(calibration: Calibration, references: AnswerSource) -> tuple[str, ...]:
    if not calibration.name or (calibration.references == "none") == (references == "none"):
        return ()
    ways = {"gold": "with gold answers", "draft": "with drafts", "none": "without references"}
    return (f"its thresholds were fitted on questions judged {ways[calibration.references]}, and it is judged otherwise",)


def _complexity(
    verdict: ComplexityDecision,
    documents: Sequence[DocumentEvidence],
    tokens: tuple[str, ...],
    calibration: Calibration,
    *,
    references: AnswerSource = "none",
    probability: float | None = None,
    notes: tuple[str, ...] = (),
) -> Complexity:
    return Complexity(
        max_answer_probability=verdict.max_answer_probability,
        answerable=verdict.answerable,
        completeness=verdict.completeness,
        complete=verdict.complete,
        is_complex=verdict.is_complex,
        t_ans=calibration.t_ans,
        t_com=calibration.t_com,
        constraints=calibration.constraints,
        reading=calibration.reading,
        references=references,
        probability=probability,
        calibration=calibration.name or None,
        tokens=tokens,
        documents=tuple(_with_entropy(document, calibration.temperature) for document in documents),
        notes=notes,
    )


def _with_entropy(document: DocumentEvidence, temperature: float | None) -> DocumentEvidence:
    if not document.relevance:
        return document
    entropy = float(document_entropies(sharpen(np.array([document.relevance]), temperature))[0])
    return replace(document, entropy=entropy)
