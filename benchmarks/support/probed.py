"""Questions probed: what one retriever finds for them and what the judge says of it, kept in a file where one is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.multihop import Asked, retriever_over
from rag_cover import Passage
from rag_cover.backends import Failure, Scorer
from rag_cover.complexity import AnswerSource, Calibration, CompletenessMethod, Complexity, Evidence, Labelled, complexities_of
from rag_cover.complexity.completeness import completeness_of
from rag_cover.complexity.probing import Retrieved
from rag_cover.complexity.rrcp import Evidential

__all__ = ["K", "Probed", "completeness_in", "probed"]

K = 10
"""Passages a question."""

_BLOCK = 40


@dataclass(frozen=True, slots=True)
class Probed:
    """A set's questions, and how complex each is for what one retriever found."""

    asked: Sequence[Asked]
    found: Sequence[Complexity]
    passages: Sequence[Sequence[str]]

    @property
    def truth(self) -> NDArray[np.bool_]:
        """Return (n,) which questions are complex."""
        return np.array([each.is_complex for each in self.asked])

    @property
    def keys(self) -> list[str]:
        """Return the multi-hop question of each."""
        return [each.key for each in self.asked]

    def evidence(self, source: AnswerSource) -> list[Evidence]:
        """Return what the judge said of the passages, with gold answers or as it said without."""
        return [_evidence(each, source) for each in self.found]

    def labelled(self, source: AnswerSource) -> list[Labelled]:
        """Return the questions as `calibrate` takes them."""
        pairs = zip(self.evidence(source), self.asked, strict=True)
        return [Labelled(evidence, asked.is_complex, asked.key) for evidence, asked in pairs]


def _evidence(found: Complexity, source: AnswerSource) -> Evidence:
    if source == "gold" or not found.twofold:
        return Evidence(found.answer_probabilities, found.relevance, source, found.twofold)
    return Evidence(tuple(document.unaided_probability or 0.0 for document in found.judged), found.relevance)


def probed(asked: Sequence[Asked], corpus: Sequence[Passage], retriever: str, scorer: Scorer, kept: Path | None) -> Probed:
    """Retrieve for every question and judge what was found; what the judge said is read back where it was kept."""
    engine = retriever_over(retriever, corpus)
    retrieved: list[Retrieved] = [(each.text, engine.retrieve(each.text, k=K), each.references) for each in asked]
    passages = [[f"{passage.title or ''} {passage.text}" for passage in found] for _, found, _ in retrieved]
    if kept is not None and kept.exists():
        with kept.open(encoding="utf-8") as file:
            found = [Complexity.from_dict(json.loads(line)) for line in file]
        if [[each.passage for each in one.documents] for one in found] == [[p.key for p in ps] for _, ps, _ in retrieved]:
            return Probed(asked, found, passages)
    found = list(_judged(retrieved, scorer))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(json.dumps(each.to_dict()) + "\n" for each in found), encoding="utf-8")
    return Probed(asked, found, passages)


def _judged(retrieved: Sequence[Retrieved], scorer: Scorer) -> Iterator[Complexity]:
    for start in range(0, len(retrieved), _BLOCK):
        for each in complexities_of(retrieved[start : start + _BLOCK], scorer, calibration=Calibration(twofold=True)):
            if isinstance(each, Failure):
                raise each.error()
            yield each


def completeness_in(evidence: Evidential, reading: CompletenessMethod) -> float:
    """Read completeness from relevance as it is."""
    return completeness_of(evidence.relevance or (), documents=len(evidence.answer_probabilities), reading=reading)
