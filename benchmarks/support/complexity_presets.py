"""The thresholds that ship for the embedded judge, fitted on 2WikiMultihopQA's train buckets over BM25.

Reference-free, questions whose words name no hops have a threshold of their own: the one with the highest balanced accuracy, of
answered questions against unanswerable and complex ones, averaged over the training questions of four sets
(`benchmarks.support.mixed`) and over small corpora. In the text of the former, one passage is not enough for some of them; in
the latter, a passage answers in other words than those of the question.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.support.answerable import ANSWERED, load_corpora, probabilities_in
from benchmarks.support.mixed import stream_of
from benchmarks.support.multihop import asked_in, corpus_of
from benchmarks.support.probed import K, completeness_in, probed
from benchmarks.support.scores import counts, estimate, f1
from benchmarks.support.tables import percent, show
from rag_cover.backends import Scorer, fingerprint_of
from rag_cover.complexity import AnswerSource, Calibration, CompletenessMethod, Constraints, Labelled, calibrate
from rag_cover.complexity.probing import fit_to_hops
from rag_cover.complexity.shipped_calibrations import NUMBERS

__all__ = ["fit"]

FITTED = 200
"""Multi-hop questions to fit on: the first ones of the train buckets, with their hops."""

LOST = 0.01
STREAMED = 100
"""Questions of each kind and set for the threshold of single-hop questions."""

TRIED = tuple(step / 20 for step in range(6, 19))
SOURCES: tuple[AnswerSource, ...] = ("gold", "none")


def fit(data: Path, scorer: Scorer, seed: int, kept: Path | None, limit: int | None) -> None:
    """Fit what ships: on 2WikiMultihopQA's train buckets, with BM25."""
    asked = asked_in("2WikiMultihopQA", data, "train")
    fitted_on = set(list(dict.fromkeys(each.key for each in asked))[: limit or FITTED])
    asked = [each for each in asked if each.key in fitted_on]
    probe = probed(asked, corpus_of("2WikiMultihopQA", data), "BM25", scorer, kept)
    name = f"2WikiMultihopQA, {len(fitted_on)} questions of the train buckets and their hops, BM25, k = {K}"
    single = _single_hop_threshold(data, scorer, seed)
    fitted: dict[str, object] = {}
    rows = []
    for source, constraints in product(SOURCES, get_args(Constraints)):
        labelled = probe.labelled(source)
        reading: CompletenessMethod = "joint" if constraints == "completeness" else "covered"
        found = calibrate(labelled, constraints=constraints, readings=(reading,), seed=seed, name=name)
        shipped = _rounded(_about(found.calibration, labelled) if constraints == "both" else found.calibration)
        if source == "none" and constraints != "completeness":
            shipped = replace(shipped, t_ans_single_hop=single, name=f"{name}; single-hop questions of four sets and FAQ pages")
        fitted[f"{source}/{constraints}"] = shipped.to_dict()
        pairs = zip(asked, labelled, strict=True)
        right = np.array(
            [fit_to_hops(shipped, one.text).verdict(each.evidence).is_complex for one, each in pairs], dtype=np.float64
        )
        itself = estimate(counts(right, probe.truth), probe.keys, f1, seed=seed)
        cuts = [f"{shipped.t_ans:.3f}", f"{shipped.t_com:.3f}"]
        rows.append([source, constraints, reading, *cuts, percent(found.accuracy), percent(found.f1), percent(itself)])
    NUMBERS.write_text(json.dumps({fingerprint_of(scorer): fitted}, indent=1) + "\n", encoding="utf-8")
    header = [
        "answers",
        "constraints",
        "reading",
        "T_ans",
        "T_com",
        "accuracy",
        "F1",
        "F1 of what ships, on the same questions",
    ]
    show(f"Fitted on {len(asked)} questions, cross-fitted figures; written to {NUMBERS.name}", header, rows)


def _single_hop_threshold(data: Path, scorer: Scorer, seed: int) -> float:
    """Find the threshold with the highest mean of balanced accuracies, and print them."""
    best: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for each in stream_of(data, "train", scorer, limit=STREAMED, seed=seed):
        if each.kind != "easy" and not each.steps.is_nested:
            best[each.corpus, each.demand == "direct"].append(each.complexity.max_answer_probability or 0.0)
    for row in load_corpora("fit"):
        for kind, probability in probabilities_in(row, scorer):
            best["small corpora", kind == ANSWERED].append(probability)
    sets = list(dict.fromkeys(name for name, _ in best))
    balanced = {cut: [_balanced(best[name, True], best[name, False], cut) for name in sets] for cut in TRIED}
    rows = [[f"{cut:.2f}", *(f"{100 * each:.1f}" for each in [*found, np.mean(found)])] for cut, found in balanced.items()]
    show("Questions that name no hops: balanced accuracy by threshold, in percent", ["threshold", *sets, "mean"], rows)
    return max(TRIED, key=lambda cut: float(np.mean(balanced[cut])))


def _balanced(answered: Sequence[float], others: Sequence[float], cut: float) -> float:
    return float((np.array(answered) >= cut).mean() + (np.array(others) < cut).mean()) / 2


def _about(calibration: Calibration, labelled: Sequence[Labelled]) -> Calibration:
    """Put T_com where 1% of the complex questions lie below it.

    All of them are about what the corpus holds, so that completeness has nothing to tell among them, and the threshold that is
    best for them would let every question pass that is about something else.
    """
    covered = [completeness_in(each.evidence, "covered") for each in labelled if each.is_complex]
    return replace(calibration, t_com=float(np.quantile(covered, LOST)))


def _rounded(calibration: Calibration) -> Calibration:
    numbers = calibration.to_dict()
    for name in ("t_ans", "t_com"):
        numbers[name] = round(numbers[name], 4)
    numbers["weights"] = [round(weight, 4) for weight in calibration.weights]
    return Calibration.from_dict(numbers)
