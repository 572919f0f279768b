"""Judges that were fitted to labels: where they are kept, and how a name finds one.

A fitted judge is a folder with a ``judge.json`` alone: the fitted numbers, and which network they are of. A named one lies in
``judges/NAME`` of the user's configuration folder of ``rag-cover`` (``~/.config/rag-cover`` on Linux, or below
``XDG_CONFIG_HOME``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_cover.backends import Mode
from rag_cover.errors import InvalidValueError, OutputExistsError, StoreError, nearest
from rag_cover.score_fits import JUDGE_NAME, FittedMode
from rag_cover_embedded.answers import ScoreCalibration
from rag_cover_embedded.devices import DEVICE

__all__ = ["ABOUT", "find_folder", "folder_for", "merge_fitted", "write_fitted"]

ABOUT = "judge.json"
_CUTS: Mapping[Mode, str] = {"passage": "threshold", "reply": "reply_threshold"}


def find_folder(model: str) -> Path | None:
    """Return the folder of a judge by its path or its name; None for the judge that ships with rag_cover.

    Raises:
        InvalidValueError: there is no such folder, and no named judge is called so.
    """
    if not model:
        return None
    if (path := Path(model).expanduser()).is_dir():
        return path
    kept = _judges_folder()
    if JUDGE_NAME.fullmatch(model) and (kept / model).is_dir():
        return kept / model
    named = sorted(each.parent.name for each in kept.glob(f"*/{ABOUT}"))
    there = f"{nearest(model, named)} There are: {', '.join(named)}." if named else f" {kept} holds none."
    message = f"there is no folder {model} with a judge, and no judge is called so.{there} Fit one with 'rag-cover judge fit'"
    raise InvalidValueError(message)


def folder_for(place: str | Path) -> Path:
    """Return the folder to keep a judge in: a path as it is, a name in the folder of named judges.

    Raises:
        InvalidValueError: a name that no folder can have, or that of a device.
    """
    if isinstance(place, Path):
        return place
    if DEVICE.fullmatch(place):
        message = f"{place!r} names a device, not a judge: choose another name"
        raise InvalidValueError(message)
    if not JUDGE_NAME.fullmatch(place):
        message = f"{place!r} is no name of a judge: letters, digits, '.', '-' and '_', at most 64; --out takes a folder"
        raise InvalidValueError(message)
    return _judges_folder() / place


def merge_fitted(about: Mapping[str, Any], modes: Mapping[Mode, FittedMode], base: Path | None) -> dict[str, Any]:
    """Put what was fitted in the place of a judge's numbers; ``base`` is the folder of its network, None: the shipped one."""
    fitted, shifts = dict(about["fitted"]), dict(about.get("shifts", {}))
    fitted["calibrations"], fitted["certain"] = dict(fitted["calibrations"]), dict(fitted["certain"])
    for mode, found in modes.items():
        fitted[_CUTS[mode]] = found.cut
        fitted["certain"][mode] = list(found.certain)
        shifts[mode] = found.shift.to_dict()
        for kind, (logit, windows, tokens, similarity, intercept) in found.weights.items():
            numbers = ScoreCalibration(logit, windows, tokens, similarity, intercept)
            fitted["calibrations"][kind] = {name: getattr(numbers, name) for name in ScoreCalibration.__slots__}
    return {**about, "base": None if base is None else str(base.resolve()), "fitted": fitted, "shifts": shifts}


def write_fitted(folder: Path, about: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a fitted judge, at once or not at all.

    Raises:
        OutputExistsError: there is one already, which is not to be written over.
        StoreError: the folder has a network of its own, or cannot be written.
    """
    path = folder / ABOUT
    if path.exists() and not overwrite:
        raise OutputExistsError(path, is_read=False)
    if (folder / "judge.onnx").exists():
        problem = f"{folder} holds a judge with a network of its own, whose numbers are not written over; name another folder"
        raise StoreError(problem)
    begun = folder / f".{ABOUT}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        begun.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        begun.replace(path)
    except OSError as denied:
        problem = f"{path} cannot be written ({denied.strerror or denied}); check the folder, its permissions and the disk"
        raise StoreError(problem) from denied


def _judges_folder() -> Path:
    import typer  # finds the user's configuration folder on every system

    return Path(typer.get_app_dir("rag-cover")) / "judges"
