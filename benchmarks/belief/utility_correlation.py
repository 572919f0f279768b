"""Is a passage worth more when it is one that the answer needs? Correlations after SePer's Table 2.

    python -m benchmarks.belief.utility_correlation

For each question the passages that come with it, one at a time: what is each worth, and does that go with its label? (Dai et
al., ICLR 2025: 1/steps for a supporting passage, where so many are needed, else 0.) Test questions of SQuAD 2.0, each with its
own paragraph and four of the same article, and of 2WikiMultihopQA; all of MuSiQue and HotpotQA, which nothing was trained on.

Each way to value a passage sees the same ten answers of the same receiver, with the passage and without:

- *ΔSePer*, soft and hard, as `rag_cover.belief` measures it;
- *exact match*, *ROUGE-L*, *BLEU*: the mean over the answers, for the best reference, less that without the passage;
- *semantic entropy*: how far it fell. A receiver that is certain to know nothing has none to lose, so here it only rises, and r
  is negative; its size says how well "the reader found anything at all" goes with the label.

The embedded reader is such a receiver: without passages it always says "unanswerable", which agrees with no reference, so that
its SePer(∅) is 0. A passage then cannot harm, and what is correlated is what the passage itself says: one that supports the
first of several steps alone does not hold the answer, and is worth next to nothing to this reader.

Intervals are bootstraps over questions. p is that of labels exchanged among the passages of a question (two-sided). Beside each
baseline stands r of soft ΔSePer less r of the baseline, over the same resamples.

Data: shared folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.lexical import bleu, exact_match, rouge_l
from benchmarks.support.scores import by_cluster, correlation, moments
from benchmarks.support.supported_sets import Supported, supported_sets
from benchmarks.support.tables import arguments, plain, show
from benchmarks.support.utilities import UtilityMeter
from rag_cover import open_entailer, open_receiver
from rag_cover.backends import Entailer, Receiver
from rag_cover.belief import BeliefKind
from rag_cover.belief.entailment import Judgments, gather
from rag_cover.belief.kernels import cluster_by_meaning
from rag_cover.belief.scoring import cluster_masses, entropy_of, uniform_weights
from rag_cover.belief.settings import UtilitySettings
from rag_cover.stats.intervals import bootstrap

Floats = NDArray[np.float64]

KINDS: Sequence[BeliefKind] = ("soft", "hard")
SOFT = "ΔSePer, soft"
BLOCK = 50  # questions measured together
PERMUTATIONS = 2000
LEXICAL: Mapping[str, Callable[[str, str], float]] = {"exact match": exact_match, "ROUGE-L": rouge_l, "BLEU": bleu}


@dataclass(frozen=True, slots=True)
class Valued:
    """The labels of (passages,), the number of each one's question, and what each way makes of them."""

    labels: Floats
    questions: NDArray[np.intp]
    values: dict[str, Floats]

    def rows(self, name: str) -> Floats:
        """Return (questions, 6) sums for `correlation`."""
        return by_cluster(moments(self.labels, self.values[name]), self.questions.tolist())


def valued(rows: Sequence[Supported], receiver: Receiver, entailer: Entailer, n: int, seed: int) -> Valued:
    """Value the passages of one set in every way."""
    values: dict[str, list[float]] = {}
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        judgments = Judgments(entailer)
        meter = UtilityMeter(receiver, Asked(judgments))
        for kind in KINDS:
            procedure = UtilitySettings(n=n, kind=kind, per_passage="add-one-in", seed=seed)
            values.setdefault(f"ΔSePer, {kind}", []).extend(meter.of_passages(block, procedure))
        answers = _answers(block, receiver, n, seed)
        for name, likeness in LEXICAL.items():
            values.setdefault(name, []).extend(_gains(block, answers, likeness))
        values.setdefault("semantic entropy", []).extend(_certainty_gained(block, answers, judgments))
        print(f"{min(start + BLOCK, len(rows))} of {len(rows)} questions", file=sys.stderr)
    owners = np.repeat(np.arange(len(rows)), [len(row.labels) for row in rows])
    labels = np.array([label for row in rows for label in row.labels])
    return Valued(labels, owners, {name: np.array(found) for name, found in values.items()})


class Asked:
    """An Entailer that goes by judgments already made."""

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return what was judged, and judge the rest."""
        return np.array(self._judgments.judge(pairs), dtype=np.float32).reshape(-1, 3)


def _answers(block: Sequence[Supported], receiver: Receiver, n: int, seed: int) -> list[list[list[str]]]:
    """Sample, for each question, answers without passages, then with each one: those that ΔSePer is measured by."""
    items = [[(row.question, ()), *((row.question, (passage,)) for passage in row.passages)] for row in block]
    drawn = iter(receiver.sample([*chain(*items)], n=n, seed=seed))
    return [[[sample.text for sample in next(drawn)] for _ in each] for each in items]


def _gains(
    block: Sequence[Supported], answers: Sequence[Sequence[Sequence[str]]], likeness: Callable[[str, str], float]
) -> list[float]:
    found = []
    for row, (without, *with_each) in zip(block, answers, strict=True):
        alike = {text: max(likeness(text, each) for each in row.references) for text in {*without, *chain(*with_each)}}
        prior = np.mean([alike[text] for text in without])
        found += [float(np.mean([alike[text] for text in texts]) - prior) for texts in with_each]
    return found


def _certainty_gained(
    block: Sequence[Supported], answers: Sequence[Sequence[Sequence[str]]], judgments: Judgments
) -> list[float]:
    asked = [cluster_by_meaning(row.question, texts) for row, sets in zip(block, answers, strict=True) for texts in sets]
    clusters = iter(judgments.settle(gather(asked)))
    found = []
    for sets in answers:
        prior, *posteriors = (entropy_of(cluster_masses(uniform_weights(len(texts)), next(clusters))) for texts in sets)
        found += [prior - posterior for posterior in posteriors]
    return found


def pooled(sets: Sequence[Valued]) -> Valued:
    """Put sets together."""
    starts = np.cumsum([0, *(int(each.questions.max()) + 1 for each in sets)])
    questions = np.concatenate([each.questions + start for each, start in zip(sets, starts, strict=False)])
    values = {name: np.concatenate([each.values[name] for each in sets]) for name in sets[0].values}
    return Valued(np.concatenate([each.labels for each in sets]), questions, values)


def p_values(found: Valued, seed: int) -> dict[str, float]:
    """Return, for each way, how often labels exchanged within questions correlate as strongly."""
    rng = np.random.default_rng(seed)
    scaled = np.stack([_standardised(values) for values in found.values.values()])
    labels = _standardised(found.labels)
    observed = np.abs(scaled @ labels)
    at_least = np.ones(len(observed))
    for _ in range(PERMUTATIONS):
        order = np.lexsort((rng.random(len(labels)), found.questions))
        at_least += np.abs(scaled @ labels[order]) >= observed - 1e-12
    return dict(zip(found.values, (at_least / (PERMUTATIONS + 1)).tolist(), strict=True))


def _standardised(values: Floats) -> Floats:
    spread = float(values.std())
    return (values - values.mean()) / (spread or 1.0)


def _difference(sums: Floats) -> Floats:
    return np.asarray(correlation(sums[..., :6]) - correlation(sums[..., 6:]))


def show_correlations(name: str, found: Valued, seed: int) -> None:
    """Print r, p and the difference to ΔSePer of each way to value passages."""
    ps = p_values(found, seed)
    rows = []
    for way in found.values:
        r = bootstrap(found.rows(way), correlation, seed=seed)
        paired = np.concatenate([found.rows(SOFT), found.rows(way)], axis=1)
        gap = "" if way == SOFT else plain(bootstrap(paired, _difference, seed=seed))
        rows.append([way, plain(r), f"{ps[way]:.4f}", gap])
    supporting = (found.labels > 0).mean()
    title = f"{name}: n = {found.questions.max() + 1} questions, {len(found.labels)} passages, {supporting:.1%} supporting"
    show(title, ["value of a passage", "Pearson r with its label", "p", "r of soft ΔSePer less this r"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--receiver", default="embedded", help="whose belief is measured")
    parser.add_argument("--entailer", default="embedded", help="who judges answers against references")
    parser.add_argument("--samples", type=int, default=10, help="answers sampled with each passage")
    options = parser.parse_args()
    receiver, entailer = open_receiver(options.receiver), open_entailer(options.entailer)
    sets = supported_sets(options.data, options.limit, options.seed)
    found = {name: valued(rows, receiver, entailer, options.samples, options.seed) for name, rows in sets.items()}
    for name, each in {**found, "All sets": pooled(list(found.values()))}.items():
        show_correlations(name, each, options.seed)


if __name__ == "__main__":
    main()
