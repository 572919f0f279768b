"""Two annotators of the same verdicts: Cohen's kappa with its interval, and the disagreements to settle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rag_cover.labelling.items import LabelItem, label_key
from rag_cover.stats.classification import accuracy, by_cluster, counts, kappa_interval
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stores.labels import Label

__all__ = ["AnnotatorAgreement", "AnnotatorDisagreement", "compare_annotators", "find_disagreements"]


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """How far two annotators agree on the ``labels`` verdicts that both labelled; partly counts as no.

    ``kappa`` is None where it is undefined, such as where both say the same one thing of everything, and has no bounds where
    leaving out a question moves nothing: one of the two gives one answer alone, or they agree on all. Intervals resample
    questions.
    """

    first: str
    second: str
    labels: int
    agreed: Interval | None
    kappa: Interval | None


@dataclass(frozen=True, slots=True)
class AnnotatorDisagreement:
    """A verdict of which annotators disagree: what each said, and how it was settled, where it was."""

    item: LabelItem
    said: Mapping[str, Label]
    settled: Label | None


Said = Mapping[str, Mapping[str, Label]]
"""By verdict and annotator: what was said last."""


def compare_annotators(labels: Iterable[Label], items: Mapping[str, LabelItem]) -> tuple[AnnotatorAgreement, ...]:
    """Compare each two annotators on the verdicts that both labelled; adjudications do not count."""
    said, _ = _gather(labels, items)
    names = sorted({name for each in said.values() for name in each})
    pairs = ((a, b, [key for key, each in said.items() if a in each and b in each]) for a, b in combinations(names, 2))
    return tuple(_compare(a, b, keys, said, items) for a, b, keys in pairs if keys)


def find_disagreements(labels: Iterable[Label], items: Mapping[str, LabelItem]) -> tuple[AnnotatorDisagreement, ...]:
    """List the verdicts of which two annotators say yes and no, those that nobody settled first."""
    said, settled = _gather(labels, items)
    found = [
        AnnotatorDisagreement(items[key], each, settled.get(key))
        for key, each in said.items()
        if len({label.label for label in each.values()}) > 1
    ]
    return tuple(sorted(found, key=lambda each: each.settled is not None))


def _gather(labels: Iterable[Label], items: Mapping[str, LabelItem]) -> tuple[Said, Mapping[str, Label]]:
    last: defaultdict[str, dict[str, Label]] = defaultdict(dict)
    settled: dict[str, Label] = {}
    for label in labels:
        key = label_key(label.sub_question or label.question, label.answer or label.passage or "")
        if key not in items or label.annotator is None:
            continue
        if label.adjudicated:
            settled[key] = label
        else:
            last[key][label.annotator] = label
    said = {key: {name: each for name, each in by.items() if each.label is not None} for key, by in last.items()}
    return said, {key: each for key, each in settled.items() if each.label is not None}


def _compare(first: str, second: str, keys: Sequence[str], said: Said, items: Mapping[str, LabelItem]) -> AnnotatorAgreement:
    one, other = ([bool(said[key][name].label) for key in keys] for name in (first, second))
    sums = by_cluster(counts(one, other), [items[key].cluster for key in keys])
    return AnnotatorAgreement(first, second, len(keys), jackknife_share(sums, accuracy), kappa_interval(sums))
