"""What recording a LlamaIndex pipeline costs the one who asks: time in its handlers, and a query with and without it.

    python benchmarks/recording_overhead.py

A query engine over 500 passages of ``--set`` (the judge's embeddings, ``--k`` passages, a filter, answers quoted from the
passages) is asked questions of the test part: one by one; awaited one by one; ``--together`` of them awaited at a time. Each
with measuring off (traces only) and on: then a thread of the same process judges all the while, on the same cores.

Printed are median, 95th and 99th percentile in milliseconds of the handlers' calls that note something, and of all of them
(most spans say nothing); how many questions waited to be measured when the last was answered, were dropped, or went wrong.
Then the time of a query that is recorded beside one that is not, asked in turn in the same run: medians, and the ratio of the
sums with its 95% interval over ``--rounds``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _datasets import sample
from _multihop import SETS, asked_in, corpus_of
from _scores import ratio
from _tables import arguments, plain, show
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index_instrumentation import get_dispatcher

from rag_cover.intervals import bootstrap
from rag_cover.recording import Recording
from rag_cover_llama_index import RagCoverEmbedding, attach, node_of

Ask = Callable[[BaseQueryEngine, Sequence[str]], None]


class Quoting(CustomLLM):
    """Answers with the beginning of what it is shown."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(model_name="quoting", context_window=100_000)

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        """Quote the first two hundred characters of the context."""
        return CompletionResponse(text=prompt.partition("---------------------\n")[2][:200])

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> Any:
        """Quote in one piece."""
        yield self.complete(prompt)


@dataclass
class Timed:
    """A handler, and how long each of its calls took in milliseconds; ``noted`` are the calls that added to the recording."""

    handler: Any
    recording: Recording
    noted: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        """Time whatever of the handler is called."""
        method = getattr(self.handler, name)
        if name not in ("span_enter", "span_exit", "span_drop", "handle"):
            return method

        def timed(*given: Any, **named: Any) -> Any:
            id_ = named["id_"] if named else given[0].span_id or ""
            is_noted = self.recording.gathering.find(id_) is not None
            began = time.perf_counter()
            made = method(*given, **named)
            took = 1000 * (time.perf_counter() - began)
            is_noted = is_noted or self.recording.gathering.find(id_) is not None
            (self.noted if is_noted else self.others).append(took)
            return made

        return timed


@contextmanager
def timed(recording: Recording) -> Iterator[list[Timed]]:
    """Put timers around the recording's handlers, which were added last, until it is closed."""
    heard = get_dispatcher()
    span, event = Timed(heard.span_handlers[-1], recording), Timed(heard.event_handlers[-1], recording)
    heard.span_handlers = [*heard.span_handlers[:-1], span]
    heard.event_handlers = [*heard.event_handlers[:-1], event]
    try:
        yield [span, event]
    finally:
        heard.span_handlers = [each for each in heard.span_handlers if each is not span]
        heard.event_handlers = [each for each in heard.event_handlers if each is not event]


def in_turn(engine: BaseQueryEngine, questions: Sequence[str]) -> None:
    """Ask one question after the other."""
    for question in questions:
        engine.query(question)


def awaited(engine: BaseQueryEngine, questions: Sequence[str]) -> None:
    """Await one question after the other."""

    async def ask() -> None:
        for question in questions:
            await engine.aquery(question)

    asyncio.run(ask())


def together(engine: BaseQueryEngine, questions: Sequence[str]) -> None:
    """Await all questions at a time."""

    async def ask() -> None:
        await asyncio.gather(*(engine.aquery(question) for question in questions))

    asyncio.run(ask())


WAYS: Mapping[str, Ask] = {"one by one": in_turn, "awaited one by one": awaited, "all awaited at a time": together}


def handlers_row(name: str, ask: Ask, engine: BaseQueryEngine, questions: Sequence[str], *, measuring: bool) -> list[str]:
    """Record questions in one way, and write what its handlers took."""
    with attach(measures=None if measuring else ()) as recording, timed(recording) as handlers:
        ask(engine, questions)
        busy = recording.counts.waiting
        recording.flush()
        counts = recording.counts
    noted = [took for handler in handlers for took in handler.noted]
    every = noted + [took for handler in handlers for took in handler.others]
    wrong = len(recording.errors) + len(questions) - counts.measured - counts.recorded
    return [
        name,
        "on" if measuring else "off",
        str(len(questions)),
        f"{len(noted):,}",
        *percentiles(noted),
        f"{len(every):,}",
        *percentiles(every),
        f"{max(every):.2f}",
        str(busy),
        str(counts.dropped),
        str(wrong),
    ]


def percentiles(taken: Sequence[float]) -> list[str]:
    """Write median, 95th and 99th percentile."""
    return [f"{value:.3f}" for value in np.percentile(taken, [50, 95, 99])]


def ratio_row(name: str, ask: Ask, engine: BaseQueryEngine, questions: Sequence[str], rounds: int) -> list[str]:
    """Time blocks of questions with and without a recording in turn, and write the ratio."""
    size = max(1, len(questions) // rounds)
    pairs = []
    for number in range(rounds):
        block = questions[number * size : (number + 1) * size]
        took = {}
        for recorded in (number % 2 == 0, number % 2 == 1):
            with attach(measures=()) if recorded else nullcontext():
                began = time.perf_counter()
                ask(engine, block)
                took[recorded] = time.perf_counter() - began
        pairs.append((took[True], took[False]))
    interval = bootstrap(np.array(pairs), lambda sums: ratio(sums[..., 0], sums[..., 1]))
    with_it, without = 1000 * np.median(np.array(pairs), axis=0) / size
    return [name, f"{rounds} x {size}", f"{with_it:.2f}", f"{without:.2f}", plain(interval)]


def main() -> None:
    """Build the engine, run the cases, print the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--set", default="2WikiMultihopQA", choices=SETS)
    parser.add_argument("--k", type=int, default=10, help="passages retrieved for a question")
    parser.add_argument("--passages", type=int, default=500, help="of the set's corpus")
    parser.add_argument("--together", type=int, default=64, help="questions awaited at a time")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    every = list(dict.fromkeys(asked.text for asked in asked_in(options.set, options.data, "test")))
    questions = sample(every, options.limit or 120, options.seed)
    nodes = [node_of(passage).node for passage in corpus_of(options.set, options.data)[: options.passages]]
    index = VectorStoreIndex(nodes, embed_model=RagCoverEmbedding())
    keeps = SimilarityPostprocessor(similarity_cutoff=0.0)
    engine = index.as_query_engine(llm=Quoting(), similarity_top_k=options.k, node_postprocessors=[keeps])
    in_turn(engine, questions[:5])
    rows = [
        handlers_row(name, ask, engine, questions[: options.together] if ask is together else questions, measuring=measuring)
        for measuring in (False, True)
        for name, ask in WAYS.items()
    ]
    header = [
        "questions",
        "measuring",
        "n",
        "noting",
        "median ms",
        "p95",
        "p99",
        "all",
        "median ms",
        "p95",
        "p99",
        "longest",
        "waiting",
        "dropped",
        "wrong",
    ]
    show(f"Time in the handlers, {options.k} of {len(nodes):,} passages a question", header, rows)
    paired = [ratio_row(name, ask, engine, questions, options.rounds) for name, ask in WAYS.items()]
    show("A query, recorded and not", ["questions", "rounds", "recorded ms", "not ms", "ratio (95%)"], paired)


if __name__ == "__main__":
    main()
