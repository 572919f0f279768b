"""Scores as feedback in LangSmith, by its own client, to a server on this machine that speaks its protocol."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langsmith", reason="needs langsmith")

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tracers import LangChainTracer
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.errors import InvalidValueError
from rag_cover.recording import NamedScore
from rag_cover.testing import KeywordScorer
from rag_cover_langchain import RagCoverCallbackHandler, attach, evaluate_pipeline, feedback, feedback_by
from tests.langchain.langsmith_server import PROJECT_ID, LangSmithServer, serve
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import HEAT, PROMPT, SKY

MODELS: dict[str, Any] = {"judge": KeywordScorer(), "receiver": None, "measures": ["coverage"]}
CANARY = "canary"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let connections to this machine alone through."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: Any) -> None:
        assert address[0] in ("127.0.0.1", "localhost"), f"a test tried to connect to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_PROJECT", "LANGCHAIN_PROJECT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with serve() as made:
        yield made


def grade(documents: Sequence[Document]) -> list[Document]:
    """Drop the best document."""
    return list(documents)[1:]


def dropping(store: InMemoryVectorStore, model: ScriptedChatModel) -> Runnable[Any, Any]:
    """Make a chain that drops what it found."""
    found = store.as_retriever(search_kwargs={"k": 2}) | RunnableLambda(grade)
    return {"context": found, "question": RunnableLambda(lambda question: question)} | PROMPT | model


@pytest.fixture
def losing(store: InMemoryVectorStore) -> Runnable[Any, Any]:
    """A chain that loses what it found."""
    return dropping(store, ScriptedChatModel(default="Bread needs yeast."))


def ask(handler: RagCoverCallbackHandler, chain: Runnable[Any, Any], question: str) -> str:
    """Ask a question; return the id of its run."""
    run_id = uuid4()
    chain.invoke(question, {"callbacks": [handler], "run_id": run_id})
    return str(run_id)


def test_every_score_reaches_the_run_that_was_measured_with_the_loss_as_comment(
    server: LangSmithServer, losing: Runnable[Any, Any]
) -> None:
    with RagCoverCallbackHandler(feedback=server.client(), **MODELS) as handler:
        run_id = ask(handler, losing, HEAT)

    assert {each["run_id"] for each in server.feedback} == {run_id}
    by_key = {each["key"]: each for each in server.feedback}
    assert set(by_key) == {"core_coverage", "rating"}
    core = by_key["core_coverage"]
    assert (core["score"], core["value"], core["session_id"]) == (0.0, "none", PROJECT_ID)
    assert core["comment"] == f"0 of 1 core sub-questions answered; dropped by `grade`: {HEAT}"
    assert core["feedback_source"]["metadata"] == {"made_by": "rag_cover"}
    assert (handler.counts.scores_sent, handler.counts.scores_unsent) == (2, 0)
    assert server.projects == ["default"]


def test_the_run_is_the_one_that_langsmith_shows(server: LangSmithServer, losing: Runnable[Any, Any]) -> None:
    client = server.client()
    with RagCoverCallbackHandler(feedback=client, **MODELS) as handler:
        losing.invoke(SKY, {"callbacks": [handler, LangChainTracer(client=client)]})

    (run_id,) = {each["run_id"] for each in server.feedback}
    assert any(run_id.encode() in body for body in server.runs)


def test_nothing_is_sent_unless_it_is_asked_for(server: LangSmithServer, losing: Runnable[Any, Any]) -> None:
    with RagCoverCallbackHandler(**MODELS) as handler:
        ask(handler, losing, SKY)

    assert server.feedback == []
    assert handler.counts.scores_sent == 0


def test_attach_sends_it_too(server: LangSmithServer, losing: Runnable[Any, Any]) -> None:
    with attach(feedback=server.client(), **MODELS):
        losing.invoke(SKY)

    assert {each["key"] for each in server.feedback} == {"core_coverage", "rating"}


def test_a_dataset_s_scores_are_sent_too(server: LangSmithServer, losing: Runnable[Any, Any]) -> None:
    evaluate_pipeline(losing, [SKY, HEAT], feedback=server.client(), progress=False, **MODELS)

    assert len(server.feedback) == 4
    assert len({each["run_id"] for each in server.feedback}) == 2


def test_another_project_by_name(server: LangSmithServer, losing: Runnable[Any, Any]) -> None:
    with RagCoverCallbackHandler(feedback=feedback_by(server.client(), project="guide"), **MODELS) as handler:
        ask(handler, losing, SKY)

    assert server.projects == ["guide"]


def test_a_project_that_is_not_there_yet_is_asked_for_again(
    server: LangSmithServer, losing: Runnable[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback, "_WAIT_S", 0.0)
    server.absent = 2

    with RagCoverCallbackHandler(feedback=server.client(), **MODELS) as handler:
        ask(handler, losing, SKY)

    assert handler.counts.scores_sent == len(server.feedback) == 2


def test_a_function_may_send_scores(losing: Runnable[Any, Any]) -> None:
    sent: list[tuple[str, NamedScore]] = []

    with RagCoverCallbackHandler(feedback=lambda run_id, score: sent.append((run_id, score)), **MODELS) as handler:
        run_id = ask(handler, losing, HEAT)

    assert [(run, score.name, score.label) for run, score in sent] == [
        (run_id, "core_coverage", "none"),
        (run_id, "rating", ""),
    ]


def test_what_fails_is_counted_and_logged_and_costs_no_result(
    server: LangSmithServer, losing: Runnable[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server.status = 403

    with RagCoverCallbackHandler(feedback=server.client(), **MODELS) as handler:
        ask(handler, losing, SKY)

    assert handler.counts.measured == len(handler.results) == 1
    assert (handler.counts.scores_sent, handler.counts.scores_unsent) == (0, 2)
    assert [error.message.partition(":")[0] for error in handler.errors] == ["sending core_coverage", "sending rating"]
    assert "sending core_coverage" in caplog.text


def test_a_server_that_hangs_holds_up_neither_the_pipeline_nor_the_measuring(
    server: LangSmithServer, losing: Runnable[Any, Any]
) -> None:
    server.hold.clear()
    with RagCoverCallbackHandler(feedback=server.client(), **MODELS) as handler:
        for _ in range(5):
            ask(handler, losing, SKY)
        until = time.monotonic() + 20
        while handler.counts.measured < 5 and time.monotonic() < until:
            time.sleep(0.01)
        assert handler.counts.measured == 5
        assert handler.counts.scores_sent == 0
        assert not handler.flush(0.0)
        server.hold.set()

    assert handler.counts.scores_sent == 10


def test_what_there_is_no_time_for_is_counted(
    server: LangSmithServer, losing: Runnable[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server.hold.clear()
    handler = RagCoverCallbackHandler(feedback=server.client(), **MODELS)
    ask(handler, losing, SKY)
    until = time.monotonic() + 20
    while handler.counts.measured < 1 and time.monotonic() < until:
        time.sleep(0.01)

    for _ in range(20):
        ask(handler, losing, SKY)
    handler.close(0.5)

    assert "scores were not sent" in caplog.text
    server.hold.set()
    until = time.monotonic() + 20
    while (counts := handler.counts).scores_sent + counts.scores_unsent < 2 * counts.measured and time.monotonic() < until:
        time.sleep(0.01)
    assert counts.scores_sent == len(server.feedback) == 1  # the one that was under way
    assert counts.scores_unsent == 2 * counts.measured - 1


def test_under_redaction_no_text_is_sent(server: LangSmithServer) -> None:
    secret = f"The {CANARY} is yellow."

    def search(_: str) -> list[Document]:
        return [Document(secret, id=f"{CANARY}-1", metadata={"source": CANARY}), Document("The sea is wide.", id="sea")]

    def canary_grade(documents: Sequence[Document]) -> list[Document]:
        return list(documents)[1:]

    model = ScriptedChatModel(default=f"Bread needs yeast, {CANARY}.")
    found = RunnableLambda(search) | RunnableLambda(canary_grade)
    chain = {"context": found, "question": RunnableLambda(lambda question: question)} | PROMPT | model
    with (
        RagCoverCallbackHandler(feedback=server.client(), redact=True, **MODELS) as handler,
        handler.question(id=f"{CANARY}-7", sub_questions=[f"Which colour has the small {CANARY} of the miner?"]),
    ):
        ask(handler, chain, f"Why is the {CANARY} yellow?")

    assert handler.counts.scores_sent == len(server.feedback) == 2
    assert CANARY.encode() not in server.said
    comment = next(each["comment"] for each in server.feedback if each["key"] == "core_coverage")
    assert comment.startswith("0 of 1 core sub-questions answered; ")
    assert comment.endswith(": 1")


def test_what_sends_nothing_is_refused() -> None:
    for wrong in (5, "https://langsmith.example", LangSmithServer):
        with pytest.raises(InvalidValueError, match="langsmith.Client"):
            RagCoverCallbackHandler(feedback=wrong, **MODELS)  # type: ignore[arg-type]


def test_scores_that_a_process_of_its_own_measures_are_not_sent(server: LangSmithServer, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="or measure here"):
        RagCoverCallbackHandler(feedback=server.client(), store=tmp_path / "results.sqlite", measuring="process", **MODELS)
