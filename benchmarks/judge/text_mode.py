"""Is the judge's text mode still the encoder it was trained from? Retrieval on three multi-hop corpora.

    python -m benchmarks.judge.text_mode        # needs pip install 'rag-cover[train]'

nDCG@10 of `embed` (cosine) against the original all-MiniLM-L6-v2 in fp32 through torch, and against BM25: every question of
MuSiQue and HotpotQA (100 each) and the 2WikiMultihopQA questions of the test buckets, over their corpora; relevant are the
supporting paragraphs. The difference to the original is paired, with a bootstrap over questions; the aim is at most one point
lost. The original's vectors are kept in the system's folder for temporary files, by the hash of the texts.

Data: shared folder; the encoder it was trained from.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import Paragraph, lines, paragraphs_of, sample, two_wiki
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_embedder
from rag_cover.stats.intervals import bootstrap

Floats = NDArray[np.float64]

K = 10
LONGEST = 256
BATCH = 64


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts to search, questions, and which texts are relevant to each question."""

    texts: tuple[str, ...]
    questions: tuple[str, ...]
    relevant: tuple[frozenset[int], ...]


def collection(data: Path, name: str, limit: int | None, seed: int) -> Collection:
    """Read one corpus with its questions; a question whose supporting paragraphs are not in the corpus is left out."""
    texts = [_document(row["title"], row["text"]) for row in lines(data / f"multihop/{name}_corpus.jsonl")]
    place = {text: row for row, text in enumerate(texts)}
    rows = two_wiki(data, "test") if name == "2wiki" else list(lines(data / f"multihop/{name}_100.jsonl"))
    asked = []
    for row in sample(rows, limit, seed):
        wanted = {place[text] for text in map(_joined, supporting(row)) if text in place}
        if wanted:
            asked.append((row["question"], frozenset(wanted)))
    return Collection(tuple(texts), tuple(question for question, _ in asked), tuple(wanted for _, wanted in asked))


def supporting(row: dict[str, Any]) -> list[Paragraph]:
    """Return the paragraphs that a question needs."""
    if "paragraphs" in row:
        return [(each["title"], each["paragraph_text"]) for each in row["paragraphs"] if each["is_supporting"]]
    titles = {title for title, _ in row["supporting_facts"]}
    return [(title, text) for title, text in paragraphs_of(row) if title in titles]


def _document(title: str, text: str | Sequence[str]) -> str:
    return _joined((title, text if isinstance(text, str) else " ".join(sentence.strip() for sentence in text)))


def _joined(paragraph: Paragraph) -> str:
    return f"{paragraph[0]}\n{' '.join(paragraph[1].split())}"


def ndcg(ranked: Sequence[int], relevant: frozenset[int]) -> float:
    """Return nDCG@10 with gains of 0 and 1.

    >>> round(ndcg([7, 1, 2], frozenset({7, 2})), 4)
    0.9197
    """
    gains = [1 / np.log2(place + 2) for place, text in enumerate(ranked[:K]) if text in relevant]
    best = [1 / np.log2(place + 2) for place in range(min(K, len(relevant)))]
    return float(sum(gains) / sum(best))


def by_vectors(found: Collection, texts: NDArray[np.float32], questions: NDArray[np.float32]) -> Floats:
    """Return each question's nDCG@10 by cosine."""
    ranked = np.argsort(-(questions @ texts.T), axis=1, kind="stable")[:, :K]
    return np.array([ndcg(row.tolist(), relevant) for row, relevant in zip(ranked, found.relevant, strict=True)])


def by_words(found: Collection) -> Floats:
    """Return each question's nDCG@10 by BM25."""
    import bm25s

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(found.texts), stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(found.questions), stopwords="en", show_progress=False)
    ranked, _ = retriever.retrieve(asked, k=K, show_progress=False)
    return np.array([ndcg(row.tolist(), relevant) for row, relevant in zip(ranked, found.relevant, strict=True)])


def original_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts with the original encoder, or take the vectors from an earlier run."""
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]
    kept = Path(tempfile.gettempdir()) / "rag_cover_benchmarks" / f"all-MiniLM-L6-v2-{key}.npy"
    if kept.exists():
        return np.asarray(np.load(kept), dtype=np.float32)
    vectors = _embedded_by_the_original(texts)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, vectors)
    return vectors


def _embedded_by_the_original(texts: Sequence[str]) -> NDArray[np.float32]:
    import torch
    from transformers import AutoTokenizer, BertModel

    from rag_cover_embedded.training.network import find_pretrained_folder, mean_pooled

    tokenizer = AutoTokenizer.from_pretrained(find_pretrained_folder())
    encoder = BertModel.from_pretrained(find_pretrained_folder(), add_pooling_layer=False).eval()
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    vectors = np.zeros((len(texts), encoder.config.hidden_size), dtype=np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = tokenizer(
                [texts[row] for row in rows], truncation=True, max_length=LONGEST, padding=True, return_tensors="pt"
            )
            vectors[rows] = mean_pooled(encoder(**batch).last_hidden_state, batch["attention_mask"]).numpy()
    return vectors


def _mean(sums: Floats) -> Floats:
    return sums[..., 0] / sums[..., 1]


def _percent(values: Floats, seed: int) -> str:
    return percent(bootstrap(np.stack([values, np.ones_like(values)], axis=1), _mean, seed=seed))


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default="musique,hotpotqa,2wiki", help="which corpora, by name")
    options = parser.parse_args()
    embedder = open_embedder(options.judge)
    rows = []
    for name in options.corpora.split(","):
        found = collection(options.data, name, options.limit, options.seed)
        ours = by_vectors(found, embedder.embed(found.texts), embedder.embed(found.questions))
        original = by_vectors(found, original_vectors(found.texts), original_vectors(found.questions))
        scores = [_percent(values, options.seed) for values in (ours, original, ours - original, by_words(found))]
        rows.append([name, str(len(found.texts)), str(len(found.questions)), *scores])
    header = ["corpus", "texts", "questions", "judge's text mode", "all-MiniLM-L6-v2", "difference, in points", "BM25"]
    show("nDCG@10, in percent", header, rows)


if __name__ == "__main__":
    main()
