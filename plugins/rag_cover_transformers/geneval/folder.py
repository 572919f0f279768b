"""A GenEval model on disk: a plain checkpoint of the backbone, ``heads.safetensors`` beside it, and ``geneval.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from rag_cover.errors import CorruptFileError
from rag_cover_transformers.checkpoints import Checkpoint, encoder_class
from rag_cover_transformers.devices import Placement
from rag_cover_transformers.errors import WrongKindError
from rag_cover_transformers.geneval.network import READINGS, GenEvalNetwork, HeadOutputs

__all__ = ["FittedHeads", "backbone_of", "is_geneval", "open_network", "read_fitted", "save_model"]

FORMAT = 1
_ABOUT, _HEADS = "geneval.json", "heads.safetensors"


@dataclass(frozen=True, slots=True)
class FittedHeads:
    """How the network is read: the input's length, the cut for coverage without references, and the heads' temperatures."""

    reading: HeadOutputs
    max_tokens: int
    threshold: float = 0.5
    correctness_temperature: float = 1.0
    relevance_temperature: float = 1.0


def is_geneval(folder: Path) -> bool:
    """Return whether a folder is GenEval's, and no other checkpoint."""
    return (folder / _ABOUT).is_file()


def read_fitted(checkpoint: Checkpoint) -> FittedHeads:
    """Read ``geneval.json``.

    Raises:
        CorruptFileError: it is not what this version writes.
        WrongKindError: there is none.
    """
    path = checkpoint.folder / _ABOUT
    if not path.is_file():
        problem = f"{checkpoint.folder} holds no {_ABOUT}: it is no GenEval model. 'rag-cover train geneval' makes one"
        raise WrongKindError(checkpoint.name, problem)
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        wrong = about.pop("format") != FORMAT or about["reading"] not in READINGS
        fitted = FittedHeads(**about)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path} cannot be read ({error!r}). Train the model again, or get its folder again."
        raise CorruptFileError(message) from error
    if wrong:
        message = (
            f"{path} is not of a format this version reads (format {FORMAT}). Upgrade rag-cover, or train the model again."
        )
        raise CorruptFileError(message)
    return fitted


def backbone_of(checkpoint: Checkpoint, reading: HeadOutputs, placement: Placement) -> Any:
    """Read the backbone: with its decoder, or the encoder alone."""
    kind = AutoModel if reading == "decoder" else encoder_class(checkpoint.config())
    return checkpoint.network(kind, placement, may_lack=("pooler",))


def open_network(checkpoint: Checkpoint, fitted: FittedHeads, placement: Placement) -> GenEvalNetwork:
    """Read backbone and heads."""
    path = checkpoint.folder / _HEADS
    network = GenEvalNetwork(backbone_of(checkpoint, fitted.reading, placement), fitted.reading)
    try:
        missing, unexpected = network.load_state_dict(load_file(path), strict=False)
    except (OSError, RuntimeError, SafetensorError) as error:
        message = f"{path} cannot be read ({error}). Train the model again, or get its folder again."
        raise CorruptFileError(message) from error
    if unexpected or not all(name.startswith("backbone.") for name in missing):
        message = f"{path} does not hold the two heads. Train the model again, or get its folder again."
        raise CorruptFileError(message)
    return cast("GenEvalNetwork", network.to(placement.device, placement.dtype).eval().requires_grad_(requires_grad=False))


def save_model(network: GenEvalNetwork, tokenizer: Any, fitted: FittedHeads, folder: Path) -> None:
    """Write all of a model's folder, ``geneval.json`` last."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _ABOUT).unlink(missing_ok=True)
    network.backbone.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    save_file(
        {name: value.detach().to("cpu", torch.float32).contiguous() for name, value in network.heads().items()}, folder / _HEADS
    )
    (folder / _ABOUT).write_text(json.dumps({"format": FORMAT} | asdict(fitted), indent=2) + "\n", encoding="utf-8")
