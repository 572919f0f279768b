"""How often is the judge right on texts that people labelled, set by set? What intervals with judge error rest on.

    python -m benchmarks.judge.error_rates                                    # prints the counts
    python -m benchmarks.judge.error_rates --write plugins/rag_cover_embedded/weights/judge.json

The test split of the collected sets (`judge/answers`), at most 300 texts of each, replies with their question and passages
without: of texts that answer, how many the judge finds; of the others, how many it refuses. ``--write`` puts the counts into
the judge's file, under ``error_rates``. The random-effects model of `rag_cover.stats.judge_error` is fitted to them: the last
rows are its sensitivity and specificity for a set of texts that the judge never saw.

Data: shared folder.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np

from benchmarks.judge.natural_texts import MOST, by_source, cut_of, item_of
from benchmarks.support.tables import arguments, show
from rag_cover import open_scorer
from rag_cover.backends import mode_of
from rag_cover.stats.judge_error import fit_error_rates

MODES = ("passage", "reply")
_LEAST = 20  # positives and negatives that a set needs


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--write", type=Path, help="the judge's file to write the counts into")
    options = parser.parse_args()
    scorer = open_scorer(options.judge)
    rng = random.Random(options.seed)  # noqa: S311  # samples, not secrets
    found: dict[str, dict[str, list[int]]] = {mode: {} for mode in MODES}
    for name, rows in by_source(options.data / "judge/answers.jsonl.gz", rng, options.limit or MOST).items():
        items = [item_of(row) for row in rows]
        said = scorer.correctness(items) >= np.array([cut_of(item, scorer) for item in items])
        truth = np.array([bool(row["label"]) for row in rows])
        modes = np.array([mode_of(item) for item in items])
        for mode in MODES:
            mine = modes == mode
            right, wrong = mine & truth, mine & ~truth
            if min(right.sum(), wrong.sum()) >= _LEAST:
                found[mode][name] = [int(each) for each in (said[right].sum(), right.sum(), (~said)[wrong].sum(), wrong.sum())]
    for mode in MODES:
        rates = fit_error_rates(list(found[mode].values()))
        drawn = np.quantile(rates.draw(seed=options.seed), [0.5, 0.025, 0.975], axis=0)
        table = [[name, f"{a} of {b}", f"{c} of {d}"] for name, (a, b, c, d) in found[mode].items()]
        table.append(["a new set", *(f"{mid:.1%} ({low:.1%} to {high:.1%})" for mid, low, high in drawn.T)])
        show(f"{mode}: n = {rates.labels} texts of {rates.sets} sets", ["set", "answering, found", "others, refused"], table)
    if options.write:
        about = json.loads(options.write.read_text(encoding="utf-8"))
        about["error_rates"] = found
        options.write.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
