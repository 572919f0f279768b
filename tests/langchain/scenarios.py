"""Pipelines as users of LangChain write them, each with what truly happens in it: what a recording must tell.

A row is a function that runs the pipeline, under `scenario` with a `Seen` for each trace. What is expected follows from the
pipeline alone: what was searched for and found, what stood in the prompt, what was answered, and where the passage that
answers the question was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever
from numpy.typing import NDArray

from rag_cover import SubQuestion, Trace
from rag_cover.backends import ScoringItem
from rag_cover.coverage import Loss
from rag_cover.coverage.judging import judge_coverage
from rag_cover.questions import Role
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel, corpus_documents, corpus_store
from tests.langchain.recordings import SKY, recorder

__all__ = ["BAD", "GOOD", "HOT", "UNKNOWN", "Parts", "Row", "Seen", "differences", "scenario"]

GOOD = "It is blue because air molecules scatter blue light."
"""Answers why the sky is blue."""
HOT = "It costs 12,000 euros."
"""Answers what a heat pump costs."""
BAD = "It is a very nice colour."
"""Answers neither."""
UNKNOWN = "unknown"
"""Where a passage was lost is not known, as it is not known what the answer was written from."""


@dataclass(frozen=True)
class Seen:
    """What a trace must tell.

    Args:
        steps: each as ``"kind name: ids"``; of passages without ids the first words, one hyphenated.
        prompt: the ids in the prompt; None: unknown; "": it held none.
        loss: where the answering passage was lost; None: it was not.
        asked: what the user said, where the question is made of it.
        errors: how many steps failed.
    """

    steps: tuple[str, ...] = ()
    prompt: str | None = None
    answer: str | None = GOOD
    loss: Loss | str | None = None
    question: str = SKY
    asked: str | None = None
    pipeline: str | None = None
    thread: str | None = None
    errors: int = 0


@dataclass(frozen=True)
class Parts:
    """What rows build their pipelines of."""

    handler: RagCoverCallbackHandler
    store: InMemoryVectorStore = field(default_factory=corpus_store)
    model: ScriptedChatModel = field(
        default_factory=lambda: ScriptedChatModel(script={"heat pump cost": HOT, "scatter blue": GOOD}, default=BAD)
    )

    def retriever(self, k: int = 2, **further: Any) -> VectorStoreRetriever:
        """Search the corpus: the sky is answered by ``rayleigh`` before ``ocean``, the heat pump by ``heat``."""
        return self.store.as_retriever(search_kwargs={"k": k}, **further)

    def without(self, *ids: str) -> InMemoryVectorStore:
        """Return the corpus without some of its documents."""
        store = InMemoryVectorStore(self.store.embedding)
        store.add_documents([each for each in corpus_documents() if each.id not in ids])
        return store

    def config(self, **further: Any) -> RunnableConfig:
        """Have a run recorded."""
        return {"callbacks": [self.handler], **further}  # type: ignore[typeddict-item]  # what a row adds


Run = Callable[[Parts], object]


@dataclass(frozen=True)
class Row:
    """A pipeline, and the traces that its recording must hold, in their order."""

    run: Run
    seen: tuple[Seen, ...]
    options: Mapping[str, Any]


def scenario(rows: list[Row], *seen: Seen, **options: Any) -> Callable[[Run], Run]:
    """Add a row to a table; ``options`` are those of the recording."""

    def add(run: Run) -> Run:
        rows.append(Row(run, seen, options))
        return run

    return add


def differences(row: Row) -> list[str]:
    """Run a pipeline, and list where its recording is not what truly happened."""
    with recorder(**row.options) as handler:
        row.run(Parts(handler))
        assert handler.flush(20)
    found = [f"an error: {error}" for error in handler.errors]
    if len(handler.traces) != len(row.seen):
        found.append(f"{len(handler.traces)} traces, not {len(row.seen)}")
    for number, (trace, seen) in enumerate(zip(handler.traces, row.seen, strict=False)):
        told, expected = _describe(trace, seen), _expect(seen)
        found += [
            f"{number}: {name} {told[name]!r}, not {expected[name]!r}" for name in expected if told[name] != expected[name]
        ]
    return found


@dataclass(frozen=True)
class _Judge:
    """Knows the words by which a text answers: no share of others comes near."""

    fingerprint: str = "testing:scenarios"
    threshold: float = 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return np.array(
            [float(("12,000" if "heat" in item.question.lower() else "scatter blue") in item.text) for item in items],
            dtype=np.float32,
        )


def _describe(trace: Trace, seen: Seen) -> dict[str, Any]:
    told_ = {
        "question": trace.question.text,
        "steps": tuple(f"{step.kind} {step.id}: {_names(step.passages)}".rstrip(": ") for step in trace.steps),
        "prompt": None if trace.prompt is None else _names(trace.prompt),
        "answer": trace.answer,
        "loss": None if trace.answer is None else _loss(trace),
        "errors": sum(step.error is not None for step in trace.steps),
        "asked": trace.metadata.get("asked"),
    }
    told_ |= {"pipeline": trace.pipeline} if seen.pipeline is not None else {}
    return told_ | ({"thread": trace.thread_id} if seen.thread is not None else {})


def _expect(seen: Seen) -> dict[str, Any]:
    names = ("question", "steps", "prompt", "answer", "loss", "errors", "asked")
    expected = {name: getattr(seen, name) for name in names}
    expected |= {"pipeline": seen.pipeline} if seen.pipeline is not None else {}
    return expected | ({"thread": seen.thread} if seen.thread is not None else {})


def _names(passages: Sequence[Any]) -> str:
    return " ".join(each.id or "-".join(each.text.split()[:3]) for each in passages)


def _loss(trace: Trace) -> Loss | str | None:
    asked = trace.model_copy(update={"sub_questions": (SubQuestion(trace.question.text, role=Role.CORE),)})
    (result,) = judge_coverage([asked], _Judge())
    (judged,) = result.sub_questions
    is_lost = judged.answer is not None and not judged.answer.covered
    return (judged.loss or UNKNOWN) if is_lost else None


def first_text(documents: Sequence[Document]) -> str:
    """Write the first document alone."""
    return documents[0].page_content


def invoke_or_pass(runnable: Runnable[Any, Any], given: Any, config: RunnableConfig) -> None:
    """Run what may fail: the pipeline's failure is no failure of the test."""
    try:
        runnable.invoke(given, config)
    except Exception as expected:  # noqa: BLE001  # whatever the row breaks by
        assert "down" in str(expected)  # noqa: PT017  # likewise
