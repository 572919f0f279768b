"""Fit the local parser of set queries, and write its numbers into the package.

    python -m benchmarks.set_queries.fit_parser

It is fitted on the training rows of QUEST that share no atom with a test row; how sure it says it is, on the same rows read by
weights fitted without them, in ten folds. Fit it anew when the grammar or the features change.

Data: shared folder.
"""

from __future__ import annotations

import hashlib
import json

from benchmarks.support.quest import training
from benchmarks.support.set_query_model import calibrated, example_of, examples_of_atoms, fitted
from benchmarks.support.tables import arguments
from rag_cover.setqueries.parsing.scoring import WEIGHTS

LEAST = 0.001
"""The smallest weight that is kept."""


def alone(name: str) -> bool:
    """Tell the feature that only atoms asked for by themselves have."""
    return name.startswith("alone:")


def main() -> None:
    """Fit and write."""
    options = arguments(__doc__).parse_args()
    rows = training(options.data)
    slope, offset = calibrated(rows, seed=options.seed)
    weights = fitted([*map(example_of, rows), *examples_of_atoms(rows)])
    told = "\n".join(sorted(f"{row.question}\t{row.query}" for row in rows))
    numbers = {
        "fitted_on": f"{len(rows)} questions of QUEST, sha256 {hashlib.sha256(told.encode()).hexdigest()}",
        "slope": slope,
        "offset": offset,
        "weights": {name: weight for name, weight in weights.weights.items() if abs(weight) >= LEAST and not alone(name)},
    }
    WEIGHTS.write_text(json.dumps(numbers, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{WEIGHTS}: {len(numbers['weights'])} weights, {numbers['fitted_on']}; calibration {slope}, {offset}")


if __name__ == "__main__":
    main()
