"""Imported labels beside those of a file: what is new, what replaces a label, what the file holds already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from rag_cover.labelling.items import label_key
from rag_cover.stores.labels import Label

__all__ = ["LabelMerge"]

_Place = tuple[str | None, str, bool]


@dataclass(slots=True)
class LabelMerge:
    """The lines that an import adds to a file of labels, so that the same table, imported twice, adds nothing.

    ``held`` counts those that the file says already, ``repeated`` those that another label of the same import says.

    A label is the same one where the annotator, what was asked and the text are (`label_key`), and so are the traces, or the
    questions, that both name. What is said otherwise replaces what was said before, unless that was said later.

    >>> label = Label(question="Why blue?", answer="Air.", label=True, annotator="ada")
    >>> changed = label.model_copy(update={"label": False})
    >>> merge = LabelMerge.of([label], [label, changed])
    >>> merge.added, merge.replaced, merge.held, merge.outdated
    (0, 1, 1, 0)
    >>> LabelMerge.of([], [label, label]).repeated
    1
    """

    lines: list[Label] = field(default_factory=list)
    added: int = 0
    replaced: int = 0
    held: int = 0
    repeated: int = 0
    outdated: int = 0
    _standing: defaultdict[_Place, dict[str | None, Label]] = field(default_factory=lambda: defaultdict(dict), repr=False)
    _own: set[int] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, held: Iterable[Label], imported: Iterable[Label]) -> LabelMerge:
        """Merge imported labels into those that a file holds; the order of each is that in which labels were given."""
        merge = cls()
        for label in held:
            merge._keep(label)
        for label in imported:
            merge._take(label)
        return merge

    def _keep(self, label: Label) -> None:
        self._standing[_place(label)][_scope_of(label)] = label

    def _take(self, label: Label) -> None:
        before = self._find(label)
        if before is None:
            self.added += 1
            self._append(label)
        elif _verdict_of(before) == _verdict_of(label):
            is_own = id(before) in self._own
            self.held, self.repeated = self.held + (not is_own), self.repeated + is_own
        elif before.labelled_at and label.labelled_at and before.labelled_at > label.labelled_at:
            self.outdated += 1
        else:
            self.replaced += 1
            self._append(_in_place_of(before, label))

    def _append(self, label: Label) -> None:
        self.lines.append(label)
        self._own.add(id(label))  # which stays its own: the line is kept
        self._keep(label)

    def _find(self, label: Label) -> Label | None:
        """Return the label that this one repeats or replaces; who names no trace and no question means any."""
        by_trace, scope = self._standing.get(_place(label), {}), _scope_of(label)
        if scope in by_trace:
            return by_trace[scope]
        return next(reversed(by_trace.values()), None) if scope is None else by_trace.get(None)


def _place(label: Label) -> _Place:
    asked = label_key(label.sub_question or label.question, label.answer or label.passage or "")
    return label.annotator, asked, label.adjudicated


def _scope_of(label: Label) -> str | None:
    return label.trace_id or label.question_id


def _verdict_of(label: Label) -> tuple[bool | None, bool, bool]:
    return label.label, label.partly, label.skipped


def _in_place_of(before: Label, label: Label) -> Label:
    """Return what is said now under the names of what was said before, which it then takes back."""
    said = {"label": label.label, "partly": label.partly, "skipped": label.skipped, "labelled_at": label.labelled_at}
    sample = {"sampled": label.sampled, "draw": label.draw, "population": label.population} if label.sampled else {}
    return before.model_copy(update=said | sample)
