"""Every case of vectors/seper.json: log-likelihoods and an entailment table in; clusters, weights, scores, entropies out.

The vectors' ``intended`` values are those of an independent implementation of the formulas.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.belief import delta_seper, semantic_clusters, semantic_entropy, seper
from rag_cover.belief.kernels import in_context
from rag_cover.belief.result import BeliefKind, Preset
from rag_cover.errors import InvalidValueError
from rag_cover.traces import Sample

VECTORS = json.loads((Path(__file__).parent / "vectors" / "seper.json").read_text(encoding="utf-8"))
TOLERANCE = VECTORS["meta"]["tolerance"]
DEFINED = [pytest.param(case, id=case["name"]) for case in VECTORS["cases"] if case["name"] != "all_minus_inf"]

each_case = pytest.mark.parametrize("case", DEFINED)


@dataclass(frozen=True)
class TableEntailer:
    """Answers from a case's table, whose texts do not carry the question."""

    table: Mapping[tuple[str, str], Sequence[float]]

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        contradiction, neutral, entailment = np.array([self.table[pair] for pair in pairs]).T
        odds = np.exp(np.stack([entailment, neutral, contradiction], axis=1))
        probabilities: NDArray[np.float32] = (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)
        return probabilities


@each_case
def test_weights_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    belief = seper(samples_of(case), case["references"], question=case["question"], entailer=entailer_of(case))

    assert belief.weights == close(case["expected"]["intended"]["weights"])


@pytest.mark.parametrize(
    ("kind", "preset", "field"),
    [
        ("soft", None, "seper_s_max_max"),
        ("soft", "official", "seper_s_max_max"),
        ("soft", "paper", "seper_s_forward_mean(paper)"),
        ("hard", "official", "strict_seper_h"),
        ("hard", "paper", "strict_seper_h_mean_ref"),
    ],
)
@each_case
def test_scores_are_those_of_the_vectors(case: dict[str, Any], kind: BeliefKind, preset: Preset, field: str) -> None:
    belief = seper(
        samples_of(case),
        case["references"],
        question=case["question"],
        entailer=entailer_of(case),
        kind=kind,
        preset=preset,
    )

    assert float(belief) == close(case["expected"]["intended"][field])


@pytest.mark.parametrize("reassign", [True, False], ids=["reassign", "first assignment"])
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "loose"])
@each_case
def test_clusters_are_exactly_those_of_the_vectors(case: dict[str, Any], *, strict: bool, reassign: bool) -> None:
    clusters = semantic_clusters(
        samples_of(case), question=case["question"], entailer=entailer_of(case), strict=strict, reassign=reassign
    )

    field = ("strict" if strict else "loose") + "_cluster_ids" + ("" if reassign else "_first_assignment")
    assert list(clusters) == case["expected"]["intended"][field]


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "loose"])
@each_case
def test_entropies_are_those_of_the_vectors(case: dict[str, Any], *, strict: bool) -> None:
    entropy = semantic_entropy(samples_of(case), question=case["question"], entailer=entailer_of(case), strict=strict)

    assert entropy == close(case["expected"]["intended"][("strict" if strict else "loose") + "_semantic_entropy"])


@each_case
def test_one_reference_gives_the_released_score(case: dict[str, Any]) -> None:
    if not case["official_equals_intended"]:
        pytest.skip("the release reshapes several references the wrong way")

    belief = seper(samples_of(case), case["references"], question=case["question"], entailer=entailer_of(case))

    assert float(belief) == close(case["expected"]["seper_s_official"])


@each_case
def test_the_same_samples_on_both_sides_are_worth_exactly_nothing(case: dict[str, Any]) -> None:
    samples = samples_of(case)

    utility = delta_seper(samples, samples[::-1], case["references"], question=case["question"], entailer=entailer_of(case))

    assert utility.value == 0.0


def test_samples_without_any_probability_are_refused() -> None:
    (case,) = (case for case in VECTORS["cases"] if case["name"] == "all_minus_inf")

    with pytest.raises(InvalidValueError, match="all 2 samples have probability 0"):
        seper(samples_of(case), case["references"], question=case["question"], entailer=entailer_of(case))


def entailer_of(case: dict[str, Any]) -> TableEntailer:
    def read(text: str) -> str:
        return in_context(case["question"], text)

    return TableEntailer({(read(row["premise"]), read(row["hypothesis"])): row["logits"] for row in case["nli"]})


def samples_of(case: dict[str, Any]) -> list[Sample]:
    logprobs = (
        [float(each.replace("Infinity", "inf")) if isinstance(each, str) else each for each in row]
        for row in case["token_logliks"]
    )
    return [Sample(text, token_logprobs=tuple(row)) for text, row in zip(case["responses"], logprobs, strict=True)]


def close(expected: Any) -> Any:
    return pytest.approx(expected, abs=TOLERANCE)
