"""A classifier read the wrong way round is refused when it is opened."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import BertConfig, BertForSequenceClassification

from rag_cover.errors import InvalidValueError
from rag_cover.registry import open_entailer
from rag_cover_transformers.canaries import CANARIES, refuse_a_wrong_order
from rag_cover_transformers.errors import CanaryError, LabelOrderError, WrongKindError

Folder = Callable[[str], Path]
Saved = Callable[[Any, Any], Path]

TRUE_ORDER = ("contradiction", "neutral", "entailment")
INVERTED = ("entailment", "neutral", "contradiction")


def _relabelled(folder: Path, to: Path, labels: Sequence[str]) -> Path:
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text(encoding="utf-8"))
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: place for place, label in enumerate(labels)}}
    (to / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return to


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_a_checkpoint_with_inverted_labels_is_refused_and_told_the_order_that_passes(
    kind: str, nli_folder: Folder, tmp_path: Path
) -> None:
    folder = _relabelled(nli_folder(kind), tmp_path / "inverted", INVERTED)

    with pytest.raises(CanaryError, match=r"In the order \('contradiction', 'neutral', 'entailment'\) it passes") as refused:
        open_entailer(f"transformers:{folder}")

    assert refused.value.passing == TRUE_ORDER
    assert open_entailer(f"transformers:{folder}", labels=TRUE_ORDER).entail([("a", "b")]).shape == (1, 3)


def test_nameless_labels_need_the_option_and_are_checked_all_the_same(nli_folder: Folder, tmp_path: Path) -> None:
    folder = _relabelled(nli_folder("bert"), tmp_path / "nameless", ("LABEL_0", "LABEL_1", "LABEL_2"))

    with pytest.raises(LabelOrderError):
        open_entailer(f"transformers:{folder}")
    with pytest.raises(CanaryError):
        open_entailer(f"transformers:{folder}", labels=INVERTED)
    assert open_entailer(f"transformers:{folder}", labels=TRUE_ORDER)


def test_a_classifier_that_knows_nothing_is_refused_without_advice_on_its_order(nli_folder: Folder) -> None:
    unknown = [("Blue is a colour.", "Two is a number.", label) for label in TRUE_ORDER]

    with pytest.raises(CanaryError, match="No order of its labels passes") as refused:
        open_entailer(f"transformers:{nli_folder('bert')}", canaries=unknown)

    assert refused.value.passing is None


def test_canaries_of_ones_own_can_be_none(nli_folder: Folder, tmp_path: Path) -> None:
    folder = _relabelled(nli_folder("bert"), tmp_path / "inverted", INVERTED)

    assert open_entailer(f"transformers:{folder}", canaries=())


def test_two_classes_are_checked_as_two() -> None:
    right = np.array([[2.0, 0.0] if label == "entailment" else [0.0, 2.0] for _, _, label in CANARIES], np.float32)

    refuse_a_wrong_order("m", ("entailment", "not_entailment"), right)

    with pytest.raises(CanaryError, match=r"0 of 9 plain cases right"):
        refuse_a_wrong_order("m", ("not_entailment", "entailment"), right)


def test_always_saying_the_more_frequent_class_is_not_enough() -> None:
    with pytest.raises(CanaryError, match=r"6 of 9 .*No order of its labels passes"):
        refuse_a_wrong_order("m", ("entailment", "not_entailment"), np.array([[0.0, 1.0]] * len(CANARIES), np.float32))


def test_a_third_of_the_canaries_may_be_wrong() -> None:
    logits = np.array([[label == name for name in TRUE_ORDER] for _, _, label in CANARIES], np.float32)
    logits[[0, 3, 6]] = logits[[3, 6, 0]]

    refuse_a_wrong_order("m", TRUE_ORDER, logits)

    logits[1] = logits[4]
    with pytest.raises(CanaryError, match=r"5 of 9"):
        refuse_a_wrong_order("m", TRUE_ORDER, logits)


def test_a_canary_with_a_label_that_is_none_is_refused(nli_folder: Folder) -> None:
    with pytest.raises(InvalidValueError, match="a label one of entailment, neutral, contradiction: not 'entails'"):
        open_entailer(f"transformers:{nli_folder('bert')}", canaries=[("It rains.", "It is wet.", "entails")])


def test_a_classifier_of_four_is_no_entailer(bert_tokenizer: Any, saved: Saved) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    folder = saved(
        BertForSequenceClassification(BertConfig(vocab_size=len(bert_tokenizer), num_labels=4, **sizes)), bert_tokenizer
    )

    with pytest.raises(WrongKindError, match=r"it has 4 outputs, and an entailer has three"):
        open_entailer(f"transformers:{folder}")
