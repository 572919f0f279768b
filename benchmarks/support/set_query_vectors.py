"""Features of readings by sentence embeddings: tried beside the grammar's, measured, and not shipped.

Three, each of a reading: how near its atoms are to known atoms of other questions (mean of the three nearest, averaged and
least over atoms); the share of its template among the 15 nearest known questions; the cosine of the question with the sum of
the atoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.support.quest import Row, groups_of
from benchmarks.support.set_query_model import FOLDS, Example, Floats, example_of, examples_of_atoms, fitted
from rag_cover.backends import Embedder
from rag_cover.setqueries import SetQuery
from rag_cover.setqueries.parsing.candidates import query_of_reading
from rag_cover.setqueries.parsing.reading import parse, propose_readings
from rag_cover.setqueries.parsing.scoring import Features, ParseWeights
from rag_cover.stats.folds import folds_of

KINDS: Mapping[str, tuple[str, ...]] = {
    "grammar": (),
    "grammar + known atoms": ("atoms",),
    "grammar + known questions": ("questions",),
    "grammar + sum of atoms": ("sum",),
    "grammar + all three": ("atoms", "questions", "sum"),
}
_NEAREST, _NEIGHBOURS, _SCALE = 3, 15, 5.0


class Vectors:
    """The embeddings of all texts that are asked for, each embedded once."""

    def __init__(self, embedder: Embedder, rows: Sequence[Row]) -> None:
        self.queries = [[query_of_reading(reading) for reading in propose_readings(row.question).readings] for row in rows]
        texts = {atom for queries in self.queries for query in queries for atom in query.atoms}
        texts |= {atom for row in rows for atom in row.atoms} | {row.question for row in rows}
        ordered = sorted(texts)
        self._places = {text: place for place, text in enumerate(ordered)}
        self._vectors = embedder.embed(ordered).astype(float)

    def of(self, texts: Sequence[str]) -> Floats:
        """Return (n, d) vectors."""
        return self._vectors[[self._places[text] for text in texts]]


def cross_validated_with(rows: Sequence[Row], embedder: Embedder, *, seed: int) -> Iterator[tuple[str, list[SetQuery]]]:
    """Read every row by weights fitted without it, for each choice of features."""
    vectors = Vectors(embedder, rows)
    for name, kinds in KINDS.items():
        yield name, _read(rows, vectors, kinds, seed=seed)


def _read(rows: Sequence[Row], vectors: Vectors, kinds: Sequence[str], *, seed: int) -> list[SetQuery]:
    groups = groups_of(rows)
    plain = [example_of(row) for row in rows]
    found: dict[int, SetQuery] = {}
    for held in folds_of(groups, FOLDS, seed=seed):
        taught = [place for place, out in enumerate(held) if not out]

        def told(place: int, taught: Sequence[int] = taught) -> Example | None:
            example = plain[place]
            known = [each for each in taught if groups[each] != groups[place]]
            return None if example is None else replace(example, features=_with(example, rows, vectors, kinds, place, known))

        atoms = examples_of_atoms([rows[place] for place in taught])
        weights = fitted([*map(told, taught), *atoms])
        for place in map(int, np.flatnonzero(held)):
            example = told(place)
            whole = parse(rows[place].question).query if example is None else _best(example, vectors.queries[place], weights)
            found[place] = whole
    return [found[place] for place in range(len(rows))]


def _best(example: Example, queries: Sequence[SetQuery], weights: ParseWeights) -> SetQuery:
    scores = np.array([sum(weights.weights.get(name, 0) * value for name, value in each.items()) for each in example.features])
    shares = np.exp(scores - scores.max())
    shapes: Counter[str] = Counter()
    for query, share in zip(queries, shares, strict=True):
        shapes[query.template] += share
    return max(zip(queries, shares, strict=True), key=lambda pair: (shapes[pair[0].template], pair[1]))[0]


def _with(
    example: Example, rows: Sequence[Row], vectors: Vectors, kinds: Sequence[str], place: int, known: Sequence[int]
) -> tuple[Features, ...]:
    """Add features of embeddings to those of the grammar."""
    asked = vectors.of([rows[place].question])[0]
    atoms = vectors.of(sorted({atom for each in known for atom in rows[each].atoms})) if "atoms" in kinds else None
    shares = _shares(asked, [rows[each] for each in known], vectors) if "questions" in kinds else None
    added: list[Features] = []
    for query in vectors.queries[place]:
        own = vectors.of(query.atoms)
        features: Features = {}
        if atoms is not None:
            near = np.sort(own @ atoms.T, axis=1)[:, -_NEAREST:].mean(axis=1)
            features |= {"near:mean": _SCALE * float(near.mean()), "near:least": _SCALE * float(near.min())}
        if shares is not None:
            features["neighbours"] = float(np.log((shares[query.template] + 0.5) / (_NEIGHBOURS + 3.5)))
        if "sum" in kinds:
            total = own.sum(axis=0)
            features["sum"] = _SCALE * float(total @ asked / np.linalg.norm(total))
        added.append(features)
    return tuple(one | other for one, other in zip(example.features, added, strict=True))


def _shares(asked: Floats, known: Sequence[Row], vectors: Vectors) -> Counter[str]:
    nearest = np.argsort(-(vectors.of([row.question for row in known]) @ asked))[:_NEIGHBOURS]
    return Counter(known[place].template for place in nearest)
