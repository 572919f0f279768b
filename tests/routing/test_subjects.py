"""Subjects as columns of features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.routing import Caimira, Responses, SkillRouter, Subjects, trace_subject
from rag_cover.traces import Trace
from tests.skilled import skills_by


class Flat:
    """Embeds all texts alike."""

    fingerprint = "flat"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


NAMES = st.sampled_from(["law", "maths", "art", "history"])


@given(st.lists(st.none() | NAMES, min_size=1, max_size=60), st.integers(1, 5))
def test_columns_average_to_no_subject_over_the_questions_they_were_learnt_from(subjects: list[str | None], least: int) -> None:
    known = Subjects.from_questions(subjects, least=least)

    columns = known.columns(subjects)

    assert columns.shape == (len(subjects), len(known.names))
    assert np.allclose(columns.sum(axis=0), 0)
    assert all(subjects.count(name) >= least for name in known.names)
    assert len(known.names) != 1
    assert not known.columns([None, "not there"]).any()


@given(st.lists(NAMES, min_size=1, max_size=40))
def test_subjects_come_back_from_json(subjects: list[str]) -> None:
    known = Subjects.from_questions(subjects, least=1)

    assert Subjects.from_dict(known.to_dict()) == known


def test_subjects_are_kept_with_a_model(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    subjects = ["law", "maths"] * 10
    known, values = Subjects.from_questions(subjects), np.array([[1.0, 0.0], [0.0, 1.0]] * 10)
    responses = Responses(["a", "b"], [f"q{number}" for number in range(20)], values)
    features = np.hstack([np.ones((20, 1)), known.columns(subjects)])
    model = Caimira(1, shrinkage=1.0).fit(responses, features, subjects=known)

    model.save(tmp_path / "skills")

    assert Caimira.load(tmp_path / "skills", features=1).subjects == known


def test_a_trace_names_its_subject_before_its_collection_and_its_only_tag() -> None:
    assert trace_subject(Trace(question="Why?", metadata={"subject": " law ", "collection": "acts"}, tags=("a",))) == "law"
    assert trace_subject(Trace(question="Why?", metadata={"subject": 3, "collection": "acts"})) == "acts"
    assert trace_subject(Trace(question="Why?", tags=("acts",))) == "acts"
    assert trace_subject(Trace(question="Why?")) is None


def test_as_many_subjects_as_questions_are_needed() -> None:
    router = SkillRouter(skills_by(Flat()), None, embedder=Flat())

    with pytest.raises(InvalidValueError, match="2 questions need as many subjects"):
        router.predict(["a", "b"], subjects=["law"])
