"""Which output means what."""

from __future__ import annotations

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.errors import LabelOrderError
from rag_cover_transformers.labels import label_order


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), ("entailment", "neutral", "contradiction")),
        (("contradiction", "neutral", "entailment"), ("contradiction", "neutral", "entailment")),
        (("Entailed", "Not-Entailment"), ("entailment", "not_entailment")),
        (("not entailment", "entails"), ("not_entailment", "entailment")),
    ],
)
def test_labels_are_read_as_checkpoints_write_them(labels: tuple[str, ...], order: tuple[str, ...]) -> None:
    assert label_order("m", dict(enumerate(labels))) == order


def test_outputs_are_read_in_the_order_of_their_numbers() -> None:
    assert label_order("m", {2: "entailment", 0: "contradiction", 1: "neutral"})[0] == "contradiction"


def test_labels_without_meaning_are_refused_with_the_option_to_pass() -> None:
    with pytest.raises(LabelOrderError, match=r"'LABEL_0', 'LABEL_1', 'LABEL_2'.*labels=\('contradiction', 'neutral'"):
        label_order("m", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})


def test_an_order_that_is_given_speaks_before_the_checkpoint() -> None:
    given = ("neutral", "entailment", "contradiction")

    assert label_order("m", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, given) == given


@pytest.mark.parametrize("given", [("entailment",), ("entailment", "neutral", "neutral"), ("a", "b", "c")])
def test_an_order_that_does_not_name_every_output_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValueError, match="does not name the 3 outputs"):
        label_order("m", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, given)
