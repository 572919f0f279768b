"""What is said of a question as data is what is said of it by arguments, or is refused."""

from __future__ import annotations

import re

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Role, SubQuestion
from rag_cover.recording import QuestionContext, question_context_from


def test_what_is_said_as_data_is_what_is_said() -> None:
    typed = SubQuestion("How?", role=Role.BACKGROUND)

    asked = question_context_from(
        {"text": "Why?", "id": "q1", "references": ["Air."], "sub_questions": ["What?", typed], "metadata": {"user": "Ada"}}
    )

    assert (asked.text, asked.id, asked.references, asked.metadata) == ("Why?", "q1", ("Air.",), {"user": "Ada"})
    assert asked.sub_questions == (SubQuestion("What?", role=Role.CORE), typed)


def test_a_sub_question_may_be_data_and_an_id_a_number() -> None:
    asked = question_context_from({"id": 7, "sub_questions": [{"text": "How?", "role": "background"}]})

    assert asked == QuestionContext(id="7", sub_questions=(SubQuestion("How?", role=Role.BACKGROUND),))


def test_one_reference_may_be_a_text() -> None:
    assert question_context_from({"references": "Air."}) == QuestionContext(references=("Air.",))


@pytest.mark.parametrize("said", [{}, {"references": None}, {"sub_questions": None, "metadata": None}])
def test_what_is_not_said_is_not_known(said: object) -> None:
    assert question_context_from(said) == QuestionContext()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("q1", "what is said of a question is a str; give a mapping with: text, id, references"),
        ({"reference": "Air."}, "nothing that is said of a question is called 'reference'. Did you mean 'references'?"),
        ({3: "Air."}, "nothing that is said of a question is called 3."),
        ({"references": 3}, "references: 3 is neither a text nor a list of texts"),
        ({"references": [3]}, "references: [3] is neither a text nor a list of texts"),
        ({"sub_questions": "Why?"}, "sub_questions is one text; give a list: sub_questions=['Why?']"),
        ({"text": "  "}, "the question's text is blank"),
        ({"refs": "Air."}, "There are: text, id, references, sub_questions, metadata, tags, thread_id, user_id."),
        ({"sub_questions": [1]}, "1 is no sub-question"),
        ({"id": True}, "the question's id is a bool; give a text"),
        ({"metadata": "Ada"}, "metadata is a str; give a mapping"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: object, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(problem)):
        question_context_from(said)
