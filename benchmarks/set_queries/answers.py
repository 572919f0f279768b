"""How well are questions with set operations answered, by plain retrievers and by set algebra over retrieval?

    python -m benchmarks.set_queries.answers                     # the figures: test questions
    python -m benchmarks.set_queries.answers --part validation   # the questions on which every threshold was chosen
    python -m benchmarks.set_queries.answers --plain             # plain retrievers alone
    python -m benchmarks.set_queries.answers --speed             # pairs judged and seconds a query, 1,000 to 100,000 entities

Two collections in QUEST's seven templates, 40 questions each: the built corpus (`support.entities`: 2,100 entities in each of
two worlds, in whose making no retriever or judge had a part), and LIMIT's atoms composed (`support.limit`: 46 documents).
LIMIT's own queries, an atom each, check that nothing is lost where there is no set operation. Compared are

- *plain retrievers* (`support.plain_retrieval`), which rank for the whole question. Their set is the first k, the k with the
  best mean F1 on the validation questions of the collection; "k by template" takes the best k for each template *on the
  questions measured*, which no system could know and which favours them
- *each atom's first k*: the hybrid retriever and set algebra, nothing judged (k as above); it knows what the question means
- *ours*: the question parsed, its atoms searched for and judged, set algebra on the probabilities, as `rag_cover.setqueries`
  comes; "gold expression" is given what the question means, so that errors of parsing and of judging are told apart

Precision, recall and F1 are QUEST's averages over questions; intervals are bootstraps over questions, ratios are of mean F1s.
A question that is refused returns nothing.

Data: shared folder.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.quality import kept_index
from benchmarks.support.datasets import sample
from benchmarks.support.entities import SetQuestion, world
from benchmarks.support.limit import passages as limit_passages
from benchmarks.support.limit import questions as limit_questions
from benchmarks.support.limit import single_questions
from benchmarks.support.plain_retrieval import (
    WAYS,
    best_k,
    best_k_by_template,
    best_k_of_atoms,
    joined_firsts,
    plain_rankings,
    rankings_of_atoms,
)
from benchmarks.support.set_figures import BY_TEMPLATE, UNJUDGED, Found, Ways, show_figures
from benchmarks.support.tables import arguments, show
from rag_cover import build_retriever, open_scorer
from rag_cover.backends import Retriever, Scorer, ScoringItem, fingerprint_of
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.setqueries import SetAnswer, SetAnswerer, SetQuery, parse

Part = Literal["validation", "test"]
Asking = Callable[[SetQuestion], str | SetQuery]
"""What is handed to ours for a question."""

ASKED_FOR = 1_000
"""How many entities the questions of the speed table are about, whatever the size of the corpus."""
TIMED = 40
NAMES = ("built corpus", "LIMIT composed", "LIMIT's own queries")


@dataclass(frozen=True, slots=True)
class Collection:
    """Passages, and questions to them."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[SetQuestion, ...]


def collection(name: str, part: Part, data: Path) -> Collection:
    """Read or build one part of a collection."""
    match name:
        case "built corpus":
            built = world(part)
            return Collection(name, built.passages, built.questions)
        case "LIMIT composed":
            return Collection(name, limit_passages(data), tuple(limit_questions(data, part)))
        case _:
            return Collection(name, limit_passages(data), tuple(single_questions(data, part)))


def plain_ways(chosen_on: Collection, measured: Collection) -> dict[str, list[Found]]:
    """Ask plain retrievers, with the k that is best on other questions, and with the best of each template."""
    here = plain_rankings(measured.passages, [question.question for question in measured.questions])
    there = plain_rankings(chosen_on.passages, [question.question for question in chosen_on.questions])
    ks = {way: best_k(chosen_on.questions, there[way]) for way in WAYS}
    fixed = {f"{way}, k = {k}": _cut(measured, here[way], dict.fromkeys(_templates(measured), k)) for way, k in ks.items()}
    free = {
        f"{way}, k {BY_TEMPLATE}": _cut(measured, here[way], best_k_by_template(measured.questions, here[way])) for way in WAYS
    }
    return fixed | free | unjudged_way(chosen_on, measured)


def unjudged_way(chosen_on: Collection, measured: Collection) -> dict[str, list[Found]]:
    """Put each atom's first k together, with the k that is best on other questions; only the set is to be looked at."""
    here, there = (rankings_of_atoms(each.passages, each.questions) for each in (measured, chosen_on))
    k = best_k_of_atoms(chosen_on.questions, there)
    kept = [joined_firsts(question, here, k) for question in measured.questions]
    return {f"{UNJUDGED} {k}, gold expression": [Found(each, each) for each in kept]}


def answering(retriever: Retriever, scorer: Scorer) -> Callable[[str | SetQuery], SetAnswer]:
    """Answer as `rag_cover.setqueries` comes, with everything judged: rankings hold what was left out, too."""
    return SetAnswerer(retriever=retriever, scorer=scorer, exhaustive=True).answer


def found_for(answer: Callable[[str | SetQuery], SetAnswer], asked: str | SetQuery) -> Found:
    """Ask ours; a question that is refused returns nothing."""
    try:
        got = answer(asked)
    except InvalidValueError:
        return Found((), ())
    return Found(got.names, [each.name for each in got.ranked])


def our_ways(measured: Collection, scorer: Scorer) -> dict[str, list[Found]]:
    """Ask ours, with our parser and with what each question means."""
    retriever = build_retriever("embedded", measured.passages, index=kept_index(measured.passages))
    answer = answering(retriever, scorer)
    asking: dict[str, Asking] = {"ours": lambda each: each.question, "ours, gold expression": lambda each: each.query}
    return {way: [found_for(answer, ask(each)) for each in measured.questions] for way, ask in asking.items()}


def show_parsing(measured: Collection) -> None:
    """Print how often the parser reads a question's shape as it is meant."""
    templates = _templates(measured)
    read = {template: [_reads(each) for each in measured.questions if each.template == template] for template in templates}
    every = [right for rights in read.values() for right in rights]
    row = [f"{100 * np.mean(rights):.0f}" for rights in (every, *read.values())]
    show(f"{measured.name}: questions whose template is read right, in percent", ["all", *templates], [row])


def show_speed(judge: str, sizes: Sequence[int], timed: int, *, screen: bool) -> None:
    """Print what a query costs against the size of the corpus; the first query, which warms all up, is left out."""
    rows = []
    for size in sizes:
        built = world("validation", size=ASKED_FOR, of=size)
        retriever = Timed(build_retriever("embedded", built.passages, index=kept_index(built.passages)))
        scorer = open_scorer(judge)
        answerer = SetAnswerer(retriever=retriever, scorer=scorer, workers=1, screen=screen)
        costs = [_cost(answerer, retriever, question) for question in _spread(built.questions, timed + 1)][1:]
        pairs, retrieval, whole, processor = np.median(np.array(costs), axis=0)
        mean = float(np.mean([cost[0] for cost in costs]))
        seconds = (retrieval, whole - retrieval, whole, processor, float(np.mean([cost[3] for cost in costs])))
        rows.append([f"{size:,}", f"{mean:.0f}", f"{pairs:.0f}", *(f"{each:.3f}" for each in seconds)])
    header = ["entities", "pairs judged, mean", "median", "retrieval, s", "judging and all else, s", "whole, s (medians)"]
    header += ["processor, s, median", "mean"]
    show(f"Cost of a query: {timed} questions, one at a time, gold expressions", header, rows)


class Remembered:
    """A scorer that is asked for each pair once, since many questions share atoms; ``kept`` holds an earlier run's verdicts."""

    def __init__(self, scorer: Scorer, kept: Path | None = None) -> None:
        self._scorer, self._kept = scorer, kept
        known = pickle.loads(kept.read_bytes()) if kept and kept.exists() else {}  # noqa: S301  # this script's own
        self._known: dict[ScoringItem, float] = known
        self.fingerprint = fingerprint_of(scorer)

    def keep(self) -> None:
        """Write what was judged to the file that it is kept in, if there is one."""
        if self._kept:
            self._kept.write_bytes(pickle.dumps(self._known))

    @property
    def threshold(self) -> float:
        """Return the scorer's own."""
        return self._scorer.threshold

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Judge what was not judged before."""
        new = [item for item in dict.fromkeys(items) if item not in self._known]
        if new:
            self._known |= zip(new, self._scorer.correctness(new).tolist(), strict=True)
        return np.array([self._known[item] for item in items], dtype=np.float32)


class Timed:
    """A retriever that notes how long it takes."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self.seconds = 0.0

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Retrieve, and add the time to ``seconds``."""
        began = time.perf_counter()
        found = self._retriever.retrieve(query, k=k)
        self.seconds += time.perf_counter() - began
        return found


def _cost(answerer: SetAnswerer, retriever: Timed, question: SetQuestion) -> tuple[float, float, float, float]:
    """Return the pairs judged, the seconds of retrieval and of everything, and the processor's seconds of everything."""
    retriever.seconds = 0.0
    began, processor = time.perf_counter(), time.process_time()
    got = answerer.answer(question.query)
    return float(got.judged), retriever.seconds, time.perf_counter() - began, time.process_time() - processor


def _spread(questions: Sequence[SetQuestion], count: int) -> list[SetQuestion]:
    """Take questions evenly, so that every template is among them."""
    return [questions[place] for place in np.linspace(0, len(questions) - 1, count).astype(int)]


def _reads(question: SetQuestion) -> bool:
    try:
        return parse(question.question).query.normal_form().template == question.template
    except InvalidValueError:
        return False


def _templates(some: Collection) -> list[str]:
    return list(dict.fromkeys(question.template for question in some.questions))


def _cut(measured: Collection, rankings: Sequence[Sequence[str]], ks: Mapping[str, int]) -> list[Found]:
    pairs = zip(measured.questions, rankings, strict=True)
    return [Found(ranking[: ks[question.template]], ranking) for question, ranking in pairs]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("validation", "test"), default="test", help="which questions to measure")
    parser.add_argument("--sets", default=",".join(NAMES), help="which collections, by name")
    parser.add_argument("--plain", action="store_true", help="plain retrievers alone")
    parser.add_argument("--speed", action="store_true", help="what a query costs, and nothing else")
    parser.add_argument("--screen", action="store_true", help="with --speed: screen candidates before they are judged")
    parser.add_argument("--sizes", default="1000,10000,100000", help="with --speed: the corpora's sizes")
    parser.add_argument("--keep", type=Path, help="a file to keep the judge's verdicts in, or to take them from")
    options = parser.parse_args()
    if options.speed:
        sizes = [int(size) for size in options.sizes.split(",")]
        show_speed(options.judge, sizes, options.limit or TIMED, screen=options.screen)
        return
    for name in options.sets.split(","):
        chosen_on, whole = (collection(name, part, options.data) for part in ("validation", options.part))
        measured = replace(whole, questions=tuple(sample(whole.questions, options.limit, options.seed)))
        ways: Ways = plain_ways(chosen_on, measured)
        if not options.plain:
            scorer = Remembered(open_scorer(options.judge), options.keep)
            ways = {**ways, **our_ways(measured, scorer)}
            scorer.keep()
        show_figures(f"{name}, {options.part}", measured.questions, ways, seed=options.seed)
        show_parsing(measured)


if __name__ == "__main__":
    main()
