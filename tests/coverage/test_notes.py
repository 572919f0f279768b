"""What was made, typed or assumed is told beside the figures; what was given is not."""

import pytest

from rag_cover.coverage.notes import notes_on_sub_questions
from rag_cover.coverage.result import CoverageResult, SubQuestionCoverage
from rag_cover.questions import Role


def result(made_by: str, *typed_by: str | None) -> CoverageResult:
    rows = tuple(SubQuestionCoverage("Why?", Role.CORE if source else None, source) for source in typed_by)
    return CoverageResult(rows, (), 0.5, None, prompt_assumed=False, decomposed_by=made_by)


@pytest.mark.parametrize(
    ("coverage", "notes"),
    [
        (result("given", "given"), []),
        (result("rules", "rules"), ["sub-questions made by rules, not by a person or a model"]),
        (result("given", "given", "rules"), ["sub-questions typed by rules, not by a person or a model"]),
        (result("given", "embedded"), ["sub-questions typed by a small model over sentence embeddings, not by a person"]),
        (result("model", "model"), ["sub-questions made by a model, not by a person"]),
        (
            result("model:small", "model:small", "embedded"),
            [
                "sub-questions made by small, not by a person",
                "sub-questions typed by a small model over sentence embeddings, not by a person",
            ],
        ),
        (result("given", "model:small"), ["sub-questions typed by small, not by a person"]),
        (result("given", None), ["untyped sub-questions, counted in no role"]),
    ],
)
def test_notes_say_who_made_and_who_typed(coverage: CoverageResult, notes: list[str]) -> None:
    assert notes_on_sub_questions(coverage) == notes


def test_a_question_that_rules_could_not_split_is_noted() -> None:
    whole = SubQuestionCoverage("Is it far, and what do they charge?", Role.CORE, "rules")
    coverage = CoverageResult((whole,), (), 0.5, None, prompt_assumed=False, decomposed_by="rules")

    assert any("several things are asked" in note for note in notes_on_sub_questions(coverage))
