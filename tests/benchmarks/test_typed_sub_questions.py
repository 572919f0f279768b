"""The sub-questions that the local typer is fitted on."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

from rag_cover.questions import Role

Import = Callable[[str], ModuleType]


def test_the_typed_sub_questions_are_sound(module: Import) -> None:
    rows = [json.loads(line) for line in module("support.typed").TYPED_SUB_QUESTIONS.read_text(encoding="utf-8").splitlines()]

    assert len({(row["question"], row["sub_question"]) for row in rows}) == len(rows) >= 2000
    assert {Role(row["role"]) for row in rows} == set(Role)
    assert all(row["sub_question"].endswith("?") for row in rows)


def test_every_own_question_has_sub_questions_of_every_role(module: Import) -> None:
    sheets = module("support.typed").own_sheets()

    assert all(set(sheet.roles) == set(Role) for sheet in sheets)
