"""Traces made of an evaluator's loosely typed arguments: a question, an answer, contexts and further keywords.

``contexts`` alone are one retrieval step and the prompt; beside ``steps`` they are the prompt that these led to. What a given
``trace`` says stands; the rest fills in what it lacks. Nothing is asked of any model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from rag_cover.errors import InputError
from rag_cover.questions import Passage, Question, Role, SubQuestion, legible
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["Given", "Terms", "refuse_misspelt", "trace_of_inputs"]


@dataclass(frozen=True, slots=True)
class Given:
    """What an evaluator was given, as it was given; None is nothing, and ``references`` may be one text."""

    question: object = None
    answer: object = None
    contexts: object = None
    references: object = None
    sub_questions: object = None
    steps: object = None
    trace: object = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a framework calls what its evaluators are given, and how its users give it; refusals are worded so.

    ``ours`` translates the framework's own objects, a question, a passage or a sub-question, and returns all else as it is.
    """

    question: str
    answer: str
    passages: str
    give_question: str
    give_answer: str
    give_contexts: str
    give_gold: str
    give_either: str
    ours: Callable[[object], object] = lambda value: value


def trace_of_inputs(given: Given, terms: Terms) -> Trace:
    """Make a trace of what was given.

    A sub-question that is a text alone is a core one: it is what somebody wants to see answered.

    Raises:
        InputError: something cannot be read, or there is neither a question nor a trace.
    """
    try:
        begun = Trace(question=_question(given, terms)) if given.trace is None else Trace.model_validate(given.trace)
        return _fill_in(begun, given, terms)
    except ValidationError as wrong:
        problem = wrong.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise InputError(problem["msg"].removeprefix("Value error, "), field=where or None) from wrong


_SLIP = 0.9  # of `difflib`'s ratio: a letter of eight left out, or exchanged with the next


def refuse_misspelt(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that is a known one but for its underscores, capitals, last s or a slip: left alone, it would be missed.

    Raises:
        InputError: there is one; it says which is meant.
    """
    meant = {_letters(name): name for name in known}
    near = {spelt: name for name in known for spelt in (name, f"{name}s")}
    for name in set(names) - set(known):
        slips = get_close_matches(name, near, n=1, cutoff=_SLIP)
        if (right := meant.get(_letters(name)) or next(map(near.__getitem__, slips), None)) is not None:
            message = f"no argument is called {name!r}; did you mean {right!r}?"
            raise InputError(message)


def _letters(name: str) -> str:
    return name.replace("_", "").lower().removesuffix("s")


def _fill_in(trace: Trace, given: Given, terms: Terms) -> Trace:
    passages = _passages(given.contexts, terms)
    references = _references(given.references)
    steps = _require_list("steps", given.steps, "RetrievalStep")
    if steps is None and passages is not None:
        steps = [RetrievalStep(query=trace.question.text, passages=passages)]
    known = {
        "question": trace.question.model_copy(update={"references": trace.question.references or references}),
        "steps": trace.steps or tuple(steps or ()),
        "prompt": passages if trace.prompt is None else trace.prompt,
        "answer": _text(terms.answer, given.answer) if trace.answer is None else trace.answer,
        "sub_questions": _sub_questions(given, terms) if trace.sub_questions is None else trace.sub_questions,
    }
    return Trace.model_validate(dict(trace) | known)


def _question(given: Given, terms: Terms) -> Question:
    text = _text(terms.question, terms.ours(given.question))
    if text is None or not text.strip():
        message = f"the {terms.question} is {'missing' if text is None else 'blank'}; give {terms.give_question}"
        raise InputError(message)
    return Question(text=text)


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else legible(value)
    message = f"{name} is a {type(value).__name__}, not a text"
    raise InputError(message)


def _passages(contexts: object, terms: Terms) -> tuple[Passage, ...] | None:
    listed = _require_list("contexts", contexts, "text")
    return None if listed is None else tuple(_passage(context, terms) for context in listed)


def _passage(context: object, terms: Terms) -> Passage:
    match terms.ours(context):
        case str(text):
            return Passage(text=legible(text))
        case Passage() as passage:
            return passage.model_copy(update={"text": legible(passage.text)})
    message = f"contexts holds a {type(context).__name__}; give the passages' texts, {terms.passages} or rag_cover passages"
    raise InputError(message)


def _references(given: object) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else _require_list("references", given, "text") or []
    texts = [_text("reference", each) for each in listed]
    return tuple(text for text in texts if text is not None and text.strip())


def _sub_questions(given: Given, terms: Terms) -> tuple[SubQuestion, ...] | None:
    listed = _require_list("sub_questions", given.sub_questions, "text")
    return None if listed is None else tuple(SubQuestion.model_validate(_assign_role(terms.ours(each))) for each in listed)


def _assign_role(sub_question: object) -> object:
    return {"text": sub_question, "role": Role.CORE} if isinstance(sub_question, str) else sub_question


def _require_list(name: str, value: object, what: str) -> Sequence[Any] | None:
    """Refuse one text where several are meant: its characters would pass for them."""
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        message = f"{name} is a {type(value).__name__}; give a list, one {what} for each"
        raise InputError(message)
    return list(value)
