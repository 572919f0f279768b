"""What the judge's errors do to the figures of an evaluation, from labels of its own texts or of other sets.

Labels of the evaluation's own answers that were picked at random count in two ways. From `LEAST_LABELS` of `LEAST_QUESTIONS`
questions, a share is prediction-powered (`rag_cover.stats.prediction_powered`). Fewer, and for losses and differences all of
them, tell how far the judge's probabilities lie off here, beside what is known from other sets (`rag_cover.stats.judge_error`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from rag_cover.backends import CalibrationShift, Mode
from rag_cover.coverage import CoverageResult, Loss
from rag_cover.labels import LabelledText
from rag_cover.measures import Unit, ratio
from rag_cover.questions import Role, plain_query
from rag_cover.stats.classification import by_cluster
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.judge_error import difference_interval, loss_intervals, share_interval, update_shift
from rag_cover.stats.prediction_powered import LEAST_LABELS, LEAST_QUESTIONS, estimate_powered_share

__all__ = ["JudgeError", "JudgeKnowledge", "VerdictCollector"]

_CUT = 0.5  # of a verdict's probability, written as if its cut were a half
_LABELLED = (Loss.UNUSED, Loss.DROPPED, Loss.NOT_RETRIEVED)


@dataclass(frozen=True, slots=True)
class JudgeError:
    """How well the judge agrees with people, and what its errors do to where core sub-questions were lost.

    ``agreement`` counts the labels that its verdicts on answers agree with; ``own_labels`` tells whether these are of the
    evaluation's own answers, ``all_labelled`` whether these are all of them, ``rests_on_labels`` whether the share rests on
    them; ``judged`` is the share by the judge's verdicts alone. ``losses`` are how many core sub-questions people would count
    as lost there; empty where that cannot be told.
    """

    agreement: CalibrationShift
    own_labels: bool
    losses: Mapping[Loss, Interval]
    all_labelled: bool = False
    rests_on_labels: bool = False
    judged: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeKnowledge:
    """What is known of a judge's errors: its shifts on labelled sets by mode, and labels of the evaluation's own answers.

    ``chosen`` counts labels of texts that were chosen, which no figure rests on; ``rows`` are all labels that were given.
    """

    shifts: Mapping[Mode, CalibrationShift] = field(default_factory=dict)
    labels: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    chosen: int = 0
    rows: tuple[LabelledText, ...] = ()

    @classmethod
    def of(cls, shifts: Mapping[Mode, CalibrationShift], labels: Iterable[LabelledText] = ()) -> JudgeKnowledge:
        """Index the labels of replies by what was asked and the reply; of several the last counts.

        Labels of chosen texts are left out: they are no random sample (`LabelledText.chosen`), and every figure that rests on
        labels takes them for one.
        """
        said = tuple(row for row in labels if row.label is not None)
        drawn = (row for row in said if row.user_question and not row.chosen)
        known = {_place(row.question, row.text): bool(row.label) for row in drawn}
        return cls(shifts, known, sum(row.chosen for row in said), said)

    def label_of(self, asked: str, text: str) -> bool | None:
        """Return what people say of an answer, None where nobody labelled it."""
        return self.labels.get(_place(asked, text)) if self.labels else None


@dataclass(slots=True)
class _Share:
    """The verdicts behind one share, in the order in which they came; a label is None where nobody gave one."""

    probabilities: list[float] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    labels: list[bool | None] = field(default_factory=list)

    def of(self, *, labelled: bool) -> tuple[list[float], list[str], list[bool]]:
        rows = [
            (probability, question, bool(label))
            for probability, question, label in zip(self.probabilities, self.questions, self.labels, strict=True)
            if (label is not None) is labelled
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]

    def merge_labels(self) -> list[float]:
        """Return the probabilities; those of labelled verdicts are 0 or 1, as their label says."""
        rows = zip(self.probabilities, self.labels, strict=True)
        return [probability if label is None else float(label) for probability, label in rows]

    def on(self, questions: Collection[str]) -> tuple[list[float], list[str]]:
        rows = [each for each in zip(self.merge_labels(), self.questions, strict=True) if each[1] in questions]
        return [row[0] for row in rows], [row[1] for row in rows]


class VerdictCollector:
    """Gathers the verdicts behind shares, and what losses of core sub-questions follow from.

    ``has_statements`` tells whether some of them are of nuggets that are statements, not questions.
    """

    def __init__(self, known: JudgeKnowledge) -> None:
        self._known = known
        self._shares: defaultdict[str, _Share] = defaultdict(_Share)
        self._evidence: list[tuple[float, float, float]] = []
        self._evidence_of: list[str] = []
        self._is_corpus_searched = False
        self.has_statements = False  # of these no labelled set tells how far the judge is off

    def add(self, metric: str, units: Sequence[Unit], question: str, answer: str) -> None:
        """Add the verdicts of one trace behind a share."""
        share = self._shares[metric]
        for unit in units:
            share.probabilities.append(unit.probability)
            share.questions.append(question)
            share.labels.append(self._known.label_of(unit.asked, answer))

    def add_losses(self, coverage: CoverageResult, question: str) -> None:
        """Add what the losses of one trace follow from."""
        for each in coverage.sub_questions:
            self.has_statements |= coverage.on_nuggets and each.question is None
            self._is_corpus_searched |= each.corpus is not None
            if each.role == Role.CORE and each.evidence is not None:
                self._evidence.append((each.evidence.answer, each.evidence.prompt, each.evidence.retrieved))
                self._evidence_of.append(question)

    def prediction_powered(self, metric: str) -> Interval | None:
        """Return a share that rests on labels of these answers; None where there are too few, unless all are labelled."""
        if not self._rests_on_labels(metric):
            return None
        judged, keys, labels = self._own_labels(metric)
        if self._is_all_labelled(metric):  # as any other share
            return jackknife_share(by_cluster([[label, 1] for label in labels], keys), ratio)
        others, their_keys, _ = self._shares[metric].of(labelled=False)
        return estimate_powered_share(labels, judged, keys, others, their_keys).share

    def has_labels(self, metric: str) -> bool:
        """Return whether people labelled some of the verdicts behind a share."""
        return bool(self._own_labels(metric)[2])

    def interval(self, metric: str, *, seed: int) -> Interval | None:
        """Return a share with an interval that holds the judge's errors; None where nothing is known of them."""
        shift = self._shift(metric) if metric in self._shares else None
        if shift is None:
            return None
        share = self._shares[metric]
        return share_interval(share.merge_labels(), share.questions, shift, seed=seed)

    def judge_error(self, metric: str, *, seed: int) -> JudgeError | None:
        """Tell how well the judge agrees with people on the verdicts behind a share, and what its errors do to losses."""
        shift = self._shift(metric)
        if shift is None:
            return None
        passage = None if self.has_statements else self._known.shifts.get("passage")
        found = loss_intervals(self._evidence, self._evidence_of, shift, passage, seed=seed) if passage else None
        own, all_labelled = self.has_labels(metric), self._is_all_labelled(metric)
        losses = dict(zip(_LABELLED, found, strict=True)) if found and not all_labelled else {}
        if self._is_corpus_searched:  # of what was not retrieved no labelled set tells what the corpus has
            losses.pop(Loss.NOT_RETRIEVED, None)
        said = self._shares[metric].probabilities if metric in self._shares else []
        judged = sum(each >= _CUT for each in said) / len(said) if said else None
        return JudgeError(shift, own, losses, all_labelled, self._rests_on_labels(metric), judged)

    def difference(self, other: Self, metric: str, questions: Iterable[str], *, seed: int) -> Interval | None:
        """Return by how much the other's share on some questions is larger, with an interval that holds the judge's errors.

        None where the share is undefined on a side, or nothing is known of the errors.
        """
        shift = self._shift(metric) if self._own_labels(metric)[2] else other._shift(metric)
        if shift is None or metric not in self._shares or metric not in other._shares:
            return None
        wanted = set(questions)
        mine, theirs = self._shares[metric].on(wanted), other._shares[metric].on(wanted)
        return difference_interval(mine, theirs, shift, seed=seed) if mine[0] and theirs[0] else None

    def _shift(self, metric: str) -> CalibrationShift | None:
        judged, _, labels = self._own_labels(metric)
        known = None if self.has_statements else self._known.shifts.get("reply")
        return update_shift(known, judged, labels) if labels else known

    def _is_all_labelled(self, metric: str) -> bool:
        return metric in self._shares and None not in self._shares[metric].labels and bool(self._shares[metric].labels)

    def _rests_on_labels(self, metric: str) -> bool:
        _, keys, labels = self._own_labels(metric)
        are_enough = len(labels) >= LEAST_LABELS and len(set(keys)) >= LEAST_QUESTIONS and len(set(labels)) > 1
        return are_enough or self._is_all_labelled(metric)

    def _own_labels(self, metric: str) -> tuple[list[float], list[str], list[bool]]:
        return self._shares[metric].of(labelled=True) if metric in self._shares else ([], [], [])


def _place(asked: str, text: str) -> tuple[str, str]:
    return plain_query(asked), plain_query(text)
