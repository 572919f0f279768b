"""How likely each reading is: a log-linear model over features of its atoms and of what joins them.

``P(reading | question) = exp(w · f(reading)) / Σ exp(w · f(other))`` over the readings that the grammar allows. Features tell
which kinds of facets share an atom and which are kept apart ("a year with a nationality, of novels"), how many atoms there are
of how many facets, and how they were made; the weights (``weights.json``) are fitted by `benchmarks/set_queries/fit_parser.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_cover.setqueries.parsing.candidates import Parse
from rag_cover.setqueries.parsing.kinds import kind_of
from rag_cover.setqueries.parsing.naming import Atom
from rag_cover.stats.logistic import logit_of

__all__ = ["WEIGHTS", "ParseWeights", "load_weights", "parse_features", "probabilities_of_readings"]

WEIGHTS = Path(__file__).with_name("weights.json")

Features = dict[str, float]

_EDGE = 0.001  # probabilities nearer to 0 or 1 are alike


@dataclass(frozen=True, slots=True)
class ParseWeights:
    """Fitted numbers: a weight of each feature, and how a probability is calibrated: σ(slope · logit + offset)."""

    weights: Mapping[str, float]
    slope: float
    offset: float

    def calibrate(self, probability: float) -> float:
        """Return the probability that the likeliest reading is right."""
        return 1 / (1 + math.exp(-(self.slope * logit_of(probability, edge=_EDGE) + self.offset)))


@cache
def load_weights() -> ParseWeights:
    """Read the shipped numbers once."""
    fitted = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return ParseWeights(fitted["weights"], fitted["slope"], fitted["offset"])


def probabilities_of_readings(readings: Sequence[Parse], weights: ParseWeights) -> NDArray[np.float64]:
    """Return (n,) probabilities of the readings of one question."""
    known = weights.weights
    scores = np.array([sum(known.get(name, 0.0) * value for name, value in parse_features(each).items()) for each in readings])
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


def parse_features(reading: Parse) -> Features:
    """Describe a reading by named numbers."""
    found: Features = {}
    if reading.operator != "union":
        for atom in reading.atoms:
            _tell(found, _of_atom(atom))
        for one, other in combinations(reading.atoms, 2):
            _tell(found, _of_pair(one, other))
    _tell(found, _of_whole(reading))
    return found


def _tell(found: Features, names: Sequence[str]) -> None:
    for name in names:
        found[name] = found.get(name, 0.0) + 1.0


def class_of(atom: Atom) -> str:
    """Name the class of an atom's head as features do."""
    return "novels" if atom.domain == "books" and atom.head.startswith("nov") else atom.domain or "other"


def _of_atom(atom: Atom) -> list[str]:
    """Describe one atom: which kinds it holds together, and how those are attached that stand alone or do not."""
    head, kinds = class_of(atom), sorted(map(kind_of, atom.facets))
    size = min(len(kinds), 4)
    names = [f"n:{head}:{size}", f"n:{size}", f"head:{atom.head.lower()}:{min(size, 3)}"]
    for one, other in combinations(kinds, 2):
        names += [f"in:{one}+{other}", f"in:{head}:{one}+{other}"]
    if len(kinds) == 1:
        names += [f"solo:{kinds[0]}", f"solo:{head}:{kinds[0]}"]
    alone = "alone" if len(kinds) == 1 else "merged"
    for facet in atom.facets:
        if facet.link:
            names += [f"link:{facet.link}:{alone}", f"link:{facet.link}:{kind_of(facet)}:{alone}"]
        if facet.kind in {"genre", "status"}:
            names.append(f"word:{facet.text.lower()}:{alone}")
    return names


def _of_pair(one: Atom, other: Atom) -> list[str]:
    """Describe what two atoms keep apart."""
    head = class_of(one)
    names = []
    for left in one.facets:
        for right in other.facets:
            first, second = sorted((kind_of(left), kind_of(right)))
            names += [f"out:{first}+{second}", f"out:{head}:{first}+{second}"]
    return names


def _of_whole(reading: Parse) -> list[str]:
    """Describe the whole: the operator, how many atoms of how many facets, how it was made, and what is taken away."""
    facets = sum(len(atom.facets) for atom in reading.atoms) if reading.operator != "union" else 0
    count = len(reading.atoms) if reading.operator != "union" else 0
    shape = f"op:{reading.operator}:{count}:{len(reading.without)}"
    sizes = sorted((len(atom.facets) for atom in reading.atoms), reverse=True)
    balance = [f"sizes:{','.join(map(str, sizes))}"] if count else []
    names = [shape, f"{shape}:{min(facets, 7)}", *balance, *(f"mark:{mark}" for mark in reading.marks)]
    return names + [f"taken:{class_of(atom)}:{','.join(sorted(map(kind_of, atom.facets)))}" for atom in reading.without]
