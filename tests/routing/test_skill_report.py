"""What skills were learnt from, kept beside them, and described."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_cover.errors import CorruptFileError, InputError, InvalidValueError
from rag_cover.routing import Adjustment, HeldOut, Responses, SkillRecord, describe_skills
from rag_cover.stats.intervals import Interval

VALUES = [[1.0, 0.0], [np.nan, 1.0], [0.5, 1.0]]


def record(adjustment: Adjustment | None = None) -> SkillRecord:
    table = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    figures = HeldOut(0.5, 0.6, Interval(0.1, None, None, 3), None)
    responses = Responses(["a", "b"], ["Why?", "Wer schläft?", "\ud83d?"], VALUES)
    return SkillRecord("said so", responses, table, 1 - table, np.full((3, 2), 0.25), figures, adjustment, ("a note",))


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = record(Adjustment(("a", "b"), 0.1, np.zeros(2), np.ones((2, 2)), np.zeros(2), np.ones(2)))

    kept.save(tmp_path / "skills")

    assert SkillRecord.load(tmp_path / "skills").to_dict() == kept.to_dict()


def test_what_was_not_observed_stays_unobserved(tmp_path: Path) -> None:
    record().save(tmp_path / "skills")

    values = SkillRecord.load(tmp_path / "skills").responses.values

    assert np.isnan(values).tolist() == np.isnan(VALUES).tolist()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1, "agents": 3}', "\x00"])
def test_what_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "skills.record.json").write_text(content, encoding="utf-8")

    with pytest.raises(CorruptFileError, match="fit them again"):
        SkillRecord.load(tmp_path / "skills")


def test_a_record_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        SkillRecord.load(tmp_path / "skills")


def test_a_description_sorts_agents_by_success_and_keeps_their_skills() -> None:
    skills = np.array([[0.1, 0.2], [0.3, 0.4]])

    described = describe_skills(record(), skills, np.stack([skills - 1, skills + 1], axis=-1), costs={"a": 1.0, "b": 3.0})

    assert [agent.name for agent in described.agents] == ["a", "b"]
    skill = described.agents[1].skills[0]
    assert (skill.estimate, skill.lower, skill.upper) == pytest.approx((0.3, -0.7, 1.3))
    assert described.agents[1].cost == 3.0
    assert described.frontier is not None
    assert described.frontier.left_out == 1


def test_the_best_and_the_oracle_are_over_questions_that_all_were_asked() -> None:
    described = describe_skills(record(), np.zeros((2, 2)), np.full((2, 2, 2), np.nan))

    assert described.best is not None
    assert described.oracle is not None
    assert (described.best.estimate, described.oracle.estimate, described.best.n) == (0.75, 1.0, 2)
    assert described.agents[0].skills[0].lower is None


def test_costs_of_unknown_agents_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="'c', which is no agent"):
        describe_skills(record(), np.zeros((2, 2)), np.zeros((2, 2, 2)), costs={"a": 1.0, "b": 1.0, "c": 1.0})
