"""Do core sub-questions find supporting passages that the question alone does not, and at what price?

    python -m benchmarks.augmentation.supporting_passages                # the figures: test questions
    python -m benchmarks.augmentation.supporting_passages --part train   # 2WikiMultihopQA's training questions, for choices

MuSiQue and HotpotQA (100 questions each) and 2WikiMultihopQA, over the corpora of `retrieval.quality`; no language model.
Printed are recall of supporting passages at 5 and 10, whether all of them are among the first ten, and searches a question, for

- *BM25* as bm25s comes, and the embedded retriever (*hybrid*), asked by the question alone;
- *M3* and *auto* of `rag_cover.coverage.augment` over the embedded retriever, with sub-questions that are
  - *honest*: made from the question's text alone, by rules; or of the set's human decomposition, slots (``#1``) left out;
  - *iterative*: of rules (descriptions inside descriptions taken apart), or of the human decomposition, the slots filled by the
    embedded reader from what was found for earlier steps;
  - *oracle*: of the human decomposition, the slots filled with gold answers. The answer to a step then stands in the query of
    the next: an upper bound, that nobody has who asks.

HotpotQA has no human decomposition: it has rules alone, which also stand for it where all sets are put together. Differences to
hybrid are paired by question, p of a permutation test. FanOutQA has human decompositions whose evidence is a page of
Wikipedia, named by its title; its pages are no part of the data. The last table says how many of them the three corpora hold,
and of those how many searches find.

Data: shared folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.quality import Collection, by_bm25s, collection, counted, kept_index, mean_in_percent, mean_of, recall
from benchmarks.support.scores import by_cluster
from benchmarks.support.steps import Steps, filled_by_gold, steps_of
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage, SubQuestion, open_receiver, open_scorer
from rag_cover.augmentation import AugmentationMode
from rag_cover.backends import Receiver, Retriever, Scorer, ScoringItem
from rag_cover.coverage import Augmenter
from rag_cover.decomposition.multihop.slots import without_slots
from rag_cover.stats.intervals import bootstrap, permutation_p_value
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.reader import EmbeddedReader
from rag_cover_embedded.retrieval import EmbeddedRetriever

Floats = NDArray[np.float64]

K = 10
TIMED = 30
SETS = ("MuSiQue", "HotpotQA", "2WikiMultihopQA")
COLUMNS = ("recall@5", "recall@10", "all in the first 10")
ALL = COLUMNS.index("all in the first 10")


@dataclass(frozen=True, slots=True)
class Way:
    """Sub-questions of one kind: from the human decomposition (or from rules), with or without a reader for the slots."""

    name: str
    steps: Callable[[Steps], Sequence[str]] | None
    reads: bool


WAYS = (
    Way("honest, rules", None, reads=False),
    Way("honest, human steps", lambda steps: _bare(steps.texts), reads=False),
    Way("iterative, rules", None, reads=True),
    Way("iterative, human steps", lambda steps: steps.texts, reads=True),
    Way("oracle: gold bridges", filled_by_gold, reads=False),
)
MODES: tuple[AugmentationMode, ...] = ("retrieval", "auto")
SHORT = {"retrieval": "M3", "auto": "auto"}


class Remembering:
    """A judge and a retriever that are asked the same thing once, so that ways can be compared at leisure."""

    def __init__(self, retriever: Retriever, scorer: Scorer) -> None:
        self._retriever, self._scorer = retriever, scorer
        self.threshold = scorer.threshold
        self._found: dict[str, Sequence[Passage]] = {}
        self._scores: dict[ScoringItem, float] = {}

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first."""
        if query not in self._found:
            self._found[query] = self._retriever.retrieve(query, k=max(k, K))
        return self._found[query][:k]

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(covers)."""
        new = [item for item in dict.fromkeys(items) if item not in self._scores]
        if new:
            self._scores |= dict(zip(new, self._scorer.correctness(new).tolist(), strict=True))
        return np.array([self._scores[item] for item in items], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Scores:
    """What one way came to, question by question: (n, 3) as `COLUMNS`, and (n,) searches."""

    values: Floats
    calls: Floats


def measured(found: Collection, models: Remembering, receiver: Receiver) -> dict[str, Scores]:
    """Score every way on a collection."""
    ways = {
        "BM25": _scored(found, by_bm25s(found)),
        "hybrid": _scored(found, [_places(models.retrieve(question, k=K)) for question in found.questions]),
    }
    decomposed = all(map(steps_of, found.rows))
    for way in (way for way in WAYS if decomposed or way.steps is None):
        for mode in MODES:
            augmenter = Augmenter(retriever=models, scorer=models, mode=mode, receiver=receiver if way.reads else None, k=K)
            rows = zip(found.questions, map(steps_of, found.rows), strict=True)
            made = [augmenter.augment(question, sub_questions=_given(way, steps)) for question, steps in rows]
            calls = np.array([each.calls for each in made], dtype=np.float64)
            kept = [_places(each.passages) for each in made]
            ways[f"{SHORT[mode]}, {way.name}"] = Scores(_scored(found, kept).values, calls)
    return ways


def _given(way: Way, steps: Steps | None) -> list[SubQuestion] | None:
    return None if way.steps is None or steps is None else [SubQuestion(text) for text in way.steps(steps)]


def _bare(texts: Sequence[str]) -> list[str]:
    return [without_slots(text, position=number) for number, text in enumerate(texts, 1)]


def _places(passages: Sequence[Passage]) -> list[int]:
    return [int(passage.id or "") for passage in passages]


def _scored(found: Collection, ways: Sequence[Sequence[int]]) -> Scores:
    rows = [
        (recall(places, wanted, 5), recall(places, wanted, K), float(wanted <= set(places[:K])))
        for places, wanted in zip(ways, found.relevant, strict=True)
    ]
    return Scores(np.array(rows), np.ones(len(rows)))


def show_ways(name: str, ways: dict[str, Scores], seed: int) -> None:
    """Print a table of ways beside the embedded retriever asked by the question alone."""
    base = ways["hybrid"].values
    rows = []
    for way, scores in ways.items():
        mine = scores.values
        p = None if way == "hybrid" else permutation_p_value(counted(mine[:, ALL]), counted(base[:, ALL]), mean_of, seed=seed)
        rows.append(
            [
                way,
                *(mean_in_percent(mine[:, column], seed) for column in range(len(COLUMNS))),
                "" if way == "hybrid" else mean_in_percent(mine[:, ALL] - base[:, ALL], seed),
                "" if p is None else f"{p:.4f}",
                f"{scores.calls.mean():.2f}",
            ]
        )
    header = ["way", *COLUMNS, "all in the first 10 more than hybrid, in points", "p", "searches a question"]
    show(f"{name}: {len(base)} questions, in percent", header, rows)


def show_frugality(ways: dict[str, dict[str, Scores]]) -> None:
    """Print what auto keeps of M3's gain, and what it spends, on every set and on all of them."""
    rows = []
    for way in WAYS:
        for name, scores in ways.items():
            if f"M3, {way.name}" not in scores:
                continue
            base, full, auto = (scores[each] for each in ("hybrid", f"M3, {way.name}", f"auto, {way.name}"))
            gains = [float((each.values[:, ALL] - base.values[:, ALL]).mean()) for each in (full, auto)]
            kept = f"{100 * gains[1] / gains[0]:.0f}%" if gains[0] > 0 else "undefined: M3 gains nothing"
            spent, extra = (
                auto.calls.sum() / full.calls.sum(),
                (auto.calls.sum() - len(auto.calls), full.calls.sum() - len(auto.calls)),
            )
            more = f"{100 * extra[0] / extra[1]:.0f}%" if extra[1] else "undefined"
            rows.append([way.name, name, f"{100 * gains[0]:.1f}", f"{100 * gains[1]:.1f}", kept, f"{100 * spent:.0f}%", more])
    header = [
        "sub-questions",
        "set",
        "M3's gain, points",
        "auto's",
        "kept",
        "of M3's searches",
        "of those beyond the question's",
    ]
    show("What auto keeps of M3's gain on all in the first 10, and what it spends", header, rows)


def pooled(ways: Sequence[dict[str, Scores]]) -> dict[str, Scores]:
    """Put the questions of several sets together; rules stand in where a set has no human steps. The oracle is left out."""
    names = [name for name in ways[0] if not name.endswith(WAYS[-1].name)]
    found = {name: [each.get(name) or each[name.replace("human steps", "rules")] for each in ways] for name in names}
    return {
        name: Scores(np.concatenate([each.values for each in several]), np.concatenate([each.calls for each in several]))
        for name, several in found.items()
    }


def show_time(found: Collection, retriever: Retriever) -> None:
    """Print the seconds that a question takes with sub-questions of rules, way after way, each with models of its own.

    Models remember what they judged, and `open_scorer` gives the same one again: these are new, and have judged nothing.
    """
    ways: dict[str, Callable[[str], object]] = {"hybrid": lambda question: retriever.retrieve(question, k=K)}
    for mode in MODES:
        augmenter = Augmenter(retriever=retriever, scorer=EmbeddedJudge(), receiver=EmbeddedReader(), mode=mode, k=K)
        ways[SHORT[mode]] = augmenter.augment
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for question in found.questions[: TIMED + 1]:
        for name, way in ways.items():
            began = time.perf_counter()
            way(question)
            taken[name].append(time.perf_counter() - began)
    rows = [[name, *(f"{np.percentile(each[1:], at):.2f}" for at in (50, 95))] for name, each in taken.items()]
    show(f"Seconds a question: {TIMED} questions, the first left out", ["way", "median", "95% are below"], rows)


def show_fan_out(data: Path, passages: Sequence[Passage], models: Remembering, seed: int) -> None:
    """Print how many evidence pages of FanOutQA the corpora hold, and how many of those are found."""
    rows = json.loads((data / "multihop/fanoutqa_dev.json").read_text(encoding="utf-8"))
    titles = {passage.title for passage in passages}
    steps = [(row["question"], step) for row in rows for step in _leaves(row["decomposition"]) if step.get("evidence")]
    held = [(question, step) for question, step in steps if step["evidence"]["title"] in titles]
    asked: dict[str, list[str]] = {}
    for question, step in steps:
        asked.setdefault(question, []).append(step["question"])
    augmenter = Augmenter(retriever=models, scorer=models, k=K)
    kept = {question: augmenter.augment(question, sub_questions=asked[question]).passages for question, _ in held}
    ways: dict[str, Callable[[str, str], Sequence[Passage]]] = {
        "the question alone": lambda question, _: models.retrieve(question, k=K),
        "the sub-question": lambda _, text: models.retrieve(text, k=K),
        "M3 over all sub-questions": lambda question, _: kept[question],
    }
    kinds = {
        "honest: builds on no other": [pair for pair in held if not pair[1]["depends_on"]],
        "oracle: answers of others are in it": [pair for pair in held if pair[1]["depends_on"]],
    }
    table = [
        [kind, way, str(len(pairs)), _found(pairs, search, seed)]
        for kind, pairs in kinds.items()
        for way, search in ways.items()
    ]
    title = (
        f"FanOutQA: {len(rows)} questions, {len(steps)} sub-questions; {len(passages)} passages hold the pages of {len(held)}"
    )
    show(title, ["sub-questions", "searched for by", "n", "page in the first 10, in percent"], table)


def _found(pairs: Sequence[tuple[str, dict[str, Any]]], search: Callable[[str, str], Sequence[Passage]], seed: int) -> str:
    """Return the share of pages that are found, its interval from resampled questions."""
    found = [
        step["evidence"]["title"] in {passage.title for passage in search(question, step["question"])}
        for question, step in pairs
    ]
    sums = by_cluster(counted(np.array(found, dtype=np.float64)), [question for question, _ in pairs])
    return percent(bootstrap(sums, mean_of, seed=seed)) if found else "undefined"


def _leaves(steps: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        if step["decomposition"]:
            yield from _leaves(step["decomposition"])
        else:
            yield step


def _retriever(passages: Sequence[Passage]) -> EmbeddedRetriever:
    return EmbeddedRetriever(passages, kept_index(passages))


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("train", "test"), default="test", help="which questions of 2WikiMultihopQA")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by name; with --part train 2WikiMultihopQA alone")
    options = parser.parse_args()
    scorer, receiver = open_scorer(options.judge), open_receiver("embedded")
    ways: dict[str, dict[str, Scores]] = {}
    corpora: dict[tuple[str | None, str], Passage] = {}
    for name in ("2WikiMultihopQA",) if options.part == "train" else options.sets.split(","):
        found = collection(options.data, name, options.part, options.limit, options.seed)
        corpora |= {(passage.title, passage.text): passage for passage in found.passages}
        ways[name] = measured(found, Remembering(_retriever(found.passages), scorer), receiver)
        show_ways(f"{name} ({len(found.passages)} passages)", ways[name], options.seed)
    show_time(found, _retriever(found.passages))
    if len(ways) > 1:
        ways["all sets"] = pooled(list(ways.values()))
        show_ways("All sets", ways["all sets"], options.seed)
    show_frugality(ways)
    if options.part == "test":
        passages = [passage.model_copy(update={"id": str(place)}) for place, passage in enumerate(corpora.values())]
        show_fan_out(options.data, passages, Remembering(_retriever(passages), scorer), options.seed)


if __name__ == "__main__":
    main()
