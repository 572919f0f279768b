"""How hard the questions of a data set are for what retrieval brought back: where they stand, and of which kinds they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_cover.complexity.question_types import Kind, kinds_of
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.standing import Standing, standing_of
from rag_cover.measures import TraceResult
from rag_cover.question_keys import question_key
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.question_rows import QuestionRows

__all__ = ["NO_KIND", "ComplexitySummary", "ComplexitySums", "KindGroup"]

Floats = NDArray[np.float64]

NO_KIND = "none of these"
"""The group of questions that are of no kind by their form."""


@dataclass(frozen=True, slots=True)
class KindGroup:
    """The questions of one kind: shares of them that are complex and answerable. A question of two kinds is in two groups.

    The intervals are Wilson's; where a question stands in several traces, of as many trials as vary as much.
    """

    name: str
    is_complex: Interval
    answerable: Interval
    n: int


@dataclass(frozen=True, slots=True)
class ComplexitySummary:
    """Where the questions of all measured traces stand. ``with_references`` counts the traces judged by gold answers."""

    traces: int
    questions: int
    standings: Mapping[Standing, int]
    with_references: int
    by_kind: tuple[KindGroup, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Sums by question: complex traces, answerable traces, traces."""

    rows: QuestionRows = field(default_factory=lambda: QuestionRows(3))

    def add(self, question: str, *, is_complex: bool, answerable: bool) -> None:
        row = np.array([is_complex, answerable, 1.0], dtype=np.float64)
        self.rows.add(question, row)

    def summary(self, name: str) -> KindGroup:
        rows = self.rows.matrix()
        return KindGroup(name, _share(rows[:, [0, 2]]), _share(rows[:, [1, 2]]), int(rows[:, 2].sum()))


@dataclass(slots=True)
class ComplexitySums:
    """The complexities of results, gathered in one pass."""

    standings: Counter[Standing] = field(default_factory=Counter)
    questions: set[str] = field(default_factory=set)
    kinds: dict[str, _Group] = field(default_factory=dict)
    with_references: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, result: TraceResult) -> None:
        """Add one trace's result; one without a complexity adds nothing."""
        if (found := result.complexity) is None:
            return
        key = question_key(result.trace.question)
        self.questions.add(key)
        standing = standing_of(found)
        self.standings[standing] += 1
        self.with_references += found.references == "gold"
        for name in kinds_of(result.trace.question.text) or (NO_KIND,):
            self.kinds.setdefault(name, _Group()).add(key, is_complex=standing == Standing.COMPLEX, answerable=found.answerable)
        self.notes.update(_notes_on(found))

    def summary(self) -> ComplexitySummary | None:
        """Sum up; None where no result has a complexity."""
        if not self.questions:
            return None
        ordered = [name for name in (*Kind, NO_KIND) if name in self.kinds]
        return ComplexitySummary(
            traces=self.standings.total(),
            questions=len(self.questions),
            standings={standing: self.standings[standing] for standing in Standing},
            with_references=self.with_references,
            by_kind=tuple(self.kinds[name].summary(str(name)) for name in ordered),
            notes=tuple(f"{note}: {count} of {self.standings.total()} traces" for note, count in sorted(self.notes.items())),
        )


def _notes_on(found: Complexity) -> list[str]:
    """Name what a question was judged by."""
    notes = [f"a passage answers from a probability of {found.t_ans:.3g}"]
    if found.complete is None:
        notes.append("no model tells what passages are about, so answerability decides alone")
    elif found.t_com == 0 or found.constraints == "answerability":
        notes.append("completeness does not decide")
    else:
        notes.append(f"passages are about all of a question from a completeness of {found.t_com:.3g}")
    if found.calibration:
        notes.append(f"thresholds fitted on {found.calibration}")
    if found.references != "gold":
        notes.append("judged without gold answers")
    if found.failures:
        notes.append("some passages could not be judged, and count in nothing")
    return notes


def _share(rows: Floats) -> Interval:
    interval = jackknife_share(rows, lambda sums: np.asarray(sums[..., 0] / sums[..., 1]))
    if interval is None:  # a group begins with its first member
        message = "a group of questions is empty"
        raise ValueError(message)
    return interval
