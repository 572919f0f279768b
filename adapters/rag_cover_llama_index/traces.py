"""Traces made of an evaluator's arguments: query, response, contexts and further keywords."""

from __future__ import annotations

from collections.abc import Mapping

from llama_index.core.question_gen.types import SubQuestion as LlamaIndexSubQuestion
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from rag_cover import Trace
from rag_cover.errors import InputError
from rag_cover.integration import Given, Terms, refuse_misspelt, trace_from
from rag_cover_llama_index.passages import passage_of

__all__ = ["TERMS", "trace_of"]

_FURTHER = ("sub_questions", "references", "reference", "steps", "trace")


def trace_of(query: object, response: object, contexts: object, further: Mapping[str, object]) -> Trace:
    """Make a trace of what an evaluator was given; nothing is asked of any model.

    ``further`` holds ``sub_questions``, ``reference`` or ``references``, ``steps`` and ``trace`` where they are given, and
    anything else, which is left alone: evaluators that are run together share their arguments.

    Raises:
        InputError: an argument cannot be read or is misspelt, or there is neither a query nor a trace.
    """
    refuse_misspelt(further, ("contexts", *_FURTHER))
    _refuse_whole(response)
    reference = further.get("reference")
    references = further.get("references") if reference is None else reference
    given = {name: further.get(name) for name in ("sub_questions", "steps", "trace")}
    return trace_from(Given(query, response, contexts, references, **given), TERMS)


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
