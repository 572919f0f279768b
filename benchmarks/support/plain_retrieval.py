"""Plain retrievers as baselines of set queries: each ranks passages for the whole question, and its set is the first k.

- *BM25*: bm25s as it comes, over title and text
- *dense*: the embedded encoder's cosine
- *hybrid*: the embedded retriever, BM25 and late interaction fused

Between these and set algebra over judgments stands *each atom's first k*: the hybrid retriever asked for every atom of the gold
expression, and set algebra on what stands first, with nothing judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.retrieval.quality import kept_index
from benchmarks.support.entities import SetQuestion
from rag_cover import build_retriever
from rag_cover.questions import Passage
from rag_cover.setqueries.metrics import set_scores
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.index import Index
from rag_cover_embedded.weights import Weights

DEEPEST = 100
WAYS = ("BM25", "dense", "hybrid")
Rankings = dict[str, list[list[str]]]


def plain_rankings(passages: Sequence[Passage], questions: Sequence[str], folder: Path | None = None) -> Rankings:
    """Rank the first 100 passages for every question in every way, by id; ``folder`` keeps the index."""
    where = kept_index(passages) if folder is None else folder
    hybrid = build_retriever("embedded", passages, index=where)
    encoder = Encoder(Weights.open())
    index = Index.open_or_build(passages, encoder, where)
    return {
        "BM25": _by_words(passages, questions),
        "dense": [_by_meaning(index, encoder, passages, question) for question in questions],
        "hybrid": [_ids(hybrid.retrieve(question, k=DEEPEST)) for question in questions],
    }


def best_k(questions: Sequence[SetQuestion], rankings: Sequence[Sequence[str]]) -> int:
    """Return the number of first passages with the best mean F1; of equally good ones the least.

    >>> from rag_cover.setqueries import SetQuery
    >>> asked = SetQuestion("?", SetQuery.atom("a"), "A", frozenset({"1", "2"}))
    >>> best_k([asked], [["1", "2", "3"]])
    2
    """
    return max(range(1, DEEPEST + 1), key=lambda k: (round(_mean_f1(questions, rankings, k), 12), -k))


def best_k_by_template(questions: Sequence[SetQuestion], rankings: Sequence[Sequence[str]]) -> Mapping[str, int]:
    """Return the best number for each template by itself."""
    rows = list(zip(questions, rankings, strict=True))
    chosen = {}
    for template in dict.fromkeys(question.template for question in questions):
        mine = [row for row in rows if row[0].template == template]
        chosen[template] = best_k([question for question, _ in mine], [ranking for _, ranking in mine])
    return chosen


def rankings_of_atoms(passages: Sequence[Passage], questions: Sequence[SetQuestion]) -> dict[str, list[str]]:
    """Rank the first 100 passages for every atom by the hybrid retriever."""
    hybrid = build_retriever("embedded", passages, index=kept_index(passages))
    atoms = dict.fromkeys(atom for question in questions for atom in question.query.atoms)
    return {atom: _ids(hybrid.retrieve(atom, k=DEEPEST)) for atom in atoms}


def joined_firsts(question: SetQuestion, rankings: Mapping[str, Sequence[str]], k: int) -> list[str]:
    """Put each atom's first k together by set algebra, in no order that tells.

    >>> from rag_cover.setqueries import SetQuery
    >>> asked = SetQuestion("?", SetQuery.atom("a") - "b", "A", frozenset({"1"}))
    >>> joined_firsts(asked, {"a": ["1", "2", "3"], "b": ["2", "4"]}, 2)
    ['1']
    """
    return sorted(question.query.members({atom: rankings[atom][:k] for atom in question.query.atoms}))


def best_k_of_atoms(questions: Sequence[SetQuestion], rankings: Mapping[str, Sequence[str]]) -> int:
    """Return the number of each atom's first passages whose set algebra has the best mean F1."""

    def mean_f1(k: int) -> float:
        return fmean(set_scores(each.gold, joined_firsts(each, rankings, k)).f1 for each in questions)

    return max(range(1, DEEPEST + 1), key=lambda k: (round(mean_f1(k), 12), -k))


def _mean_f1(questions: Sequence[SetQuestion], rankings: Sequence[Sequence[str]], k: int) -> float:
    return fmean(set_scores(each.gold, ranking[:k]).f1 for each, ranking in zip(questions, rankings, strict=True))


def _by_words(passages: Sequence[Passage], questions: Sequence[str]) -> list[list[str]]:
    import bm25s

    index = bm25s.BM25()
    texts = [f"{passage.title or ''}\n{passage.text}" for passage in passages]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(questions), stopwords="en", show_progress=False)
    found = zip(*index.retrieve(asked, k=min(DEEPEST, len(passages)), show_progress=False), strict=True)
    return [_ids([passages[place] for place in places[scores > 0]]) for places, scores in found]


def _by_meaning(index: Index, encoder: Encoder, passages: Sequence[Passage], question: str) -> list[str]:
    asked = encoder.query(question)
    if asked is None:
        return []
    places = index.vectors.nearest(asked.embedding, min(DEEPEST, len(passages)))
    return _ids([passages[place] for place in np.asarray(places).tolist()])


def _ids(passages: Sequence[Passage]) -> list[str]:
    return [str(passage.id) for passage in passages]
