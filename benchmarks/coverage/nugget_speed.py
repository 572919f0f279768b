"""How long does it take to make a question's nuggets from a large corpus?

    python -m benchmarks.coverage.nugget_speed --index /tmp/an-index          # 100,000 passages, 30 questions
    python -m benchmarks.coverage.nugget_speed --passages 10000 --depths 50

The corpus and its index are those of `benchmarks.retrieval.index`; ``--index`` names a folder to find the index in, or to
build it in first (some ten minutes). Questions are the multi-hop sets' own; no pipeline's answer is given, so that the corpus
is the only source. Printed are the seconds of a question, the clock's and the processor's, the retrieval's part of them, and
how many nuggets were made. The first questions, which open the networks, are left out.

Data: shared folder.
Time: 3 minutes with an index of 100,000 passages.
"""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.retrieval.index import Plan, corpus
from benchmarks.support.datasets import multihop_rows
from benchmarks.support.tables import arguments, show
from rag_cover import Passage, Trace, open_embedder, open_entailer
from rag_cover.decomposition.nuggets import NuggetMaker
from rag_cover_embedded.retrieval import EmbeddedRetriever

WARMING = 3


@dataclass(slots=True)
class Timed:
    """A retriever that counts the seconds of its searches."""

    retriever: EmbeddedRetriever
    seconds: float = 0.0

    @property
    def fingerprint(self) -> str:
        """Return the retriever's own."""
        return self.retriever.fingerprint

    def retrieve(self, query: str, *, k: int) -> tuple[Passage, ...]:
        """Search, and count."""
        began = time.perf_counter()
        found = self.retriever.retrieve(query, k=k)
        self.seconds += time.perf_counter() - began
        return found


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--index", type=Path, help="where to keep the index (default: in a folder that is deleted)")
    parser.add_argument("--depths", type=int, nargs="+", default=[50, 100, 200], help="passages read for a question")
    options = parser.parse_args()
    questions = [row["question"] for row in multihop_rows(options.data, "all")]
    random.Random(options.seed).shuffle(questions)  # noqa: S311  # an order, not a secret
    chosen = questions[: WARMING + (options.limit or 30)]
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(options.data, options.passages, options.index or Path(folder) / "index", 0, options.seed)
        timed = Timed(EmbeddedRetriever(list(corpus(plan)), plan.index))
        rows = [[str(depth), *measure(timed, chosen, depth)] for depth in options.depths]
    show(
        f"Nuggets of {len(chosen) - WARMING} questions from {plan.passages} passages",
        ["passages read", "median s", "95% below, s", "processor s", "retrieval, s", "nuggets"],
        rows,
    )


def measure(timed: Timed, questions: list[str], depth: int) -> list[str]:
    """Return a row: seconds of a question, of the processor, of the retrieval, and the number of nuggets."""
    maker = NuggetMaker(open_embedder("embedded"), open_entailer("embedded"), corpus=timed, depth=depth)
    wall, processor, searching, counts = [], [], [], []
    for number, question in enumerate(questions):
        timed.seconds = 0.0
        began, worked = time.perf_counter(), time.process_time()
        (made,) = maker.make([Trace(question=question, id=str(number))])
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
        searching.append(timed.seconds)
        counts.append(len(made) if isinstance(made, tuple) else 0)
    kept = slice(WARMING, None)
    return [
        f"{np.median(wall[kept]):.2f}",
        f"{np.percentile(wall[kept], 95):.2f}",
        f"{np.median(processor[kept]):.2f}",
        f"{np.median(searching[kept]):.3f}",
        f"{np.mean(counts[kept]):.1f}",
    ]


if __name__ == "__main__":
    main()
