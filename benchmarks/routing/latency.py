"""How long does it take to route one question by what retrieval brings back, on a CPU?

    python -m benchmarks.routing.latency

Questions of the test part of ``--set``, multi-hop ones and their single hops, over its own corpus, one at a time: retrieve
``--k`` passages, ask the judge whether each answers and which words of the question it is about, choose.

- *warm*: the judge is open and the index built, and ``--warm-up`` other questions were asked. Half of the questions time the
  whole route, the other half its stages: the judge remembers what it judged, so no question is timed twice.
- *cold*: a new process for each of ``--cold`` questions, from the first import to the route, with the index kept on disk.

Printed are medians and 95th percentiles over questions in milliseconds, and where a warm question's time goes.

Data: shared folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.support.datasets import sample
from benchmarks.support.multihop import SETS, asked_in, corpus_of
from benchmarks.support.tables import arguments, show
from rag_cover import build_retriever, open_scorer
from rag_cover.backends import Retriever, Scorer
from rag_cover.complexity import complexity_of
from rag_cover.routing import ComplexityRouter

COLD = """
import sys, time
began = time.perf_counter()
from pathlib import Path
from rag_cover import build_retriever, open_scorer
from rag_cover.routing import ComplexityRouter
corpus, index, judge, k, question = sys.argv[1:]
router = ComplexityRouter(
    retriever=build_retriever("embedded", Path(corpus), index=Path(index)), scorer=open_scorer(judge), k=int(k)
)
router.route(question)
print(time.perf_counter() - began)
"""


def timed(run: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Time each question in milliseconds."""
    taken = []
    for question in questions:
        began = time.perf_counter()
        run(question)
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def stages(questions: Sequence[str], retriever: Retriever, scorer: Scorer, k: int) -> dict[str, list[float]]:
    """Time the stages of a route on their own."""
    found = {question: retriever.retrieve(question, k=k) for question in questions}
    return {
        "retrieve": timed(lambda question: retriever.retrieve(question, k=k), questions),
        "judge and decide": timed(lambda question: complexity_of(question, found[question], scorer, references=()), questions),
    }


def cold_starts(corpus: Path, index: Path, judge: str, k: int, questions: Sequence[str]) -> list[float]:
    """Time a new process for each question, in milliseconds."""
    taken = []
    for question in questions:
        words = [sys.executable, "-c", COLD, str(corpus), str(index), judge, str(k), question]
        done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - Python itself
        taken.append(1000 * float(done.stdout.split()[-1]))
    return taken


def _row(name: str, taken: Sequence[float]) -> list[str]:
    middle, high = np.percentile(taken, [50, 95])
    return [name, f"{len(taken):,}", f"{middle:,.1f}", f"{high:,.1f}", f"{max(taken):,.1f}"]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--k", type=int, default=10, help="passages retrieved for a question")
    parser.add_argument("--set", default="2WikiMultihopQA", choices=SETS)
    parser.add_argument("--index", type=Path, help="a folder where the index is kept for another run")
    parser.add_argument("--warm-up", type=int, default=10, help="questions asked before the clock runs")
    parser.add_argument("--cold", type=int, default=5, help="processes started anew")
    options = parser.parse_args()
    every = [asked.text for asked in asked_in(options.set, options.data, "test")]
    questions = sample(list(dict.fromkeys(every)), options.limit, options.seed)
    scorer = open_scorer(options.judge)
    with tempfile.TemporaryDirectory() as folder:
        corpus, index = Path(folder) / "corpus.jsonl", options.index or Path(folder) / "index"
        passages = corpus_of(options.set, options.data)
        rows_of_corpus = [passage.model_dump_json(exclude_defaults=True) for passage in passages]
        corpus.write_text("\n".join(rows_of_corpus), encoding="utf-8")
        began = time.perf_counter()
        retriever = build_retriever("embedded", corpus, index=index)
        built = time.perf_counter() - began
        router = ComplexityRouter(retriever=retriever, scorer=scorer, k=options.k)
        timed(router.route, questions[: options.warm_up])
        routed, staged = questions[options.warm_up :: 2], questions[options.warm_up + 1 :: 2]
        rows = [_row("warm: one route", timed(router.route, routed))]
        rows += [_row(f"warm: {name}", taken) for name, taken in stages(staged, retriever, scorer, options.k).items()]
        rows.append(
            _row("cold: a new process", cold_starts(corpus, index, options.judge, options.k, questions[: options.cold]))
        )
    header = ["what", "questions", "median ms", "p95 ms", "longest ms"]
    show(f"One question over {options.k} of {len(passages):,} passages, {options.judge} judge, CPU", header, rows)
    print(f"\nThe index was built, or read, in {built:.1f} s; a cold start reads it.")


if __name__ == "__main__":
    main()
