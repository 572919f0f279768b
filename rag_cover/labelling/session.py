"""One annotator at work: what was said so far, what comes next, and every key written to the file before it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal

from rag_cover.errors import InvalidValueError
from rag_cover.labelling.items import LabelItem, label_key
from rag_cover.labelling.sampling import Draw, LabelSampling
from rag_cover.question_keys import question_key
from rag_cover.questions import Question, Role
from rag_cover.stores.labels import (
    Correction,
    Label,
    append_labels,
    cut_torn_line,
    read_corrections,
    read_label_file,
    refuse_other_file,
)

__all__ = ["GRADES", "Grade", "LabelSession"]

Grade = Literal["yes", "no", "partly", "skip"]
GRADES: Mapping[Grade, bool | None] = {"yes": True, "no": False, "partly": False, "skip": None}
"""What each key says: whether the text covers the sub-question. Partly is not covering it, as of nuggets (TREC 2024)."""


class LabelSession:
    """The labels of one annotator, in a file to which every key appends before it is acknowledged.

    A session that is opened on the file of an earlier one goes on where that ended, however it ended. ``torn`` is what a crash
    left of a last line, which was cut off: nobody was told that it was saved.

    Args:
        items: the verdicts that can be labelled.
        path: the file of labels, made with the first one.
        annotator: who labels.
        plan: the order in which verdicts come.

    Raises:
        InputError: the file holds something that is no label.
        StoreError: the file is not one for labels, or cannot be read or written.
    """

    def __init__(self, items: Iterable[LabelItem], path: Path, *, annotator: str, plan: LabelSampling) -> None:
        self.items = {item.key: item for item in items}
        self.path, self.annotator, self.plan = path, annotator, plan
        refuse_other_file(path)
        self.torn = cut_torn_line(path)
        self._lock = Lock()
        self._key_by_text = {key: key for key in self.items}
        self._corrected: dict[tuple[str, str], Correction] = {}
        self._said: dict[str, Label] = {}
        self._order: list[str] = []
        self._undone: Draw | None = None
        if path.exists():
            self._read()

    @property
    def answered(self) -> Mapping[str, Label]:
        """Return what was said of each verdict, skipped ones among them."""
        return self._said

    @property
    def corrections(self) -> Sequence[Correction]:
        """Return the last correction of each sub-question or nugget."""
        return tuple(self._corrected.values())

    @property
    def can_undo(self) -> bool:
        """Return whether there is a label to take back."""
        return bool(self._order)

    def counts(self) -> tuple[int, int, int]:
        """Count the labels, those of them in the random sample, and the skipped verdicts."""
        labels = [label for label in self._said.values() if label.label is not None]
        return len(labels), sum(label.sampled == "random" for label in labels), len(self._said) - len(labels)

    def next(self) -> Draw | None:
        """Return the verdict to label: the one whose label was just taken back, or the next of the plan."""
        return self._undone or self.plan.next(self._said)

    def shown(self, key: str) -> LabelItem:
        """Return a verdict with its sub-question as it was corrected.

        Raises:
            InvalidValueError: there is no such verdict.
        """
        item = self.items.get(key)
        if item is None:
            message = "there is no such verdict in this store; load the page anew"
            raise InvalidValueError(message)
        correction = self._corrected.get((item.cluster, item.facet))
        return item if correction is None else replace(item, facet=correction.text, role=correction.role)

    def say(self, key: str, grade: Grade) -> None:
        """Keep what the annotator says of a verdict: when this returns, it is on the disk.

        Raises:
            InvalidValueError: there is no such verdict, or no such grade.
            StoreError: the file cannot be written; nothing was kept.
        """
        if grade not in GRADES:
            message = f"{grade!r} is no grade; there are {', '.join(GRADES)}"
            raise InvalidValueError(message)
        with self._lock:
            item = self.shown(key)
            label = self._label(item, grade, self._draw_of(key))
            self._append([label, *self._draw_in({**self._said, key: label})])
            self._undone = None

    def undo(self) -> str | None:
        """Take the last label back, and return its verdict, which is next again; None where there is none.

        Raises:
            StoreError: the file cannot be written; the label stays.
        """
        with self._lock:
            if not self._order:
                return None
            key = self._order[-1]
            label = self._said[key]
            taken_back = {"label": None, "partly": False, "skipped": False, "labelled_at": _now()}
            self._append([label.model_copy(update=taken_back)])
            self._undone = Draw(key, label.sampled or "chosen", label.draw)
            return key

    def correct(self, key: str, text: str, role: Role | None) -> LabelItem:
        """Keep a correction of a verdict's sub-question or nugget, and return the verdict as it is shown from now on.

        Raises:
            InvalidValueError: there is no such verdict, or the text is blank.
            StoreError: the file cannot be written; nothing was kept.
        """
        if not text.strip():
            message = "a sub-question needs a text; skip the verdict (s) where it makes no sense"
            raise InvalidValueError(message)
        with self._lock:
            self.shown(key)
            item = self.items[key]
            correction = Correction(
                question=item.question.text,
                corrects=item.facet,
                text=text.strip(),
                role=role,
                is_nugget=item.is_nugget,
                trace_id=item.trace_id,
                question_id=item.question.id,
                annotator=self.annotator,
                corrected_at=_now(),
            )
            append_labels(self.path, [correction])
            self._take_correction(correction)
            return self.shown(key)

    def adjudicate(self, key: str, grade: Grade) -> None:
        """Settle a disagreement: this label stands in place of every other one of the text.

        Raises:
            InvalidValueError: there is no such verdict, or no such grade.
            StoreError: the file cannot be written; nothing was kept.
        """
        with self._lock:
            before = self._said.get(key)
            draw = Draw(key, "chosen") if before is None else Draw(key, before.sampled or "chosen", before.draw)
            label = self._label(self.shown(key), grade, draw)
            append_labels(self.path, [label.model_copy(update={"adjudicated": True})])

    def _draw_of(self, key: str) -> Draw:
        """Return how a verdict was picked: as the plan says, or as it was when it was labelled before."""
        picked = self.next()
        if picked is not None and picked.key == key:
            return picked
        before = self._said.get(key)
        return Draw(key, "chosen") if before is None else Draw(key, before.sampled or "chosen", before.draw)

    def _draw_in(self, answered: Mapping[str, Label]) -> list[Label]:
        """Return labels of chosen verdicts that the random sample has reached: from now on they are part of it."""
        reached = self.plan.random_order[: self.plan.sample_size(answered)]
        return [
            label.model_copy(update={"sampled": "random", "draw": place, "population": self.plan.population})
            for place, key in enumerate(reached, 1)
            if (label := answered[key]).sampled == "chosen"
        ]

    def _label(self, item: LabelItem, grade: Grade, draw: Draw) -> Label:
        said = GRADES[grade]
        return Label(
            question=item.question.text,
            sub_question=item.facet,
            role=item.role,
            passage=item.judged_text if item.kind == "passage" else None,
            passage_id=item.passage_id if item.kind == "passage" else None,
            answer=item.text if item.kind == "answer" else None,
            label=said,
            trace_id=item.trace_id,
            question_id=item.question.id,
            annotator=self.annotator,
            labelled_at=_now(),
            partly=grade == "partly",
            skipped=grade == "skip",
            sampled=draw.sampled,
            draw=draw.place,
            population=self.plan.population if draw.sampled == "random" else None,
        )

    def _append(self, labels: Sequence[Label]) -> None:
        append_labels(self.path, labels)
        for label in labels:
            self._take(label)

    def _read(self) -> None:
        for correction in read_corrections(self.path):
            self._take_correction(correction)
        for label in read_label_file(self.path):
            if label.annotator == self.annotator and not label.adjudicated:
                self._take(label)

    def _take_correction(self, correction: Correction) -> None:
        asked = question_key(Question(correction.question, id=correction.question_id))
        self._corrected[asked, correction.corrects] = correction
        for item in self.items.values():
            if (item.cluster, item.facet) == (asked, correction.corrects):
                self._key_by_text[label_key(correction.text, item.judged_text)] = item.key

    def _take(self, label: Label) -> None:
        """Count a label as what was said last; one without a word takes back what was said before."""
        text = label.answer or label.passage or ""
        key = self._key_by_text.get(label_key(label.sub_question or label.question, text))
        if key is None:
            return
        before = self._said.pop(key, None)
        is_drawn_in = before is not None and before.labelled_at == label.labelled_at
        if not is_drawn_in and key in self._order:
            self._order.remove(key)
        if label.label is not None or label.skipped:
            self._said[key] = label
            if not is_drawn_in:
                self._order.append(key)


def _now() -> datetime:
    return datetime.now(UTC)
