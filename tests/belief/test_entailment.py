"""The entailment stage as one plan: the numbers of the pairwise definition, from each distinct pair judged once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.belief import semantic_clusters, seper
from rag_cover.belief.entailment import EntailmentTask, Judgments, approximations_of, gather
from rag_cover.belief.estimation import estimate_belief
from rag_cover.belief.kernels import in_context
from rag_cover.belief.result import BeliefKind, Preset
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.traces import Sample

TEXTS = ("red", "dark red", "blue", "a blue one", "", "Red.")
SAMPLES = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6).map(lambda texts: [Sample(text) for text in texts])
REFERENCES = st.lists(st.sampled_from(["red", "blue", "green"]), min_size=1, max_size=3)
KINDS = st.sampled_from(["soft", "hard"])
PRESETS = st.sampled_from([None, "unbiased"])


@dataclass(frozen=True)
class HashedEntailer:
    """Judges any pair by its texts, as if at random; keeps what it was asked."""

    calls: list[list[tuple[str, str]]] = field(default_factory=list)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.calls.append(list(pairs))
        return np.array([self.judged(pair) for pair in pairs], dtype=np.float32)

    @staticmethod
    def judged(pair: tuple[str, str]) -> NDArray[np.float64]:
        seed = sum(ord(char) * (position + 1) for position, char in enumerate("\n".join(pair)))
        return np.random.default_rng(seed).dirichlet([0.6, 0.6, 0.6])

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [pair for call in self.calls for pair in call]


@given(st.lists(st.tuples(SAMPLES, REFERENCES), min_size=1, max_size=4), KINDS, PRESETS)
def test_a_block_gives_what_each_belief_gives_alone(
    block: list[tuple[list[Sample], list[str]]], kind: BeliefKind, preset: Preset
) -> None:
    entailer = HashedEntailer()
    alone = [
        seper(samples, references, question="Which?", entailer=HashedEntailer(), kind=kind, preset=preset)
        for samples, references in block
    ]

    formed = Judgments(entailer).settle(
        gather(
            estimate_belief(references, samples, question="Which?", kind=kind, preset="unbiased")
            for samples, references in block
        )
    )

    assert [opinion.belief for opinion in formed] == alone
    assert len(entailer.asked) == len(set(entailer.asked))


@given(SAMPLES, REFERENCES)
def test_soft_is_the_pairwise_definition(samples: list[Sample], references: list[str]) -> None:
    question = "Which colour?"

    belief = seper(samples, references, question=question, entailer=HashedEntailer())

    def entailed(premise: str, hypothesis: str) -> float:
        pair = in_context(question, premise), in_context(question, hypothesis)
        return float(np.float32(HashedEntailer.judged(pair)[0]))

    by_hand = max(
        sum(max(entailed(each.text, right), entailed(right, each.text)) for each in samples) / len(samples)
        for right in references
    )
    assert float(belief) == pytest.approx(by_hand, abs=1e-6)


@given(SAMPLES, st.booleans(), st.booleans())
def test_clusters_are_those_of_every_pair_judged_both_ways(samples: list[Sample], strict: bool, reassign: bool) -> None:  # noqa: FBT001
    question = "Which colour?"
    texts = [in_context(question, sample.text) for sample in samples]

    clusters = semantic_clusters(samples, question=question, entailer=HashedEntailer(), strict=strict, reassign=reassign)

    assert list(clusters) == exhaustively(texts, strict=strict, reassign=reassign)


def exhaustively(texts: list[str], *, strict: bool, reassign: bool) -> list[int]:
    """Cluster as the release does: both directions of every comparison judged."""

    def equivalent(a: str, b: str) -> bool:
        decisions = [int(np.argmax(HashedEntailer.judged(pair))) for pair in ((a, b), (b, a))]
        return decisions == [0, 0] if strict else 2 not in decisions and decisions != [1, 1]

    ids = [-1] * len(texts)
    number = 0
    for i, founder in enumerate(texts):
        if ids[i] != -1:
            continue
        ids[i] = number
        for j in range(i + 1, len(texts)):
            if (reassign or ids[j] == -1) and equivalent(founder, texts[j]):
                ids[j] = number
        number += 1
    return ids


def test_a_soft_block_is_one_call_of_distinct_pairs() -> None:
    entailer = HashedEntailer()
    block = [(["red", "red", "blue"], ["red"]), (["blue"], ["red", "red"])]

    Judgments(entailer).settle(
        gather(
            estimate_belief(references, [Sample(text) for text in texts], question="Which?", kind="soft", preset="unbiased")
            for texts, references in block
        )
    )

    red, blue = "Which? red", "Which? blue"
    assert len(entailer.calls) == 1
    assert sorted(entailer.asked) == sorted([(red, red), (blue, red), (red, blue)])


def test_the_paper_preset_asks_one_direction_only() -> None:
    entailer = HashedEntailer()

    seper([Sample("blue", token_logprobs=[-0.1])], ["red"], question="Which?", entailer=entailer, preset="paper")

    assert entailer.asked == [("Which? blue", "Which? red")]


def test_identity_pairs_are_judged_unless_that_is_waived() -> None:
    judged = seper([Sample("red")], ["red"], question="Which?", entailer=NoOneEntailsItself())
    waived = seper([Sample("red")], ["red"], question="Which?", entailer=NoOneEntailsItself(), approximations=["skip-identity"])

    assert float(judged) == 0.0
    assert float(waived) == 1.0


class NoOneEntailsItself:
    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([(0, 1, 0) if premise == hypothesis else (1, 0, 0) for premise, hypothesis in pairs], np.float32)


def test_texts_equal_after_normalisation_are_one_text_where_that_is_asked_for() -> None:
    exact, normalised = HashedEntailer(), HashedEntailer()
    samples = [Sample("Dark Red."), Sample("dark  red"), Sample("dark red")]

    seper(samples, ["blue"], question="Which?", entailer=exact)
    seper(samples, ["blue"], question="Which?", entailer=normalised, approximations=["normalised"])

    assert (len(exact.asked), len(normalised.asked)) == (6, 2)


def test_an_unknown_approximation_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="Did you mean 'normalised'"):
        approximations_of(["normalized"])


def test_what_is_no_probability_is_refused() -> None:
    class Broken:
        def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
            return np.full((len(pairs), 3), np.nan, np.float32)

    with pytest.raises(ModelFailedError, match="no probability"):
        seper([Sample("red")], ["red"], question="Which?", entailer=Broken())


@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_judging_again_asks_nothing(kind: BeliefKind) -> None:
    entailer = HashedEntailer()
    judgments = Judgments(entailer)
    samples = [Sample("red"), Sample("dark red")]
    first = judgments.settle(estimate_belief(["red"], samples, question="Which?", kind=kind, preset="unbiased"))
    calls = len(entailer.calls)

    second = judgments.settle(estimate_belief(["red"], samples, question="Which?", kind=kind, preset="unbiased"))

    assert first == second
    assert len(entailer.asked) == len(set(entailer.asked))
    assert calls > 0


def test_no_inquiries_come_to_nothing_without_a_call() -> None:
    entailer = HashedEntailer()
    none: list[EntailmentTask[int]] = []

    settled = Judgments(entailer).settle(gather(none))

    assert settled == []
    assert not entailer.calls


def test_approximations_come_in_their_own_order() -> None:
    chosen = approximations_of(["skip-identity", "normalised"])

    assert chosen == ("normalised", "skip-identity")
