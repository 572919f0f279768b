"""The local typer: which way a role was given is told, and an embedder of another space is not believed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.coverage import judge_coverage, type_roles
from rag_cover.decomposition.embedded_roles import CANARY, NUMBERS, likeliest_roles
from rag_cover.decomposition.role_features import FORM, describe_sub_questions, mask_topic, texts_to_embed
from rag_cover.decomposition.roles import role_of
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace

QUESTION = "Why is the sky blue?"
TEXTS = ["What is the sky?", "How does air scatter light?"]


@dataclass
class SameSpace:
    """An embedder that knows the canary, and nothing else."""

    dimensions: int = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        known = np.array(json.loads(NUMBERS.read_text(encoding="utf-8"))["canary"], dtype=np.float32)[: self.dimensions]
        return np.stack([known if text == CANARY else np.zeros_like(known) for text in texts])


class OtherSpace:
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.eye(1, 384, dtype=np.float32), (len(texts), 1))


def test_an_embedder_types_and_is_told() -> None:
    given = SubQuestion("Is it blue?", role=Role.CORE)

    typed = type_roles(QUESTION, [given, *map(SubQuestion, TEXTS)], embedder=SameSpace())

    assert typed[0] is given
    assert [each.role_source for each in typed] == ["given", "embedded", "embedded"]
    assert all(each.role for each in typed)


@pytest.mark.parametrize("embedder", [OtherSpace(), SameSpace(dimensions=100), None])
def test_without_an_embedder_of_this_space_rules_type(embedder: SameSpace | OtherSpace | None) -> None:
    typed = type_roles(QUESTION, list(map(SubQuestion, TEXTS)), embedder=embedder)

    assert [(each.role, each.role_source) for each in typed] == [(role_of(QUESTION, text), "rules") for text in TEXTS]


def test_nothing_untyped_embeds_nothing() -> None:
    typed = [SubQuestion("Is it blue?", role=Role.CORE)]

    assert type_roles(QUESTION, typed, embedder=None) == tuple(typed)
    assert type_roles(QUESTION, typed, embedder=object()) == tuple(typed)  # type: ignore[arg-type]  # it is not asked


@pytest.mark.parametrize(("untyped", "source"), [("embedded", "embedded"), ("rules", "rules"), ("leave", None)])
def test_a_result_says_which_way_a_role_was_given(untyped: str, source: str | None) -> None:
    trace = Trace(question=Question(QUESTION), answer="Air.", sub_questions=(SubQuestion(TEXTS[0]),))

    (result,) = judge_coverage([trace], KeywordScorer(), untyped=untyped, embedder=SameSpace())  # type: ignore[arg-type]

    assert result.sub_questions[0].role_source == source


def test_masking_leaves_what_a_sub_question_does() -> None:
    assert mask_topic("How does climate change affect the earth?", "What is climate change?") == "What is it it?"
    assert mask_topic("", "What is it?") == "What is it?"


def test_embedded_are_the_question_its_sub_questions_and_what_they_do() -> None:
    texts = texts_to_embed(QUESTION, TEXTS)

    assert texts == [QUESTION, *TEXTS, "What is the it?", "How does air scatter light?"]


def test_features_are_rules_meaning_form_and_a_constant() -> None:
    vectors = np.arange(5, dtype=np.float32)[:, None].repeat(4, axis=1)

    rows = describe_sub_questions(QUESTION, TEXTS, vectors)

    assert rows.shape == (2, 3 + 2 * 4 + len(FORM) + 1)
    assert rows[:, :3].sum(axis=1).tolist() == [1.0, 1.0]
    assert rows[:, 3:7].tolist() == [[6.0] * 4, [8.0] * 4], "what it does, twice"
    assert rows[:, 7:11].tolist() == [[2.0] * 4, [4.0] * 4], "its meaning less the question's, twice"
    assert rows[:, -1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("question", "sub_question", "form"),
    [
        ("Why is the sky blue?", "Why is the sky of Mars red?", [0.5, 2 / 5, 7 / 10, 1.0, 1.0]),
        ("Why is the sky blue?", "What colour?", [0.0, 1 / 5, 2 / 10, 0.0, 0.0]),
        ("Why is it?", "What is it?", [0.0, 0.0, 3 / 10, 0.0, 0.0]),
    ],
)
def test_form_is_words_shared_new_and_all_beginning_and_name(question: str, sub_question: str, form: list[float]) -> None:
    (row,) = describe_sub_questions(question, [sub_question], np.zeros((3, 4), dtype=np.float32))

    assert row[-1 - len(FORM) : -1].tolist() == pytest.approx(form)


@given(st.lists(st.text(max_size=20), min_size=2, max_size=5), st.text(max_size=20))
def test_a_role_does_not_depend_on_the_rest_of_the_list(sub_questions: list[str], question: str) -> None:
    together = likeliest_roles(question, sub_questions, SameSpace())

    apart = [likeliest_roles(question, [each], SameSpace()) for each in sub_questions]

    assert [[role] for role in together or []] == apart


def test_the_numbers_fit_the_features() -> None:
    numbers = json.loads(NUMBERS.read_text(encoding="utf-8"))

    assert np.array(numbers["weights"]).shape == (3 + 2 * len(numbers["canary"]) + len(FORM) + 1, len(Role))
    assert np.linalg.norm(numbers["canary"]) == pytest.approx(1, abs=1e-2)


def test_the_shipped_encoder_is_the_one_it_was_fitted_on() -> None:
    judges = pytest.importorskip("rag_cover_embedded")
    pytest.importorskip("onnxruntime")

    roles = likeliest_roles(
        "How does deforestation affect rainfall?",
        ["What is deforestation?", "How do trees return water to the air?", "How can consumers help to save forests?"],
        judges.open_judge(),
    )

    assert roles == [Role.BACKGROUND, Role.CORE, Role.FOLLOW_UP], "fit it anew: python -m benchmarks.coverage.fit_typer"
