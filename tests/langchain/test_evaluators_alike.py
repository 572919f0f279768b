"""The same data evaluated in LangChain and in LlamaIndex: equal scores, and equal results."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

import rag_cover_langchain.evaluators as in_langchain
import rag_cover_llama_index.evaluators as in_llama_index
from rag_cover import SubQuestion, UtilityMeasure
from tests.corpus import CORPUS

QUESTION = "Why is the sky blue, and who explained it?"
ANSWER = "The sky is blue because air scatters blue light. Cheese is made of it."
PASSAGES = list(CORPUS.values())
CORE = [SubQuestion("Why is the sky blue?", role="core"), SubQuestion("Who explained it?", role="core")]
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"response": ANSWER, "contexts": PASSAGES, "sub_questions": CORE, "reference": "Rayleigh scattering"}, {}),
    ({"response": ANSWER, "contexts": PASSAGES[:1], "sub_questions": CORE}, {}),
    ({"response": ANSWER, "contexts": PASSAGES[1:]}, {"fail_under": 0.5}),
    ({"response": "", "contexts": []}, {}),
    ({"response": None, "contexts": PASSAGES}, {}),
]

KINDS = {
    "SubQuestionCoverageEvaluator": "coverage",
    "GroundednessEvaluator": "groundedness",
    "RetrievalUtilityEvaluator": "utility",
    "RetrievalComplexityEvaluator": "complexity",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_give_equal_scores_and_results(kind: str, case: int) -> None:
    told, options = CASES[case]
    if kind == "RetrievalComplexityEvaluator":
        options = {}
    if kind == "RetrievalUtilityEvaluator":
        options = options | {"measure": UtilityMeasure(n=2)}
    there = getattr(in_llama_index, kind)(**options).evaluate(QUESTION, **told)

    here = getattr(in_langchain, kind)(**options)(
        inputs={"question": QUESTION},
        outputs={"answer": told["response"], "context": told["contexts"]},
        reference_outputs={"answer": told.get("reference"), "sub_questions": told.get("sub_questions")},
    )

    measured = there.model_dump(mode="json")[KINDS[kind]]
    assert here["score"] == there.score
    assert here["metadata"].get("passing") == there.passing
    assert here["metadata"].get("result") == measured
    assert there.score is None or here["comment"] == there.feedback
