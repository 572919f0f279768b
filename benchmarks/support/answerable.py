"""Small corpora in everyday words: the best answer probability of questions that a passage answers, and of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from benchmarks.support.datasets import lines
from rag_cover import Passage, build_retriever
from rag_cover.backends import Retriever, Scorer
from rag_cover.complexity import complexity_of
from rag_cover.routing.evidence import steps_in
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.subjects import FILE, is_kept_from_weights

__all__ = ["ANSWERED", "TAKEN_OUT", "UNANSWERED", "load_corpora", "probabilities_in"]

K, MORE = 10, 4
ANSWERED, TAKEN_OUT, UNANSWERED = "a passage answers it", "that passage taken out", "no passage answers it"


def load_corpora(half: Literal["fit", "test"]) -> list[dict[str, Any]]:
    """Return every second of the collections that no weights were trained on: those to fit a threshold on, or the others."""
    kept = sorted(
        (row for row in lines(TEXTS / FILE) if is_kept_from_weights(row["domain"])), key=lambda row: str(row["domain"])
    )
    return kept[half == "test" :: 2]


def probabilities_in(row: Mapping[str, Any], scorer: Scorer) -> Iterator[tuple[str, float]]:
    """Ask the questions of a corpus, ten passages each: what kind each is, and the answer probability of its best passage.

    Questions of several parts are left out, and those that a passage answers in part only.
    """
    retriever = build_retriever("embedded", [Passage(each["text"], id=each["id"]) for each in row["passages"]])
    for each in row["questions"]:
        if steps_in(each["question"]) or (each["partly_by"] and not each["answered_by"]):
            continue
        for kind, passages in _retrieve(each, retriever):
            found = complexity_of(each["question"], passages, scorer, references=())
            yield kind, found.max_answer_probability or 0.0


def _retrieve(asked: Mapping[str, Any], retriever: Retriever) -> Iterator[tuple[str, Sequence[Passage]]]:
    """Retrieve with the answering passages and without; a question whose answering passages are not found counts nowhere."""
    found = list(retriever.retrieve(asked["question"], k=K + MORE))
    if not asked["answered_by"]:
        yield UNANSWERED, found[:K]
        return
    if not any(passage.id in asked["answered_by"] for passage in found[:K]):
        return
    yield ANSWERED, found[:K]
    telling = {*asked["answered_by"], *asked["partly_by"]}
    yield TAKEN_OUT, [passage for passage in found if passage.id not in telling][:K]
