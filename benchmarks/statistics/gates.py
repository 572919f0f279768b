"""How often does `rag-cover compare --fail-if-worse` fail a build whose pipeline is the same, and how often one that is worse?

    python -m benchmarks.statistics.gates --limit 1000

Simulated pairs of runs on the same 20, 60 and 200 questions with 1 to 7 sub-questions each. Questions differ in how likely
their parts are answered (beta-distributed around 0.6); the parts are drawn anew for each run, so that a language model's noise
is in both. In the second run each part that was answered is lost with a probability of 0, 0.1 or 0.3. Beside the gate, the same
with `--repeat` (a second run of the baseline: it must fail without the questions on which its two runs differ, too), its 95%
non-inferiority form with a margin of 0.1, and a simple thing: fail if the figure is lower by more than 0.05.

``--limit`` is the number of pairs (default: 1,000).

Data: none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.tables import arguments, percent, show
from rag_cover.stats.intervals import SIGNIFICANT, jackknife, permutation_p_value, wilson

QUESTIONS = (20, 60, 200)
LOST = (0.0, 0.1, 0.3)
MARGIN, SIMPLE = 0.1, 0.05
FEWEST = 6  # with fewer questions no such test can fail
Floats = NDArray[np.float64]


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    trials, rng, rows = options.limit or 1000, np.random.default_rng(options.seed), []
    for questions in QUESTIONS:
        for lost in LOST:
            failed = np.array([failures(*draw(questions, lost, rng)) for _ in range(trials)], dtype=int).sum(axis=0)
            rows.append([str(questions), f"{lost:.0%}", *(percent(wilson(int(count), trials)) for count in failed)])
    header = [
        "questions",
        "answered parts lost",
        "the gate fails",
        "with --repeat",
        f"with a margin of {MARGIN}",
        f"lower by more than {SIMPLE}",
    ]
    show(f"Builds that fail, of {trials}", header, rows)


def draw(questions: int, lost: float, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Draw (questions, 2) sums of two runs, parts answered and all, and which questions stay when the first runs again."""
    parts = rng.integers(1, 8, questions)
    likely = rng.beta(1.8, 1.2, questions)
    parts_answered = [[rng.random(each) < chance for each, chance in zip(parts, likely, strict=True)] for _ in range(2)]
    before = np.array([each.sum() for each in parts_answered[0]])
    steady = np.array([np.array_equal(one, other) for one, other in zip(*parts_answered, strict=True)])
    after = rng.binomial(parts, likely * (1 - lost))
    sums = [np.column_stack([answered, parts]).astype(np.float64) for answered in (before, after)]
    return sums[0], sums[1], steady


def failures(a: Floats, b: Floats, steady: NDArray[np.bool_]) -> tuple[bool, bool, bool, bool]:
    """Return whether the gate, the same with a repeated baseline, the gate with a margin, and the simple rule fail."""
    difference = float(_ratio(b.sum(axis=0)) - _ratio(a.sum(axis=0)))
    failed = is_worse(a, b)
    again = failed and (not steady.any() or steady.sum() < FEWEST or is_worse(a[steady], b[steady]))
    interval = jackknife(np.hstack([a, b]), lambda sums: _ratio(sums[..., 2:]) - _ratio(sums[..., :2]))
    lowest = interval.lower if interval and interval.lower is not None else -1.0
    return failed, again, lowest < -MARGIN, difference < -SIMPLE


def is_worse(a: Floats, b: Floats) -> bool:
    """Return whether B is lower, by a paired permutation test at 5%."""
    if _ratio(b.sum(axis=0)) >= _ratio(a.sum(axis=0)):
        return False
    p_value = permutation_p_value(a, b, _ratio, permutations=1000)
    return p_value is not None and p_value < SIGNIFICANT


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


if __name__ == "__main__":
    main()
