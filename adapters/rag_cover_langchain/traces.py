"""Traces made of an evaluator's arguments: inputs, outputs, reference outputs, a run and further keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.load import Serializable
from langchain_core.messages import AIMessage
from langsmith.schemas import Example
from pydantic import BaseModel

from rag_cover import Passage, Trace
from rag_cover.integration import ANSWERED, ASKED, DOCUMENTS, Given, Terms, refuse_misspelt, trace_of_inputs
from rag_cover_langchain.passages import passage_of
from rag_cover_langchain.payloads import answer_text, documents_in, fields_of, question_in
from rag_cover_langchain.run_traces import TracedRun, revive, trace_of_messages, trace_of_run, unwrap

__all__ = ["TERMS", "trace_of", "trace_of_traced"]

_FURTHER = ("context", "contexts", "sub_questions", "references", "reference", "steps", "trace")
_REFERENCES = (
    *("references", "reference", "answers", "answer", "reference_answer", "expected_answer", "expected_output", "expected"),
    *("ground_truths", "ground_truth", "gold_answers", "gold_answer", "gold", "output", "response", "result", "messages"),
)
_SUB_QUESTIONS = ("sub_questions", "subquestions")


def trace_of(inputs: object, outputs: object, reference_outputs: object, further: Mapping[str, object]) -> Trace:
    """Make a trace of what an evaluator was given; nothing is asked of any model.

    ``further`` holds ``context`` or ``contexts``, ``sub_questions``, ``reference`` or ``references``, ``steps`` and ``trace``
    where they are given, and anything else, which is left alone: evaluators that are run together share their arguments. What
    tools brought, in the messages of an agent, are retrieval steps.

    Raises:
        InputError: an argument cannot be read or is misspelt, or there is neither a question nor a trace.
    """
    refuse_misspelt(further, _FURTHER)
    inputs, outputs = _plain(inputs), _plain(outputs)
    question = question_in(inputs) or _find_question(outputs)
    answer = _answer(outputs, inputs)
    trace, steps = further.get("trace"), further.get("steps")
    if trace is None and steps is None and question is not None:
        trace = trace_of_messages(outputs, question, answer)
    return trace_of_inputs(
        Given(
            question=_blank(inputs) if question is None else question,
            answer=answer,
            contexts=_contexts(further, outputs, inputs, beside_steps=trace is not None or steps is not None),
            references=_first(further, ("references", "reference"), _references(reference_outputs)),
            sub_questions=_first(further, _SUB_QUESTIONS, _sub_questions(reference_outputs)),
            steps=steps,
            trace=trace,
        ),
        TERMS,
    )


def trace_of_traced(run: TracedRun, example: Example | None = None) -> Trace:
    """Make a trace of a run and the runs inside it, with the references of the example that it answers.

    Where no retrieval was traced, the documents in the run's outputs count as retrieved.

    Raises:
        InputError: the run has no question.
    """
    inputs, reference_outputs = (None, None) if example is None else (example.inputs, example.outputs)
    asked = inputs if question_in(revive(run.inputs)) is None else unwrap(run.inputs)
    traced = trace_of_run(run, question_in(revive(asked)))
    return trace_of(asked, unwrap(run.outputs), reference_outputs, _select_known(traced))


def _select_known(traced: Trace | None) -> Mapping[str, object]:
    """Return the trace of a run; of one without retrievals only the references and sub-questions given for its question."""
    if traced is None or traced.steps or traced.prompt is not None:
        return {"trace": traced}
    return {"references": traced.question.references or None, "sub_questions": traced.sub_questions}


def _plain(value: object) -> object:
    """Return data with its documents, and the state of a graph that is an object of its own class as a mapping."""
    is_state = is_dataclass(value) or (isinstance(value, BaseModel) and not isinstance(value, Serializable))
    return revive(fields_of(value) if is_state else value)


def _find_question(outputs: object) -> str | None:
    """Find the question in what a pipeline returned: a conversation, or a state that still holds it."""
    if isinstance(outputs, Mapping):
        return question_in({name: outputs[name] for name in ASKED if name in outputs})
    return question_in(outputs) if isinstance(outputs, list | tuple) else None


def _blank(inputs: object) -> str | None:
    """Return a question of white space as it is: it is refused in other words than none."""
    texts = inputs.values() if isinstance(inputs, Mapping) else [inputs]
    return next((text for text in texts if isinstance(text, str) and not text.strip()), None)


def _answer(outputs: object, inputs: object) -> str | None:
    """Return what was answered; an answer that says nothing is one, and covers nothing."""
    said = answer_text(outputs, inputs)
    return "" if said is None and _says_nothing(outputs) else said


def _says_nothing(outputs: object) -> bool:
    match outputs:
        case AIMessage():
            return not outputs.text and not outputs.tool_calls
        case Mapping():
            return _says_nothing(_first(outputs, ANSWERED))
        case _:
            return outputs == ""


def _contexts(further: Mapping[str, object], outputs: object, inputs: object, *, beside_steps: bool) -> object:
    """Return what was retrieved, as it was given; else as the outputs tell it, else the inputs; None where nothing does.

    Beside the steps that led to it, it is what the outputs call by a usual name; a given trace tells it itself.
    """
    told = _first(further, ("contexts", "context"))
    if told is not None or further.get("trace") is not None:
        return _list_contexts(revive(told))
    states = [state for state in ([outputs] if beside_steps else [outputs, inputs]) if isinstance(state, Mapping)]
    named = next((found for state in states if (found := _first(state, DOCUMENTS)) is not None), None)
    if named is not None or beside_steps:
        return _list_contexts(named)
    return documents_in(outputs) or documents_in(inputs) or None


def _list_contexts(contexts: object) -> object:
    """Return contexts as one for each passage, in any form in which LangChain's users pass them around."""
    match contexts:
        case str():
            return [contexts] if contexts.strip() else []
        case Document() | Passage() | {"text": str()} | {"content": str()}:
            return [_context(contexts)]
        case Mapping():
            named = _first(contexts, DOCUMENTS)
            return _list_contexts(named) if named is not None else documents_in(contexts) or contexts
        case list() | tuple():
            return [_context(each) for each in contexts]
        case _:
            return contexts


def _context(context: object) -> object:
    """Return data as the document that it describes, anything else as it is; a score beside a document goes into it."""
    match context:
        case (Document() as document, float() | int() as score):
            return passage_of(document).model_copy(update={"score": float(score)})
        case Mapping():
            return _read_document(context) or context
        case _:
            return context


def _read_document(data: Mapping[str, Any]) -> Document | None:
    text, known, name = _first(data, ("text", "content")), data.get("metadata"), data.get("id")
    beside = {each: data[each] for each in ("title", "score") if data.get(each) is not None}
    metadata = (dict(known) if isinstance(known, Mapping) else {}) | beside
    return Document(text, id=None if name is None else str(name), metadata=metadata) if isinstance(text, str) else None


def _references(outputs: object) -> object:
    """Return the gold answers in what an example says: a text, texts, or the like by their usual name; None without any."""
    match revive(outputs):
        case None | str():
            return outputs
        case int() | float() as number:
            return str(number)
        case Mapping() as named:
            return _references(_first(named, _REFERENCES))
        case list() | tuple() as several if all(isinstance(each, str | int | float) for each in several):
            return [str(each) for each in several]
        case said:
            return answer_text(said)


def _sub_questions(outputs: object) -> object:
    return _first(outputs, _SUB_QUESTIONS) if isinstance(outputs, Mapping) else None


def _first(named: Mapping[str, object], names: Sequence[str], other: object = None) -> object:
    return next((named[name] for name in names if named.get(name) is not None), other)


def _ours(value: object) -> object:
    return passage_of(value) if isinstance(value, Document) else value


TERMS = Terms(
    question="question",
    answer="answer",
    passages="documents",
    give_question="inputs={'question': …}, or its text",
    give_answer="outputs={'answer': …}, its text, or messages",
    give_contexts="outputs={'context': […]} (documents or texts), context=[…], steps=… or trace=…",
    give_gold="reference_outputs={'answer': …}, or its text, or a list of several",
    give_either="reference_outputs={'answer': …} or outputs={'answer': …}",
    ours=_ours,
)
"""How LangChain's evaluators speak of what they are given."""
