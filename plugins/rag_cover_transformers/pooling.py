"""From token vectors to one vector a text: as the checkpoint's sentence-transformers files say, else the mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from rag_cover_transformers.checkpoints import Checkpoint
from rag_cover_transformers.errors import UnsuitableCheckpointError

__all__ = ["Pooling", "pool_vectors", "read_pooling"]

MODES = ("cls", "mean", "max", "lasttoken")
_NAMES = {f"pooling_mode_{mode}_token" if mode == "cls" else f"pooling_mode_{mode}": mode for mode in MODES} | {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
_ACTIVATIONS = {"Identity": torch.nn.Identity(), "Tanh": torch.nn.Tanh(), "ReLU": torch.nn.ReLU(), "GELU": torch.nn.GELU()}


@dataclass(frozen=True, slots=True)
class Pooling:
    """How token vectors are pooled, the dense layers after that, and how texts are prepared."""

    modes: tuple[str, ...] = ("mean",)
    dense: tuple[tuple[Tensor, Tensor | None, str], ...] = ()
    subfolder: str = ""
    max_tokens: int | None = None
    lower: bool = False
    prompt: str = ""
    told: bool = False
    """Whether the checkpoint says all this itself."""

    def width(self, hidden: int) -> int:
        """Return the vectors' length, given that of the token vectors."""
        return len(self.dense[-1][0]) if self.dense else hidden * len(self.modes)


def read_pooling(checkpoint: Checkpoint) -> Pooling:
    """Read ``modules.json`` and what it names; without it, the mean of the token vectors.

    Raises:
        UnsuitableCheckpointError: a module or pooling that is not known here.
    """
    try:
        return _read(checkpoint)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        problem = f"its sentence-transformers files cannot be read ({error!r})"
        raise UnsuitableCheckpointError(checkpoint.name, problem) from error


def _read(checkpoint: Checkpoint) -> Pooling:
    if not (checkpoint.folder / "modules.json").is_file():
        return Pooling()
    modes: tuple[str, ...] = ()
    dense: list[tuple[Tensor, Tensor | None, str]] = []
    subfolder = ""
    for module in _json(checkpoint.folder / "modules.json"):
        folder = checkpoint.folder / module["path"]
        match module["type"].rpartition(".")[2]:
            case "Transformer":
                subfolder = module["path"]
            case "Pooling":
                modes = _modes(_json(folder / "config.json"))
            case "Dense":
                dense.append(_dense(folder))
            case "Normalize":
                continue  # vectors are always of unit length here
            case other:
                message = f"a module {other!r} is not known here"
                raise UnsuitableCheckpointError(checkpoint.name, message)
    if not modes or not set(modes) <= set(MODES):
        message = f"its pooling {modes} is not one of {MODES}"
        raise UnsuitableCheckpointError(checkpoint.name, message)
    about = _optional(checkpoint.folder / subfolder / "sentence_bert_config.json")
    prompts = _optional(checkpoint.folder / "config_sentence_transformers.json")
    prompt = (prompts.get("prompts") or {}).get(prompts.get("default_prompt_name") or "", "")
    lower = bool(about.get("do_lower_case"))
    return Pooling(modes, tuple(dense), subfolder, about.get("max_seq_length"), lower, str(prompt), told=True)


def _modes(config: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(named := config.get("pooling_mode"), str):
        return (named,)
    if isinstance(named, list):
        return tuple(named)
    return tuple(_NAMES.get(key, key) for key, used in config.items() if key.startswith("pooling_mode_") and used)


def _dense(folder: Path) -> tuple[Tensor, Tensor | None, str]:
    config, weights = _json(folder / "config.json"), load_file(folder / "model.safetensors")
    activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in _ACTIVATIONS:
        message = f"the activation {activation!r} is not known here"
        raise ValueError(message)
    return weights["linear.weight"], weights.get("linear.bias"), activation


def pool_vectors(vectors: Tensor, mask: Tensor, modes: tuple[str, ...]) -> Tensor:
    """Pool (rows, tokens, d) token vectors, padded on the right, into (rows, d * modes).

    >>> vectors, mask = torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[1, 1, 0]])
    >>> [pool_vectors(vectors, mask, (mode,)).item() for mode in MODES]
    [1.0, 2.0, 3.0, 3.0]
    """
    weights = mask[..., None].to(vectors.dtype)
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    every = {
        "cls": lambda: vectors[:, 0],
        "mean": lambda: (vectors * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1),
        "max": lambda: vectors.masked_fill(weights == 0, -torch.inf).amax(dim=1),
        "lasttoken": lambda: vectors[torch.arange(len(vectors), device=vectors.device), last],
    }
    return torch.cat([every[mode]() for mode in modes], dim=1)


def densely(vectors: Tensor, pooling: Pooling) -> Tensor:
    """Pass pooled vectors through the checkpoint's dense layers."""
    for weight, bias, activation in pooling.dense:
        placed = [None if each is None else each.to(vectors) for each in (weight, bias)]
        vectors = _ACTIVATIONS[activation](torch.nn.functional.linear(vectors, *placed))
    return vectors


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _optional(path: Path) -> dict[str, Any]:
    return dict(_json(path)) if path.is_file() else {}
