"""Does pseudo-relevance feedback find the supporting passages of questions that rules do not take apart?

    python -m benchmarks.augmentation.feedback                    # the figures: the half of the questions that chose nothing
    python -m benchmarks.augmentation.feedback --half choosing    # the other half, on which the expansion was chosen

MuSiQue and HotpotQA (100 questions each) have no part for training here, so that the parity of a question's SHA-256 cuts each
in two halves. Counted are questions whose supporting passages are all among the first ten, by the embedded retriever, for

- *question alone*: one search;
- *first sentences*: the question, and the question with the first sentence of each of its first two passages, pooled;
- *names*: the same with the names of each passage, as M3 searches, pooled without a judge;
- *M3* and *auto* of `rag_cover.coverage.augment` without feedback, and with it; sub-questions by rules, the embedded reader.

A search that asks for more passages and keeps ten is the question alone again. Differences are paired by question, with
bootstrap intervals. The last table is for harm: single-hop steps of MuSiQue, each with its one supporting passage.

Data: shared folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.augmentation.supporting_passages import Remembering
from benchmarks.retrieval.quality import Collection, collection, kept_index, mean_in_percent
from benchmarks.support.datasets import hops_of as single_hops
from benchmarks.support.tables import arguments, show
from rag_cover import Passage, open_receiver, open_scorer
from rag_cover.augmentation.feedback import FEEDBACK, expand_query
from rag_cover.augmentation.pooling import pool_passages
from rag_cover.augmentation.selection import select_passages
from rag_cover.backends import Receiver
from rag_cover.coverage import Augmenter
from rag_cover.decomposition.multihop import hops_of
from rag_cover.texts import sentences
from rag_cover.traces import RetrievalStep
from rag_cover_embedded.retrieval import EmbeddedRetriever

Floats = NDArray[np.float64]
Found = tuple[Sequence[Passage], int]
"""The passages that a way keeps, and its searches."""
Way = Callable[[str], Found]

K = 10
SETS = ("HotpotQA", "MuSiQue")
HALVES = ("choosing", "opened")
ALONE = "question alone"


@dataclass(frozen=True, slots=True)
class Scores:
    """(n,) whether a way finds all, and (n,) its searches."""

    found: Floats
    calls: Floats


def half_of(question: str) -> str:
    """Name the half that a question belongs to."""
    return HALVES[int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2]


def ways_over(models: Remembering, receiver: Receiver) -> dict[str, Way]:
    """Name the ways of searching."""
    m3 = Augmenter(retriever=models, scorer=models, receiver=receiver, k=K)
    auto = replace(m3, mode="auto")
    return {
        ALONE: lambda question: (models.retrieve(question, k=K), 1),
        "first sentences": lambda question: _pooled(models, question, _first_sentences),
        "names": lambda question: _pooled(models, question, expand_query),
        "M3, no feedback": lambda question: _augmented(replace(m3, feedback=0), question),
        "M3": lambda question: _augmented(m3, question),
        "auto, no feedback": lambda question: _augmented(replace(auto, feedback=0), question),
        "auto": lambda question: _augmented(auto, question),
    }


def _first_sentences(question: str, passages: Sequence[Passage]) -> list[str]:
    firsts = [sentences(passage.text)[:1] for passage in passages]
    return [f"{question} {span.of(passage.text)}" for passage, spans in zip(passages, firsts, strict=True) for span in spans]


def _pooled(models: Remembering, question: str, expand: Callable[[str, Sequence[Passage]], Sequence[str]]) -> Found:
    first = models.retrieve(question, k=K)
    queries = [question, *expand(question, first[:FEEDBACK])]
    steps = [RetrievalStep(query=query, passages=tuple(models.retrieve(query, k=K))) for query in queries]
    pool = pool_passages(steps)
    covers = np.zeros((0, len(pool.passages)), dtype=bool)
    places = select_passages(covers, pool.scores, k=K, own=pool.of(steps[0]))
    return [pool.passages[place] for place in places], len(steps)


def _augmented(augmenter: Augmenter, question: str) -> Found:
    made = augmenter.augment(question)
    return made.passages, made.calls


def _scored(questions: Sequence[str], relevant: Sequence[frozenset[int]], way: Way) -> Scores:
    made = [way(question) for question in questions]
    found = [
        float(wanted <= {int(passage.id or "") for passage in passages})
        for (passages, _), wanted in zip(made, relevant, strict=True)
    ]
    return Scores(np.array(found), np.array([calls for _, calls in made], dtype=np.float64))


def show_ways(title: str, ways: dict[str, Scores], chosen: NDArray[np.bool_], seed: int) -> None:
    """Print a table of ways beside the question alone, for the questions that are chosen."""
    if not chosen.any():
        return
    base = ways[ALONE].found[chosen]
    rows = [
        [
            name,
            mean_in_percent(scores.found[chosen], seed),
            "" if name == ALONE else mean_in_percent(scores.found[chosen] - base, seed),
            f"{scores.calls[chosen].mean():.2f}",
        ]
        for name, scores in ways.items()
    ]
    header = ["way", "all in the first 10", "more than the question alone, in points", "searches a question"]
    show(f"{title}: {len(base)} questions, in percent", header, rows)


def _single(found: Collection, half: str) -> tuple[list[str], list[frozenset[int]]]:
    places = {passage.text: int(passage.id or "") for passage in found.passages}
    hops = [hop for row in found.rows if half_of(row["question"]) == half for hop in single_hops(row)]
    held = [(hop.question, places[text]) for hop in hops if (text := " ".join(hop.paragraph.split())) in places]
    return [question for question, _ in held], [frozenset({place}) for _, place in held]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--half", choices=HALVES, default="opened", help="which half of the questions")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by name")
    options = parser.parse_args()
    scorer, receiver = open_scorer(options.judge), open_receiver("embedded")
    every: list[tuple[dict[str, Scores], NDArray[np.bool_]]] = []
    for name in options.sets.split(","):
        found = collection(options.data, name, "test", options.limit, options.seed)
        rows = [row for row, question in enumerate(found.questions) if half_of(question) == options.half]
        questions, relevant = [found.questions[row] for row in rows], [found.relevant[row] for row in rows]
        models = Remembering(EmbeddedRetriever(found.passages, kept_index(found.passages)), scorer)
        ways = {way: _scored(questions, relevant, search) for way, search in ways_over(models, receiver).items()}
        whole = np.array([not hops_of(question) for question in questions])
        every.append((ways, whole))
        show_ways(f"{name}, not taken apart", ways, whole, options.seed)
        show_ways(f"{name}, all", ways, np.ones(len(whole), dtype=bool), options.seed)
        if name == "MuSiQue":
            asked, wanted = _single(found, options.half)
            harmed = {way: _scored(asked, wanted, ways_over(models, receiver)[way]) for way in (ALONE, "names")}
            show_ways("MuSiQue, single-hop steps", harmed, np.ones(len(asked), dtype=bool), options.seed)
    together = {
        way: Scores(
            np.concatenate([ways[way].found for ways, _ in every]), np.concatenate([ways[way].calls for ways, _ in every])
        )
        for way in every[0][0]
    }
    show_ways("All sets, not taken apart", together, np.concatenate([whole for _, whole in every]), options.seed)


if __name__ == "__main__":
    main()
