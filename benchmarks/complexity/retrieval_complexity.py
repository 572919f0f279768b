"""Does probing the retrieved passages tell multi-hop questions from single-hop ones? The paper's Table 3, and an honest subset.

    python -m benchmarks.complexity.retrieval_complexity            the tables
    python -m benchmarks.complexity.retrieval_complexity --fit      the thresholds that ship for the embedded judge

Gabburo et al. (ACL Findings 2024): complex is a multi-hop question, not complex each of its single-hop sub-questions; accuracy,
and F1 of the complex ones. Ten passages a question, by BM25 and by the embedded retriever, judged by the embedded judge with
the gold answers ("gold") and without ("none").

- MuSiQue (100 questions) over its corpus.
- 2WikiMultihopQA, test buckets, over its corpus and the paragraphs of its 500 questions.
- StrategyQA, test buckets, over its pooled facts, apart: yes/no answers are no references, so only reference-free.
- HotpotQA has no single-hop negatives and is left out.

Multi-hop questions are longer, so a count of words does well. *Matched* is the AUC over pairs of a complex and a simple
question of equally many words, as many as can be, averaged over 20 ways to pair them. Thresholds, readings' temperatures and
every fitted baseline are cross-fitted by multi-hop question within the set (five folds); the rows "as shipped" use what was
fitted on 2WikiMultihopQA's train buckets and nothing else. Intervals are bootstraps over multi-hop questions.

Rows: *answerability* calls complex where no passage answers; *completeness* where the reading is high; *both* is the paper's
rule; *probability* a logistic regression of the two. *Text only* reads the question's words and never the passages.

Data: shared folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.complexity_presets import fit
from benchmarks.support.multihop import SETS, Asked, asked_in, corpus_of, matched, retriever_over
from benchmarks.support.probed import K, Probed, completeness_in, probed
from benchmarks.support.scores import accuracy, auc, counts, estimate, f1, ranks, ratio
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_embedder, open_scorer
from rag_cover.backends import fingerprint_of
from rag_cover.complexity import (
    AnswerSource,
    Calibration,
    CompletenessMethod,
    Complexity,
    Constraints,
    calibrate,
    calibration_for,
    complexities_of,
)
from rag_cover.complexity.calibration import complexity_features
from rag_cover.complexity.probing import Retrieved, fit_to_hops
from rag_cover.complexity.rrcp import ComplexityDecision, Evidential
from rag_cover.complexity.thresholds import best_thresholds
from rag_cover.stats.intervals import Interval, bootstrap, wilson
from rag_cover.stats.logistic import fit_weights, probabilities_of

Floats = NDArray[np.float64]
Said = NDArray[np.bool_]

STRING_IN = 5  # passages, as the baseline was first measured
FOLDS = 5
EMBEDDING_RIDGE = 30.0
READINGS: tuple[CompletenessMethod, ...] = get_args(CompletenessMethod)
FORMS = "who what when where which why how is are was were do does did or of and".split()  # noqa: SIM905  # one line


def folds_of(keys: Sequence[str], seed: int) -> NDArray[np.intp]:
    """Return (n,) each question's fold; those of one multi-hop question share it."""
    distinct = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    fold = np.random.default_rng(seed).permutation(len(distinct)) % FOLDS
    return fold[[distinct[key] for key in keys]]


def cut(scores: Floats, probe: Probed, seed: int) -> Said:
    """Call complex what reaches the cut with the best F1 on the other folds."""
    fold, truth = folds_of(probe.keys, seed), probe.truth
    simple = ranks(-scores) / (len(scores) + 1)
    said = np.zeros(len(truth), dtype=bool)
    for mine in (fold == number for number in range(FOLDS)):
        found = best_thresholds(simple[~mine], np.ones((~mine).sum()), truth[~mine], "answerability")
        said[mine] = simple[mine] < found.t_ans
    return said


def regressed(columns: Floats, probe: Probed, seed: int, *, ridge: float = 1.0) -> Floats:
    """Return (n,) P(complex) by a logistic regression fitted on the other folds."""
    fold, truth = folds_of(probe.keys, seed), probe.truth
    likely = np.zeros(len(truth))
    for mine in (fold == number for number in range(FOLDS)):
        likely[mine] = probabilities_of(fit_weights(columns[~mine], truth[~mine], ridge=ridge), columns[mine])
    return likely


def readable(asked: Sequence[Asked]) -> Floats:
    """Describe questions by what can be read off them: length, capitals, commas, possessives, and common words."""
    return np.array([_readable(each.text) for each in asked], dtype=np.float64)


def _readable(text: str) -> list[float]:
    words = text.split()
    lower = [word.strip("?,.'\"()").lower() for word in words]
    capitals = sum(word[:1].isupper() for word in words)
    return [len(words), len(text), capitals, text.count(","), text.count("'s"), *(lower.count(form) for form in FORMS)]


def matched_auc(scores: Floats, probe: Probed, pairings: Sequence[Sequence[int]], seed: int) -> Interval | None:
    """Return the mean AUC over pairings, with an interval from resampled multi-hop questions; ties count half.

    As in `scores.auc`, clusters are resampled as weights w: with A the wins of cluster against cluster and C the comparisons,
    summed over pairings, it is wᵀAw / wᵀCw.
    """
    distinct = {key: place for place, key in enumerate(dict.fromkeys(probe.keys))}
    cluster = np.array([distinct[key] for key in probe.keys])
    won, compared = np.zeros((2, len(distinct), len(distinct)))
    for pairing in map(np.array, pairings):
        hard, simple = pairing[probe.truth[pairing]], pairing[~probe.truth[pairing]]
        at = (cluster[hard][:, None], cluster[simple])
        over = scores[hard][:, None] - scores[simple]
        np.add.at(won, at, (over > 0) + 0.5 * (over == 0))
        np.add.at(compared, at, 1.0)

    def area(weights: Floats) -> Floats:
        return ratio(((weights @ won) * weights).sum(axis=-1), ((weights @ compared) * weights).sum(axis=-1))

    return bootstrap(np.eye(len(distinct)), area, seed=seed)


Row = list[str]


class Table:
    """Makes one line of figures after another for one set under one retriever."""

    def __init__(self, probe: Probed, seed: int) -> None:
        self.probe, self.seed = probe, seed
        self.pairings = matched(probe.asked, seed)
        self.rows: list[Row] = []
        self.f1: dict[tuple[str, str], float] = {}

    def add(self, name: str, source: str, *, scores: Floats | None = None, said: Said | None = None) -> None:
        """Add a method by its scores (higher: complex), cut where it says nothing itself, or by its verdicts alone."""
        truth, keys = self.probe.truth, self.probe.keys
        if said is None and scores is not None:
            said = cut(scores, self.probe, self.seed)
        rows = counts(np.asarray(said, dtype=np.float64), truth)
        figures = [estimate(rows, keys, statistic, seed=self.seed) for statistic in (accuracy, f1)]
        self.f1[name, source] = 0.0 if figures[1] is None else figures[1].estimate
        self.rows.append([name, source, *map(percent, figures), *self._areas(scores)])

    def _areas(self, scores: Floats | None) -> list[str]:
        if scores is None:
            return ["", ""]
        truth, keys = self.probe.truth, self.probe.keys
        pairs = matched_auc(scores, self.probe, self.pairings, self.seed)
        return [plain(auc(scores, truth, keys, seed=self.seed)), plain(pairs)]

    def add_rule(self, name: str, source: AnswerSource, constraints: Constraints, reading: CompletenessMethod) -> None:
        """Add the paper's rule, its thresholds and the temperature of the reading cross-fitted."""
        found = calibrate(
            self.probe.labelled(source), constraints=constraints, readings=(reading,), folds=FOLDS, seed=self.seed
        )
        self.f1[name, source] = 0.0 if found.f1 is None else found.f1.estimate
        self.rows.append([name, source, percent(found.accuracy), percent(found.f1), "", ""])


def table_of(probe: Probed, judge: str, fingerprint: str, seed: int) -> Table:
    """Measure every method on one set under one retriever."""
    table = Table(probe, seed)
    asked, truth = probe.asked, probe.truth
    table.add("always complex", "", said=np.ones_like(truth))
    table.add("always simple", "", said=np.zeros_like(truth))
    table.add("words of the question", "", scores=np.array([each.words for each in asked], dtype=np.float64))
    table.add("text only: readable", "", scores=regressed(readable(asked), probe, seed))
    embedded = open_embedder(judge).embed([each.text for each in asked]).astype(np.float64)
    table.add("text only: embedding", "", scores=regressed(embedded, probe, seed, ridge=EMBEDDING_RIDGE))
    sources: list[AnswerSource] = ["gold", "none"] if all(each.references for each in asked) else ["none"]
    if "gold" in sources:
        table.add("answer's string in the top 5", "gold", scores=-_strings(probe))
    for source in sources:
        _add_probes(table, source, fingerprint)
    return table


def _add_probes(table: Table, source: AnswerSource, fingerprint: str) -> None:
    evidence = table.probe.evidence(source)
    best = np.array([max(each.answer_probabilities, default=0.0) for each in evidence])
    table.add("answerability", source, scores=-best)
    readings = {reading: np.array([completeness_in(each, reading) for each in evidence]) for reading in READINGS}
    for reading, values in readings.items():
        table.add(f"completeness, {reading}", source, scores=values)
    for reading in ("token-entropy", "joint"):
        table.add_rule(f"both, {reading}", source, "both", reading)
        columns = np.array([complexity_features(*each, "both") for each in zip(best, readings[reading], strict=True)])
        table.add(f"probability, {reading}", source, scores=regressed(columns, table.probe, table.seed))
    for constraints in get_args(Constraints):
        if shipped := calibration_for(fingerprint, source, constraints):
            said = np.array(
                [_decide_as_shipped(shipped, *each).is_complex for each in zip(table.probe.asked, evidence, strict=True)]
            )
            table.add(f"{constraints}, as shipped", source, said=said)


def _strings(probe: Probed) -> Floats:
    pairs = zip(probe.asked, probe.passages, strict=True)
    found = [
        any(answer.lower() in text.lower() for answer in each.references for text in texts[:STRING_IN]) for each, texts in pairs
    ]
    return np.array(found, dtype=np.float64)


def measure(name: str, retriever: str, kept: Path | None, data: Path, judge: str, limit: int | None, seed: int) -> Table:
    """Measure one set under one retriever, and print its table."""
    scorer = open_scorer(judge)
    asked = asked_in(name, data, "test", limit=limit, seed=seed)
    probe = probed(asked, corpus_of(name, data), retriever, scorer, kept)
    table = table_of(probe, judge, fingerprint_of(scorer), seed)
    hard, pairs = int(probe.truth.sum()), len(table.pairings[0]) // 2
    title = f"{name}, {retriever}: {hard} complex and {len(asked) - hard} simple questions; {pairs} pairs of equal length"
    show(title, ["method", "answers", "accuracy", "F1", "AUC", "matched AUC"], table.rows)
    return table


def elsewhere(probe: Probed, name: str, data: Path, judge: str) -> list[Row]:
    """Ask a set's multi-hop questions over StrategyQA's facts, which are about something else, beside their own corpus."""
    scorer = open_scorer(judge)
    shipped = calibration_for(fingerprint_of(scorer), "none")
    if shipped is None:
        return []
    hard = [each for each in probe.asked if each.is_complex]
    engine = retriever_over("BM25", corpus_of("StrategyQA", data))
    retrieved: list[Retrieved] = [(each.text, engine.retrieve(each.text, k=K), ()) for each in hard]
    strange = [each for each in complexities_of(retrieved, scorer) if isinstance(each, Complexity)]
    own = [each for each, asked in zip(probe.evidence("none"), probe.asked, strict=True) if asked.is_complex]
    facts = "StrategyQA's facts"
    return [_shares(name, "its own", hard, own, shipped), _shares(name, facts, hard, strange, shipped)]


def _decide_as_shipped(calibration: Calibration, asked: Asked, found: Evidential) -> ComplexityDecision:
    return fit_to_hops(calibration, asked.text).verdict(found)


def _shares(name: str, corpus: str, asked: Sequence[Asked], found: Sequence[Evidential], calibration: Calibration) -> Row:
    verdicts = [_decide_as_shipped(calibration, *each) for each in zip(asked, found, strict=True)]
    incomplete = sum(not each.answerable and each.complete is False for each in verdicts)
    answerable = sum(each.answerable for each in verdicts)
    return [name, corpus, *(percent(wilson(count, len(found))) for count in (incomplete, answerable)), str(len(found))]


def means(tables: Sequence[tuple[str, str, Table]]) -> list[Row]:
    """Average each method's F1 over MuSiQue and 2WikiMultihopQA, retriever by retriever."""
    rows = []
    for retriever in dict.fromkeys(retriever for _, retriever, _ in tables):
        mine = [table.f1 for name, by, table in tables if by == retriever and name != "StrategyQA"]
        shared = [method for method in mine[0] if all(method in each for each in mine)] if mine else []
        rows += [[retriever, *method, f"{np.mean([each[method] for each in mine]):.3f}"] for method in shared]
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the shipped thresholds anew instead of measuring")
    parser.add_argument("--retrievers", nargs="+", default=["BM25", "embedded"], help="(default: BM25 embedded)")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, help="(default: all)")
    parser.add_argument("--evidence", type=Path, help="a folder to keep what the judge says in, and to read it back from")
    options = parser.parse_args()

    def kept(*parts: str) -> Path | None:
        folder: Path | None = options.evidence
        return None if folder is None else folder / ("-".join(parts) + ".jsonl")

    if options.fit:
        fit(options.data, open_scorer(options.judge), options.seed, kept("2WikiMultihopQA", "BM25", "train"), options.limit)
        return
    common = (options.data, options.judge, options.limit, options.seed)
    tables = [
        (name, by, measure(name, by, kept(name, by, "test"), *common)) for name in options.sets for by in options.retrievers
    ]
    rows = [
        row
        for name, by, table in tables
        if by == "BM25" and name != "StrategyQA"
        for row in elsewhere(table.probe, name, options.data, options.judge)
    ]
    header = ["multi-hop questions of", "corpus", "neither answerable nor complete", "answerable", "n"]
    if rows:
        show("As shipped, reference-free, BM25: questions about something else", header, rows)
    if mean_rows := means(tables):
        show("Mean F1 over MuSiQue and 2WikiMultihopQA", ["retriever", "method", "answers", "mean F1"], mean_rows)


if __name__ == "__main__":
    main()
