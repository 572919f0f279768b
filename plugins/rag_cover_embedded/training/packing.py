"""A trained network made into the folder that the judge opens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from rag_cover_embedded.answers import Calibrations, Proposing, ScoreCalibration
from rag_cover_embedded.training.export import export
from rag_cover_embedded.training.network import JudgeNetwork, find_pretrained_folder
from rag_cover_embedded.weights import ENTAILMENT_NETWORK, REPLY_NETWORK, sha256_of

UNCALIBRATED = Calibrations(*3 * (ScoreCalibration(logit=1.0),))
UNFITTED: Mapping[str, Any] = {
    "threshold": 0.5,
    "reply_threshold": 0.5,
    "certain": {},
    "abstention": 0.5,
    "temperatures": {"correct": 1.0, "entailment": 1.0},
    "calibrations": asdict(UNCALIBRATED),
    "proposing": asdict(Proposing(floor=0.425, margin=0.35, most=32, slope=10.423, intercept=-6.92)),
}
"""What a judge starts with: `fitting` replaces all but the first stage's settings (`benchmarks/judge/proposing.py`)."""


def pack(checkpoint: Path, folder: Path, *, fitted: Mapping[str, Any] = UNFITTED) -> None:
    """Write ``judge.onnx`` (int8), ``tokenizer.json`` and ``judge.json`` (their sha256 and the fitted numbers)."""
    folder.mkdir(parents=True, exist_ok=True)
    network = JudgeNetwork.from_state(torch.load(checkpoint, weights_only=True)["network"]).eval()
    export(network, folder / "judge.onnx")
    shutil.copyfile(find_pretrained_folder() / "tokenizer.json", folder / "tokenizer.json")
    about = {"sha256": {name: sha256_of(folder / name) for name in ("judge.onnx", "tokenizer.json")}, "fitted": dict(fitted)}
    (folder / "judge.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def pack_entailment(checkpoint: Path, folder: Path, temperature: float = 1.0) -> None:
    """Add ``entailment.onnx``, a network that tells entailment in place of the judge's own, to a judge's folder."""
    _add_network(checkpoint, folder, ENTAILMENT_NETWORK, {"entailment": {"temperature": temperature}})


def pack_replies(checkpoint: Path, folder: Path) -> None:
    """Add ``replies.onnx``, a network that reads replies and answers against references, to a judge's folder."""
    _add_network(checkpoint, folder, REPLY_NETWORK, {})


def _add_network(checkpoint: Path, folder: Path, name: str, fitted: Mapping[str, Any]) -> None:
    """Write a network into a judge's folder, and its sha256 and what was fitted with it into ``judge.json``."""
    network = JudgeNetwork.from_state(torch.load(checkpoint, weights_only=True)["network"]).eval()
    export(network, folder / name)
    about: dict[str, Any] = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    about["sha256"][name] = sha256_of(folder / name)
    (folder / "judge.json").write_text(json.dumps({**about, **fitted}, indent=2) + "\n", encoding="utf-8")
