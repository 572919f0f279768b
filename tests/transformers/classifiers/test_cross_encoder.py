"""Cross-encoders of one and two outputs as scorers without references."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover.registry import Models, open_scorer
from rag_cover_transformers.canaries import QUESTIONS
from rag_cover_transformers.errors import CanaryError

Folder = Callable[[int], Path]


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_text_that_answers_is_likelier_to(outputs: int, qnli_folder: Folder) -> None:
    scorer = open_scorer(f"transformers:{qnli_folder(outputs)}", threshold=0.4)
    items = [ScoringItem(question, text) for question, *texts in QUESTIONS for text in texts]

    found = scorer.correctness(items)

    assert isinstance(scorer, Scorer)
    assert scorer.threshold == 0.4
    assert (found[::2] >= 0.5).all()
    assert (found[1::2] < 0.5).all()


def test_the_best_window_speaks(qnli_folder: Folder) -> None:
    scorer = open_scorer(f"transformers:{qnli_folder(2)}")
    question, *texts = QUESTIONS[0]
    long = " ".join([texts[1]] * 40)  # alike all over: what is put at its end shows in its last window alone

    plain, ended = scorer.correctness([ScoringItem(question, long), ScoringItem(question, f"{long} {texts[0]}")])

    assert ended > plain


def test_the_batch_does_not_matter_and_a_blank_text_answers_nothing(qnli_folder: Folder) -> None:
    scorer = open_scorer(f"transformers:{qnli_folder(2)}")
    question, right, wrong = QUESTIONS[0]
    items = [ScoringItem(question, text) for text in (f"{wrong} " * 12 + right, right, wrong, " ", "a")]

    found = scorer.correctness(items)

    single = np.concatenate([scorer.correctness([item]) for item in items])
    assert np.abs(found - single).max() <= 1e-5
    assert found[3] == 0
    assert scorer.correctness([]).shape == (0,)


def test_a_threshold_is_a_probability(qnli_folder: Folder) -> None:
    with pytest.raises(InvalidValueError, match="give a number from 0 to 1"):
        open_scorer(f"transformers:{qnli_folder(1)}", threshold=2.0)


def test_references_are_refused_not_overlooked(qnli_folder: Folder) -> None:
    with pytest.raises(InvalidValueError, match="judges without references"):
        open_scorer(f"transformers:{qnli_folder(1)}").correctness([ScoringItem("Who?", "Ada.", ("Ada",))])


def test_inverted_labels_are_refused(qnli_folder: Folder, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(qnli_folder(2), tmp_path / "inverted"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {"0": "not_entailment", "1": "entailment"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    with pytest.raises(CanaryError) as refused:
        open_scorer(f"transformers:{folder}")

    assert refused.value.passing == ("entailment", "not_entailment")


def test_as_a_judge_it_brings_no_more_than_it_can(qnli_folder: Folder) -> None:
    opened = Models(judge=f"transformers:{qnli_folder(1)}").open(("scorer", "locator", "relevance", "entailer"))

    assert set(opened) == {"scorer"}
