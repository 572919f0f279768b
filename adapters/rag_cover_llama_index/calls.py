"""LlamaIndex's spans as calls of a recording: which spans are read, and what when they begin and when they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.question_gen.types import BaseQuestionGenerator
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools.types import BaseTool, ToolOutput
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQueryResult
from llama_index.core.workflow import Workflow

from rag_cover.questions import Role
from rag_cover.recording import Call, CallKind
from rag_cover_llama_index.llm_data import read_model, read_usage
from rag_cover_llama_index.passages import record_of
from rag_cover_llama_index.payloads import answer_text, question_in

__all__ = ["SYNTHESIS", "CallReader", "call_reader_for", "note_writing", "records_of"]

Arguments = Mapping[str, Any]
Records = list[dict[str, Any]]

_CHATTING = ("chat", "achat", "stream_chat", "astream_chat")  # chat engines do, and models
_QUERYING = ("query", "aquery")  # query engines do, and vector stores
_UNHEARD = "handoff"  # a tool by which agents pass a question on brings nothing


@dataclass(frozen=True, slots=True)
class CallReader:
    """How the spans of one method are read: the class of its object, what to read at its start and its end, and its kind."""

    of: type | tuple[type, ...]
    read_start: Callable[[Call, object, Arguments], object]
    read_end: Callable[[Call, Any], object]
    kind: CallKind = "other"


def call_reader_for(method: str, instance: object) -> CallReader | None:
    """Return how a span is read; None for one that says nothing."""
    if method in _CHATTING:
        return next((reading for reading in (_CONDENSED_CHAT, _CHAT, _MODEL) if isinstance(instance, reading.of)), None)
    if method in _QUERYING and isinstance(instance, BasePydanticVectorStore):
        return _STORE
    reading = _READINGS.get(method)
    return reading if reading is not None and isinstance(instance, reading.of) else None


def records_of(nodes: object) -> Records:
    """Copy what nodes hold; anything that is no node is left out."""
    return [record_of(node) for node in nodes if isinstance(node, NodeWithScore)] if isinstance(nodes, Iterable) else []


def _asks(call: Call, instance: object, arguments: Arguments) -> None:
    del instance
    call.query = question_in(arguments)


def _answers(call: Call, result: Any) -> None:
    answer = answer_text(result)
    if answer is not None:  # a chat engine's writer may have been quicker
        call.answer = answer


def _answers_condensed(call: Call, result: Any) -> None:
    """Take the standalone question that a chat engine made of a follow-up for the one that it answered."""
    _answers(call, result)
    sources = result.sources if isinstance(result, AgentChatResponse | StreamingAgentChatResponse) else []
    given = sources[0].raw_input if sources else {}
    condensed = question_in(given.get("query") or given.get("message"))
    if condensed is not None and condensed.strip() != (call.query or "").strip():
        call.asked, call.query = call.query, condensed.strip()


def _searches(call: Call, instance: object, arguments: Arguments) -> None:
    """Note what a retriever was asked, and the texts that it searches by where they differ, such as a hypothetical document."""
    _asks(call, instance, arguments)
    asked = arguments.get("str_or_query_bundle")
    if isinstance(asked, QueryBundle) and asked.custom_embedding_strs and hasattr(instance, "_embed_model"):
        further = [text for text in asked.custom_embedding_strs if text and text not in asked.query_str]
        call.query = "\n".join(filter(None, [asked.query_str, *further]))


def _finds(call: Call, result: Any) -> None:
    call.passages = records_of(result)


def _queries(call: Call, instance: object, arguments: Arguments) -> None:
    del instance
    call.query = getattr(arguments.get("query"), "query_str", None)


def _finds_stored(call: Call, result: Any) -> None:
    """Note what a vector store found; one that keeps no texts says nothing that could be read."""
    if not isinstance(result, VectorStoreQueryResult) or result.nodes is None:
        call.kind = "other"
        return
    found = zip_longest(result.nodes, (result.similarities or [])[: len(result.nodes)])
    call.passages = [record_of(NodeWithScore(node=node, score=score)) for node, score in found]


def _takes(call: Call, instance: object, arguments: Arguments) -> None:
    _asks(call, instance, arguments)
    call.consumed = records_of(arguments.get("nodes"))
    if call.kind == "postprocessor" and "rerank" in call.name.lower():  # also where it happens to keep the order
        call.kind = "reranker"


def _sums_up(call: Call, instance: object, arguments: Arguments) -> None:
    """Note what a synthesizer is given as texts, such as the answers of several engines."""
    _asks(call, instance, arguments)
    call.consumed = [{"text": text} for text in arguments.get("text_chunks") or () if isinstance(text, str)]


def _calls(call: Call, instance: object, arguments: Arguments) -> None:
    tool = instance.metadata.name if isinstance(instance, BaseTool) else None
    call.name = tool or call.name
    inputs = {**arguments.get("kwargs", {}), **{name: value for name, value in arguments.items() if name != "kwargs"}}
    args = arguments.get("args")
    call.query = question_in(inputs) or (question_in(args[0]) if args else None)


def _brings(call: Call, result: Any) -> None:
    if not isinstance(result, ToolOutput) or call.name == _UNHEARD:
        return
    if result.is_error:
        call.error = result.content or "the tool failed"
    elif result.content.strip():
        call.passages = [{"text": result.content, "title": call.name}]


def _takes_apart(call: Call, result: Any) -> None:
    asked = [each for each in result if getattr(each, "sub_question", "").strip()] if isinstance(result, list) else []
    roles = [getattr(each, "role", None) or Role.CORE for each in asked]
    call.sub_questions = [{"text": each.sub_question, "role": role} for each, role in zip(asked, roles, strict=True)] or None


def _is_shown(call: Call, instance: object, arguments: Arguments) -> None:
    """Note all that a model is shown, as one text, and which model it is."""
    call.llm, call.llm_readers = {}, (partial(read_model, instance),)
    given = {**arguments, **arguments.get("kwargs", {})}
    said = [each.content for each in given.get("messages") or () if isinstance(each, ChatMessage)]
    said += [each for each in (given.get("prompt"), *arguments.get("args", ())) if isinstance(each, str)]
    call.prompt = "\n".join(filter(None, said))


def note_writing(call: Call, result: Any) -> None:
    """Note what a model wrote at once, and at what cost; what it streams is read where the stream ends."""
    if isinstance(result, ChatResponse):
        call.answer = result.message.content
    elif isinstance(result, CompletionResponse):
        call.answer = result.text
    else:
        return
    call.llm, call.llm_readers = call.llm or {}, (*call.llm_readers, partial(read_usage, result))


_QUESTION = CallReader(BaseQueryEngine, _asks, _answers, "question")
_CHAT = CallReader(BaseChatEngine, _asks, _answers, "question")
_CONDENSED_CHAT = CallReader((CondenseQuestionChatEngine, CondensePlusContextChatEngine), _asks, _answers_condensed, "question")
_RUN = CallReader(Workflow, _asks, _answers, "question")
_RETRIEVAL = CallReader(BaseRetriever, _searches, _finds, "retriever")
_STORE = CallReader(BasePydanticVectorStore, _queries, _finds_stored, "retriever")
_POSTPROCESSING = CallReader(BaseNodePostprocessor, _takes, _finds, "postprocessor")
SYNTHESIS = CallReader(BaseSynthesizer, _takes, _answers, "synthesis")
_SUMMARY = CallReader(BaseSynthesizer, _sums_up, _answers, "synthesis")
_TOOL = CallReader(BaseTool, _calls, _brings, "tool")
_MODEL = CallReader(BaseLLM, _is_shown, note_writing, "llm")
_GENERATION = CallReader(BaseQuestionGenerator, _asks, _takes_apart)

_READINGS: Mapping[str, CallReader] = {
    "query": _QUESTION,
    "aquery": _QUESTION,
    "complete": _MODEL,
    "acomplete": _MODEL,
    "stream_complete": _MODEL,
    "astream_complete": _MODEL,
    "run": _RUN,
    "retrieve": _RETRIEVAL,
    "aretrieve": _RETRIEVAL,
    "_postprocess_nodes": _POSTPROCESSING,
    "_apostprocess_nodes": _POSTPROCESSING,
    "synthesize": SYNTHESIS,
    "asynthesize": SYNTHESIS,
    "get_response": _SUMMARY,
    "aget_response": _SUMMARY,
    "call": _TOOL,
    "acall": _TOOL,
    "__call__": _TOOL,
    "generate": _GENERATION,
    "agenerate": _GENERATION,
}
