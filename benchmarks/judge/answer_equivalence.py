"""Does the judge tell right answers from wrong ones as people do, given the gold answers?

    python -m benchmarks.judge.answer_equivalence
    python -m benchmarks.judge.answer_equivalence --file held_out.jsonl --all

1. EVOUNA-NQ (Wang et al., 2023): answers of five systems, human verdicts. F1 (positive: correct) and accuracy per system and
   their means over systems. Only questions of the test buckets count (70-99), or all of a ``--file`` of the same schema with
   ``--all``; rows that are improper or lack a verdict are left out. *Lexical match* says correct where the answer contains a
   gold answer ('/'-separated) after SQuAD's normalisation, accents dropped; the script checks first that on all scorable rows
   it gives the published mean F1 and accuracy within 0.1, and stops where it does not.
2. SAS (Risch et al., 2021): pairs of answers, human similarity 0, 1, 2. Correlation with the judge's probability, averaged
   over both directions, and the accuracy of *equivalent* at 0.5 (label 2 against 0; 1 is left out), against the overlap of
   tokens (F1).

Intervals are bootstraps over questions.

Data: shared folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines, part_of, sample
from benchmarks.support.judges import squad_normalised
from benchmarks.support.scores import accuracy, correlation, counts, estimate, f1, moments, ranks
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_scorer
from rag_cover.backends import Scorer, ScoringItem

Floats = NDArray[np.float64]
Row = dict[str, Any]

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
CUT = 0.5
PUBLISHED_LEXICAL = (87.9, 83.9)
TOLERANCE = 0.1 + 1e-9
PUBLISHED = {"Entail, 710M parameters (published, other split)": (92.9, 90.0), "GPT-4 (published, other split)": (94.5, 91.9)}


def scorable(row: Row) -> bool:
    """Tell whether a row has a human verdict on every system and a proper question."""
    return not row["improper"] and all(row[f"judge_{system}"] is not None for system in SYSTEMS)


def golden(row: Row) -> tuple[str, ...]:
    """Return the gold answers of a row."""
    return tuple(answer.strip() for answer in row["golden_answer"].split("/") if answer.strip())


def lexical_match(answer: str, references: Sequence[str]) -> bool:
    """Tell whether an answer contains one of the references, both normalised.

    >>> lexical_match("It was Wilhelm Röntgen, in 1901.", ["wilhelm rontgen"])
    True
    """
    text = squad_normalised(answer)
    return any(squad_normalised(reference) in text for reference in references if squad_normalised(reference))


def token_f1(first: str, second: str) -> float:
    """Return the F1 of the shared tokens of two normalised answers (SQuAD).

    >>> token_f1("the red house", "a red barn")
    0.5
    """
    a, b = Counter(squad_normalised(first).split()), Counter(squad_normalised(second).split())
    shared = sum((a & b).values())
    return 2 * shared / (a.total() + b.total()) if shared else 0.0


def evouna_verdicts(rows: Sequence[Row], judge: Scorer) -> dict[str, NDArray[np.bool_]]:
    """Return each method's (rows, systems) verdicts."""
    items = [ScoringItem(row["question"], row[f"answer_{system}"] or "", golden(row)) for row in rows for system in SYSTEMS]
    shape = (len(rows), len(SYSTEMS))
    matches = np.array([lexical_match(item.text, item.references) for item in items])
    return {
        "majority (always correct)": np.ones(shape, dtype=bool),
        "lexical match": matches.reshape(shape),
        "the judge": (judge.correctness(items) >= CUT).reshape(shape),
    }


def show_evouna(rows: Sequence[Row], judge: Scorer, seed: int) -> None:
    """Print F1 and accuracy of every method on every system."""
    truth = np.array([[row[f"judge_{system}"] for system in SYSTEMS] for row in rows], dtype=bool)
    keys = [row["question"] for row in rows]
    cells: dict[str, list[str]] = {}
    for name, said in evouna_verdicts(rows, judge).items():
        found = np.concatenate([counts(said[:, place], truth[:, place]) for place in range(len(SYSTEMS))], axis=1)
        scores = [_pair(found[:, 4 * place : 4 * place + 4], keys, seed) for place in range(len(SYSTEMS))]
        means = [percent(estimate(found, keys, _mean_of(statistic), seed=seed)) for statistic in (f1, accuracy)]
        cells[name] = [*scores, *means]
    for name, (score, agreement) in PUBLISHED.items():
        cells[name] = ["-"] * len(SYSTEMS) + [f"{score}", f"{agreement}"]
    header = ["method", *(f"{system}: F1 / accuracy %" for system in SYSTEMS), "mean F1 %", "mean accuracy %"]
    title = f"EVOUNA: n = {len(rows)} questions × {len(SYSTEMS)} systems, {truth.mean():.1%} of the answers correct"
    show(title, header, [[name, *row] for name, row in cells.items()])


def _pair(found: Floats, keys: Sequence[str], seed: int) -> str:
    values = [estimate(found, keys, statistic, seed=seed) for statistic in (f1, accuracy)]
    return " / ".join(f"{100 * value.estimate:.1f}" if value else "-" for value in values)


def _mean_of(statistic: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    def mean(sums: Floats) -> Floats:
        by_system = sums.reshape(*sums.shape[:-1], len(SYSTEMS), 4)
        return np.asarray(statistic(by_system).mean(axis=-1))

    return mean


def check_lexical_match(rows: Sequence[Row]) -> str:
    """Recompute the published lexical match on all scorable rows of EVOUNA-NQ.

    Raises:
        SystemExit: it does not come out within 0.1 points: the data or the normalisation are not the paper's.
    """
    truth = np.array([[row[f"judge_{system}"] for system in SYSTEMS] for row in rows], dtype=bool)
    said = np.array([[lexical_match(row[f"answer_{system}"] or "", golden(row)) for system in SYSTEMS] for row in rows])
    sums = np.stack([counts(said[:, place], truth[:, place]).sum(axis=0) for place in range(len(SYSTEMS))])
    found = tuple(round(100 * float(statistic(sums).mean()), 1) for statistic in (f1, accuracy))
    line = f"lexical match on all {len(rows):,} scorable rows: F1 / accuracy {found[0]} / {found[1]}, published 87.9 / 83.9"
    if any(abs(mine - theirs) > TOLERANCE for mine, theirs in zip(found, PUBLISHED_LEXICAL, strict=True)):
        message = f"Check failed: {line}."
        raise SystemExit(message)
    return f"Check passed: {line}."


def similarities(rows: Sequence[Row], judge: Scorer) -> Floats:
    """Return (n,) the mean over both directions of P(one answer is correct, given the other)."""
    directions = [("answer1", "answer2"), ("answer2", "answer1")]
    found = [
        judge.correctness([ScoringItem(row.get("question", ""), row[text], (row[reference],)) for row in rows])
        for reference, text in directions
    ]
    return np.mean(found, axis=0, dtype=np.float64)


def show_similar_answers(name: str, rows: Sequence[Row], judge: Scorer, seed: int) -> None:
    """Print how well probabilities follow human similarity."""
    labels = np.array([float(row["label"]) for row in rows])
    keys = [row.get("question", f"{row['answer1']} {row['answer2']}") for row in rows]
    clear = labels != 1
    clear_keys = [key for key, kept in zip(keys, clear, strict=True) if kept]
    truth = labels[clear] == 2  # noqa: PLR2004  # the label of equivalent answers
    majority = np.full(len(rows), float(truth.mean() >= CUT))
    overlaps = np.array([token_f1(row["answer1"], row["answer2"]) for row in rows])
    table = []
    for method, scores in {"majority": majority, "token F1": overlaps, "the judge": similarities(rows, judge)}.items():
        linear = estimate(moments(scores, labels), keys, correlation, seed=seed)
        ordinal = estimate(moments(ranks(scores), ranks(labels)), keys, correlation, seed=seed)
        right = estimate(counts(scores[clear] >= CUT, truth), clear_keys, accuracy, seed=seed)
        table.append([method, plain(linear), plain(ordinal), percent(right)])
    title = (
        f"{name}: n = {len(rows)} pairs of {len(set(keys))} questions; {len(truth)} clear ones, {truth.mean():.1%} equivalent"
    )
    show(title, ["method", "Pearson", "Spearman", "accuracy of 'equivalent' %"], table)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--file", type=Path, help="another file of EVOUNA's schema (default: answers/evouna_nq.jsonl)")
    parser.add_argument("--all", action="store_true", help="score all rows of a file that is held out as a whole")
    options = parser.parse_args()
    judge = open_scorer(options.judge)
    answers = options.data / "answers"
    rows = [row for row in lines(options.file or answers / "evouna_nq.jsonl") if scorable(row)]
    if options.file is None:
        print(check_lexical_match(rows))
    rows = part_of(rows, "all" if options.all else "test", key=lambda row: str(row["question"]))
    show_evouna(sample(rows, options.limit, options.seed), judge, options.seed)
    if options.file is None:
        nq = part_of(list(lines(answers / "sas_nq.jsonl")), "test", key=lambda row: str(row["question"]))
        for name, found in {"SAS NQ": nq, "SAS SQuAD (no questions)": list(lines(answers / "sas_squad.jsonl"))}.items():
            show_similar_answers(name, sample(found, options.limit, options.seed), judge, options.seed)


if __name__ == "__main__":
    main()
