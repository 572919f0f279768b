"""Traces of what a test has at hand: a trace, a response, a chain's result, a recording, or an answer with its question.

No framework is imported: responses, documents and messages are known by what they can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_cover.errors import InputError
from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_any
from rag_cover.integration import ANSWERED, ASKED, DOCUMENTS, Given, Terms, trace_of_inputs
from rag_cover.measures import TraceResult
from rag_cover.questions import Passage, json_value
from rag_cover.recording import Recording
from rag_cover.traces import Trace

__all__ = ["ACCEPTED", "trace_of_answer"]

ACCEPTED = (
    "a trace, a dict with a question and an answer, a response of LlamaIndex with question=…, a result of a LangChain chain, "
    "a recording of one question, a LangSmith run, or the answer's text with question=…"
)
"""What `trace_of_answer` takes, in words."""


def trace_of_answer(answer: object, question: str | None = None, contexts: Sequence[object] | None = None) -> Trace:
    """Make a trace of one answer.

    Args:
        answer: one of `ACCEPTED`.
        question: what was asked, where the answer does not say it.
        contexts: the passages that the answer was written from, where it does not bring them: texts, passages or documents.

    Raises:
        InputError: it is none of these, it lacks its question, or it brings one already; says what to give.
    """
    begun = _begin(answer, question)
    if isinstance(begun, Trace) and contexts is None:
        return begun
    given = Given(trace=begun) if isinstance(begun, Trace) else begun
    brought = given.contexts if contexts is None else contexts
    return trace_of_inputs(Given(given.question, given.answer, brought, trace=given.trace), _TERMS)


def _begin(answer: object, question: str | None) -> Trace | Given:
    """Read an answer; the rest is filled in where it is no trace yet."""
    if isinstance(answer, str) or _is_message(answer) or hasattr(answer, "source_nodes"):
        return _read_response(answer, question)
    if _is_pair(answer):
        _refuse_second_question(question)
        return _read_response(answer[1], answer[0])  # type: ignore[index]  # a pair
    if isinstance(answer, Mapping) and (result := _read_chain_result(answer, question)) is not None:
        return result
    trace = _read_recorded(answer) or _only(list(read_any([answer])))
    _refuse_second_question(question)
    return trace


def _read_response(answer: Any, question: str | None) -> Given:
    if question is None:
        message = "an answer alone does not say what was asked; give question=…"
        raise InputError(message)
    nodes = [getattr(each, "node", each) for each in getattr(answer, "source_nodes", None) or ()]
    passages = [{"text": node.get_content(), "id": getattr(node, "node_id", None)} for node in nodes]
    return Given(question, _text_of(answer), passages or None)


def _read_chain_result(result: Mapping[str, Any], question: str | None) -> Given | None:
    """Read what a chain of LangChain returned; None where a mapping is a row of another kind."""
    documents = next((result[name] for name in DOCUMENTS if _is_documents(result.get(name))), None)
    answer = next((result[name] for name in ANSWERED if _is_text(result.get(name))), None)
    is_asked_beside = question is not None and not any(name in result for name in ("question", "query", "user_input"))
    if documents is None and not _is_message(answer) and not is_asked_beside and not {"input", "answer"} <= {*result}:
        return None
    asked = next((result[name] for name in ASKED if isinstance(result.get(name), str)), None)
    if asked is not None:
        _refuse_second_question(question)
    if (asked or question) is None:
        message = f"this result does not say what was asked (it has {', '.join(map(repr, result))}); give question=…"
        raise InputError(message)
    return Given(asked or question, _text_of(answer), documents)


def _read_recorded(answer: object) -> Trace | None:
    """Return the trace of a result, or the only one of a recording or an evaluation; None where it is neither."""
    match answer:
        case TraceResult():
            return answer.trace
        case Evaluation():
            return _only([each.trace for each in answer.results])
        case Recording():
            answer.flush()
            return _only(answer.traces or [each.trace for each in answer.results])
    return None


def _only(traces: Sequence[Trace]) -> Trace:
    if len(traces) != 1:
        message = (
            f"one answer is held against its sub-questions at a time, and this holds {len(traces)}; give one of its traces"
        )
        raise InputError(message)
    return traces[0]


def _refuse_second_question(question: str | None) -> None:
    if question is not None:
        message = "what is given says itself what was asked; leave question=… out"
        raise InputError(message)


def _is_pair(answer: object) -> bool:
    return isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str)  # noqa: PLR2004 - a pair


def _is_message(value: object) -> bool:
    return isinstance(getattr(value, "content", None), str) and hasattr(value, "additional_kwargs")


def _is_text(value: object) -> bool:
    return isinstance(value, str) or _is_message(value)


def _text_of(answer: Any) -> str | None:
    """Return the text of a message or a response, None where it has none; a stream is read to its end."""
    said = answer.content if _is_message(answer) else getattr(answer, "response", answer)
    return said if said is None or isinstance(said, str) else str(answer)


def _is_documents(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(hasattr(each, "page_content") for each in value)


def _as_ours(value: Any) -> object:
    """Turn a document or a node into a passage; return all else as it is."""
    if isinstance(value, Mapping) and "text" in value:
        return Passage.model_validate(value)
    if not hasattr(value, "page_content"):
        return value
    metadata = dict(getattr(value, "metadata", None) or {})
    title = metadata.get("title") if isinstance(metadata.get("title"), str) else None
    fields = {"id": getattr(value, "id", None), "text": value.page_content, "title": title}
    return Passage.model_validate({**fields, "metadata": json_value(metadata)})


_TERMS = Terms(
    question="question",
    answer="answer",
    passages="documents",
    give_question="question=…",
    give_answer="the answer",
    give_contexts="contexts=[…]",
    give_gold="a trace whose question has references",
    give_either="an answer",
    ours=_as_ours,
)
