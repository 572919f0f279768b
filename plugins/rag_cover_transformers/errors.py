"""Why a checkpoint is refused: each a sentence that says what would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_cover.errors import RagCoverError, UnfitModelError

__all__ = [
    "CanaryError",
    "CheckpointNotFoundError",
    "LabelOrderError",
    "UnsafeWeightsError",
    "UnsuitableCheckpointError",
    "WordsError",
    "WrongKindError",
]


class CheckpointNotFoundError(RagCoverError, LookupError):
    """A model that is neither a folder here nor to be had from the hub."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The model {name!r} cannot be had: {problem}")
        self.name = name


class UnsafeWeightsError(RagCoverError, ValueError):
    """A checkpoint whose weights are pickled: reading them can run any code."""

    def __init__(self, folder: Path, found: Sequence[str]) -> None:
        super().__init__(
            f"{folder} holds its weights only as {', '.join(found)}, which can run code when they are read. Take a revision "
            "with *.safetensors, or convert it where you trust it: load it with transformers and call "
            "save_pretrained(folder), which writes safetensors."
        )
        self.folder, self.found = folder, tuple(found)


class UnsuitableCheckpointError(RagCoverError, ValueError):
    """A checkpoint that was found and cannot be read or run."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The model {name!r} cannot be used: {problem}")
        self.name = name


class WrongKindError(UnfitModelError):
    """A checkpoint that was trained for something else than it was opened as."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The model {name!r} cannot serve here: {problem}")
        self.name = name


class LabelOrderError(UnfitModelError):
    """A classifier that does not say which of its outputs means what."""

    def __init__(self, name: str, found: Sequence[str], allowed: Sequence[Sequence[str]]) -> None:
        orders = " or ".join(f"labels=({', '.join(map(repr, order))})" for order in allowed)
        super().__init__(
            f"The labels of {name!r} are {', '.join(map(repr, found))}: that does not tell entailment from the rest. "
            f"Find the order on its model card and write it into id2label of its config.json, or pass it, such as {orders}."
        )
        self.name, self.found = name, tuple(found)


class WordsError(UnfitModelError):
    """A model that writes, and the two words of its verdict do not show in the first token it writes."""

    def __init__(self, name: str, words: Sequence[str], problem: str) -> None:
        super().__init__(
            f"The model {name!r} cannot answer with the words {words[0]!r} and {words[1]!r}: {problem}. Pass the two words "
            "that it was taught to answer with, first the one that agrees, such as words=('true', 'false')."
        )
        self.name, self.words = name, tuple(words)


class CanaryError(UnfitModelError):
    """A classifier that gets plain cases wrong; ``passing`` is the label order under which it would not, if there is one."""

    def __init__(self, name: str, order: Sequence[str], right: int, asked: int, passing: Sequence[str] | None) -> None:
        advice = (
            f"In the order ({', '.join(map(repr, passing))}) it passes: if its model card agrees, pass labels=that."
            if passing
            else "No order of its labels passes: it is no such classifier, or not for English (then give canaries of your own)."
        )
        super().__init__(
            f"The model {name!r} gets {right} of {asked} plain cases right when its outputs are read as "
            f"({', '.join(map(repr, order))}). {advice}"
        )
        self.name, self.order, self.passing = name, tuple(order), None if passing is None else tuple(passing)
