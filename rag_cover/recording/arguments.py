"""Checks of the arguments of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from pydantic import ValidationError

from rag_cover.argument_checks import refuse_below, refuse_no_path, refuse_one_text, refuse_outside, without_none
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.questions import Role, SubQuestion
from rag_cover.recording.calls import QuestionContext

__all__ = [
    "MeasuringIn",
    "make_question_context",
    "question_context_from",
    "refuse_closed",
    "refuse_unkept",
    "refuse_unmeasured",
    "refuse_unusable",
]

MeasuringIn = Literal["thread", "process"]
"""Where a recording measures."""

_SAID = ("text", "id", "references", "sub_questions", "metadata", "tags", "thread_id", "user_id")


def make_question_context(
    text: str | None,
    id_: str | int | None,
    references: str | Sequence[str],
    sub_questions: Sequence[SubQuestion | str] | None,
    metadata: Mapping[str, object] | None,
    *,
    tags: Sequence[str] = (),
    thread_id: str | None = None,
    user_id: str | None = None,
) -> QuestionContext:
    """Put together what somebody says of a question; sub-questions that are texts are core ones.

    Raises:
        InvalidValueError: a blank text, one text in place of a list, or references that are no texts.
    """
    if isinstance(tags, str) or not all(isinstance(each, str) for each in tags):
        message = f"tags: {tags!r} is no list of texts; give one, if only of one"
        raise InvalidValueError(message)
    for name, said in (("thread_id", thread_id), ("user_id", user_id)):
        if said is not None and (not isinstance(said, str) or not said.strip()):
            message = f"{name} is {said!r}; give a text, or leave it out"
            raise InvalidValueError(message)
    refuse_one_text(sub_questions=sub_questions)
    if text is not None and not text.strip():
        message = "the question's text is blank; leave it out, and the one that the pipeline is asked is taken"
        raise InvalidValueError(message)
    if isinstance(id_, bool) or not isinstance(id_, str | int | None):
        message = f"the question's id is a {type(id_).__name__}; give a text"
        raise InvalidValueError(message)
    if metadata is not None and not isinstance(metadata, Mapping):
        message = f"metadata is a {type(metadata).__name__}; give a mapping of data of your own"
        raise InvalidValueError(message)
    _refuse_answers("references", references)
    given = (references,) if isinstance(references, str) else tuple(references)
    typed = None if sub_questions is None else tuple(map(_sub_question, sub_questions))
    named = None if id_ is None else str(id_)
    return QuestionContext(text, named, given, typed, dict(metadata or {}), tuple(tags), thread_id, user_id)


def question_context_from(said: object) -> QuestionContext:
    """Put together what is said of a question as data: the parameters of `Recording.question`, by their names.

    Raises:
        InvalidValueError: it is no mapping, has another key, or a value that cannot be meant.
    """
    if not isinstance(said, Mapping):
        message = f"what is said of a question is a {type(said).__name__}; give a mapping with: {', '.join(_SAID)}"
        raise InvalidValueError(message)
    for name in said:
        if name not in _SAID:
            known = ", ".join(_SAID)
            message = f"nothing that is said of a question is called {name!r}.{nearest(str(name), _SAID)} There are: {known}."
            raise InvalidValueError(message)
    text, id_, references, sub_questions, metadata, tags, thread_id, user_id = (said.get(name) for name in _SAID)
    return make_question_context(
        text,
        id_,
        () if references is None else references,
        sub_questions,
        metadata,
        tags=() if tags is None else tags,
        thread_id=thread_id,
        user_id=user_id,
    )


def refuse_closed(is_closed: bool) -> None:  # noqa: FBT001  # what is refused
    """Refuse a recording that nothing would be recorded by.

    Raises:
        InvalidValueError: it is closed.
    """
    if is_closed:
        message = "this recording is closed, and records nothing more; make another one"
        raise InvalidValueError(message)


def refuse_unkept(measures: Sequence[object] | None, *, traces: object, store: object, redact: object) -> None:
    """Refuse a store that nothing is measured for, and a file of texts where none may be kept.

    Raises:
        InvalidValueError: one of them is named, or is no path.
    """
    refuse_no_path(traces=traces, store=store)
    if store is not None and measures is not None and not measures:
        message = "a store keeps results, and nothing is to be measured; name a trace file instead (traces=…)"
        raise InvalidValueError(message)
    if traces is not None and redact:
        message = "a trace file keeps texts, and these are to be redacted; name a store for the results instead (store=…)"
        raise InvalidValueError(message)


def refuse_unmeasured(
    measuring: object, *, measures: Sequence[object] | None, store: object, redact: object, on_result: object
) -> None:
    """Refuse a way of measuring that there is none of, and what a process of its own cannot do.

    Raises:
        InvalidValueError: it is neither of the two, or goes with no store, no measures, ``redact`` or ``on_result``.
    """
    if measuring not in get_args(MeasuringIn):
        known = " or ".join(map(repr, get_args(MeasuringIn)))
        message = f"measuring is {measuring!r}; it is {known}.{nearest(str(measuring), get_args(MeasuringIn))}"
        raise InvalidValueError(message)
    if measuring == "thread":
        return
    if store is None:
        problem = "keeps results in a store, and none is named; give one (store=…)"
    elif measures is not None and not measures:
        problem = "needs something to measure, and measures is empty; leave one of the two out"
    elif redact:
        problem = "keeps the texts of traces in files until they are measured, and these are to be redacted"
    elif on_result is not None:
        problem = "measures where on_result cannot be called; read the store (rag_cover.Evaluation.open), or leave it out"
    else:
        return
    message = f"measuring='process' {problem}, or measure here (measuring='thread')"
    raise InvalidValueError(message)


def refuse_unusable(*, sampling: object, capacity: object, keep: object, references: object, on_result: object) -> None:
    """Refuse settings that nothing could be recorded by.

    Raises:
        InvalidValueError: a share outside [0, 1], a number below 1, references that are no mapping to texts, or no function.
    """
    refuse_outside(0, 1, sampling=sampling)
    refuse_below(1, keep=keep, **without_none(capacity=capacity))
    if references is not None and not isinstance(references, Mapping):
        message = f"references is a {type(references).__name__}; give a mapping of each question to its gold answers"
        raise InvalidValueError(message)
    for question, answers in (references or {}).items():
        _refuse_answers(f"references of {question!r}", answers)
    if on_result is not None and not callable(on_result):
        message = f"on_result is a {type(on_result).__name__}; give a function that takes a TraceResult"
        raise InvalidValueError(message)


def _refuse_answers(name: str, answers: object) -> None:
    if not isinstance(answers, Sequence) or not all(isinstance(each, str) for each in answers):
        message = f"{name}: {answers!r} is neither a text nor a list of texts"
        raise InvalidValueError(message)


def _sub_question(given: object) -> SubQuestion:
    if isinstance(given, SubQuestion):
        return given
    data = {"text": given, "role": Role.CORE} if isinstance(given, str) else given
    try:
        return SubQuestion.model_validate(data)
    except ValidationError as wrong:
        problem = wrong.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        message = f"{given!r} is no sub-question ({problem}); give its text, or a SubQuestion"
        raise InvalidValueError(message) from wrong
