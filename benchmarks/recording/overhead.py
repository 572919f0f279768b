"""What recording a pipeline costs the one who asks: time in its handlers, and a question with and without it.

    python -m benchmarks.recording.overhead --framework langchain

A LlamaIndex query engine, or a LangChain retrieval chain, over 500 passages of ``--set`` (the judge's embeddings, ``--k``
passages, a filter, answers quoted from the passages) is asked questions of the test part: one by one; awaited one by one;
``--together`` of them awaited at a time. Each with measuring off (traces only) and on: then a thread of the same process judges
all the while, on the same cores.

Printed are median, 95th and 99th percentile in milliseconds of the handlers' calls that note something, and of all of them
(most of LlamaIndex's spans say nothing); how many questions waited to be measured when the last was answered, were dropped, or
went wrong. Then the time of a question that is recorded beside one that is not, asked in turn in the same run: medians, and the
ratio of the sums with its 95% interval over ``--rounds``.

Data: shared folder.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

import numpy as np

from benchmarks.support.datasets import sample
from benchmarks.support.multihop import SETS, asked_in, corpus_of
from benchmarks.support.recorded import Pipeline
from benchmarks.support.scores import ratio
from benchmarks.support.tables import arguments, plain, show
from rag_cover import Passage
from rag_cover.stats.intervals import bootstrap

Ask = Callable[[Pipeline, Sequence[str]], None]


def built(framework: str, passages: Sequence[Passage], *, k: int) -> Pipeline:
    """Build a framework's pipeline."""
    if framework == "langchain":
        from benchmarks.support.recorded_langchain import Chain

        return Chain(passages, k=k)
    from benchmarks.support.recorded_llama_index import Engine

    return Engine(passages, k=k)


def in_turn(pipeline: Pipeline, questions: Sequence[str]) -> None:
    """Ask one question after the other."""
    for question in questions:
        pipeline.ask(question)


def awaited(pipeline: Pipeline, questions: Sequence[str]) -> None:
    """Await one question after the other."""

    async def ask() -> None:
        for question in questions:
            await pipeline.aask(question)

    asyncio.run(ask())


def together(pipeline: Pipeline, questions: Sequence[str]) -> None:
    """Await all questions at a time."""

    async def ask() -> None:
        await asyncio.gather(*(pipeline.aask(question) for question in questions))

    asyncio.run(ask())


WAYS: Mapping[str, Ask] = {"one by one": in_turn, "awaited one by one": awaited, "all awaited at a time": together}


def handlers_row(name: str, ask: Ask, pipeline: Pipeline, questions: Sequence[str], *, measuring: bool) -> list[str]:
    """Record questions in one way, and write what its handlers took."""
    with pipeline.recorded(measuring=measuring) as recording, pipeline.timed(recording) as timings:
        ask(pipeline, questions)
        busy = recording.counts.waiting
        recording.flush()
        counts = recording.counts
    every = timings.noted + timings.others
    wrong = len(recording.errors) + len(questions) - counts.measured - counts.recorded
    return [
        name,
        "on" if measuring else "off",
        str(len(questions)),
        f"{len(timings.noted):,}",
        *percentiles(timings.noted),
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


def ratio_row(name: str, ask: Ask, pipeline: Pipeline, questions: Sequence[str], rounds: int) -> list[str]:
    """Time blocks of questions with and without a recording in turn, and write the ratio."""
    size = max(1, len(questions) // rounds)
    pairs = []
    for number in range(rounds):
        block = questions[number * size : (number + 1) * size]
        took = {}
        for recorded in (number % 2 == 0, number % 2 == 1):
            with pipeline.recorded(measuring=False) if recorded else nullcontext():
                began = time.perf_counter()
                ask(pipeline, block)
                took[recorded] = time.perf_counter() - began
        pairs.append((took[True], took[False]))
    interval = bootstrap(np.array(pairs), lambda sums: ratio(sums[..., 0], sums[..., 1]))
    with_it, without = 1000 * np.median(np.array(pairs), axis=0) / size
    return [name, f"{rounds} x {size}", f"{with_it:.2f}", f"{without:.2f}", plain(interval)]


def main() -> None:
    """Build the engine, run the cases, print the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--framework", default="llama-index", choices=("langchain", "llama-index"))
    parser.add_argument("--set", default="2WikiMultihopQA", choices=SETS)
    parser.add_argument("--k", type=int, default=10, help="passages retrieved for a question")
    parser.add_argument("--passages", type=int, default=500, help="of the set's corpus")
    parser.add_argument("--together", type=int, default=64, help="questions awaited at a time")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    every = list(dict.fromkeys(asked.text for asked in asked_in(options.set, options.data, "test")))
    questions = sample(every, options.limit or 120, options.seed)
    passages = corpus_of(options.set, options.data)[: options.passages]
    pipeline = built(options.framework, passages, k=options.k)
    in_turn(pipeline, questions[:5])
    rows = [
        handlers_row(name, ask, pipeline, questions[: options.together] if ask is together else questions, measuring=measuring)
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
    show(f"Time in the handlers, {options.k} of {len(passages):,} passages a question, {options.framework}", header, rows)
    paired = [ratio_row(name, ask, pipeline, questions, options.rounds) for name, ask in WAYS.items()]
    show("A question, recorded and not", ["questions", "rounds", "recorded ms", "not ms", "ratio (95%)"], paired)


if __name__ == "__main__":
    main()
