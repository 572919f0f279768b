"""Do the local models answer typed questions about a text: which label, yes or no?

    python -m benchmarks.judge.decisions

On labelled decisions written for this project (``decisions.jsonl``): accuracy of the likeliest of the worded alternatives, by
entailment alone, by the embedder alone, and by both as `rag_cover.integration.entailment_shares` weighs them; and of yes/no
questions without worded alternatives, by "<question> Yes." as `rag_cover.integration.entailment_probability` weighs it. Beside
them the majority: the most frequent answer to each question, known beforehand.

How choices are weighed was chosen on those that are marked seen. The yes/no questions were all seen before their rule was
settled: their figures are no forecast. Intervals are Wilson's, and too narrow: the states share 21 questions.

Data: none (cases beside the script).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_embedder, open_entailer
from rag_cover.backends import Embedder, Entailer
from rag_cover.integration import entailment_probability, entailment_shares
from rag_cover.stats.intervals import wilson

CASES = Path(__file__).with_name("decisions.jsonl")
CUT = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled decision: which of the criteria, by label, holds of a state."""

    kind: str
    part: str
    instructions: str
    criteria: Mapping[str, str]
    state: str
    answer: str


def read_cases() -> list[Case]:
    """Read the labelled decisions."""
    return [Case(**json.loads(line)) for line in CASES.read_text(encoding="utf-8").splitlines()]


class NoOpinion:
    """An entailer that tells no statement from another."""

    def entail(self, pairs: Sequence[tuple[str, str]]) -> np.typing.NDArray[np.float32]:
        """Return even odds."""
        return np.full((len(pairs), 3), 1 / 3, dtype=np.float32)


def likeliest(case: Case, entailer: Entailer, embedder: Embedder | None) -> str:
    """Return the label whose description is most borne out."""
    shares = entailment_shares(case.state, list(case.criteria.values()), entailer=entailer, embedder=embedder)
    return list(case.criteria)[int(shares.argmax())]


def yes_or_no(case: Case, entailer: Entailer) -> str:
    """Answer by the question alone."""
    return "yes" if entailment_probability(case.state, f"{case.instructions} Yes.", entailer=entailer) >= CUT else "no"


def majority(cases: Sequence[Case]) -> int:
    """Count how often the most frequent answer to each question is right."""
    answers: dict[str, Counter[str]] = {}
    for case in cases:
        answers.setdefault(case.instructions, Counter())[case.answer] += 1
    return sum(counted.most_common(1)[0][1] for counted in answers.values())


def line(kind: str, part: str, cases: Sequence[Case], ways: Sequence[Callable[[Case], str] | None]) -> list[str]:
    """Return one line of the table: the majority, then every way's accuracy."""
    said = [None if way is None else sum(way(case) == case.answer for case in cases) for way in ways]
    shares = ["-" if right is None else percent(wilson(right, len(cases))) for right in (majority(cases), *said)]
    return [kind, part, str(len(cases)), *shares]


def main() -> None:
    """Print the table."""
    given = arguments(__doc__).parse_args()
    entailer, embedder, cases = open_entailer(given.judge), open_embedder(given.judge), read_cases()
    ways: list[Callable[[Case], str]] = [
        lambda case: likeliest(case, entailer, None),
        lambda case: likeliest(case, NoOpinion(), embedder),
        lambda case: likeliest(case, entailer, embedder),
    ]
    rows = []
    for kind, part in dict.fromkeys((case.kind, case.part) for case in cases):
        group = [case for case in cases if (case.kind, case.part) == (kind, part)]
        alone = (lambda case: yes_or_no(case, entailer)) if kind == "yes/no" else None
        rows.append(line(kind, part, group, [*ways, alone]))
    header = ["decision", "part", "n", "majority", "entailment", "embedder", "both", "the question alone"]
    show(f"Accuracy in percent, {given.judge}", header, rows)


if __name__ == "__main__":
    main()
