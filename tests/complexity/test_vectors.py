"""Every case of vectors/rrcp.json: answer probabilities and relevance in; constraints, completeness, entropies, rivals out.

The vectors are those of an independent implementation of the formulas.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_cover.complexity import retrieval_complexity
from rag_cover.complexity.choices import CompletenessMethod
from rag_cover.complexity.completeness import completeness_of

VECTORS = json.loads((Path(__file__).parent / "vectors" / "rrcp.json").read_text(encoding="utf-8"))
TOLERANCE = VECTORS["meta"]["tolerance"]

each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in VECTORS["cases"]])


@each_case
def test_the_verdict_is_that_of_the_vectors(case: dict[str, Any]) -> None:
    expected, meta = case["expected"], VECTORS["meta"]

    found = retrieval_complexity(case["answer_probs"], case["relevance"], t_ans=meta["t_ans"], t_com=meta["t_com"])

    assert found.max_answer_probability == pytest.approx(expected["max_answer_prob"], abs=TOLERANCE)
    assert (found.answerable, found.complete) == (bool(expected["ans"]), bool(expected["com"]))
    assert found.is_complex is expected["complex"]


@each_case
def test_completeness_and_entropies_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    found = retrieval_complexity(case["answer_probs"], case["relevance"])

    entropies = [document.entropy for document in found.documents]

    assert found.completeness == pytest.approx(case["expected"]["completeness"], abs=TOLERANCE)
    assert entropies == pytest.approx(case["document_entropies"], abs=TOLERANCE)


@each_case
@pytest.mark.parametrize(
    ("reading", "rival"),
    [
        ("weighted", "weighted"),
        ("token-over-documents", "token_over_documents"),
        ("document-entropy", "document_mass_entropy"),
    ],
)
def test_rival_readings_are_those_of_the_vectors(case: dict[str, Any], reading: CompletenessMethod, rival: str) -> None:
    found = completeness_of(case["relevance"], reading=reading)

    assert found == pytest.approx(case["rivals"][rival], abs=TOLERANCE)
