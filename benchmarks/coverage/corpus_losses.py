"""Does the corpus say it? Sub-questions whose passage was not retrieved, with the passage left in the corpus or taken out.

    python -m benchmarks.coverage.corpus_losses                # the figures: test questions
    python -m benchmarks.coverage.corpus_losses --part train   # for choices: how many passages, from which probability

Natural Questions (QED's paragraphs), MuSiQue and 2WikiMultihopQA, whose multi-hop questions are asked step by step, the slots
filled with gold answers. Of each step the retriever's passages are judged as `rag_cover.coverage.corpus_search` does it, twice:
as they come (the corpus says it), and without every passage that holds a gold answer (it does not). Printed are precision and
recall of "not in the corpus" over both, half and half: by the rule that ships, without and with what the report calls unclear
(the retriever's ways of searching agree on a passage that the judge does not rule out), by the judge alone (as for a retriever
that does not tell whether its ways of searching agree), and by two simple things, whose cuts are fitted to the training
questions as the rule's were: the share of the question's words in the best passage, and the retriever's score of the first one.
The second table asks a corpus questions of another set, of which it says nothing: recall alone. *Small corpora* are the written
collections that no weights were trained on (FAQ pages, handbooks, manuals): with them in view it was chosen what is unclear.

``--limit`` is the number of questions of each set (default: all, 150 of the training questions, 150 of another set).

Data: shared folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.support.datasets import Part, lines, paragraphs_of, part_of, sample, two_wiki
from benchmarks.support.steps import filled_by_gold, steps_of
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage, build_retriever, open_scorer
from rag_cover.backends import Retriever, Scorer, ScoringItem
from rag_cover.coverage.corpus_search import AGREED_LACKS_BELOW, JUDGED, covers_from, ways_agree
from rag_cover.decomposition.multihop import hops_of
from rag_cover.english.words import content_words
from rag_cover.questions import prepend_title
from rag_cover.stats.intervals import wilson
from rag_cover.stats.logistic import recentre
from rag_cover_embedded.retrieval import EmbeddedRetriever
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.subjects import FILE, is_kept_from_weights

SETS = ("NQ", "MuSiQue", "2WikiMultihopQA")
_OTHERS = (("NQ", "MuSiQue"), ("2WikiMultihopQA", "NQ"), ("MuSiQue", "NQ"))
_MOST: dict[Part, int | None] = {"train": 150, "test": None}
_ELSEWHERE = 150
_DEEP = 40
_DEPTHS, _CUTS = (1, 2, 3, 5, 10), (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
Paragraph = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """A sub-question, the multi-hop question it belongs to, its answers, and the text of the passage that has one."""

    question: str
    top: str
    answers: tuple[str, ...]
    gold: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest passages of a step, with the judge's probability of each, as if its cut were a half."""

    question: str
    passages: tuple[Passage, ...]
    probabilities: tuple[float, ...]

    def judged(self, depth: int = JUDGED) -> float:
        """Return the best probability of the first passages."""
        return max(self.probabilities[:depth], default=0.0)

    @property
    def margin(self) -> float:
        """Return by how much the best probability is above that from which one covers."""
        return self.judged() - covers_from(self.passages, EmbeddedRetriever.agreed_score)

    @property
    def named(self) -> float:
        """Return what is negative where the report names the loss: the corpus lacks it clearly; of a nested question never."""
        if hops_of(self.question):
            return 1.0
        if not ways_agree(self.passages, EmbeddedRetriever.agreed_score):
            return self.margin
        return self.judged() - AGREED_LACKS_BELOW

    @property
    def overlap(self) -> float:
        """Return the largest share of the question's content words in one of the passages."""
        wanted = set(content_words(self.question))
        texts = [set(content_words(prepend_title(each.title, each.text))) for each in self.passages[:JUDGED]]
        return max((len(wanted & words) / max(1, len(wanted)) for words in texts), default=0.0)

    @property
    def score(self) -> float:
        """Return the retriever's score of the first passage."""
        return (self.passages[0].score or 0.0) if self.passages else 0.0


Pair = tuple[Nearest, Nearest]
"""What is nearest while the passage is in the corpus, and without it."""
Way = tuple[str, Callable[[Nearest], float], float]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("train", "test"), default="test", help="which questions")
    options = parser.parse_args()
    judge = open_scorer(options.judge)
    parts: tuple[Part, ...] = ("train",) if options.part == "train" else ("train", "test")
    found: dict[Part, dict[str, list[Pair]]] = {part: {} for part in parts}
    corpora: dict[str, Retriever] = {}
    asked: dict[str, list[Step]] = {}
    for name in SETS:
        corpus, steps = read(options.data, name)
        retriever = build_retriever("embedded", corpus)
        for part in parts:
            chosen = sample(part_of(steps, part, key=lambda step: step.top), options.limit or _MOST[part], options.seed)
            found[part][name] = [both(step, retriever, judge) for step in chosen]
        corpora[name], asked[name] = retriever, part_of(steps, parts[-1], key=lambda step: step.top)
    if options.part == "train":
        show_choices([pair for pairs in found["train"].values() for pair in pairs])
        return
    ways = ways_of([pair for pairs in found["train"].values() for pair in pairs])
    show_figures({**found["test"], "small corpora": list(in_small_corpora(judge, options.limit))}, ways)
    elsewhere = {
        f"{name} on {other}": [
            both(step, corpora[other], judge)[1] for step in sample(asked[name], options.limit or _ELSEWHERE, options.seed)
        ]
        for name, other in _OTHERS
    }
    rows = [
        [name, str(len(several)), way, percent(wilson(sum(value(near) < cut for near in several), len(several)))]
        for name, several in elsewhere.items()
        for way, value, cut in ways
    ]
    show("Questions of another set, of which the corpus says nothing", ["questions on corpus", "n", "by", "recall"], rows)


def read(data: Path, name: str) -> tuple[list[Passage], list[Step]]:
    """Read a set: its corpus, and the steps that one passage of it answers."""
    if name == "NQ":
        rows = list(lines(data / "reading/qed_dev.jsonl"))
        steps = [
            Step(row["question_text"], row["question_text"], _answers(row), _squeezed(row["paragraph_text"])) for row in rows
        ]
        return _passages((row["title_text"], row["paragraph_text"]) for row in rows), steps
    if name == "MuSiQue":
        corpus = [(row["title"], row["text"]) for row in lines(data / "multihop/musique_corpus.jsonl")]
        rows = list(lines(data / "multihop/musique_100.jsonl"))
    else:
        rows = two_wiki(data, "all")
        corpus = [(row["title"], row["text"]) for row in lines(data / "multihop/2wiki_corpus.jsonl")]
        corpus += [paragraph for row in rows for paragraph in paragraphs_of(row)]
    return _passages(corpus), [step for row in rows for step in _steps(row)]


def both(step: Step, retriever: Retriever, judge: Scorer) -> Pair:
    """Judge what is nearest to a step, as it comes and without the passages that hold its answer."""
    passages = retriever.retrieve(step.question, k=_DEEP)
    without = [each for each in passages if each.text != step.gold and not _holds(each, step.answers)]
    return nearest_of(step.question, passages, without, judge)


def nearest_of(question: str, passages: Sequence[Passage], without: Sequence[Passage], judge: Scorer) -> Pair:
    """Judge the first of the passages, and of those without the ones that answer."""
    deep = max(_DEPTHS)
    texts = list({each.key: each for each in (*passages[:deep], *without[:deep])}.values())
    scores = judge.correctness([ScoringItem(question, prepend_title(each.title, each.text)) for each in texts])
    known = {each.key: recentre(float(score), cut=judge.threshold) for each, score in zip(texts, scores, strict=True)}

    def nearest(found: Sequence[Passage]) -> Nearest:
        return Nearest(question, tuple(found[:deep]), tuple(known[each.key] for each in found[:deep]))

    return nearest(passages), nearest(without)


def in_small_corpora(judge: Scorer, limit: int | None) -> Iterator[Pair]:
    """Judge what is nearest to questions that a written collection answers, with and without the passages that answer."""
    for row in [each for each in lines(TEXTS / FILE) if is_kept_from_weights(each["domain"])][:limit]:
        names = {each["text"]: each["id"] for each in row["passages"]}
        retriever = build_retriever("embedded", list(names))
        for asked in row["questions"]:
            if not asked["answered_by"]:
                continue
            saying = {*asked["answered_by"], *asked["partly_by"]}
            found = retriever.retrieve(asked["question"], k=len(names))
            yield nearest_of(asked["question"], found, [each for each in found if names[each.text] not in saying], judge)


def show_choices(pairs: Sequence[Pair]) -> None:
    """Print precision and recall by how many passages are judged, and from which probability one covers."""
    rows = []
    for depth in _DEPTHS:
        for cut in _CUTS:
            counts = counted(pairs, lambda near, depth=depth: near.judged(depth), cut)
            rows.append([str(depth), f"{cut:.1f}", *figures(*counts)])
    show(
        f"'Not in the corpus' on {len(pairs)} training questions",
        ["passages judged", "covers from", "precision", "recall"],
        rows,
    )


def ways_of(train: Sequence[Pair]) -> Sequence[Way]:
    """Return what is compared: a name, a value of the nearest passages, and the cut below which the corpus does not say it."""
    return (
        ("the rule", lambda near: near.named, 0.0),
        ("the rule, unclear ones too", lambda near: near.margin, 0.0),
        ("the judge alone", Nearest.judged, covers_from((), None)),
        ("shared words", lambda near: near.overlap, best_cut(train, lambda near: near.overlap)),
        ("the retriever's score", lambda near: near.score, best_cut(train, lambda near: near.score)),
    )


def show_figures(test: dict[str, list[Pair]], ways: Sequence[Way]) -> None:
    """Print precision and recall by set, beside the simple things."""
    rows = []
    for name, pairs in (*test.items(), ("the three sets", [pair for several in SETS for pair in test[several]])):
        rows += [[name, str(2 * len(pairs)), way, *figures(*counted(pairs, value, cut))] for way, value, cut in ways]
    show("'Not in the corpus', half of the time rightly", ["set", "n", "by", "precision", "recall"], rows)


def counted(pairs: Sequence[Pair], value: Callable[[Nearest], float], cut: float) -> tuple[int, int, int]:
    """Count how often it is said rightly, how often wrongly, and how often it would be right."""
    return sum(value(out) < cut for _, out in pairs), sum(value(there) < cut for there, _ in pairs), len(pairs)


def figures(right: int, wrong: int, positives: int) -> list[str]:
    """Write precision and recall."""
    return [percent(wilson(right, right + wrong)) if right + wrong else "undefined", percent(wilson(right, positives))]


def best_cut(pairs: Sequence[Pair], value: Callable[[Nearest], float]) -> float:
    """Return the cut with the highest F1."""
    cuts = np.unique([value(near) for pair in pairs for near in pair])

    def f1(cut: float) -> float:
        right, wrong, positives = counted(pairs, value, cut)
        return 2 * right / (right + wrong + positives)

    return float(max(cuts, key=f1))


def _steps(row: dict[str, object]) -> list[Step]:
    steps, paragraphs = steps_of(row), paragraphs_of(row)
    if steps is None:
        return []
    found = []
    for text, answer in zip(filled_by_gold(steps), steps.answers, strict=True):
        holding = [text_ for _, text_ in paragraphs if _plain(answer) in _plain(text_)]
        if holding:
            found.append(Step(text, str(row["question"]), (answer,), _squeezed(holding[0])))
    return found


def _answers(row: dict[str, object]) -> tuple[str, ...]:
    given = row["original_nq_answers"]
    flat = [each for several in given for each in (several if isinstance(several, list) else [several])]  # type: ignore[attr-defined]
    return tuple(str(each["string"]) if isinstance(each, dict) else str(each) for each in flat)


def _passages(corpus: Iterable[Paragraph]) -> list[Passage]:
    return [Passage(text, title=title) for title, text in dict.fromkeys((title, _squeezed(text)) for title, text in corpus)]


def _holds(passage: Passage, answers: Sequence[str]) -> bool:
    return any(_plain(answer) in _plain(passage.text) for answer in answers if _plain(answer))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return re.sub(r"[^\w ]", "", text.lower()).strip()


if __name__ == "__main__":
    main()
