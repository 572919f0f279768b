"""The two-headed judge, opened from a folder: long texts, many references, and both heads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rag_cover.backends import Relevance, Scorer, ScoringItem
from rag_cover.errors import CorruptFileError, InvalidValueError
from rag_cover.registry import Models, open_relevance, open_scorer
from rag_cover_transformers.checkpoints import find_checkpoint
from rag_cover_transformers.devices import choose_placement
from rag_cover_transformers.encodings import TextEncoder
from rag_cover_transformers.errors import WrongKindError
from rag_cover_transformers.geneval.folder import FittedHeads, backbone_of, save_model
from rag_cover_transformers.geneval.layout import InputLayout
from rag_cover_transformers.geneval.network import GenEvalNetwork, HeadOutputs

Made = Callable[[HeadOutputs], Path]

QUESTION = "Who wrote the novel Emma?"
TEXTS = ["Emma is a novel written by Jane Austen.", "Bread is baked from flour. " * 10, "a"]


@pytest.fixture(scope="module")
def made(t5_folder: Path, bert_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Make a GenEval folder with random heads: T5 with its decoder, T5's encoder, BERT's encoder."""
    folders: dict[HeadOutputs, Path] = {}

    def make(reading: HeadOutputs) -> Path:
        if reading not in folders:
            torch.manual_seed(1)
            checkpoint = find_checkpoint(str(bert_folder if reading == "first" else t5_folder))
            network = GenEvalNetwork(backbone_of(checkpoint, reading, choose_placement("cpu", "auto", None)), reading)
            for head in (network.correctness, network.relevance):
                torch.nn.init.normal_(head[-1].weight, std=2.0)
            folders[reading] = tmp_path_factory.mktemp("geneval") / "model"
            save_model(network, checkpoint.tokenizer(), FittedHeads(reading, 64, threshold=0.3), folders[reading])
        return folders[reading]

    return make


@pytest.fixture(params=["decoder", "mean", "first"])
def folder(request: pytest.FixtureRequest, made: Made) -> Path:
    return made(request.param)


def test_it_scores_and_relates_and_is_loaded_once(folder: Path) -> None:
    scorer, relevance = open_scorer(f"transformers:{folder}"), open_relevance(f"transformers:{folder}")

    assert id(scorer) == id(relevance)
    assert isinstance(scorer, Scorer)
    assert isinstance(relevance, Relevance)
    assert scorer.threshold == 0.3


def test_a_verdict_does_not_depend_on_its_batch(folder: Path) -> None:
    judge = open_scorer(f"transformers:{folder}", batch_tokens=130)
    items = [ScoringItem(QUESTION, text, refs) for text in TEXTS for refs in ((), ("Jane Austen",), ("a", "Austen " * 12))]

    batch = judge.correctness(items)

    single = np.concatenate([judge.correctness([item]) for item in items])
    assert np.abs(batch - single).max() <= 1e-5
    assert ((batch >= 0) & (batch <= 1)).all()
    assert len(set(batch.tolist())) > 3
    assert (judge.correctness(items) == batch).all()


def test_a_blank_text_is_no_answer_and_nothing_asked_is_nothing_answered(folder: Path) -> None:
    judge = open_scorer(f"transformers:{folder}")

    assert judge.correctness([ScoringItem(QUESTION, " ")]).tolist() == [0]
    assert judge.correctness([]).shape == (0,)


def test_relevance_has_a_share_for_each_token_of_the_question(folder: Path) -> None:
    judge = open_relevance(f"transformers:{folder}")

    found = judge.token_relevance(QUESTION, [*TEXTS, ""])

    assert found.values.shape == (4, len(found.tokens))
    assert "".join(found.tokens).replace(" ", "") == QUESTION.replace(" ", "")
    assert found.values[0].sum() == pytest.approx(1)
    assert (found.values >= 0).all()
    assert (found.values[3] == 0).all()
    alone = judge.token_relevance(QUESTION, TEXTS[1:2]).values
    assert np.abs(found.values[1] - alone[0]).max() <= 1e-5


def test_no_text_gives_no_rows(folder: Path) -> None:
    assert open_relevance(f"transformers:{folder}").token_relevance(QUESTION, []).values.shape[0] == 0


def test_as_a_judge_it_brings_relevance_and_no_entailer(folder: Path) -> None:
    opened = Models(judge=f"transformers:{folder}").open(("scorer", "locator", "relevance", "entailer"))

    assert set(opened) == {"scorer", "relevance"}


def test_a_plain_checkpoint_has_no_relevance(bert_folder: Path) -> None:
    with pytest.raises(WrongKindError, match="holds no geneval.json"):
        open_relevance(f"transformers:{bert_folder}")


@pytest.mark.parametrize("option", [{"threshold": 0.2}, {"task": "answers"}, {"words": ("yes", "no")}, {"canaries": ()}])
def test_options_of_other_scorers_are_refused(option: dict[str, Any], folder: Path) -> None:
    with pytest.raises(InvalidValueError, match="knows its labels and its threshold"):
        open_scorer(f"transformers:{folder}", **option)


@pytest.mark.parametrize(
    ("about", "problem"), [("{", "cannot be read"), ('{"format": 2}', "cannot be read"), (None, "is not of a format")]
)
def test_a_damaged_description_is_refused(made: Made, tmp_path: Path, about: str | None, problem: str) -> None:
    folder = Path(shutil.copytree(made("first"), tmp_path / "copy"))
    path = folder / "geneval.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"format": 9}) if about is None else about)

    with pytest.raises(CorruptFileError, match=problem):
        open_scorer(f"transformers:{folder}")


def test_missing_heads_are_refused(made: Made, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made("first"), tmp_path / "copy"))
    (folder / "heads.safetensors").unlink()

    with pytest.raises(CorruptFileError, match="heads.safetensors cannot be read"):
        open_scorer(f"transformers:{folder}")


def test_no_token_of_text_or_references_is_lost(t5_tokenizer: Any) -> None:
    layout = InputLayout(TextEncoder(t5_tokenizer, 64))
    asked, text, *given = layout.encoder.tokenise([QUESTION, TEXTS[1], "Jane Austen", "the river froze " * 30])

    inputs = layout.inputs(asked, text, given)

    held = {token for laid in inputs for token in laid.encoded.ids.tolist()}
    assert all(len(laid.encoded) <= 64 for laid in inputs)
    assert {token for part in (text, *given) for token in part.ids.tolist()} <= held
    assert all(laid.encoded.ids[laid.question].tolist() == asked.ids.tolist() for laid in inputs)
