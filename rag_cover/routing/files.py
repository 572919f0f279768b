"""Skill models on disk: numbers in ``.npz``, the rest in ``.json`` beside it, tied by a checksum; nothing is pickled."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import CorruptFileError, UnfitModelError
from rag_cover.routing.parameters import Parameters
from rag_cover.routing.subjects import Subjects
from rag_cover.stores.files import open_input, read_whole_file, replacing

__all__ = ["KeptSkills", "load_skills", "save_skills"]

_SCHEMA = 1
_NONE: Mapping[str, Any] = {"names": [], "shares": []}  # models of earlier versions tell no subjects apart
_ARRAYS = (
    "skills",
    "relevance_weights",
    "relevance_bias",
    "difficulty_weights",
    "difficulty_mean",
    "covariances",
    "prior_mean",
    "prior_precision",
)


@dataclass(frozen=True, slots=True)
class KeptSkills:
    """A model as it was read: its numbers, its settings, the fingerprint of its encoder, the subjects it tells apart."""

    parameters: Parameters
    settings: Mapping[str, Any]
    encoder: str | None
    subjects: Subjects


def save_skills(
    path: Path, parameters: Parameters, settings: Mapping[str, object], encoder: str | None, subjects: Subjects
) -> None:
    """Write ``<path>.npz`` and ``<path>.json``; a suffix of either kind may be given and is left out."""
    packed = io.BytesIO()
    np.savez(packed, **{name: getattr(parameters, name) for name in _ARRAYS})
    about = {
        "schema": _SCHEMA,
        "agents": parameters.agents,
        "temperature": parameters.temperature,
        "features": parameters.features,
        "encoder": encoder,
        "settings": dict(settings),
        "subjects": subjects.to_dict(),
        "sha256": hashlib.sha256(packed.getvalue()).hexdigest(),
    }
    numbers, text = _files(path)
    with replacing(numbers) as file:
        file.write(packed.getvalue())
    with replacing(text) as file:
        file.write((json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode())


def load_skills(path: Path, encoder: str | None, features: int | None) -> KeptSkills:
    """Read what `save_skills` wrote; see `Caimira.load` for what is refused."""
    numbers, text = _files(path)
    about = _about(text)
    with open_input(numbers) as file:
        raw = read_whole_file(file, numbers)
    if hashlib.sha256(raw).hexdigest() != about.get("sha256"):
        message = f"{numbers} is not what {text.name} was written with: it is damaged or of another model; save the model again"
        raise CorruptFileError(message)
    try:
        found = KeptSkills(
            _parameters(about, raw), dict(about["settings"]), about["encoder"], Subjects.from_dict(about.get("subjects", _NONE))
        )
    except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile) as broken:
        message = f"{text} and {numbers.name} do not hold a skill model ({broken}); save the model again"
        raise CorruptFileError(message) from broken
    _require_fit(path, found.encoder, encoder, found.parameters.features - len(found.subjects.names), features)
    return found


def _files(path: Path) -> tuple[Path, Path]:
    stem = path.name.removesuffix(".npz").removesuffix(".json")
    return path.with_name(f"{stem}.npz"), path.with_name(f"{stem}.json")


def _about(path: Path) -> dict[str, Any]:
    with open_input(path) as file:
        raw = read_whole_file(file, path)
    try:
        about = json.loads(raw)
    except ValueError as broken:
        message = f"{path} is not JSON ({broken}); save the model again"
        raise CorruptFileError(message) from broken
    if not isinstance(about, dict) or about.get("schema") != _SCHEMA:
        found = about.get("schema") if isinstance(about, dict) else None
        message = f"{path} is no skill model of schema {_SCHEMA} (found {found}); fit and save the model again"
        raise CorruptFileError(message)
    return about


def _parameters(about: Mapping[str, Any], raw: bytes) -> Parameters:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        found: dict[str, NDArray[np.float64]] = {name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS}
    agents = tuple(map(str, about["agents"]))
    (a, m), (_, d) = found["skills"].shape, found["relevance_weights"].shape
    shapes = [(a, m), (m, d), (m,), (m, d), (m,), (a, m, m), (m,), (m, m)]
    if [found[name].shape for name in _ARRAYS] != shapes or len(agents) != a:
        message = f"its arrays do not fit together, or not {len(agents)} agents"
        raise ValueError(message)
    return Parameters(agents=agents, temperature=float(about["temperature"]), **found)


def _require_fit(path: Path, known: str | None, encoder: str | None, size: int, features: int | None) -> None:
    if encoder is not None and known is not None and encoder != known:
        message = (
            f"{path} was fitted to questions encoded by {known}, not by {encoder}; open that encoder, or fit the model again"
        )
        raise UnfitModelError(message)
    if features is not None and features != size:
        message = f"{path} takes {size} features of a question, not {features}; encode as it was fitted, or fit the model again"
        raise UnfitModelError(message)
