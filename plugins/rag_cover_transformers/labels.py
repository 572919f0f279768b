"""Which output of a classifier means what: read from its ``id2label``, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.errors import LabelOrderError

__all__ = ["THREE_CLASSES", "TWO_CLASSES", "label_order"]

THREE_CLASSES = ("entailment", "neutral", "contradiction")
TWO_CLASSES = ("entailment", "not_entailment")

_MEANT = {
    "entailment": "entailment",
    "entail": "entailment",
    "entails": "entailment",
    "entailed": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradict": "contradiction",
    "contradicts": "contradiction",
    "contradictory": "contradiction",
    "not_entailment": "not_entailment",
    "non_entailment": "not_entailment",
    "not_entailed": "not_entailment",
}


def label_order(name: str, id2label: Mapping[int, str], given: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return what each output means, in the outputs' order; ``given`` speaks before the checkpoint.

    >>> label_order("m", {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"})
    ('contradiction', 'neutral', 'entailment')

    Raises:
        LabelOrderError: the checkpoint calls them ``LABEL_0`` or the like, and no order is given.
    """
    found = tuple(id2label[place] for place in sorted(id2label))
    if given is not None:
        return _check_labels(tuple(given), len(found))
    order = tuple(_MEANT.get(label.strip().lower().replace("-", "_").replace(" ", "_"), "") for label in found)
    if sorted(order) not in (sorted(THREE_CLASSES), sorted(TWO_CLASSES)):
        raise LabelOrderError(name, found, _possible_orders(len(found)))
    return order


def _check_labels(given: tuple[str, ...], outputs: int) -> tuple[str, ...]:
    if sorted(given) not in [sorted(order) for order in _possible_orders(outputs)]:
        allowed = " or ".join(str(order) for order in _possible_orders(outputs)) or "none"
        message = f"labels={given} does not name the {outputs} outputs of this classifier; in the checkpoint's order: {allowed}"
        raise InvalidValueError(message)
    return given


def _possible_orders(outputs: int) -> list[tuple[str, ...]]:
    return [order for order in (THREE_CLASSES[::-1], THREE_CLASSES, TWO_CLASSES) if len(order) == outputs]
