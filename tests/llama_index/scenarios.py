"""The table of pipelines: what each does with a question, in few words, and what its recording says of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from llama_index.core import VectorStoreIndex
from numpy.typing import NDArray

from rag_cover import Trace
from rag_cover.backends import ScoringItem
from rag_cover.coverage import Loss
from rag_cover.coverage.judging import judge_coverage
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.recording import Recording
from tests.llama_index.parts import ScriptedLLM, WordEmbedding, corpus_nodes
from tests.llama_index.recordings import ANSWER, SKY, wait_for_all

__all__ = ["BOTH", "LOST", "SEARCH", "UNKNOWN", "Outcome", "Parts", "Scenario", "Table", "check"]

LOST = "I do not know."
BOTH = ("rayleigh", "ocean")
"""What the index finds for `SKY`, of which the first alone answers it."""
SEARCH = ("retrieve", "VectorIndexRetriever", BOTH)
UNKNOWN: Literal["unknown"] = "unknown"

Step = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Outcome:
    """What one trace says: question, steps (kind, id, passages), prompt, answer, and where the answer to the sky was lost.

    ``prompt`` None is unknown; a passage without an id is told by its title, else by its text. ``loss`` None: nothing was lost,
    or there is no answer; `UNKNOWN`: something was, and it is not known where.
    """

    question: str = SKY
    steps: Sequence[Step] = (SEARCH,)
    prompt: Sequence[str] | None = BOTH
    answer: str | None = ANSWER
    loss: Loss | Literal["unknown"] | None = None
    lost_by: str | None = None


@dataclass(frozen=True)
class Scenario:
    """A pipeline that is run, and what its recording says."""

    name: str
    run: Callable[[Parts], object]
    outcomes: Sequence[Outcome]


@dataclass
class Parts:
    """Parts of pipelines: an index that finds both passages, a model that knows, and one that does not."""

    recording: Recording
    knows: ScriptedLLM = field(default_factory=lambda: ScriptedLLM(default=ANSWER))
    lost: ScriptedLLM = field(default_factory=lambda: ScriptedLLM(default=LOST))

    @cached_property
    def index(self) -> VectorStoreIndex:
        """Return an index of the small corpus by shared words."""
        return VectorStoreIndex(corpus_nodes(), embed_model=WordEmbedding())

    def retriever(self, k: int = 2) -> Any:
        """Return its retriever."""
        return self.index.as_retriever(similarity_top_k=k)

    def engine(self, llm: Any = None, **options: Any) -> Any:
        """Return a query engine over it."""
        return self.index.as_query_engine(llm=llm or self.knows, **{"similarity_top_k": 2, **options})


class Table(list[Scenario]):
    """Collects scenarios: a decorator of the functions that run them."""

    def row(self, *outcomes: Outcome) -> Callable[[Callable[[Parts], Any]], Callable[[Parts], Any]]:
        """Add a scenario with what is expected of it."""

        def add(run: Callable[[Parts], Any]) -> Callable[[Parts], Any]:
            self.append(Scenario(run.__name__.replace("_", " ").strip(), run, outcomes))
            return run

        return add


@dataclass(frozen=True)
class _SkyScorer:
    """Whatever says that air scatters blue light answers why the sky is blue."""

    threshold: float = 0.5
    fingerprint: str = "testing:sky"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        said = re.compile(r"air (molecules )?scatters? blue")
        return np.array([float(bool(said.search(item.text))) for item in items], dtype=np.float32)


def check(scenario: Scenario, recording: Recording) -> None:
    """Run a pipeline, and compare what is recorded."""
    running = scenario.run(Parts(recording))
    if isinstance(running, Coroutine):
        asyncio.run(running)
    wait_for_all(recording)
    assert recording.errors == ()
    assert list(map(_tell, recording.traces)) == [_plain(outcome) for outcome in scenario.outcomes]


def _tell(trace: Trace) -> dict[str, Any]:
    loss, lost_by = _find_loss(trace)
    return {
        "question": trace.question.text,
        "steps": [(step.kind, step.id, _names(step.passages)) for step in trace.steps],
        "prompt": None if trace.prompt is None else _names(trace.prompt),
        "answer": trace.answer,
        "loss": loss,
        "lost by": lost_by,
    }


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {
        "question": outcome.question,
        "steps": list(outcome.steps),
        "prompt": None if outcome.prompt is None else tuple(outcome.prompt),
        "answer": outcome.answer,
        "loss": outcome.loss,
        "lost by": outcome.lost_by,
    }


def _names(passages: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_name(passage) for passage in passages)


def _name(passage: Any) -> str:
    id_ = (passage.id or "").rstrip("~")
    known = {node.node_id for node in corpus_nodes()}
    return id_ if id_ in known else passage.title or passage.text


def _find_loss(trace: Trace) -> tuple[str | None, str | None]:
    asked = trace.model_copy(update={"question": Question(SKY), "sub_questions": (SubQuestion(SKY, role=Role.CORE),)})
    (result,) = judge_coverage([asked], _SkyScorer())
    (judged,) = result.sub_questions
    if judged.answer is None or judged.answer.covered:
        return None, None
    return judged.loss or UNKNOWN, getattr(judged, "lost_by", None)
