"""The fit of the local parser of set queries: a conditional log-linear model over the readings that the grammar allows.

Of each question the readings are known, and how near each comes to the row; the target is a distribution over them, sharply
peaked at the nearest: proportional to exp(nearness / 0.1), nearness = 2·template + 2·token F1 + atoms exact. Fitted by
minimising the cross-entropy with that target plus ``ridge/2 · |w|²``, by L-BFGS (Liu & Nocedal, 1989). Features seen in one
question only are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.quest import Row, Score, groups_of, scored
from rag_cover.setqueries.parsing import ParsedQuery
from rag_cover.setqueries.parsing.candidates import query_of_reading
from rag_cover.setqueries.parsing.reading import parse_by, propose_readings
from rag_cover.setqueries.parsing.scoring import Features, ParseWeights, parse_features
from rag_cover.stats.folds import folds_of
from rag_cover.stats.logistic import fit_logistic

Floats = NDArray[np.float64]

RIDGE = 1.0
"""Chosen, like the sharpness of the target, by cross-validation on the training rows."""

SHARPNESS = 0.1
FOLDS = 10
RIGHT_F1 = 0.8
"""The token F1 from which a reading of the right template counts as right, where its confidence is calibrated."""

_STEPS, _MEMORY, _HALVINGS = 80, 8, 30


@dataclass(frozen=True, slots=True)
class Example:
    """The features of each reading of a question, and how likely each should be."""

    features: tuple[Features, ...]
    target: Floats


def example_of(row: Row) -> Example | None:
    """Describe the readings of a row; None where there is no choice."""
    readings = propose_readings(row.question).readings
    if len(readings) < 2:  # noqa: PLR2004  # a choice
        return None
    near = np.array([_nearness(scored(query_of_reading(reading), row)) for reading in readings])
    target = np.exp((near - near.max()) / SHARPNESS)
    return Example(tuple(parse_features(reading) for reading in readings), target / target.sum())


def examples_of_atoms(rows: Iterable[Row]) -> list[Example]:
    """Take every atom of the rows, asked for by itself, for an example of what is one set.

    That such an example is never more than one set is said by a feature that no question has.
    """
    return [example for atom in sorted({atom for row in rows for atom in row.atoms}) if (example := _of_atom(atom))]


def _of_atom(atom: str) -> Example | None:
    readings = [reading for reading in propose_readings(atom).readings if reading.operator != "union"]
    single = np.array([float(len(reading.atoms) == 1 and not reading.without) for reading in readings])
    if len(readings) < 2 or not single.any():  # noqa: PLR2004  # a choice
        return None
    told = [parse_features(reading) | {f"alone:{len(reading.atoms)}": 1.0} for reading in readings]
    return Example(tuple(told), single / single.sum())


def _nearness(score: Score) -> float:
    return 2 * score.template + 2 * score.token_f1 + score.atoms


def fitted(examples: Iterable[Example | None], *, slope: float = 1.0, offset: float = 0.0) -> ParseWeights:
    """Fit the weights of features."""
    known = [example for example in examples if example is not None]
    seen = Counter(name for example in known for name in {name for each in example.features for name in each})
    columns = {name: place for place, name in enumerate(sorted(name for name, count in seen.items() if count > 1))}
    starts = np.cumsum([0, *(len(example.features) for example in known)])
    table = np.zeros((starts[-1], len(columns)))
    for place, features in enumerate(each for example in known for each in example.features):
        for name, value in features.items():
            if name in columns:
                table[place, columns[name]] = value
    weights = _minimised(_loss(table, starts, np.concatenate([example.target for example in known])), np.zeros(len(columns)))
    return ParseWeights({name: round(float(weights[place]), 4) for name, place in columns.items()}, slope, offset)


def _loss(table: Floats, starts: NDArray[np.int_], target: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    question = np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = table @ weights
        scores -= np.maximum.reduceat(scores, starts[:-1])[question]
        logs = scores - np.log(np.add.reduceat(np.exp(scores), starts[:-1]))[question]
        slope = table.T @ (np.exp(logs) - target) + RIDGE * weights
        return float(-(target * logs).sum() + RIDGE / 2 * weights @ weights), slope

    return loss


def _minimised(loss: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Minimise by L-BFGS with halved steps."""
    at, (value, slope) = start, loss(start)
    moves: list[tuple[Floats, Floats]] = []
    for _ in range(_STEPS):
        step = -_curved(slope, moves)
        size = 1.0 if moves else 1 / max(1.0, float(np.abs(slope).sum()))
        for _ in range(_HALVINGS):
            new_value, new_slope = loss(at + size * step)
            if new_value <= value + 1e-4 * size * float(slope @ step):
                break
            size /= 2
        move, change = size * step, new_slope - slope
        if float(move @ change) > 1e-10:  # noqa: PLR2004  # curved upwards
            moves = [*moves, (move, change)][-_MEMORY:]
        done = abs(value - new_value) < 1e-6 * max(1.0, abs(value))
        at, value, slope = at + move, new_value, new_slope
        if done:
            break
    return at


def _curved(slope: Floats, moves: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Multiply a slope by the inverse curvature that the last moves tell (the two-loop recursion)."""
    direction, shares = slope.copy(), []
    for move, change in reversed(moves):
        shares.append(float(move @ direction) / float(change @ move))
        direction -= shares[-1] * change
    if moves:
        move, change = moves[-1]
        direction *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(moves, reversed(shares), strict=True):
        direction += move * (share - float(change @ direction) / float(change @ move))
    return direction


def cross_validated(rows: Sequence[Row], *, seed: int = 0) -> list[ParsedQuery]:
    """Read each row by weights that were fitted without it and without all that share an atom with it."""
    examples = [example_of(row) for row in rows]
    found: dict[int, ParsedQuery] = {}
    for held in folds_of(groups_of(rows), FOLDS, seed=seed):
        taught = [row for row, out in zip(rows, held, strict=True) if not out]
        kept = [example for example, out in zip(examples, held, strict=True) if not out]
        weights = fitted([*kept, *examples_of_atoms(taught)])
        found |= {place: parse_by(rows[place].question, weights) for place in np.flatnonzero(held)}
    return [found[place] for place in range(len(rows))]


def calibrated(rows: Sequence[Row], *, seed: int = 0) -> tuple[float, float]:
    """Fit how often the likeliest reading is right to the probability that it has, on cross-validated readings."""
    parsed = cross_validated(rows, seed=seed)
    right = [is_right(scored(each.query, row)) for each, row in zip(parsed, rows, strict=True)]
    shares = np.clip([each.confidence for each in parsed], 0.001, 0.999)
    columns = np.column_stack([np.log(shares / (1 - shares)), np.ones(len(rows))])
    slope, offset = fit_logistic(columns, np.array(right, dtype=float), penalty=0.1).weights
    return round(float(slope), 4), round(float(offset), 4)


def is_right(score: Score) -> bool:
    """Tell whether a reading counts as right for its confidence: the template, and nearly the words."""
    return score.template and score.token_f1 >= RIGHT_F1
