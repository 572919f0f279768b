"""Does the judge get ordinary cases right, kind by kind? Texts that were set aside before training and opened at its end.

    python -m benchmarks.judge.probe_sets                        # every set in benchmarks/judge/probes
    python -m benchmarks.judge.probe_sets --judge embedded:folder

The sets (`probes/README.md`) were written for this project by other hands than the training texts, on other topics:

- *replies*: replies to everyday questions, judged with the user's question;
- *parts*: replies to questions of two parts, asked about each part, judged with the user's question;
- *cells*: sub-questions crossed with twelve ways to answer or not, judged as passages and as replies;
- *contrast*: texts of twenty kinds that a judge of shared words gets wrong, judged as passages;
- *passages*: paragraphs of several facts, with questions in their words, in others, and about how and why;
- *subjects*: small collections on one subject, each question with each passage, judged as passages;
- *sets*: entities of one kind, each asked whether it belongs to each set, as set queries ask, judged as passages, and as set
  queries keep them (`rag_cover.setqueries.calibration`);
- *references*: answers against references; *entailment*: claims against passages; *abstentions*: replies that decline.

Beside each share stands a simple judge: shared words with the cut that is best on this very set (which flatters it), or the
majority. A last table tells how many verdicts are unsure, and how many of the others are right. Intervals are Wilson's.

Data: none (cases beside the script).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines
from benchmarks.support.judges import overlap
from benchmarks.support.scores import auc, best_cut
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_entailer, open_scorer
from rag_cover.backends import (
    AbstentionDetector,
    Entailer,
    Mode,
    Scorer,
    ScoringItem,
    certain_cuts_of,
    fingerprint_of,
    reply_threshold_of,
)
from rag_cover.setqueries.answers import question_for
from rag_cover.setqueries.calibration import membership_calibration_for, membership_features
from rag_cover.setqueries.predicates import predicate_of
from rag_cover.stats.intervals import wilson

PROBES = Path(__file__).parent / "probes"
EVEN = 0.5
Row = Mapping[str, Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--probes", type=Path, default=PROBES, help="the folder of sets (default: benchmarks/judge/probes)")
    parser.add_argument("--errors", type=int, default=0, help="print so many wrong verdicts of each set")
    options = parser.parse_args()
    scorer, entailer = open_scorer(options.judge), open_entailer(options.judge)
    unsure = []
    for name, judged in JUDGED.items():
        path = options.probes / f"{name}.jsonl"
        if path.exists():
            rows = list(pair_up(lines(path)))
            for title, truth, scores, said, simple in judged(rows, scorer, entailer):
                show_set(f"{name}, {title}", rows, truth, scores, said, simple)
                show_errors(rows, truth, scores, said, options.errors)
                if title in MODES and (cuts := certain_cuts_of(scorer).get(MODES[title])) is not None:
                    unsure.append([f"{name}, {title}", *count_unsure(truth, scores, cuts)])
    show("How many verdicts are unsure", ["set", "n", "unsure %", "certain verdicts right %"], unsure)
    path = options.probes / "abstentions.jsonl"
    if path.exists() and isinstance(scorer, AbstentionDetector):
        show_abstentions(list(lines(path)), scorer)


def pair_up(rows: Iterable[Row]) -> Iterator[Row]:
    """Pair each question of a collection with each of its passages, and each set with each entity; other rows stay.

    Passages that answer partly are left out, and entities that may belong.
    """
    for row in rows:
        if "sets" in row:
            asked, texts = row["sets"], row["entities"]
            pairs = [
                ({"question": question_for(each["set"]), "set": each["set"]}, each["members"], each["unclear"])
                for each in asked
            ]
        elif "passages" in row:
            asked, texts = row["questions"], row["passages"]
            pairs = [({"question": each["question"]}, each["answered_by"], each["partly_by"]) for each in asked]
        else:
            yield row
            continue
        for wording, right, unclear in pairs:
            for each in texts:
                if each["id"] not in unclear:
                    text = f"{each['title']}. {each['text']}" if "title" in each else each["text"]
                    yield {"kind": row["domain"], **wording, "text": text, "label": int(each["id"] in right)}


Judged = list[tuple[str, Bools, Floats, Bools, Floats]]
"""Title, what is true, the scores, the verdicts, and the scores of a simple judge."""


def as_replies(rows: Sequence[Row], scorer: Scorer, _: Entailer) -> Judged:
    """Judge texts as replies."""
    truth = np.array([bool(row["label"]) for row in rows])
    items = [
        ScoringItem(row["question"], row["text"], user_question=row.get("user_question") or row["question"]) for row in rows
    ]
    scores = scorer.correctness(items).astype(np.float64)
    return [("as replies", truth, scores, scores >= reply_threshold_of(scorer), shared(rows))]


def as_passages(rows: Sequence[Row], scorer: Scorer, _: Entailer) -> Judged:
    """Judge texts as passages."""
    truth = np.array([bool(row["label"]) for row in rows])
    scores = scorer.correctness([ScoringItem(row["question"], row["text"]) for row in rows]).astype(np.float64)
    return [("as passages", truth, scores, scores >= scorer.threshold, shared(rows))]


def as_members(rows: Sequence[Row], scorer: Scorer, entailer: Entailer) -> Judged:
    """Judge entities as passages, and by what set queries make of it."""
    (passages,) = as_passages(rows, scorer, entailer)
    known = membership_calibration_for(fingerprint_of(scorer))
    if known is None:
        return [passages]
    _, truth, scores, _, simple = passages
    pairs = [(predicate_of(row["set"]), row["text"]) for row in rows]
    members = known.memberships(membership_features(scores.tolist(), pairs))
    return [passages, ("as set queries keep them", truth, members, members > known.threshold, simple)]


def as_both(rows: Sequence[Row], scorer: Scorer, entailer: Entailer) -> Judged:
    """Judge texts as passages and as replies."""
    return [*as_passages(rows, scorer, entailer), *as_replies(rows, scorer, entailer)]


def against_references(rows: Sequence[Row], scorer: Scorer, _: Entailer) -> Judged:
    """Judge answers by their references."""
    truth = np.array([bool(row["label"]) for row in rows])
    items = [ScoringItem(row["question"], row["text"], tuple(row["references"])) for row in rows]
    scores = scorer.correctness(items).astype(np.float64)
    simple = np.array([max(overlap(reference, row["text"]) for reference in row["references"]) for row in rows])
    return [("against references", truth, scores, scores >= EVEN, simple)]


def entailed(rows: Sequence[Row], _: Scorer, entailer: Entailer) -> Judged:
    """Judge claims by their passages."""
    truth = np.array([row["label"] == "supported" for row in rows])
    scores = entailer.entail([(row["premise"], row["text"]) for row in rows])[:, 0].astype(np.float64)
    simple = np.array([overlap(row["text"], row["premise"]) for row in rows])
    return [("supported or not", truth, scores, scores >= EVEN, simple)]


JUDGED: Mapping[str, Callable[[Sequence[Row], Scorer, Entailer], Judged]] = {
    "replies": as_replies,
    "parts": as_replies,
    "cells": as_both,
    "contrast": as_passages,
    "passages": as_passages,
    "subjects": as_passages,
    "sets": as_members,
    "references": against_references,
    "entailment": entailed,
}


MODES: Mapping[str, Mode] = {"as replies": "reply", "as passages": "passage", "against references": "reference"}


def count_unsure(truth: Bools, scores: Floats, cuts: tuple[float, float]) -> list[str]:
    """Say how many verdicts there are, how many lie between the certain cuts, and how many of the others are right."""
    low, high = cuts
    certain = (scores <= low) | (scores >= high)
    right = int(((scores >= high) == truth)[certain].sum())
    unsure = wilson(int((~certain).sum()), len(scores))
    return [str(len(scores)), percent(unsure), percent(wilson(right, int(certain.sum()))) if certain.any() else "–"]


def shared(rows: Sequence[Row]) -> Floats:
    """Return the share of each question's words that its text repeats."""
    return np.array([overlap(row["question"], row["text"]) for row in rows])


def show_set(title: str, rows: Sequence[Row], truth: Bools, scores: Floats, said: Bools, simple: Floats) -> None:
    """Print the share that is right, by kind and in all."""
    words = simple >= best_cut(simple, truth)
    kinds = defaultdict(list)
    for place, row in enumerate(rows):
        kinds[row["kind"]].append(place)
    table = []
    for kind, places in {**kinds, "all": list(range(len(rows)))}.items():
        right, by_words = (np.array(each)[places] == truth[places] for each in (said, words))
        positive = f"{truth[places].sum()} of {len(places)}"
        area = auc(scores[places], truth[places], places) if 0 < truth[places].sum() < len(places) else None
        table.append([kind, positive, percent(wilson(int(right.sum()), len(places))), plain(area), f"{by_words.mean():.0%}"])
    recall, specificity = said[truth].mean(), 1 - said[~truth].mean()
    header = ["kind", "true", "right %", "ROC-AUC", "shared words right"]
    show(f"{title}: n = {len(rows)}, recall {recall:.1%}, specificity {specificity:.1%}", header, table)


def show_errors(rows: Sequence[Row], truth: Bools, scores: Floats, said: Bools, most: int) -> None:
    """Print wrong verdicts, the surest first."""
    wrong = [place for place in np.argsort(-np.abs(scores - EVEN)) if said[place] != truth[place]]
    for place in wrong[:most]:
        row = rows[place]
        print(
            f"- {scores[place]:.2f} should be {int(truth[place])} | {row['kind']} | {row.get('question')} | {row['text'][:300]}"
        )


def show_abstentions(rows: Sequence[Row], detector: AbstentionDetector) -> None:
    """Print how many abstentions are missed, and how many look-alikes are taken for one."""
    items = [ScoringItem(row["question"], row["text"], user_question=row["question"]) for row in rows]
    said = detector.abstains(items)
    table = []
    for label in ("wholly", "partly", "no"):
        found = [verdict for verdict, row in zip(said, rows, strict=True) if row["label"] == label]
        table.append(
            [label, str(len(found)), *(f"{found.count(each) / max(1, len(found)):.1%}" for each in ("wholly", "partly", "no"))]
        )
    show("abstentions: what they are (rows) and what the judge says", ["label", "n", "wholly", "partly", "no"], table)


if __name__ == "__main__":
    main()
