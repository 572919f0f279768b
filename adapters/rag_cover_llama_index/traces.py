"""Traces made of an evaluator's arguments: query, response, contexts and further keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from llama_index.core.question_gen.types import SubQuestion as LlamaIndexSubQuestion
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from rag_cover import Trace
from rag_cover.errors import InputError, UnknownOptionError
from rag_cover.integration import Given, Terms, trace_of_inputs
from rag_cover_llama_index.passages import passage_of

__all__ = ["TERMS", "refuse_misspelt_keywords", "trace_of"]

_TAKEN = ("query", "response", "contexts", "sub_questions", "references", "reference", "steps", "trace")
_ALIKE = 0.8  # a letter or two apart: "reference_answer" may be somebody else's
_OTHERS = ("sleep_time_in_seconds", "second_response", "second_reference", "similarity_mode", "similarity_threshold")
"""Keywords of LlamaIndex's own evaluators, which may look like one of ours."""


def trace_of(query: object, response: object, contexts: object, further: Mapping[str, object]) -> Trace:
    """Make a trace of what an evaluator was given; nothing is asked of any model.

    ``further`` holds ``sub_questions``, ``reference`` or ``references``, ``steps`` and ``trace`` where they are given.

    Raises:
        InputError: an argument cannot be read, or there is neither a query nor a trace.
    """
    _refuse_whole(response)
    reference = further.get("reference")
    references = further.get("references") if reference is None else reference
    given = {name: further.get(name) for name in ("sub_questions", "steps", "trace")}
    return trace_of_inputs(Given(query, response, contexts, references, **given), TERMS)


def refuse_misspelt_keywords(evaluator: str, further: Iterable[str]) -> None:
    """Refuse a keyword that is nearly one of an evaluator's: left alone, what it holds would be missed on every row.

    Any other one is left to the evaluators that it is meant for: those that are run together share their arguments.

    Raises:
        UnknownOptionError: there is one; the message names the nearest one that there is.
    """
    for name in further:
        if name not in (*_TAKEN, *_OTHERS) and get_close_matches(name.lower(), _TAKEN, cutoff=_ALIKE):
            raise UnknownOptionError(evaluator, name, _TAKEN)


def _refuse_whole(response: object) -> None:
    if hasattr(response, "source_nodes"):
        takes = "evaluate_response(query, response) takes LlamaIndex's responses"
        message = f"response is a {type(response).__name__}, not a text; {takes}"
        raise InputError(message)


def _ours(value: object) -> object:
    match value:
        case QueryBundle():
            return value.query_str
        case NodeWithScore() | BaseNode():
            return passage_of(value)
        case LlamaIndexSubQuestion():
            return value.sub_question
        case _:
            return value


TERMS = Terms(
    question="query",
    answer="response",
    passages="nodes",
    give_question="query=… (the question's text)",
    give_answer="response=… (the answer's text)",
    give_contexts="contexts=… (the passages' texts), steps=… or trace=…",
    give_gold="reference=… (one) or references=… (several)",
    give_either="reference=… or response=…",
    ours=_ours,
)
"""How LlamaIndex's evaluators speak of what they are given."""
