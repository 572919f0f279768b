"""The judge's files: where they are, and the check that they are the ones they should be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from rag_cover.backends import CalibrationShift, CertainCuts, Mode, read_shifts
from rag_cover.errors import CorruptFileError, needs_extra
from rag_cover_embedded.answers import Calibrations, Proposing, ScoreCalibration
from rag_cover_embedded.session import Network, RoutedNetwork, Session

__all__ = ["EntailmentWeights", "FittedNumbers", "Weights", "sha256_of"]

VERSION = 10
"""Of how texts are read: cutting, flattening, windows, rules. Another way is another judge."""
FOLDER = Path(__file__).parent / "weights"
NETWORK, ENTAILMENT_NETWORK, REPLY_NETWORK = "judge.onnx", "entailment.onnx", "replies.onnx"

_lock = Lock()
_in_use: WeakValueDictionary[tuple[Path, str, int | None, str | None], Network] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class FittedNumbers:
    """The numbers fitted after training.

    ``threshold`` and ``reply_threshold`` are the cuts for passages and replies, ``calibrations`` what makes probabilities,
    ``certain`` the cuts outside of which a verdict is certain, ``abstention`` the probability from which a reply
    abstains.
    """

    threshold: float
    reply_threshold: float
    certain: CertainCuts
    abstention: float
    correct_temperature: float
    calibrations: Calibrations
    proposing: Proposing


@dataclass(frozen=True, slots=True)
class EntailmentWeights:
    """The network that tells entailment, and the temperature that its logits are divided by.

    ``name`` is ``entailment.onnx``, or ``judge.onnx`` in a folder where one network does all.
    """

    name: str
    sha256: str
    temperature: float

    @property
    def mark(self) -> str:
        """Return what tells a network of its own from others, in the fingerprint of an entailer; else an empty text."""
        return "" if self.name == NETWORK else f":entailment-{self.sha256[:8]}-{self.temperature:g}"


@dataclass(frozen=True, slots=True)
class Weights:
    """A folder with ``judge.onnx``, ``tokenizer.json`` and ``judge.json``: their sha256 and the fitted numbers.

    ``digest`` is a hash of the network, the fitted numbers and the version of how texts are read; ``entailment``, which may be
    a network of its own, has no part in it. ``reply_sha256`` is that of ``replies.onnx``, which reads replies, and answers
    against references; None in a folder where one network does that, too. ``shifts`` tell how far the probabilities lie off on
    labelled sets, by mode; empty where they were not measured. ``base`` is the folder of networks and tokenizer: another one
    where the judge was fitted to labels (`rag_cover_embedded.named_judges`).
    """

    folder: Path
    sha256: str
    fitted: FittedNumbers
    digest: str
    shifts: Mapping[Mode, CalibrationShift]
    base: Path
    entailment: EntailmentWeights
    reply_sha256: str | None = None

    @classmethod
    def open(cls, folder: Path | None = None) -> Weights:
        """Open and check a folder of weights; None is the judge that ships with rag_cover.

        Raises:
            CorruptFileError: a file is missing, truncated or changed.
        """
        folder = folder or FOLDER
        try:
            about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
            base = _base_of(folder, about)
            for name in (NETWORK, "tokenizer.json"):
                _refuse_changed(base / name, about["sha256"][name], is_fitted=base != folder)
            replies = about["sha256"].get(REPLY_NETWORK)
            read = [VERSION, about["sha256"][NETWORK], *([replies] if replies else []), about["fitted"]]
            print_ = hashlib.sha256(json.dumps(read, sort_keys=True).encode())
            shifts = read_shifts(about.get("shifts", {}))
            fitted, entailment = _parse_fitted(about["fitted"]), _parse_entailment(about)
            return cls(folder, about["sha256"][NETWORK], fitted, print_.hexdigest(), shifts, base, entailment, replies)
        except FileNotFoundError as missing:
            message = f"The judge's file {missing.filename} is missing. Reinstall rag-cover."
            raise CorruptFileError(message) from missing
        except KeyError as missing:
            message = (
                f"The judge's file {folder / 'judge.json'} has no {missing}: it is of another version of rag_cover. Reinstall "
                "rag-cover, or train these weights anew (rag-cover train judge)."
            )
            raise CorruptFileError(message) from missing
        except (OSError, TypeError, ValueError) as error:
            is_fitted = folder != FOLDER and not (folder / NETWORK).exists()
            remedy = "Fit the judge again (rag-cover judge fit)" if is_fitted else "Reinstall rag-cover"
            message = f"The judge's file {folder / 'judge.json'} cannot be read ({error!r}). {remedy}."
            raise CorruptFileError(message) from error

    def session(self, threads: int | None = None, device: str | None = None) -> Network:
        """Open the networks; all that ask for the same ones, threads and device share them while somebody uses them.

        A network of its own for replies is opened, and checked, when a reply is first read.

        Raises:
            InvalidValueError: torch has no such device here.
            MissingExtraError: a device is named, and torch is not installed.
        """
        network = _open_shared(self.network, self.sha256, threads, device)
        if self.reply_sha256 is None:
            return network
        open_replies = partial(self._open_own, REPLY_NETWORK, self.reply_sha256, threads, device)
        key = (self.base / REPLY_NETWORK, f"{self.sha256} {self.reply_sha256}", threads, device)
        return _share(key, lambda: RoutedNetwork(network, open_replies))

    def entailment_session(self, threads: int | None = None, device: str | None = None) -> Network:
        """Open the network that tells entailment, in the same way; it is checked here, since not everybody asks for it.

        Raises:
            CorruptFileError: its file is missing, truncated or changed.
            InvalidValueError: torch has no such device here.
            MissingExtraError: a device is named, and torch is not installed.
        """
        known = self.entailment
        if known.name == NETWORK:
            return _open_shared(self.network, known.sha256, threads, device)
        return self._open_own(known.name, known.sha256, threads, device)

    def _open_own(self, name: str, sha256: str, threads: int | None, device: str | None) -> Network:
        path = self.base / name
        if not path.exists():
            message = f"The judge's file {path} is missing. Reinstall rag-cover."
            raise CorruptFileError(message)
        _refuse_changed(path, sha256, is_fitted=self.base != self.folder)
        return _open_shared(path, sha256, threads, device)

    @property
    def network(self) -> Path:
        """Return the path of the ONNX file."""
        return self.base / NETWORK

    @property
    def entailment_network(self) -> Path:
        """Return the path of the ONNX file that tells entailment."""
        return self.base / self.entailment.name

    @property
    def tokenizer(self) -> Path:
        """Return the path of the tokenizer."""
        return self.base / "tokenizer.json"

    @property
    def fingerprint(self) -> str:
        """Name the judge by its network, its fitted numbers and how texts are read: what its verdicts depend on."""
        return f"embedded:{self.digest[:16]}"


def _open_shared(path: Path, sha256: str, threads: int | None, device: str | None) -> Network:
    return _share((path, sha256, threads, device), lambda: _open_network(path, threads, device))


def _share(key: tuple[Path, str, int | None, str | None], make: Callable[[], Network]) -> Network:
    with _lock:
        if (found := _in_use.get(key)) is None:
            found = _in_use[key] = make()
        return found


def _open_network(path: Path, threads: int | None, device: str | None) -> Network:
    if device is None:
        return Session(path, threads=threads)
    with needs_extra("gpu", "onnx", "torch"):
        from rag_cover_embedded.torch_session import TorchSession
    return TorchSession(path, device)


def _base_of(folder: Path, about: Mapping[str, Any]) -> Path:
    """Return where the network of a judge is: its own folder, or that which a fitted judge names (None: the shipped one)."""
    if "base" not in about:
        return folder
    return FOLDER if about["base"] is None else Path(about["base"])


def _refuse_changed(path: Path, wanted: str, *, is_fitted: bool) -> None:
    if (found := sha256_of(path)) != wanted:
        if is_fitted:
            message = f"this judge was fitted to another version of {path}; fit it again (rag-cover judge fit)"
            raise CorruptFileError(message)
        message = f"{path} is damaged: its sha256 is {found}, not {wanted}. Reinstall rag-cover."
        raise CorruptFileError(message)


def _parse_fitted(numbers: Mapping[str, Any]) -> FittedNumbers:
    return FittedNumbers(
        threshold=float(numbers["threshold"]),
        reply_threshold=float(numbers["reply_threshold"]),
        certain={mode: (float(low), float(high)) for mode, (low, high) in numbers["certain"].items()},
        abstention=float(numbers["abstention"]),
        correct_temperature=float(numbers["temperatures"]["correct"]),
        calibrations=Calibrations(
            **{name: ScoreCalibration(**each) for name, each in numbers["calibrations"].items() if each is not None}
        ),
        proposing=Proposing(**numbers["proposing"]),
    )


def _parse_entailment(about: Mapping[str, Any]) -> EntailmentWeights:
    """Read which network tells entailment: one of its own, or the judge's."""
    if "entailment" in about:
        return EntailmentWeights(
            ENTAILMENT_NETWORK, about["sha256"][ENTAILMENT_NETWORK], float(about["entailment"]["temperature"])
        )
    return EntailmentWeights(NETWORK, about["sha256"][NETWORK], float(about["fitted"]["temperatures"]["entailment"]))


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
