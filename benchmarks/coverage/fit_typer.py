"""Fit the local typer of sub-questions, and write its numbers into the package.

    python -m benchmarks.coverage.fit_typer

It is fitted on the sub-questions written for this project (``typed_sub_questions.jsonl``) and on three of the five published
sheets (q1 to q3); q4 and q5 are for testing only (`benchmarks.coverage.subquestion_types`). Fit it anew when the embedded judge
is trained anew.

Data: shared folder.
"""

from __future__ import annotations

import json

import numpy as np

from benchmarks.support.tables import arguments
from benchmarks.support.typed import TRAINING, fitted, inputs_of, own_sheets, published_sheets
from rag_cover import open_embedder
from rag_cover.backends import fingerprint_of
from rag_cover.decomposition.embedded_roles import CANARY, NUMBERS


def main() -> None:
    """Fit and write."""
    options = arguments(__doc__).parse_args()
    embedder = open_embedder(options.judge)
    sheets = own_sheets() + [sheet for sheet in published_sheets(options.data) if sheet.name in TRAINING]
    weights = fitted(sheets, inputs_of(sheets, embedder))
    numbers = {
        "encoder": fingerprint_of(embedder),
        "fitted_on": f"{sum(len(sheet.roles) for sheet in sheets)} sub-questions of {len(sheets)} questions",
        "canary": np.round(embedder.embed([CANARY])[0].astype(float), 4).tolist(),
        "weights": np.round(weights, 4).tolist(),
    }
    NUMBERS.write_text(json.dumps(numbers) + "\n", encoding="utf-8")
    print(f"{NUMBERS}: {numbers['fitted_on']}")


if __name__ == "__main__":
    main()
