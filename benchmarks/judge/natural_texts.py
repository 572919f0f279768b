"""How well does the judge read natural texts that it never saw? The test split of the collected sets, source by source.

    python -m benchmarks.judge.natural_texts --limit 300        # so many rows of each source

1. Does the text answer the question (`judge/answers`)? ROC-AUC and accuracy; replies are judged with their question, passages
   without. Beside it: the share of the question's words, with the cut that is best on the rows themselves.
2. SelQA: a section with its answering sentence and without it.
3. Is the claim supported (`judge/entailment`)? ROC-AUC, and balanced accuracy at 0.5, beside the share of the claim's words.
4. Do answer and reference agree (`judge/equivalence`)?
5. Calibration: the expected calibration error (ten bins) of passages and of replies; how many verdicts lie between the two
   certain cuts, and how many of the certain ones are right.

Intervals are bootstraps over groups (questions, articles, premises).

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.judges import overlap
from benchmarks.support.scores import accuracy, auc, balanced_accuracy, best_cut, counts, estimate
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_entailer, open_scorer
from rag_cover.backends import Entailer, Scorer, ScoringItem, certain_cuts_of, mode_of, reply_threshold_of
from rag_cover_embedded.training.natural import REPLY_KINDS

Floats = NDArray[np.float64]
Rows = Sequence[dict[str, Any]]
BINS = 10
MOST = 300


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer, entailer = open_scorer(options.judge), open_entailer(options.judge)
    rng = random.Random(options.seed)  # noqa: S311  # samples, not secrets
    sources = by_source(options.data / "judge/answers.jsonl.gz", rng, options.limit or MOST)
    items = {name: [item_of(row) for row in rows] for name, rows in sources.items()}
    scores = {name: scorer.correctness(found).astype(np.float64) for name, found in items.items()}
    show_answers(sources, items, scores, scorer, options.seed)
    show_calibration(sources, items, scores, scorer)
    show_sections(options.data, scorer, rng, options.limit or MOST, options.seed)
    show_claims(by_source(options.data / "judge/entailment.jsonl.gz", rng, options.limit or MOST), entailer, options.seed)
    show_agreement(by_source(options.data / "judge/equivalence.jsonl.gz", rng, options.limit or MOST), scorer, options.seed)


def by_source(path: Path, rng: random.Random, most: int) -> dict[str, list[dict[str, Any]]]:
    """Read the test rows of each source, at most so many of them."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in test_rows(path):
        found[row["source"].split("/")[0]].append(row)
    return {name: rng.sample(rows, min(most, len(rows))) for name, rows in sorted(found.items())}


def test_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of the test split."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        yield from (row for row in map(json.loads, rows) if row["split"] == "test")


def item_of(row: dict[str, Any]) -> ScoringItem:
    """Judge replies with their question, passages without."""
    return ScoringItem(row["question"], row["text"], user_question=row["question"] if row["kind"] in REPLY_KINDS else "")


def cut_of(item: ScoringItem, scorer: Scorer) -> float:
    """Return the cut that an item is held to."""
    return reply_threshold_of(scorer) if item.user_question else scorer.threshold


def show_answers(
    sources: dict[str, list[dict[str, Any]]],
    items: dict[str, list[ScoringItem]],
    scores: dict[str, Floats],
    scorer: Scorer,
    seed: int,
) -> None:
    """Print agreement with the labels, source by source."""
    table = []
    for name, rows in sources.items():
        truth = np.array([bool(row["label"]) for row in rows])
        keys = [row["group"] for row in rows]
        said = scores[name] >= np.array([cut_of(item, scorer) for item in items[name]])
        words = np.array([overlap(row["question"], row["text"]) for row in rows])
        by_words = words >= best_cut(words, truth)
        found = estimate(counts(said, truth), keys, accuracy, seed=seed)
        area, simple = auc(scores[name], truth, keys, seed=seed), auc(words, truth, keys, seed=seed)
        table.append([name, str(len(rows)), plain(area), plain(simple), percent(found), f"{np.mean(by_words == truth):.1%}"])
    header = ["source", "n", "ROC-AUC", "of shared words", "right %", "shared words, best cut"]
    show("Does the text answer? Test split", header, table)


def show_calibration(
    sources: dict[str, list[dict[str, Any]]], items: dict[str, list[ScoringItem]], scores: dict[str, Floats], scorer: Scorer
) -> None:
    """Print how far probabilities are from shares, and what the certain cuts leave."""
    table = []
    for mode in ("passage", "reply"):
        chosen = [
            (float(score), bool(row["label"]))
            for name, rows in sources.items()
            for row, item, score in zip(rows, items[name], scores[name], strict=True)
            if mode_of(item) == mode
        ]
        values, truth = np.array([score for score, _ in chosen]), np.array([label for _, label in chosen])
        low, high = certain_cuts_of(scorer).get(mode, (0.5, 0.5))  # type: ignore[call-overload]  # one of the modes
        unsure = (values > low) & (values < high)
        right = (values >= high) == truth
        table.append(
            [
                mode,
                str(len(values)),
                f"{expected_error(values, truth):.3f}",
                f"{unsure.mean():.1%}",
                f"{1 - truth[values <= low].mean():.1%}",
                f"{truth[values >= high].mean():.1%}",
                f"{right[~unsure].mean():.1%}",
            ]
        )
    header = ["mode", "n", "calibration error", "unsure", "certain no, right", "certain yes, right", "certain, right"]
    show("Calibration on the same rows, all sources together", header, table)


def expected_error(values: Floats, truth: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    gaps = [abs(values[bins == each].mean() - truth[bins == each].mean()) * (bins == each).mean() for each in np.unique(bins)]
    return float(np.sum(gaps))


def show_sections(data: Path, scorer: Scorer, rng: random.Random, most: int, seed: int) -> None:
    """Print how well a section with its answering sentence is told from the same without it."""
    rows = [row for row in test_rows(data / "judge/answers.jsonl.gz") if row["source"] == "selqa"]
    whole = {row["question"]: row for row in rows if row["kind"] == "passage" and row["label"]}
    without = {row["question"]: row for row in rows if row["kind"] == "passage-minus"}
    both = sorted(whole.keys() & without.keys())
    chosen = rng.sample(both, min(most, len(both)))
    pairs = [(found[question], label) for question in chosen for found, label in ((whole, True), (without, False))]
    truth = np.array([label for _, label in pairs])
    scores = scorer.correctness([ScoringItem(row["question"], row["text"]) for row, _ in pairs]).astype(np.float64)
    words = np.array([overlap(row["question"], row["text"]) for row, _ in pairs])
    keys = [row["question"] for row, _ in pairs]
    said = f"{(scores[~truth] >= scorer.threshold).mean():.1%}"
    table = [[str(len(chosen)), plain(auc(scores, truth, keys, seed=seed)), plain(auc(words, truth, keys, seed=seed)), said]]
    show(
        "SelQA: with and without the answering sentence",
        ["sections", "ROC-AUC", "of shared words", "without, said covered"],
        table,
    )


def show_claims(sources: dict[str, list[dict[str, Any]]], entailer: Entailer, seed: int) -> None:
    """Print how well supported claims are told from others."""
    table = []
    for name, rows in sources.items():
        truth = np.array([row["label"] in ("entailment", "supported") for row in rows])
        keys = [row["group"] for row in rows]
        scores = entailer.entail([(row["premise"], row["hypothesis"]) for row in rows])[:, 0].astype(np.float64)
        words = np.array([overlap(row["hypothesis"], row["premise"]) for row in rows])
        balanced = estimate(counts(scores >= 0.5, truth), keys, balanced_accuracy, seed=seed)  # noqa: PLR2004  # a half
        area, simple = auc(scores, truth, keys, seed=seed), auc(words, truth, keys, seed=seed)
        table.append([name, str(len(rows)), plain(area), plain(simple), percent(balanced)])
    show("Is the claim supported? Test split", ["source", "n", "ROC-AUC", "of shared words", "balanced accuracy %"], table)


def show_agreement(sources: dict[str, list[dict[str, Any]]], scorer: Scorer, seed: int) -> None:
    """Print how well agreeing answers are told from others."""
    table = []
    for name, rows in sources.items():
        truth = np.array([bool(row["label"]) for row in rows])
        keys = [row["group"] for row in rows]
        items = [ScoringItem(row["question"], row["answer"], tuple(row["references"])) for row in rows]
        scores = scorer.correctness(items).astype(np.float64)
        words = np.array([max(overlap(each, row["answer"]) for each in row["references"]) for row in rows])
        found = estimate(counts(scores >= 0.5, truth), keys, accuracy, seed=seed)  # noqa: PLR2004  # a half
        area, simple = auc(scores, truth, keys, seed=seed), auc(words, truth, keys, seed=seed)
        table.append([name, str(len(rows)), plain(area), plain(simple), percent(found)])
    show("Do answer and reference agree? Test split", ["source", "n", "ROC-AUC", "of shared words", "right %"], table)


if __name__ == "__main__":
    main()
