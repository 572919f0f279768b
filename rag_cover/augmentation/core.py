"""The core sub-questions for which passages are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.argument_checks import refuse_one_text
from rag_cover.backends import Failure, Generator
from rag_cover.decomposition.multihop import hops_of
from rag_cover.decomposition.multihop.slots import slots_in
from rag_cover.decomposition.strategies import Decomposer, decompose
from rag_cover.english.pronouns import refers
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Question, Role, SubQuestion, plain_query

__all__ = ["Decomposed", "by_rules", "decompose_question"]


@dataclass(frozen=True, slots=True)
class Decomposed:
    """The core sub-questions of a question, the others, and why a model did not make them, where it should have."""

    core: tuple[SubQuestion, ...]
    others: tuple[SubQuestion, ...] = ()
    failures: tuple[Failure, ...] = ()


def decompose_question(
    question: Question,
    *,
    given: Sequence[SubQuestion | str] | None,
    decomposer: Decomposer | None,
    generator: Generator | None,
    answers: bool,
) -> Decomposed:
    """Take the sub-questions that are given, else those of a decomposer, else of a generator, else of rules.

    Those without a role count as core. Rules stand in for a model that fails. ``answers`` says whether somebody answers what
    later sub-questions build on: rules then take nested descriptions apart (`hops_of`).

    Raises:
        InvalidValueError: one that is given is blank, or one text is given in place of a list.
    """
    if given is not None:
        return _split_by_role(_to_sub_questions(given))
    try:
        if decomposer is not None:
            return _split_by_role(decomposer(question))
        if generator is not None:
            return _split_by_role(decompose(question, generator=generator))
    except ModelFailedError as failed:
        by_rules = _by_rules(question, answers=answers)
        return Decomposed(by_rules.core, by_rules.others, (Failure.of(failed),))
    return _by_rules(question, answers=answers)


def by_rules(*, answers: bool) -> Decomposer:
    """Make the decomposer that splits by rules, whatever models there are; ``answers`` as in `decompose_question`.

    >>> [each.text for each in by_rules(answers=True)(Question("When was the director of Jaws born?"))][:2]
    ['Who is the director of Jaws?', 'When was #1 born?']
    """

    def split(question: Question) -> tuple[SubQuestion, ...]:
        found = _by_rules(question, answers=answers)
        return (*found.core, *found.others)

    return split


def _to_sub_questions(given: Sequence[SubQuestion | str]) -> list[SubQuestion]:
    refuse_one_text(sub_questions=given)
    for place, each in enumerate(given):
        if isinstance(each, str) and not each.strip():
            message = f"sub_questions[{place}] is blank; leave it out, or say what it asks"
            raise InvalidValueError(message)
    return [each if isinstance(each, SubQuestion) else SubQuestion(each) for each in given]


def _search_whole_for_pronouns(question: Question, found: Decomposed) -> Decomposed:
    """Put the whole question in the place of parts with a pronoun, whose words alone find nothing: "how deep are they"."""
    texts = dict.fromkeys(question.text if refers(each.text) else each.text for each in found.core)
    return Decomposed(tuple(SubQuestion(text, role=Role.CORE, role_source="rules") for text in texts), found.others)


def _by_rules(question: Question, *, answers: bool) -> Decomposed:
    found = _search_whole_for_pronouns(question, _split_by_role(decompose(question)))
    steps = hops_of(question.text)
    hops = [step for number, step in enumerate(steps, 1) if answers or not slots_in(step, position=number)]
    if not hops:
        return found
    made = tuple(SubQuestion(text, role=Role.CORE, role_source="rules") for text in hops)
    known = {plain_query(question.text), *map(plain_query, hops)}
    return Decomposed((*made, *(each for each in found.core if plain_query(each.text) not in known)), found.others)


def _split_by_role(sub_questions: Sequence[SubQuestion]) -> Decomposed:
    core = tuple(each for each in sub_questions if each.role in (Role.CORE, None))
    return Decomposed(core, tuple(each for each in sub_questions if each not in core))
