"""A trace tells which models were asked at what cost, in which conversation, and what the caller said of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models import BaseChatModel, FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.testing import KeywordScorer
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.recordings import ANSWER, SKY, FailingModel, config, only, rag, recorder, told

CANARY = "canary-7f3a"


def telling(**told_: Any) -> GenericFakeChatModel:
    """Make a model whose reply tells of itself."""
    return GenericFakeChatModel(messages=iter([AIMessage(ANSWER, **told_)]))


def test_a_call_of_a_model_tells_its_model_its_tokens_its_latency_and_why_it_ended(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    model = telling(
        usage_metadata={"input_tokens": 31, "output_tokens": 9, "total_tokens": 40},
        response_metadata={"model_name": "small-1", "finish_reason": "length"},
    )

    rag(store.as_retriever(search_kwargs={"k": 2}), model).invoke(SKY, config(handler))

    (call,) = only(handler).calls or ()
    assert (call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason) == ("small-1", 31, 9, "length")
    assert (call.purpose, call.passages, call.output) == ("answer", ("rayleigh", "ocean"), ANSWER)
    assert (call.latency_s or 0) > 0
    assert call.input is not None
    assert SKY in call.input


def test_what_a_reply_does_not_tell_is_unknown(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    rag(store.as_retriever(), FakeListChatModel(responses=[ANSWER])).invoke(SKY, config(handler))

    (call,) = only(handler).calls or ()
    assert (call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason) == (None, None, None, None)


@pytest.mark.parametrize(
    "told_",
    [
        {"response_metadata": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 4}, "model": "m"}},
        {"response_metadata": {"usage": {"input_tokens": 3, "output_tokens": 4}, "model": "m"}},
        {"response_metadata": {"prompt_eval_count": 3, "eval_count": 4, "model_name": "m"}},
    ],
)
def test_servers_tell_tokens_by_different_names(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, told_: Any
) -> None:
    rag(store.as_retriever(), telling(**told_)).invoke(SKY, config(handler))

    (call,) = only(handler).calls or ()
    assert (call.model, call.prompt_tokens, call.completion_tokens) == ("m", 3, 4)


def test_a_call_that_failed_is_kept_with_its_error(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    rag(store.as_retriever(), FailingModel().with_fallbacks([model])).invoke(SKY, config(handler))

    failed, sound = only(handler).calls or ()
    assert (failed.error, failed.output, sound.error) == ("ConnectionError: the model is down", None, None)


def test_a_bare_retrieval_has_no_calls(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    store.as_retriever().invoke(SKY, config(handler))

    assert only(handler).calls is None


@pytest.mark.parametrize("key", ["thread_id", "session_id", "conversation_id"])
def test_tags_metadata_and_the_conversation_are_the_callers(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str], key: str
) -> None:
    chain.invoke(SKY, config(handler, tags=["docs", "v2"], metadata={"app": "helpdesk", key: 7}))

    trace = only(handler)
    assert (trace.tags, trace.thread_id) == (("docs", "v2"), "7")
    assert {name: value for name, value in trace.metadata.items() if name != "name"} == {"app": "helpdesk"}


def test_who_asked_is_left_out_unless_it_is_asked_for(chain: Runnable[str, str]) -> None:
    with recorder() as without, recorder(user_ids=True) as with_users:
        chain.invoke(SKY, config(without, with_users, metadata={"user_id": CANARY}))

        assert CANARY not in only(without).to_json()
        assert only(with_users).user_id == CANARY


def test_redacted_results_hold_none_of_what_is_newly_kept(store: InMemoryVectorStore, tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    asked = f"Why is the sky blue, {CANARY}?"
    said = {"thread_id": f"{CANARY}-t", "user_id": f"{CANARY}-u", "note": f"{CANARY}-n"}
    model = GenericFakeChatModel(messages=iter([AIMessage(f"{ANSWER} {CANARY}")]))

    with RagCoverCallbackHandler(
        measures=["coverage"], judge=KeywordScorer(), store=path, redact=True, user_ids=True
    ) as handler:
        rag(store.as_retriever(), model).invoke(asked, config(handler, tags=[f"{CANARY}-tag"], metadata=said))
        assert handler.flush(20)
        (result,) = handler.results
        written = repr(result)

    (call,) = result.trace.calls or ()
    assert (result.trace.thread_id, result.trace.user_id) != (None, None)
    assert call.input is not None
    assert CANARY not in written
    assert not any(CANARY.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_the_conversation_may_be_what_a_run_is_configured_by(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    chain.invoke(SKY, config(handler, configurable={"session_id": "s1"}))

    assert [trace.thread_id for trace in told(handler)] == ["s1"]
