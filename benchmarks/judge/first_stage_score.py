"""Does the first stage's score belong in the probability of a long passage? Fitted with it and without it, no training.

    python -m benchmarks.judge.first_stage_score               # needs pip install 'rag-cover[train]'

The probability that a passage of more than 64 tokens answers is a logistic function of the network's highest logit, the
length, and the first stage's highest score (late interaction of token vectors). Both forms are fitted as `training/fitting.py`
fits them, on at most ``--limit`` long passages of each kind (default 500) that trained nothing, and measured on others:

- *natural*: test rows of the collected sets, at most ``--limit`` / 20 of each source;
- *retrieved*: SQuAD's questions with their paragraph and with another paragraph of the same article, test articles.

Differences are paired; intervals are bootstraps over groups (questions, articles, pages).

Data: shared folder.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.judge.natural_texts import by_source
from benchmarks.support.datasets import squad_articles
from benchmarks.support.judges import opened_weights
from benchmarks.support.scores import auc, mean
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover_embedded.answers import SHORT, AnswerJudge, Asked, ScoreCalibration, WindowEvidence
from rag_cover_embedded.inputs import open_tokenizer
from rag_cover_embedded.session import Session
from rag_cover_embedded.training.fitting import attach_labels, fit_calibration, fitting_texts
from rag_cover_embedded.training.natural import REPLY_KINDS
from rag_cover_embedded.training.packing import UNCALIBRATED

Labelled = tuple[WindowEvidence, float]

MOST = 500
WORDS = 45
"""Words of a text that may have more than 64 tokens."""


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    most = options.limit or MOST
    rng = random.Random(options.seed)  # noqa: S311  # samples, not secrets
    weights = opened_weights(options.judge)
    judge = AnswerJudge(
        Session(weights.network),
        open_tokenizer(weights.tokenizer),
        threshold=1.0,
        reply_threshold=1.0,
        calibrations=UNCALIBRATED,
        proposing=None,
    )
    known: dict[str, list[Labelled]] = {}
    for kind, rows in fitting_texts(options.data, "passage", seed=options.seed).items():
        long_ones = [row for row in rows if is_long(row[0])]
        found = _evidence(judge, rng.sample(long_ones, min(most, len(long_ones))))
        if found:
            known[kind] = [each for each, _ in found]
    print(f"fitted on {', '.join(f'{kind} {len(rows)}' for kind, rows in known.items())}")
    fits = {
        "with the first stage's score": fit_calibration(known),
        "without": fit_calibration({kind: [(without(each), label) for each, label in rows] for kind, rows in known.items()}),
    }
    for title, rows in {
        "natural": natural(options.data, most // 20, rng),
        "retrieved": retrieved(options.data, most, rng),
    }.items():
        show_fits(title, _evidence(judge, rows), fits, options.seed)


Row = tuple[Asked, float, str]
"""A question with a text, its label, and its group."""


def is_long(asked: Asked) -> bool:
    """Tell whether a text may have more than 64 tokens."""
    return len(asked[1].split()) >= WORDS


def without(evidence: WindowEvidence) -> WindowEvidence:
    """Leave out the first stage's score."""
    return replace(evidence, similarity=0.0)


def natural(data: Path, most: int, rng: random.Random) -> list[Row]:
    """Draw long passages of the test rows, so many of each source."""
    found: list[Row] = []
    for rows in by_source(data / "judge/answers.jsonl.gz", rng, 20 * most).values():
        asked = [
            ((row["question"], row["text"], ""), float(row["label"]), row["group"])
            for row in rows
            if row["kind"] not in REPLY_KINDS
        ]
        found += [each for each in asked if is_long(each[0])][:most]
    return found


def retrieved(data: Path, most: int, rng: random.Random) -> list[Row]:
    """Pair questions with their paragraph and with another of the same article."""
    found: list[Row] = []
    for article in squad_articles(data, "test"):
        texts = [paragraph["context"] for paragraph in article["paragraphs"]]
        for paragraph in article["paragraphs"]:
            others = [text for text in texts if text != paragraph["context"]]
            for question in (each["question"] for each in paragraph["qas"] if not each["is_impossible"]):
                for text, label in ((paragraph["context"], 1.0), (rng.choice(others), 0.0)):
                    found.append(((question, text, ""), label, article["title"]))
    return rng.sample(found, min(most, len(found)))


def _evidence(judge: AnswerJudge, rows: Sequence[tuple[Asked, float] | Row]) -> list[tuple[Labelled, str]]:
    """Read texts; those that turn out to be short are left out."""
    pairs = [(row[0], row[1]) for row in rows]
    groups = [row[2] if len(row) > 2 else "" for row in rows]  # noqa: PLR2004  # a row with its group
    found = judge.evidence([asked for asked, _ in pairs])
    kept = [place for place, each in enumerate(found) if each is not None and each.tokens > SHORT]
    labelled = attach_labels([found[place] for place in kept], [pairs[place] for place in kept])
    return [(each, groups[place]) for each, place in zip(labelled, kept, strict=True)]


def show_fits(title: str, rows: Sequence[tuple[Labelled, str]], fits: Mapping[str, ScoreCalibration], seed: int) -> None:
    """Print the ROC-AUC and the share of right verdicts of each fit, and their paired difference."""
    truth = np.array([bool(label) for (_, label), _ in rows])
    keys = [group for _, group in rows]
    table, right = [], {}
    for name, fit in fits.items():
        values = np.array([fit.probability(each) for (each, _), _ in rows])
        right[name] = ((values >= 0.5) == truth).astype(np.float64)  # noqa: PLR2004  # the cut
        table.append([name, plain(auc(values, truth, keys, seed=seed)), percent(mean(right[name], keys, seed=seed))])
    first, second = right.values()
    table.append(["difference", "", percent(mean(first - second, keys, seed=seed))])
    show(f"{title}: n = {len(rows)}, {truth.mean():.0%} answer", ["fit", "ROC-AUC", "right %"], table)


if __name__ == "__main__":
    main()
