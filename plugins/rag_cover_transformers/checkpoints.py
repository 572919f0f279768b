"""Where a model comes from, and how it is read: configuration, tokenizer and weights, from one local folder.

A path is read from disk and nowhere else. A name of the hub is downloaded once, without any pickled file, and then read from
the folder it was downloaded to. No code of a checkpoint is ever run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError
from safetensors import SafetensorError
from transformers import (
    MODEL_FOR_TEXT_ENCODING_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForTextEncoding,
    AutoTokenizer,
)

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.devices import Placement
from rag_cover_transformers.errors import (
    CheckpointNotFoundError,
    UnsafeWeightsError,
    UnsuitableCheckpointError,
    WrongKindError,
)

__all__ = ["Checkpoint", "encoder_class", "find_checkpoint"]

_READ = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")
_NOT_READ = ("onnx/*", "openvino/*", "original/*")
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_VOCABULARIES = ("tokenizer.json", "*.model", "vocab.*", "*.tiktoken")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A local folder with a model's files, and the name it was asked for by."""

    name: str
    folder: Path

    def config(self, subfolder: str = "") -> Any:
        """Read the model's configuration."""
        folder = self.folder / subfolder
        if not (folder / "config.json").is_file():
            problem = f"{folder} holds no config.json, so it is no checkpoint. Give the folder that save_pretrained wrote"
            raise UnsuitableCheckpointError(self.name, problem)
        with self._read("config.json", folder):
            return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)

    def tokenizer(self, subfolder: str = "") -> Any:
        """Read the tokenizer, which must be a fast one."""
        folder = self.folder / subfolder
        if not any(path for pattern in _VOCABULARIES for path in folder.glob(pattern)):  # or one is made up that knows no word
            problem = (
                f"{folder} holds no tokenizer.json. Save the tokenizer beside the weights: tokenizer.save_pretrained(folder)"
            )
            raise UnsuitableCheckpointError(self.name, problem)
        with self._read("tokenizer", folder):
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if not tokenizer.is_fast:
            raise UnsuitableCheckpointError(self.name, "its tokenizer has no fast form (tokenizer.json)")
        return tokenizer

    def network(self, kind: Any, placement: Placement, *, may_lack: tuple[str, ...] = (), subfolder: str = "") -> Any:
        """Read the weights into a network of this kind, ready for inference.

        Every weight must be in the checkpoint, but for those whose names contain a part of ``may_lack``.
        """
        folder = self.folder / subfolder
        self._refuse_pickled(folder)
        with self._read("weights", folder):
            _refuse_leaving(folder)
            network, report = kind.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=placement.dtype,
                output_loading_info=True,
            )
        if lacking := sorted(key for key in report["missing_keys"] if not any(part in key for part in may_lack)):
            problem = f"it has no weights for {', '.join(lacking[:3])}; as a {type(network).__name__} it was never trained"
            raise WrongKindError(self.name, problem)
        try:
            return network.to(placement.device).eval().requires_grad_(requires_grad=False)
        except torch.cuda.OutOfMemoryError as error:
            problem = f"its weights do not fit into the memory of {placement.device}; take a smaller model, or device='cpu'"
            raise UnsuitableCheckpointError(self.name, problem) from error

    def fingerprint(self) -> str:
        """Name the model by the sha256 of all that is read of it."""
        digest = hashlib.sha256()
        for path in sorted(path for pattern in _READ for path in self.folder.rglob(pattern)):
            with path.open("rb") as file:
                digest.update(str(path.relative_to(self.folder)).encode())
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return f"transformers:{digest.hexdigest()[:16]}"

    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Return what identifies the folder's state: its files' sizes and modification times."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return tuple((str(path), (about := path.stat()).st_size, about.st_mtime_ns) for path in files)

    def _refuse_pickled(self, folder: Path) -> None:
        if any(folder.glob("*.safetensors")):
            return
        if pickled := sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern)):
            raise UnsafeWeightsError(folder, pickled)
        problem = f"{folder} holds no weights (*.safetensors); pickled ones are neither read nor downloaded"
        raise UnsuitableCheckpointError(self.name, problem)

    @contextmanager
    def _read(self, what: str, folder: Path) -> Iterator[None]:
        """Turn what the libraries raise on unreadable files into a sentence; they have no common class for it."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, AttributeError, SafetensorError) as error:
            reason = str(error).partition("\n")[0]
            if reason.startswith("Unrecognized configuration class"):
                problem = f"there is no such network for the architecture of {folder}"
                raise WrongKindError(self.name, problem) from error
            if "trust_remote_code" in str(error):
                problem = (
                    "it needs code of its own (auto_map), which rag_cover never runs; take a model that transformers knows"
                )
                raise UnsuitableCheckpointError(self.name, problem) from error
            problem = f"its {what} cannot be read from {folder} ({reason.rstrip('.')}). Get the folder again, or save it anew"
            raise UnsuitableCheckpointError(self.name, problem) from error


def _refuse_leaving(folder: Path) -> None:
    """Refuse weights in several files of which one is named outside the folder; links may lead out, as those of the hub do."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return
    named = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    places = {name: os.path.relpath(folder / name, folder) for name in named}
    if leaving := sorted(name for name, place in places.items() if place.startswith(os.pardir)):
        problem = f"{index.name} names files outside the folder: {', '.join(leaving[:3])}"
        raise ValueError(problem)


def encoder_class(config: Any) -> Any:
    """Return the class that reads an encoder: of an encoder-decoder the encoder alone."""
    alone = config.is_encoder_decoder or type(config) in MODEL_FOR_TEXT_ENCODING_MAPPING
    return AutoModelForTextEncoding if alone else AutoModel


def find_checkpoint(name: str, *, revision: str | None = None) -> Checkpoint:
    """Find a model's folder: the path itself, or where the hub's download lies.

    Raises:
        CheckpointNotFoundError: no such folder, or the hub cannot give it.
    """
    if not name:
        message = "Say which model: 'transformers:' and then a folder, or a name of the hub such as 'transformers:org/model'."
        raise InvalidValueError(message)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Checkpoint(name, folder)
    if folder.exists() or _is_path(name):
        raise CheckpointNotFoundError(name, "there is no such folder. Check the path (it is relative to where you are).")
    return Checkpoint(name, _download(name, revision))


def _is_path(name: str) -> bool:
    """Return whether this is a path, and no name of the hub (``model`` or ``owner/model``).

    >>> [_is_path(name) for name in ("org/model", "./model", "runs/7/model", "~/model")]
    [False, True, True, True]
    """
    return name.startswith((".", "~", "/")) or name.count("/") > 1 or "\\" in name


def _download(name: str, revision: str | None) -> Path:
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_READ), ignore_patterns=list(_NOT_READ)))
    except (HfHubHTTPError, OSError, ValueError) as error:
        problem = (
            f"{str(error).partition(chr(10))[0].rstrip('.')}. There is no folder of that name, and the hub did not give it. "
            "Check the name; HF_HUB_OFFLINE=1 allows only what is in the cache (HF_HOME), HF_ENDPOINT names another hub, "
            "HF_TOKEN opens gated models. Or download it elsewhere and give the folder's path."
        )
        raise CheckpointNotFoundError(name, problem) from error
