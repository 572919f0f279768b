"""What an evaluator is given, as a trace: query, response, contexts, and what else the caller knows.

``contexts`` alone are one retrieval step and the prompt; beside ``steps`` they are the prompt that these led to. What a given
``trace`` says stands; the other arguments fill in what it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.question_gen.types import SubQuestion as LlamaIndexSubQuestion
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import ValidationError

from rag_cover import Passage, Question, RetrievalStep, SubQuestion, Trace
from rag_cover.errors import InputError
from rag_cover.questions import Role, legible
from rag_cover_llama_index.passages import passage_of

__all__ = ["trace_of"]

_FURTHER = ("sub_questions", "references", "reference", "steps", "trace")


def trace_of(query: object, response: object, contexts: object, further: Mapping[str, object]) -> Trace:
    """Make a trace of what an evaluator was given; nothing is asked of any model.

    ``further`` holds ``sub_questions``, ``reference`` or ``references``, ``steps`` and ``trace`` where they are given, and
    anything else, which is left alone: evaluators that are run together share their arguments.

    Raises:
        InputError: an argument cannot be read or is misspelt, or there is neither a query nor a trace.
    """
    _refuse_misspelt(further)
    try:
        given = further.get("trace")
        begun = Trace(question=_question(query)) if given is None else Trace.model_validate(given)
        return _filled(begun, response, _passages(contexts), further)
    except ValidationError as wrong:
        problem = wrong.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise InputError(problem["msg"].removeprefix("Value error, "), field=where or None) from wrong


def _refuse_misspelt(further: Mapping[str, object]) -> None:
    """Refuse a name that is one of ours but for its underscores, capitals or last s: left alone, it would be missed."""
    known = {_letters(name): name for name in (*_FURTHER, "contexts")}
    for name in set(further) - set(_FURTHER):
        if (meant := known.get(_letters(name))) is not None:
            message = f"no argument is called {name!r}; did you mean {meant!r}?"
            raise InputError(message)


def _letters(name: str) -> str:
    return name.replace("_", "").lower().removesuffix("s")


def _filled(trace: Trace, response: object, passages: tuple[Passage, ...] | None, further: Mapping[str, object]) -> Trace:
    references = _references(further)
    steps = _listed("steps", further.get("steps"), "RetrievalStep")
    if steps is None and passages is not None:
        steps = [RetrievalStep(query=trace.question.text, passages=passages)]
    known = {
        "question": trace.question.model_copy(update={"references": trace.question.references or references}),
        "steps": trace.steps or tuple(steps or ()),
        "prompt": passages if trace.prompt is None else trace.prompt,
        "answer": _text("response", response) if trace.answer is None else trace.answer,
        "sub_questions": _sub_questions(further) if trace.sub_questions is None else trace.sub_questions,
    }
    return Trace.model_validate(dict(trace) | known)


def _question(query: object) -> Question:
    text = query.query_str if isinstance(query, QueryBundle) else _text("query", query)
    if text is None or not text.strip():
        message = f"the query is {'missing' if text is None else 'blank'}; give query=… (the question's text)"
        raise InputError(message)
    return Question(text=text)


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else legible(value)
    message = f"{name} is a {type(value).__name__}, not a text"
    if hasattr(value, "source_nodes"):
        message += "; evaluate_response(query, response) takes LlamaIndex's responses"
    raise InputError(message)


def _passages(contexts: object) -> tuple[Passage, ...] | None:
    listed = _listed("contexts", contexts, "text")
    return None if listed is None else tuple(map(_passage, listed))


def _passage(context: object) -> Passage:
    match context:
        case str():
            return Passage(text=legible(context))
        case Passage():
            return context.model_copy(update={"text": legible(context.text)})
        case NodeWithScore() | BaseNode():
            return _passage(passage_of(context))
    message = f"contexts holds a {type(context).__name__}; give the passages' texts, nodes or rag_cover passages"
    raise InputError(message)


def _references(further: Mapping[str, object]) -> tuple[str, ...]:
    given = further.get("references") if further.get("reference") is None else further.get("reference")
    listed = [given] if isinstance(given, str) else _listed("references", given, "text") or []
    texts = [_text("reference", each) for each in listed]
    return tuple(text for text in texts if text is not None and text.strip())


def _sub_questions(further: Mapping[str, object]) -> tuple[SubQuestion, ...] | None:
    listed = _listed("sub_questions", further.get("sub_questions"), "text")
    return None if listed is None else tuple(SubQuestion.model_validate(_own(each)) for each in listed)


def _own(sub_question: object) -> object:
    """Take what is given as a text alone for a core sub-question: it is what somebody wants to see answered."""
    text = sub_question.sub_question if isinstance(sub_question, LlamaIndexSubQuestion) else sub_question
    return {"text": text, "role": Role.CORE} if isinstance(text, str) else text


def _listed(name: str, value: object, what: str) -> Sequence[Any] | None:
    """Refuse one text where several are meant: its characters would pass for them."""
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        message = f"{name} is a {type(value).__name__}; give a list, one {what} for each"
        raise InputError(message)
    return list(value)
