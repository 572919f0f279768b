"""The published procedure of SePer and the planned one agree, and the baselines and labels are what they say."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.testing import ScriptedEntailer

Import = Callable[[str], ModuleType]

MODULES = (
    "support.lexical",
    "support.published",
    "support.supported_sets",
    "belief.entailment_speed",
    "belief.utility_correlation",
)
WORDS = ("red", "blue", "green", "no")
UNTIED = st.one_of(st.floats(0, 0.49), st.floats(0.51, 1))
"""Of classes equally likely numpy takes the first, the package the one that claims less."""


@pytest.fixture(scope="module")
def speed(module: Import) -> ModuleType:
    """Return the benchmark of speed."""
    return module("belief.entailment_speed")


@pytest.fixture(scope="module")
def correlating(module: Import) -> ModuleType:
    """Return the benchmark of correlations."""
    return module("belief.utility_correlation")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_hold(name: str, module: Import) -> None:
    assert doctest.testmod(module(name)).failed == 0


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.sampled_from(WORDS),
    st.fixed_dictionaries({(f"Which? {a}", f"Which? {b}"): UNTIED for a in WORDS for b in WORDS}),
    st.sampled_from(["soft", "hard"]),
)
def test_planned_together_questions_score_as_published(
    speed: ModuleType, answers: list[str], reference: str, script: dict[tuple[str, str], float], kind: str
) -> None:
    entailer = ScriptedEntailer(script)
    questions = [speed.Asked("Which?", tuple(answers), reference), speed.Asked("Which", tuple(answers[::-1]), reference)]

    one_by_one = speed.published(questions, lambda pairs: entailer.entail(pairs).astype(np.float64), kind)

    assert speed.planned(questions, entailer, kind) == pytest.approx(one_by_one, abs=1e-6)


def test_the_published_procedure_takes_two_forwards_a_founder_and_two_for_the_reference(speed: ModuleType) -> None:
    asked, batches = speed.Asked("Which?", ("red", "red", "blue"), "red"), list[int]()

    def forward(pairs: list[tuple[str, str]]) -> np.ndarray:
        batches.append(len(pairs))
        return np.array([[1.0, 0.0, 0.0] if premise == hypothesis else [0.0, 1.0, 0.0] for premise, hypothesis in pairs])

    assert speed.published([asked], forward, "soft") == pytest.approx([2 / 3])
    assert batches == [3, 3]
    batches.clear()
    assert speed.published([asked], forward, "hard") == pytest.approx([2 / 3])
    assert batches == [2, 2, 2, 2]


def test_random_weights_decide_nothing_where_words_do(module: Import) -> None:
    pytest.importorskip("torch", reason="needs the extra 'transformers' (torch)")
    pytest.importorskip("transformers", reason="needs the extra 'transformers' (transformers)")
    judged = np.full((2, 3), 1 / 3, dtype=np.float32)

    decided = module("support.torch_stages").decided_by_words(
        [("Which? Red", "which? red."), ("Which? Red", "Which? Blue")], judged
    )

    assert decided.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_tally_counts_padding(speed: ModuleType) -> None:
    tally = speed.Tally()

    tally.count([3, 5])
    tally.count([2])

    assert tally == speed.Tally(forwards=2, pairs=3, tokens=12)


def test_labels_are_shared_among_the_passages_that_are_needed(module: Import) -> None:
    row = {
        "question": "Where was she born?",
        "answer": "Bath",
        "supporting_facts": [["A", 0], ["A", 1], ["B", 0]],
        "context": [["A", ["a. ", "b."]], ["B", ["c."]], ["C", ["d."]]],
    }

    found = module("support.supported_sets")._titled(row)  # one row instead of a file

    assert found.labels == (0.5, 0.5, 0.0)
    assert found.trace.steps[0].passages[0].text == "a. b."


def test_what_goes_with_the_labels_is_told_from_what_does_not(correlating: ModuleType) -> None:
    labels, questions = np.tile([1.0, 0.0, 0.0, 0.0], 30), np.repeat(np.arange(30), 4)
    noise = np.random.default_rng(0).random(120)
    found = correlating.Valued(labels, questions, {"noise": noise, "label": labels + 0.1 * noise, "constant": np.zeros(120)})

    p = correlating.p_values(found, 0)

    assert p["label"] < 0.01 < p["noise"]
    assert p["constant"] == 1.0


def test_pooled_sets_keep_their_questions_apart(correlating: ModuleType) -> None:
    one = correlating.Valued(np.array([1.0, 0.0]), np.array([0, 0]), {"x": np.array([1.0, 0.0])})

    both = correlating.pooled([one, one])

    assert both.questions.tolist() == [0, 0, 1, 1]
    assert both.rows("x").shape == (2, 6)
