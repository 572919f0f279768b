"""How well does the embedded retriever find what answers a question, and what does each of its parts bring?

    python -m benchmarks.retrieval.quality                  # the figures: test questions
    python -m benchmarks.retrieval.quality --part train     # 2WikiMultihopQA's training questions, which chose the settings

Recall at 5 and 10 and nDCG@10 of the passages that support a question: MuSiQue and HotpotQA (100 questions each) over their
corpora, 2WikiMultihopQA over its corpus and the paragraphs that come with its questions (few of these are in the corpus, which
was made for another sample of the set), LIMIT-small (1,000 queries, two of 46 documents for each). QUEST is left out: its rows
name documents and do not bring them. Compared are

- *BM25, as bm25s comes*: title and text, its own words and parameters; every difference is to it, paired by question;
- *BM25, ours*: without plurals and accents, a title counted twice, k1 0.9, b 0.4;
- *cosine*: the passages' vectors;
- *late interaction*: of the candidates of both, as the retriever ranks them;
- *fused*: the retriever.

Intervals are bootstraps over questions. Indexes are kept in the system's folder for temporary files.

Data: shared folder.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.judge.text_mode import ndcg, supporting
from benchmarks.support.datasets import Paragraph, Part, lines, paragraphs_of, sample, two_wiki
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage
from rag_cover.stats.intervals import bootstrap
from rag_cover_embedded.retrieval import EmbeddedRetriever
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.fusion import rank_scores
from rag_cover_embedded.retrieval.index import Index, corpus_digest
from rag_cover_embedded.retrieval.retriever import CANDIDATES
from rag_cover_embedded.weights import Weights

Floats = NDArray[np.float64]
Rankings = dict[str, list[list[int]]]

K = 10
SETS = ("MuSiQue", "HotpotQA", "2WikiMultihopQA", "LIMIT-small")


@dataclass(frozen=True, slots=True)
class Collection:
    """Passages to search, whose ids are their row numbers, questions, which rows are relevant to each, and all else of them."""

    passages: tuple[Passage, ...]
    questions: tuple[str, ...]
    relevant: tuple[frozenset[int], ...]
    rows: tuple[dict[str, Any], ...]


def collection(data: Path, name: str, part: Part, limit: int | None, seed: int) -> Collection:
    """Read one set; all but 2WikiMultihopQA are for testing only."""
    if name == "LIMIT-small":
        return _limit(data / "setqueries", limit, seed)
    short = name.lower().removesuffix("multihopqa")
    corpus: list[Paragraph] = [(row["title"], row["text"]) for row in lines(data / f"multihop/{short}_corpus.jsonl")]
    if short == "2wiki":
        corpus += [paragraph for row in two_wiki(data, "all") for paragraph in paragraphs_of(row)]
    rows = two_wiki(data, part) if short == "2wiki" else list(lines(data / f"multihop/{short}_100.jsonl"))
    place = {paragraph: row for row, paragraph in enumerate(dict.fromkeys(map(_squeezed, corpus)))}
    chosen = sample(rows, limit, seed)
    relevant = [frozenset(place[paragraph] for paragraph in map(_squeezed, supporting(row))) for row in chosen]
    passages = [Passage(text, title=title, id=str(row)) for (title, text), row in place.items()]
    return Collection(tuple(passages), tuple(row["question"] for row in chosen), tuple(relevant), tuple(chosen))


def _squeezed(paragraph: tuple[str, str | Sequence[str]]) -> Paragraph:
    title, text = paragraph
    return title, " ".join((text if isinstance(text, str) else " ".join(text)).split())


def _limit(data: Path, limit: int | None, seed: int) -> Collection:
    documents: list[dict[str, Any]] = list(lines(data / "limit_small_corpus.jsonl"))
    place = {row["_id"]: number for number, row in enumerate(documents)}
    wanted: dict[str, set[int]] = {}
    for row in lines(data / "limit_small_qrels.jsonl"):
        wanted.setdefault(row["query-id"], set()).add(place[row["corpus-id"]])
    chosen = sample(list(lines(data / "limit_small_queries.jsonl")), limit, seed)
    passages = [Passage(row["text"], title=row["title"] or None, id=str(number)) for number, row in enumerate(documents)]
    asked = tuple(row["text"] for row in chosen)
    return Collection(tuple(passages), asked, tuple(frozenset(wanted[row["_id"]]) for row in chosen), tuple(chosen))


def rankings(found: Collection, folder: Path) -> Rankings:
    """Rank the passages for every question in every way."""
    retriever = EmbeddedRetriever(found.passages, folder)
    encoder = Encoder(Weights.open())
    index = Index.open_or_build(found.passages, encoder, folder)
    ways: Rankings = {"BM25, as bm25s comes": by_bm25s(found)}
    for question in found.questions:
        for way, places in _ways(index, encoder, question).items():
            ways.setdefault(way, []).append(places)
        ways.setdefault("fused", []).append([int(passage.id or "") for passage in retriever.retrieve(question, k=K)])
    return ways


def _ways(index: Index, encoder: Encoder, question: str) -> dict[str, list[int]]:
    asked = encoder.query(question)
    if asked is None:
        return {"BM25, ours": [], "cosine": [], "late interaction": []}
    scores = index.keywords.scores(question)
    words = rank_scores(scores, min(CANDIDATES, int((scores > 0).sum())))
    near = index.vectors.nearest(asked.embedding, CANDIDATES)
    late = index.vectors.interacting(asked, np.union1d(words, near))
    ways = {"BM25, ours": words, "cosine": near, "late interaction": late}
    return {way: places[:K].tolist() for way, places in ways.items()}


def by_bm25s(found: Collection) -> list[list[int]]:
    """Rank the passages for every question by BM25 as bm25s comes."""
    import bm25s

    retriever = bm25s.BM25()
    texts = [f"{passage.title or ''}\n{passage.text}" for passage in found.passages]
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(found.questions), stopwords="en", show_progress=False)
    places, scores = retriever.retrieve(asked, k=K, show_progress=False)
    return [places_of[scores_of > 0].tolist() for places_of, scores_of in zip(places, scores, strict=True)]


def recall(found: Sequence[int], relevant: frozenset[int], k: int) -> float:
    """Return the share of what is relevant among the first k.

    >>> recall([7, 1, 2], frozenset({7, 2}), 2)
    0.5
    """
    return len(relevant & set(found[:k])) / len(relevant)


def scores_of(ways: Sequence[Sequence[int]], relevant: Sequence[frozenset[int]]) -> Floats:
    """Return (questions, 4): recall@5, recall@10, nDCG@10, and whether all that is relevant is among the first ten."""
    rows = [
        (recall(found, wanted, 5), recall(found, wanted, K), ndcg(found, wanted), float(wanted <= set(found)))
        for found, wanted in zip(ways, relevant, strict=True)
    ]
    return np.array(rows)


def mean_in_percent(values: Floats, seed: int) -> str:
    """Write the mean of (questions,) values in percent, with its interval."""
    return percent(bootstrap(counted(values), mean_of, seed=seed))


def counted(values: Floats) -> Floats:
    """Return (questions, 2) rows, whose sums `mean_of` takes."""
    return np.stack([values, np.ones_like(values)], axis=1)


def mean_of(sums: Floats) -> Floats:
    """Return the mean of sums of (value, 1)."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def kept_index(passages: Sequence[Passage]) -> Path:
    """Name the folder that keeps the index of these passages between runs."""
    kept = Path(tempfile.gettempdir()) / "rag_cover_benchmarks"
    return kept / f"retrieval-{corpus_digest(passages)[:16]}-{Weights.open().sha256[:8]}"


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("train", "test"), default="test", help="which questions of 2WikiMultihopQA")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by name; with --part train 2WikiMultihopQA alone")
    parser.add_argument("--json", type=Path, help="write the rankings to a file too")
    options = parser.parse_args()
    written: dict[str, Rankings] = {}
    for name in ("2WikiMultihopQA",) if options.part == "train" else options.sets.split(","):
        found = collection(options.data, name, options.part, options.limit, options.seed)
        written[name] = rankings(found, kept_index(found.passages))
        scores = {way: scores_of(ranking, found.relevant) for way, ranking in written[name].items()}
        base = scores["BM25, as bm25s comes"]
        rows = [
            [
                way,
                *(mean_in_percent(mine[:, column], options.seed) for column in range(4)),
                mean_in_percent((mine - base)[:, 2], options.seed),
            ]
            for way, mine in scores.items()
        ]
        header = ["way", "recall@5", "recall@10", "nDCG@10", "all in the first 10", "nDCG@10 more than BM25, in points"]
        show(f"{name}: {len(found.questions)} questions, {len(found.passages)} passages, in percent", header, rows)
    if options.json:
        options.json.write_text(json.dumps(written), encoding="utf-8")


if __name__ == "__main__":
    main()
