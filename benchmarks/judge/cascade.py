"""How near does a cascade of judges come to the model alone, for which share of its calls?

    python -m benchmarks.judge.cascade

People's labels stand in for the model: what it is asked, it judges as they do (or in 90% of the cases, drawn independently).
The embedded judge keeps the other verdicts. Asked are

- those between its two cuts, as ``--judge cascade:embedded+MODEL`` asks without a budget;
- a share of 5, 10, 20, 35 and 50%: of those between the two cuts the ones nearest to the cut, as the cascade spends a budget
  within one role, and where that is all of them, the nearest others (which the cascade does not ask about);
- the same share of all, those nearest to the cut whether they lie between the two cuts or not: what other cuts might give;
- as large a share drawn at random: the simple thing. What that gives on average is the same mixture of the judge alone and
  the model alone, and is computed, not drawn.

The goal was set before the first run: within 1 point of the model alone at 35% of its calls. Nothing is fitted here; cuts and
order are those that ship. Texts: the test split of the collected sets, at most 300 of each (as in
`benchmarks.judge.judge_error`), and answers of pipelines to sub-questions. Intervals are jackknifes over groups (questions,
articles).

Data: shared folder.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.agreement import published_cases
from benchmarks.judge.natural_texts import MOST, by_source, cut_of, item_of
from benchmarks.reports.losses import labelled_sets
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_scorer
from rag_cover.backends import Scorer, ScoringItem, certain_cuts_of, mode_of
from rag_cover.measures import ratio
from rag_cover.stats.intervals import Interval, jackknife, jackknife_share
from rag_cover.stats.logistic import recentre
from rag_cover.stores import read_traces

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Labelled = tuple[ScoringItem, bool, str]
SHARES = (0.05, 0.10, 0.20, 0.35, 0.50)
MODELS = (1.0, 0.9)
"""How often the model that is asked agrees with people."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the embedded judge says of the texts of one kind: is it right, how far from the cut, between the two cuts."""

    right: Flags
    distance: Floats
    unsure: Flags
    keys: NDArray[np.int64]

    @classmethod
    def of(cls, cases: Sequence[Labelled], scorer: Scorer) -> Judged:
        """Ask the judge."""
        items, labels, keys = zip(*cases, strict=True)
        said = scorer.correctness(items).astype(float)
        centred = np.array([recentre(p, cut=cut_of(item, scorer)) for p, item in zip(said, items, strict=True)])
        cuts = [certain_cuts_of(scorer)[mode_of(item)] for item in items]
        unsure = np.array([low < p < high for p, (low, high) in zip(said, cuts, strict=True)])
        right = (centred >= 0.5) == np.array(labels)  # noqa: PLR2004  # the cut
        return cls(right, np.abs(centred - 0.5), unsure, np.unique(keys, return_inverse=True)[1])

    def nearest(self, share: float) -> Flags:
        """Choose a share of the texts, those nearest to the cut."""
        return self._first(np.argsort(self.distance, kind="stable"), share)

    def unsure_first(self, share: float) -> Flags:
        """Choose a share of the texts, those between the two cuts first, of these those nearest to the cut."""
        return self._first(np.lexsort((self.distance, ~self.unsure)), share)

    def _first(self, order: NDArray[np.int64], share: float) -> Flags:
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[: round(share * len(order))]] = True
        return chosen

    def accuracy(self, asked: Floats | Flags, model: float) -> Interval | None:
        """Return the share that is judged as people do, where ``asked`` is the probability that the model is asked."""
        return jackknife_share(self._sums(self._right(asked, model)), ratio)

    def gain(self, asked: Flags, model: float) -> Interval | None:
        """Return by how much it is larger than where as many are asked at random."""
        by_chance = np.full(len(asked), asked.mean())
        return jackknife(self._sums(self._right(asked, model) - self._right(by_chance, model)), ratio)

    def _right(self, asked: Floats | Flags, model: float) -> Floats:
        share = asked.astype(float)
        return np.asarray(share * model + (1 - share) * self.right)

    def _sums(self, values: Floats) -> Floats:
        return np.stack([np.bincount(self.keys, values), np.bincount(self.keys)], axis=1)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer = open_scorer(options.judge)
    for title, cases in sets(options.data, options.limit or MOST, options.seed).items():
        report(title, Judged.of(cases, scorer))


def sets(data: Path, most: int, seed: int) -> dict[str, list[Labelled]]:
    """Read the labelled texts: replies and passages of the collected sets, answers of pipelines to sub-questions."""
    rng = random.Random(seed)  # noqa: S311  # samples, not secrets
    rows = [row for each in by_source(data / "judge/answers.jsonl.gz", rng, most).values() for row in each]
    collected = [(item_of(row), bool(row["label"]), str(row["group"])) for row in rows]
    return {
        "Replies, collected sets": [case for case in collected if case[0].user_question],
        "Passages, collected sets": [case for case in collected if not case[0].user_question],
        "Answers of pipelines to sub-questions": list(answers_in_parts(data)),
    }


def answers_in_parts(data: Path) -> Iterator[Labelled]:
    """Read labelled answers to questions of several parts: the published sheet, the demo, the trial and its pipelines."""
    for case in published_cases(data):
        yield case.item, case.covered, f"sheet:{case.key}"
    for each in (each for title, several in labelled_sets().items() if title != "Degenerate answers" for each in several):
        for trace in read_traces(each.traces):
            labels = each.read_labels(trace.pipeline or each.traces.stem)
            for part in trace.sub_questions or ():
                if trace.answer and (label := labels.get((trace.question.id or "", part.text))) is not None:
                    item = ScoringItem(part.text, trace.answer, user_question=trace.question.text)
                    yield item, bool(label[0]), f"{each.traces.parent.name}:{trace.question.text}"


def report(title: str, judged: Judged) -> None:
    """Print the accuracy for each share asked, beside random choice and the model alone, for each of the models."""
    choices = [("none: the embedded judge alone", np.zeros(len(judged.right), dtype=bool))]
    choices += [(f"unsure ones first, {share:.0%}", judged.unsure_first(share)) for share in SHARES]
    choices += [(f"all, nearest to the cut, {share:.0%}", judged.nearest(share)) for share in SHARES]
    choices += [("all between the two cuts", judged.unsure)]
    choices.sort(key=lambda choice: float(choice[1].mean()))
    about = f"n = {len(judged.right):,} labels in {len(np.unique(judged.keys)):,} groups"
    for model in MODELS:
        rows = [[name, *_row(judged, asked, model)] for name, asked in choices]
        header = ["asked of the model", "share", "right %", "random choice", "points over random", "points below model"]
        show(f"{title}, {about}; a model that is right in {model:.0%}", header, rows)


def _row(judged: Judged, asked: Flags, model: float) -> list[str]:
    by_chance = np.full(len(asked), asked.mean())
    found = judged.accuracy(asked, model)
    assert found is not None  # noqa: S101  # every set has texts
    gain = percent(judged.gain(asked, model)) if asked.any() else ""
    below = f"{100 * (model - found.estimate):.1f}"
    return [f"{asked.mean():.1%}", percent(found), percent(judged.accuracy(by_chance, model)), gain, below]


if __name__ == "__main__":
    main()
