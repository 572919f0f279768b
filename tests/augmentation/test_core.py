"""Core sub-questions come from who is nearest: given, a decomposer, a generator, rules; a model's failure is named."""

from collections.abc import Sequence

import pytest

from rag_cover.augmentation.core import Decomposed, decompose_question
from rag_cover.backends import Failure, Generator
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.testing import ScriptedGenerator

QUESTION = Question("What is photosynthesis and why is it important?")
NESTED = Question("When was the director of film Jaws born?")
REPLY = '{"sub_questions": ["What is photosynthesis?", "Who discovered photosynthesis?"]}'
TYPES = '{"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "background"}]}'


def taken_from(
    question: Question = QUESTION,
    *,
    given: Sequence[SubQuestion | str] | None = None,
    generator: Generator | None = None,
    answers: bool = False,
) -> Decomposed:
    return decompose_question(question, given=given, decomposer=None, generator=generator, answers=answers)


def test_those_without_a_role_count_as_core_and_others_are_set_aside() -> None:
    history = SubQuestion("Who discovered it?", role=Role.BACKGROUND)
    later = SubQuestion("Can machines do it?", role="follow-up")

    found = taken_from(given=["What is it?", history, SubQuestion("Why?", role="core"), later])

    assert [each.text for each in found.core] == ["What is it?", "Why?"]
    assert found.others == (history, later)


def test_none_given_is_none_and_nobody_else_is_asked() -> None:
    generator = ScriptedGenerator()

    assert taken_from(given=[], generator=generator) == Decomposed(())
    assert generator.asked.calls == 0


def test_a_blank_one_is_refused_by_its_place() -> None:
    with pytest.raises(InvalidValueError, match=r"sub_questions\[1\] is blank"):
        taken_from(given=["What is it?", " \n"])


def test_one_text_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="sub_questions is one text; give a list"):
        taken_from(given="What is it?")


def test_a_generator_makes_them() -> None:
    generator = ScriptedGenerator({"purpose: decompose": REPLY, "purpose: type": TYPES})

    found = taken_from(generator=generator)

    assert [each.text for each in found.core] == ["What is photosynthesis?"]
    assert [each.text for each in found.others] == ["Who discovered photosynthesis?"]
    assert found.failures == ()


def test_rules_stand_in_for_a_generator_that_fails_and_the_failure_is_named() -> None:
    found = taken_from(generator=ScriptedGenerator(default=Failure("timeout", "60 s", attempts=3)))

    assert found.core == taken_from().core
    assert [(each.kind, each.attempts) for each in found.failures] == [("timeout", 3)]


def test_rules_stand_in_for_a_decomposer_that_fails() -> None:
    def failing(question: Question) -> Sequence[SubQuestion]:
        raise ModelFailedError(question.text, kind="not decomposed")

    found = decompose_question(QUESTION, given=None, decomposer=failing, generator=ScriptedGenerator(), answers=False)

    assert found.core == taken_from().core
    assert [each.kind for each in found.failures] == ["not decomposed"]


def test_a_decomposer_goes_before_a_generator() -> None:
    generator = ScriptedGenerator()

    found = decompose_question(
        QUESTION, given=None, decomposer=lambda _: [SubQuestion("Why?")], generator=generator, answers=False
    )

    assert found.core == (SubQuestion("Why?"),)
    assert generator.asked.calls == 0


def test_rules_take_nested_descriptions_apart_where_somebody_answers() -> None:
    texts = [each.text for each in taken_from(NESTED, answers=True).core]

    assert texts[:2] == ["Who is the director of film Jaws?", "When was #1 born?"]


def test_without_answers_rules_make_nothing_that_waits_for_one() -> None:
    texts = [each.text for each in taken_from(NESTED).core]

    assert texts
    assert all("#" not in text for text in texts)


def test_a_part_whose_pronoun_no_rule_tells_is_searched_for_in_the_words_of_the_question() -> None:
    question = Question("Which rivers meet in Koblenz and how deep are they?")

    found = decompose_question(question, given=None, decomposer=None, generator=None, answers=False)

    assert [each.text for each in found.core] == ["Which rivers meet in Koblenz?", question.text]
