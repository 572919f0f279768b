"""The state of a training run in one safetensors file: weights, the optimiser's moments, and how far it has come."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from rag_cover.errors import CorruptFileError, InvalidValueError

__all__ = ["TrainingProgress", "restore_progress", "store"]

_NETWORK, _MOMENTS = "network.", "moments."


@dataclass(slots=True)
class TrainingProgress:
    """How far a run has come: steps taken, the best validation AUROC and at which step, and checks since without a better."""

    step: int = 0
    best: float = 0.0
    best_step: int = 0
    checks_without_gain: int = 0


def store(path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, progress: TrainingProgress, *, run: str) -> None:
    """Write the state, whole or not at all; ``run`` names the data and settings it belongs to."""
    tensors = {f"{_NETWORK}{name}": value for name, value in weights_of(network).items()}
    for number, moments in optimiser.state_dict()["state"].items():
        tensors |= {f"{_MOMENTS}{number}.{name}": value for name, value in moments.items()}
    about = {"run": run, "progress": json.dumps(asdict(progress))}
    part = path.with_suffix(".part")
    save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, part, metadata=about)
    part.replace(path)


def weights_of(network: nn.Module) -> dict[str, Tensor]:
    """Return a network's weights, each shared one once."""
    return dict(network.named_parameters())


def restore_progress(path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, *, run: str) -> TrainingProgress:
    """Put the stored state back; a fresh `TrainingProgress` where there is none.

    Raises:
        InvalidValueError: the file is another run's.
        CorruptFileError: it cannot be read.
    """
    if not path.exists():
        return TrainingProgress()
    try:
        with safe_open(path, framework="pt") as file:
            about, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        if about["run"] != run:
            message = f"{path} is of a run with other data or settings. Give the same ones to go on with it, or another --out."
            raise InvalidValueError(message)
        _fill(network, {name.removeprefix(_NETWORK): value for name, value in tensors.items() if name.startswith(_NETWORK)})
        _fill_moments(optimiser, {name.removeprefix(_MOMENTS): v for name, v in tensors.items() if name.startswith(_MOMENTS)})
        return TrainingProgress(**json.loads(about["progress"]))
    except (OSError, SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        message = f"{path} cannot be read ({error!r}). Delete it to train from the start."
        raise CorruptFileError(message) from error


def _fill(network: nn.Module, tensors: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, value in weights_of(network).items():
            value.copy_(tensors[name])


def _fill_moments(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        number, _, moment = name.partition(".")
        state.setdefault(int(number), {})[moment] = value
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
