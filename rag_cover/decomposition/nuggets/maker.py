"""Nuggets without a language model: what should be said stands in what was retrieved and in what several answers agree on.

Statements are taken from the passages and from the answers of *other* pipelines; those that have to do with the question are
gathered by meaning (`clustering`), and few that stand for most are chosen (`selection`). The answer under test never votes on
its own nuggets. What nobody else says and no passage holds is not seen: nuggets tell what the sources say, not what the world
knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from operator import attrgetter, itemgetter

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Embedder, Entailer, Retriever
from rag_cover.decomposition.nuggets.clustering import group_alike, say_the_same
from rag_cover.decomposition.nuggets.selection import select_covering
from rag_cover.decomposition.nuggets.statements import SourcedStatement, StatementSource, statements_in
from rag_cover.model_calls import ask_relations
from rag_cover.nuggets import Fragment, Importance, Nugget, NuggetSource
from rag_cover.question_keys import question_key
from rag_cover.questions import Passage
from rag_cover.traces import Trace

__all__ = ["NuggetMaker", "NuggetsMissing"]

_RELEVANT = 0.3
"""The cosine of a statement and the question from which the statement may bear on it."""
_FEWEST_GROUPS = 2


@dataclass(frozen=True, slots=True)
class NuggetsMissing:
    """Why no nuggets were made for a trace."""

    reason: str


@dataclass(frozen=True)
class NuggetMaker:
    """Makes the nuggets of traces from a corpus, the retrieved passages, and the answers of other pipelines.

    Args:
        embedder: tells which statements are alike, and which bear on the question.
        entailer: tells which of those alike say the same.
        corpus: searched for each question; without it the passages that any of the pipelines retrieved stand for it.
        depth: how many passages of the corpus are read.
        most: how many nuggets a question has at most.

    Raises:
        InvalidValueError: ``depth`` or ``most`` is less than 1.
    """

    embedder: Embedder
    entailer: Entailer
    corpus: Retriever | None = None
    depth: int = 50
    most: int = 12

    def __post_init__(self) -> None:
        """Refuse numbers that leave nothing to do."""
        refuse_below(1, depth=self.depth, most=self.most)

    def make(self, traces: Sequence[Trace]) -> list[tuple[Nugget, ...] | NuggetsMissing]:
        """Make the nuggets of each trace; traces of the same question and other pipelines are its other sources.

        The traces need ids. A trace that has fewer than two independent sources gets none, with the reason.
        """
        asked: dict[str, list[int]] = defaultdict(list)
        for index, trace in enumerate(traces):
            asked[question_key(trace.question)].append(index)
        made: list[tuple[Nugget, ...] | NuggetsMissing] = [NuggetsMissing("")] * len(traces)
        for indices in asked.values():
            group = [traces[index] for index in indices]
            statements = self._statements(group)
            for index, nuggets in zip(indices, self._nuggets(group, statements), strict=True):
                made[index] = nuggets
        return made

    def _statements(self, traces: Sequence[Trace]) -> _Statements:
        question = traces[0].question.text
        found = {each for source in self._sources(traces) for each in statements_in(source)}
        order = attrgetter("text", "source.kind", "source.id", "start")
        said = sorted(found, key=order)  # the same in any order of the traces
        if not said:
            return _Statements((), np.zeros((0, 0)), np.zeros((0, 0), dtype=bool), np.zeros(0))
        vectors = np.asarray(self.embedder.embed([question, *(each.text for each in said)]), dtype=np.float64)
        relevance = vectors[1:] @ vectors[0]
        kept = np.flatnonzero(relevance >= _RELEVANT)
        near, able = vectors[1:][kept], tuple(said[place] for place in kept)
        similarity = np.clip(near @ near.T, 0.0, 1.0)
        same = say_the_same(similarity, lambda pairs: self._entailed(able, pairs))  # once for all traces of the question
        return _Statements(able, similarity, same, relevance[kept])

    def _sources(self, traces: Sequence[Trace]) -> Iterator[StatementSource]:
        for passage, weight in self._passages(traces):
            yield StatementSource(
                "passage", passage.id or passage.key, passage.text, f"passage {passage.key}", passage.title, weight
            )
        for trace in traces:
            if trace.answer:
                yield StatementSource("answer", trace.id or "", trace.answer, _pipeline(trace))

    def _passages(self, traces: Sequence[Trace]) -> Iterator[tuple[Passage, float]]:
        """Yield the distinct passages that are read, each with its weight: 1 / log2(1 + rank)."""
        if self.corpus is not None:
            lists = [self.corpus.retrieve(traces[0].question.text, k=self.depth)]
        else:
            lists = [step.passages for trace in traces for step in trace.steps if not step.replaces]
        ranks: dict[str, tuple[int, Passage]] = {}
        for found in lists:
            for rank, passage in enumerate(found, 1):
                known = ranks.setdefault(passage.key, (rank, passage))
                ranks[passage.key] = min(known, (rank, passage), key=itemgetter(0))
        for rank, passage in ranks.values():
            yield passage, 1 / log2(1 + rank)

    def _nuggets(self, traces: Sequence[Trace], statements: _Statements) -> list[tuple[Nugget, ...] | NuggetsMissing]:
        """Make each trace's nuggets of what its own pipeline did not say."""
        return [self._of_others(statements.without(_pipeline(trace))) for trace in traces]

    def _of_others(self, statements: _Statements) -> tuple[Nugget, ...] | NuggetsMissing:
        if len({each.source.group for each in statements.said}) < _FEWEST_GROUPS:
            return NuggetsMissing(
                "fewer than two other sources state something about the question; add a corpus, or traces of other pipelines"
            )
        groups = group_alike(statements.similarity, statements.same)
        centres = [group.centre for group in groups]
        near = statements.similarity[np.ix_(centres, centres)]
        voices = np.array([_count_voices([statements.said[place].source for place in group.members]) for group in groups])
        weights = statements.relevance[centres] * voices
        chosen = select_covering(near, weights, most=self.most)
        typical = float(np.median(weights[chosen])) if chosen else 0.0
        return tuple(
            _nugget(
                [statements.said[place] for place in _centre_first(groups[each].centre, groups[each].members)],
                vital=bool(weights[each] >= typical),
            )
            for each in chosen
        )

    def _entailed(self, said: Sequence[SourcedStatement], pairs: Sequence[tuple[int, int]]) -> list[float]:
        asked = [(said[premise].text, said[hypothesis].text) for premise, hypothesis in pairs]
        found = ask_relations(self.entailer, asked)
        return [found[pair][0] for pair in asked]


@dataclass(frozen=True, slots=True)
class _Statements:
    """Statements about one question: their cosines and which say the same (n, n), each one's cosine to the question (n,)."""

    said: tuple[SourcedStatement, ...]
    similarity: NDArray[np.float64]
    same: NDArray[np.bool_]
    relevance: NDArray[np.float64]

    def without(self, group: str) -> _Statements:
        kept = [place for place, each in enumerate(self.said) if each.source.group != group]
        said, among = tuple(self.said[place] for place in kept), np.ix_(kept, kept)
        return _Statements(said, self.similarity[among], self.same[among], self.relevance[kept])


def _count_voices(sources: Sequence[StatementSource]) -> float:
    """Add up the weights of independent sources."""
    weights: dict[str, float] = {}
    for source in sources:
        weights[source.group] = max(weights.get(source.group, 0.0), source.weight)
    return sum(weights.values())


def _pipeline(trace: Trace) -> str:
    return f"pipeline {trace.pipeline}" if trace.pipeline else f"trace {trace.id}"


def _centre_first(centre: int, members: Sequence[int]) -> list[int]:
    return [centre, *(member for member in members if member != centre)]


def _nugget(said: Sequence[SourcedStatement], *, vital: bool) -> Nugget:
    fragments: dict[tuple[str, str], list[Fragment]] = defaultdict(list)
    for each in said:
        fragments[each.source.kind, each.source.id].append(Fragment(each.fragment, start=each.start))
    return Nugget(
        said[0].text,
        importance=Importance.VITAL if vital else Importance.OKAY,
        importance_source="embedded",
        sources=[NuggetSource(kind=kind, id=name, fragments=tuple(found)) for (kind, name), found in fragments.items()],
    )
