"""How often does the 95% interval of a share of sub-questions hold the true share, where there are few questions?

    python -m benchmarks.statistics.interval_coverage --limit 2000

Simulated evaluations of 5, 10, 20 and 50 questions with 1, 5 or 1 to 7 sub-questions each. A question's own share is drawn from
a beta distribution around the true share, with a given correlation within questions (beta-binomial; Fleiss, Levin & Paik,
"Statistical Methods for Rates and Proportions", 2003, §15.2). Of each set three intervals are made: the percentiles of a
bootstrap over questions (Wilson's where all or none is covered), the jackknife with Student's t, and that of summaries,
`rag_cover.stats.intervals.jackknife_share`. A row has the lowest, mean and highest coverage over all worlds of as many
questions, the share of worlds with 93 to 97%, and the mean width.

``--limit`` is the number of sets a world (default: 1,000).

Data: none.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.tables import arguments, show
from rag_cover.stats.intervals import Interval, bootstrap, jackknife, jackknife_share, wilson

QUESTIONS = (5, 10, 20, 50)
SUB_QUESTIONS = ((1, 1), (5, 5), (1, 7))
SHARES = (0.3, 0.5, 0.7, 0.8, 0.9)
CORRELATIONS = (0.0, 0.2, 0.5)
_ENOUGH = (0.93, 0.97)
Floats = NDArray[np.float64]


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rows = []
    for questions in QUESTIONS:
        held, widths = coverages(questions, options)
        for name, found in held.items():
            good = np.mean([_ENOUGH[0] <= each <= _ENOUGH[1] for each in found])
            spread = [f"{each:.1%}" for each in (min(found), np.mean(found), max(found), good)]
            rows.append([str(questions), name, *spread, f"{np.mean(widths[name]):.2f}"])
    worlds = len(SUB_QUESTIONS) * len(SHARES) * len(CORRELATIONS)
    header = ["questions", "interval", "lowest coverage", "mean", "highest", "worlds with 93 to 97%", "width"]
    show(f"Coverage of 95% intervals of a share; {options.limit or 1000} sets of each of {worlds} worlds", header, rows)


def coverages(questions: int, options: argparse.Namespace) -> tuple[Mapping[str, list[float]], Mapping[str, list[float]]]:
    """Return by kind of interval the coverage in each world of so many questions, and the mean width."""
    rng = np.random.default_rng(options.seed)
    held, widths = defaultdict(list), defaultdict(list)
    for sizes, share, alike in product(SUB_QUESTIONS, SHARES, CORRELATIONS):
        sets = [draw(questions, sizes, share, alike, rng) for _ in range(options.limit or 1000)]
        for name, interval_of in INTERVALS.items():
            bounds = np.array([_bounds(interval_of(each)) for each in sets])
            held[name].append(float(((bounds[:, 0] <= share + 1e-9) & (share - 1e-9 <= bounds[:, 1])).mean()))
            widths[name].append(float((bounds[:, 1] - bounds[:, 0]).mean()))
    return held, widths


def draw(questions: int, sizes: tuple[int, int], share: float, alike: float, rng: np.random.Generator) -> Floats:
    """Draw (questions, 2): the covered sub-questions of each question, and all of them."""
    asked = rng.integers(sizes[0], sizes[1] + 1, questions)
    own = rng.beta(share * (1 - alike) / alike, (1 - share) * (1 - alike) / alike, questions) if alike else share
    return np.column_stack([rng.binomial(asked, own), asked]).astype(np.float64)


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _percentiles(rows: Floats) -> Interval | None:
    found = bootstrap(rows, _ratio, resamples=1000)
    return found if found is None or 0 < found.estimate < 1 else wilson(round(found.estimate) * found.n, found.n)


def _bounds(interval: Interval | None) -> tuple[float, float]:
    if interval is None or interval.lower is None or interval.upper is None:
        return 0.0, 1.0
    return interval.lower, interval.upper


INTERVALS: Mapping[str, Callable[[Floats], Interval | None]] = {
    "bootstrap, percentiles": _percentiles,
    "jackknife, Student's t": lambda rows: jackknife(rows, _ratio, low=0.0, high=1.0),
    "jackknife_share": lambda rows: jackknife_share(rows, _ratio),
}

if __name__ == "__main__":
    main()
