"""Does an order by coverage bring more supporting passages into the first five, and what does a filter by utility drop?

    python -m benchmarks.coverage.rerank                # the figures: test questions
    python -m benchmarks.coverage.rerank --part train   # 2WikiMultihopQA's training questions, on which choices were made

MuSiQue and HotpotQA (100 questions each) and 2WikiMultihopQA, over the corpora of `retrieval.quality`; no language model. The
first 20 passages of a retriever, the embedded one (*hybrid*) and BM25 as bm25s comes, are put in order by

- *the whole question*: P(the passage answers it), each passage by itself; *with rank*: that, and the retriever's order;
- *coverage, nobody reads*: `rag_cover.coverage.rerank` by core sub-questions of rules, those left out that need an answer;
- *coverage*: the same with the embedded reader, as `CoverageRerank` comes;
- *coverage, human steps*: the same by the set's human decomposition. HotpotQA has none.

Printed is recall of supporting passages at 5; *any order* is what the best order could have. Differences to the retriever's
own order are paired by question, p of a permutation test.

`UtilityFilter` reads the paragraphs that come with each question (20, 10 and 10): which share of the supporting ones and of the
others it drops, their intervals bootstraps over questions.

Training: the own paragraphs of a question and the first ten that the retriever finds for it, in the embedded retriever's order:
over the corpus alone, what this set's questions do not name is out of reach of any order.

Data: shared folder.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.augmentation.supporting_passages import SETS, Remembering
from benchmarks.retrieval.quality import Collection, collection, counted, kept_index, mean_in_percent, mean_of, recall
from benchmarks.support.datasets import paragraphs_of, sample, two_wiki
from benchmarks.support.multihop import KeywordRetriever
from benchmarks.support.scores import estimate, ratio
from benchmarks.support.steps import steps_of
from benchmarks.support.supported_sets import Supported, supported_sets
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage, open_entailer, open_receiver, open_scorer
from rag_cover.backends import Receiver, Retriever, Scorer
from rag_cover.belief import Attribution
from rag_cover.coverage import estimate_utilities, rerank
from rag_cover.stats.intervals import permutation_p_value
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.reader import EmbeddedReader
from rag_cover_embedded.retrieval import EmbeddedRetriever

Floats = NDArray[np.float64]

K = 5
DEPTH = 20
TIMED = 20
WEIGHTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)
FILTERS: Sequence[tuple[Attribution, float]] = (
    ("leave-one-out", 0.0),
    ("leave-one-out", 0.01),
    ("add-one-in", 0.01),
    ("add-one-in", 0.05),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its passages in a retriever's order, which are relevant, and its human steps where it has some."""

    question: str
    passages: tuple[Passage, ...]
    relevant: frozenset[int]
    steps: tuple[str, ...] | None = None


Way = Callable[[Case], Sequence[Passage]]


def cases_of(found: Collection, retriever: Retriever) -> list[Case]:
    """Retrieve for every question."""
    rows = zip(found.questions, found.relevant, map(steps_of, found.rows), strict=True)
    return [
        Case(question, tuple(retriever.retrieve(question, k=DEPTH)), relevant, steps.texts if steps else None)
        for question, relevant, steps in rows
    ]


def ways_of(scorer: Scorer, receiver: Receiver, cases: Sequence[Case]) -> dict[str, Way]:
    """Name the orders that are compared."""

    def whole(weight: float) -> Way:
        return lambda case: (
            rerank(case.question, case.passages, scorer, sub_questions=[case.question], retrieval_weight=weight).passages
        )

    ways: dict[str, Way] = {
        "retriever": lambda case: case.passages,
        "whole question": whole(0.0),
        "whole question, with rank": whole(0.3),
        "coverage, nobody reads": lambda case: rerank(case.question, case.passages, scorer).passages,
        "coverage": lambda case: rerank(case.question, case.passages, scorer, receiver=receiver).passages,
    }
    if all(case.steps for case in cases):
        ways["coverage, human steps"] = lambda case: (
            rerank(case.question, case.passages, scorer, receiver=receiver, sub_questions=case.steps).passages
        )
    return ways


def recalls(cases: Sequence[Case], way: Way, k: int = K) -> Floats:
    """Return (questions,) recall of relevant passages among the first k."""
    return np.array([recall([int(each.id or "") for each in way(case)], case.relevant, k) for case in cases])


def show_orders(name: str, cases: Sequence[Case], ways: dict[str, Way], seed: int) -> None:
    """Print every order's recall, and how much more it is than the retriever's own."""
    values = {way: recalls(cases, order) for way, order in ways.items()}
    base = values["retriever"]
    best = mean_in_percent(recalls(cases, ways["retriever"], DEPTH), seed)
    rows = [["retriever", mean_in_percent(base, seed), "", ""]]
    for way, mine in itertools.islice(values.items(), 1, None):
        p = permutation_p_value(counted(mine), counted(base), mean_of, seed=seed)
        rows.append([way, mean_in_percent(mine, seed), mean_in_percent(mine - base, seed), f"{p:.4f}"])
    header = ["order", f"recall@{K}", "more than the retriever's, in points", "p"]
    show(f"{name}: {len(cases)} questions, in percent", header, [*rows, ["any order", best, "", ""]])


def show_filter(name: str, rows: Sequence[Supported], receiver: Receiver, judge: str, seed: int) -> None:
    """Print what a filter by utility drops of supporting passages and of others."""
    entailer = open_entailer(judge)
    table = []
    for attribution, found in itertools.groupby(FILTERS, key=lambda each: each[0]):
        estimates = [
            estimate_utilities(row.question, row.passages, receiver=receiver, entailer=entailer, attribution=attribution)
            for row in rows
        ]
        for _, cut in found:
            dropped = [
                set(range(len(row.passages))).difference(utility.keeping(row.passages, min_utility=cut))
                for row, utility in zip(rows, estimates, strict=True)
            ]
            shares = [_share(rows, dropped, supporting=supporting, seed=seed) for supporting in (True, False)]
            undefined = sum(not utility.values for utility in estimates)
            table.append([attribution, f"{cut:g}", *shares, str(undefined)])
    passages = sum(len(row.passages) for row in rows)
    title = f"UtilityFilter, {name}: {len(rows)} questions, {passages} passages, dropped in percent"
    show(title, ["attribution", "min_utility", "supporting", "others", "questions without an answer"], table)


def _share(rows: Sequence[Supported], dropped: Sequence[set[int]], *, supporting: bool, seed: int) -> str:
    counts = [
        [sum(place in gone for place in places), len(places)]
        for row, gone in zip(rows, dropped, strict=True)
        if (places := [place for place, label in enumerate(row.labels) if (label > 0) == supporting])
    ]
    values = np.array(counts, dtype=np.float64)
    return percent(estimate(values, range(len(values)), lambda sums: ratio(sums[..., 0], sums[..., 1]), seed=seed))


def show_time(cases: Sequence[Case]) -> None:
    """Print the seconds that one reranking takes, by models that have judged nothing before."""
    scorer, reader, taken = EmbeddedJudge(), EmbeddedReader(), []
    for case in cases[: TIMED + 1]:
        began = time.perf_counter()
        rerank(case.question, case.passages, scorer, receiver=reader)
        taken.append(time.perf_counter() - began)
    seconds = ", ".join(f"{np.percentile(taken[1:], at):.2f}" for at in (50, 95))
    print(f"\nSeconds to rerank {DEPTH} passages, median and 95th percentile of {len(taken) - 1} questions: {seconds}")


def training(data: Path, scorer: Scorer, receiver: Receiver, limit: int | None, seed: int) -> None:
    """Print recall at 5 by the retriever's weight, on 2WikiMultihopQA's training part."""
    found = collection(data, "2WikiMultihopQA", "train", limit, seed)
    cases = list(_mixed(found))
    rows = [["retriever", "", mean_in_percent(recalls(cases, lambda case: case.passages), seed)]]
    for name, given in {"whole question": True, "coverage": False}.items():
        for weight in WEIGHTS:
            way = _weighed(scorer, receiver, weight, whole=given)
            rows.append([name, f"{weight:g}", mean_in_percent(recalls(cases, way), seed)])
    show(f"2WikiMultihopQA, training: {len(cases)} questions", ["order", "retriever's weight", f"recall@{K}"], rows)
    support = [row for row in _training_support(data) if row.question in set(found.questions)]
    show_filter("2WikiMultihopQA, training", support, receiver, "embedded", seed)


def _weighed(scorer: Scorer, receiver: Receiver, weight: float, *, whole: bool) -> Way:
    return lambda case: (
        rerank(
            case.question,
            case.passages,
            scorer,
            receiver=receiver,
            sub_questions=[case.question] if whole else None,
            retrieval_weight=weight,
        ).passages
    )


def _training_support(data: Path) -> Iterator[Supported]:
    for row in two_wiki(data, "train"):
        titles = {title for title, _ in row["supporting_facts"]}
        paragraphs = paragraphs_of(row)
        labels = tuple(float(title in titles) for title, _ in paragraphs)
        passages = tuple(Passage(text, title=title) for title, text in paragraphs)
        yield Supported(row["question"], (row["answer"],), passages, labels)


def _mixed(found: Collection) -> Iterator[Case]:
    """Put each question's own paragraphs and the first ten that are found in the retriever's order."""
    whole = EmbeddedRetriever(found.passages, kept_index(found.passages))
    place = {(passage.title, passage.text): passage for passage in found.passages}
    for question, relevant, row in zip(found.questions, found.relevant, found.rows, strict=True):
        own = [place[title, " ".join(text.split())] for title, text in paragraphs_of(row)]
        passages = {passage.id: passage for passage in [*own, *whole.retrieve(question, k=10)]}
        at_hand = sorted(passages.values(), key=lambda passage: int(passage.id or ""))
        ranked = EmbeddedRetriever(at_hand).retrieve(question, k=len(at_hand))
        left = [passage for passage in at_hand if passage.id not in {each.id for each in ranked}]
        yield Case(question, (*ranked, *left), relevant)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("train", "test"), default="test", help="train: 2WikiMultihopQA's alone")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by name")
    parser.add_argument("--without-filter", action="store_true", help="leave out what UtilityFilter drops")
    options = parser.parse_args()
    judge, receiver = open_scorer(options.judge), open_receiver("embedded")
    if options.part == "train":
        training(options.data, judge, receiver, options.limit, options.seed)
        return
    for name in options.sets.split(","):
        found = collection(options.data, name, "test", options.limit, options.seed)
        hybrid = EmbeddedRetriever(found.passages, kept_index(found.passages))
        scorer = Remembering(hybrid, judge)
        for kind, retriever in {"hybrid": hybrid, "BM25": KeywordRetriever(found.passages)}.items():
            cases = cases_of(found, retriever)
            show_orders(f"{name}, {kind}", cases, ways_of(scorer, receiver, cases), options.seed)
        show_time(cases)
    if not options.without_filter:
        supported = supported_sets(options.data, None, options.seed)
        for name in options.sets.split(","):
            rows = sample(supported[name], options.limit, options.seed)
            show_filter(name, rows, receiver, options.judge, options.seed)


if __name__ == "__main__":
    main()
