"""How often does `rag-cover judge fit` fit a judge to labels that agree with it, and how often one that is off?

    python -m benchmarks.judge.fit_to_labels --limit 200

Simulated labels of 20 or 40 questions: the log-odds that a person says covered are the judge's own, with or without a part that
the labels of a question share (standard deviation 0.8), or 1 lower, or half as steep, or have nothing to do with the text. A
fit that is kept is a false one for the first two and the last. Beside it a simple thing: keep whatever has the lower
cross-fitted log-loss.

``--limit`` is the number of sets of labels (default: 200).

Data: none.
"""

from __future__ import annotations

import numpy as np

from benchmarks.support.tables import arguments, percent, show
from rag_cover.judge_fit.fitting import LabelledFeatures, fit_mode
from rag_cover.score_fits import ScoreFeatures
from rag_cover.stats.intervals import wilson
from rag_cover.stats.logistic import probabilities

JUDGE = (0.8, 0.0, 0.0, 0.0, -0.2)
SIZES = ((100, 20), (200, 40), (400, 40))
PEOPLE = (
    ("as the judge", JUDGE, 0.0),
    ("as the judge, questions differ", JUDGE, 0.8),
    ("log-odds 1 lower", (0.8, 0.0, 0.0, 0.0, -1.2), 0.0),
    ("half as steep", (0.4, 0.0, 0.0, 0.0, -0.1), 0.0),
    ("at random", (0.0, 0.0, 0.0, 0.0, 0.0), 0.0),
)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    trials, rng, rows = options.limit or 200, np.random.default_rng(options.seed), []
    for name, true, spread in PEOPLE:
        for labels, questions in SIZES:
            fits = [
                fit_mode("reply", draw(true, labels, questions, spread, rng), {"replies": JUDGE}, cut=0.5)
                for _ in range(trials)
            ]
            kept = sum(fit.fitted is not None for fit in fits)
            simple = sum(fit.log_loss is not None and fit.log_loss.after < fit.log_loss.before for fit in fits)
            rows.append([name, f"{labels} of {questions}", percent(wilson(kept, trials)), percent(wilson(simple, trials))])
    show(f"Fits that are kept, of {trials}", ["people label", "labels of questions", "judge fit", "lower log-loss"], rows)


def draw(
    true: tuple[float, ...], labels: int, questions: int, spread: float, rng: np.random.Generator
) -> list[LabelledFeatures]:
    """Draw labels of texts whose logits and lengths spread as those of real replies do."""
    shared = rng.normal(0, spread, questions)
    rows = []
    for number in range(labels):
        values = (float(rng.normal(0, 2.5)), 0.0, float(rng.normal(4.0, 0.6)), 0.0, 1.0)
        covered = rng.random() < probabilities(np.dot(true, values) + shared[number % questions])
        rows.append(LabelledFeatures(ScoreFeatures("replies", values), bool(covered), number % questions))
    return rows


if __name__ == "__main__":
    main()
