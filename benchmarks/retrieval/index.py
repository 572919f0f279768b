"""What does an index of the embedded retriever cost: to build, to keep, to ask?

    python -m benchmarks.retrieval.index --passages 100000 --index /tmp/an-index

The corpus is made of the passages of the multi-hop sets and of SQuAD, and, where more are asked for, of passages whose
sentences are drawn from those (as many as a passage drawn with them has). Questions are the sets' own.

- *Build*: words alone and all together, in passages per second; left out where ``--index`` holds the index already.
- *Memory*: the most that a process of its own had resident while it built the index, and while it asked it. The corpus is in
  it, whose share is printed too, and so is what the system keeps mapped of the index's files, which it may drop.
- *Queries*: milliseconds of the retriever and of bm25s alone over the same corpus (as bm25s comes), one query at a time, turn
  about; the ratio is of the medians. The first queries, which warm both up, are left out.

Data: shared folder.
Time: about 17 minutes for 100,000 passages.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.support.datasets import lines, multihop_rows, paragraphs_of, squad_articles
from benchmarks.support.peak_memory import peak_bytes
from benchmarks.support.tables import arguments, show
from rag_cover import Passage
from rag_cover.texts import sentences
from rag_cover_embedded.retrieval import EmbeddedRetriever
from rag_cover_embedded.retrieval.keywords import Keywords

T = TypeVar("T")

K = 10
WARMING = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """Which corpus to index, and where."""

    data: Path
    passages: int
    index: Path
    queries: int
    seed: int


@dataclass(frozen=True, slots=True)
class Built:
    """Seconds of the words alone and of the whole index, 0 where it was found; bytes resident with the corpus and at most."""

    words_s: float
    whole_s: float
    corpus: int
    peak: int


@dataclass(frozen=True, slots=True)
class Asked:
    """Seconds to open the index, seconds of each query by the retriever and by bm25s, and bytes resident at most."""

    opening_s: float
    hybrid_s: list[float]
    words_s: list[float]
    peak: int


def corpus(plan: Plan) -> Iterator[Passage]:
    """Make the corpus, the same for the same plan."""
    real = dict.fromkeys(_real(plan.data))
    texts = [[span.of(text) for span in sentences(text)] for _, text in real]
    titles = [title for title, _ in real]
    pool = [sentence for text in texts for sentence in text]
    rng = random.Random(plan.seed)  # noqa: S311  # a sample, not a secret
    for number, (title, text) in zip(range(plan.passages), real, strict=False):
        yield Passage(text, title=title, id=str(number))
    for number in range(len(real), plan.passages):
        length = len(rng.choice(texts))
        yield Passage(" ".join(rng.choices(pool, k=length)), title=rng.choice(titles), id=str(number))


def _real(data: Path) -> Iterator[tuple[str, str]]:
    for name in ("2wiki", "musique", "hotpotqa"):
        for row in lines(data / f"multihop/{name}_corpus.jsonl"):
            yield row["title"], row["text"] if isinstance(row["text"], str) else " ".join(row["text"])
    for row in multihop_rows(data, "all"):
        yield from paragraphs_of(row)
    for article in squad_articles(data, "all"):
        for paragraph in article["paragraphs"]:
            yield article["title"].replace("_", " "), paragraph["context"]


def built(plan: Plan) -> Built:
    """Build the index, unless it is there."""
    passages = list(corpus(plan))
    alone = peak_bytes()
    began = time.perf_counter()
    if (plan.index / "index.json").exists():
        return Built(0, 0, alone, alone)
    Keywords.of(passages)
    words_s = time.perf_counter() - began
    EmbeddedRetriever(passages, plan.index)
    return Built(words_s, time.perf_counter() - began - words_s, alone, peak_bytes())


def asked(plan: Plan) -> Asked:
    """Ask the index questions, and time bm25s over the same corpus in the same way."""
    passages = list(corpus(plan))
    questions = [row["question"] for row in multihop_rows(plan.data, "all")]
    random.Random(plan.seed).shuffle(questions)  # noqa: S311  # an order, not a secret
    began = time.perf_counter()
    retriever = EmbeddedRetriever(passages, plan.index)
    opening_s = time.perf_counter() - began
    _ = [retriever.retrieve(question, k=K) for question in questions[:WARMING]]
    peak = peak_bytes()
    by_words = _bm25s(passages)
    ways: tuple[Callable[[str], object], ...] = (lambda question: retriever.retrieve(question, k=K), by_words)
    taken = [[_seconds(way, question) for way in ways] for question in questions[: plan.queries + WARMING]]
    hybrid_s, words_s = ([pair[place] for pair in taken[WARMING:]] for place in range(2))
    return Asked(opening_s, hybrid_s, words_s, peak)


def _bm25s(passages: list[Passage]) -> Callable[[str], object]:
    import bm25s

    index = bm25s.BM25()
    texts = [f"{passage.title or ''}\n{passage.text}" for passage in passages]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def retrieve(question: str) -> object:
        words = bm25s.tokenize([question], stopwords="en", show_progress=False)
        return index.retrieve(words, k=K, show_progress=False)

    return retrieve


def _seconds(way: Callable[[str], object], question: str) -> float:
    began = time.perf_counter()
    way(question)
    return time.perf_counter() - began


def _apart(work: Callable[[Plan], T], plan: Plan) -> T:
    """Do work in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, plan).result()


def _megabytes(count: float) -> str:
    return f"{count / 1e6:.0f} MB"


def show_costs(plan: Plan, build: Built, query: Asked) -> None:
    """Print what building and keeping cost."""
    kept = sum(path.stat().st_size for path in plan.index.rglob("*") if path.is_file())
    rate = f"{plan.passages / build.whole_s:.0f} passages/s, {build.whole_s:.0f} s in all" if build.whole_s else "found"
    words = f"{plan.passages / build.words_s:.0f} passages/s" if build.words_s else "found"
    rows = [
        ["build, words alone", words],
        ["build, words and vectors", rate],
        ["index on disk", f"{_megabytes(kept)}, {kept / plan.passages / 1e3:.1f} kB a passage"],
        ["resident with the corpus alone", _megabytes(build.corpus)],
        ["resident at most while building", _megabytes(build.peak) if build.whole_s else "not built"],
        ["resident at most while asking", _megabytes(query.peak)],
        ["opening", f"{query.opening_s:.2f} s"],
    ]
    show(f"{plan.passages} passages", ["what", "cost"], rows)


def show_queries(query: Asked) -> None:
    """Print how long queries take."""
    ways = {"the retriever": np.array(query.hybrid_s), "bm25s alone": np.array(query.words_s)}
    base = np.median(ways["bm25s alone"])
    rows = [
        [name, *(f"{1e3 * np.percentile(taken, at):.1f}" for at in (50, 95)), f"{np.median(taken) / base:.1f}"]
        for name, taken in ways.items()
    ]
    show(f"{len(query.hybrid_s)} queries, k = {K}, in milliseconds", ["way", "median", "95% are below", "times bm25s"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--index", type=Path, help="where to keep the index (default: in a folder that is deleted)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = options.index or Path(folder) / "index"
        plan = Plan(options.data, options.passages, index, options.queries, options.seed)
        build = _apart(built, plan)
        query = _apart(asked, plan)
        show_costs(plan, build, query)
        show_queries(query)


if __name__ == "__main__":
    main()
