"""Which agent answered which question right: the matrix that skills are learnt from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.argument_checks import refuse_outside
from rag_cover.errors import InvalidValueError
from rag_cover.question_keys import normalise_question
from rag_cover.questions import Question

__all__ = ["Responses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Success of agents (pipelines) on questions: ``values`` (n questions, a agents) in [0, 1], NaN where it was not observed.

    1 is right and 0 wrong; a value between is a judge's probability. Questions may be given as texts or `Question`s and are
    kept as texts. Each stands once: `from_observations` averages repeated ones.

    Raises:
        InvalidValueError: shapes that do not match, a name or question twice, a value outside [0, 1].
    """

    agents: tuple[str, ...]
    questions: tuple[str, ...]
    values: Floats

    def __init__(self, agents: Sequence[str], questions: Sequence[Question | str], values: ArrayLike) -> None:
        texts = tuple(each if isinstance(each, str) else each.text for each in questions)
        table = np.array(values, dtype=np.float64)
        _require(tuple(agents), texts, table)
        table.setflags(write=False)
        object.__setattr__(self, "agents", tuple(agents))
        object.__setattr__(self, "questions", texts)
        object.__setattr__(self, "values", table)

    @classmethod
    def from_observations(cls, observations: Iterable[tuple[str, Question | str, float | None]]) -> Self:
        """Build from (agent, question, success), NaN or None where it was not observed; what is repeated counts as its mean.

        Questions are the same by `normalise_question`.

        Raises:
            InvalidValueError: a success outside [0, 1].
        """
        observed: dict[tuple[str, str], list[float]] = {}
        agents: dict[str, None] = {}
        texts: dict[str, str] = {}
        for agent, question, success in observations:
            text = question if isinstance(question, str) else question.text
            texts.setdefault(normalise_question(text), text)
            agents.setdefault(agent)
            if success is not None and not math.isnan(success):
                refuse_outside(0, 1, success=success)
                observed.setdefault((normalise_question(text), agent), []).append(success)
        means = {pair: float(np.mean(values)) for pair, values in observed.items()}
        table = [[means.get((key, agent), np.nan) for agent in agents] for key in texts]
        return cls(tuple(agents), tuple(texts.values()), np.array(table).reshape(len(texts), len(agents)))

    @property
    def observed(self) -> int:
        """Count the responses that are there."""
        return int(np.sum(~np.isnan(self.values)))

    def of_questions(self, places: ArrayLike) -> Responses:
        """Keep some questions, by their places or by a mask."""
        kept = np.arange(len(self.questions))[np.asarray(places)]
        return Responses(self.agents, [self.questions[place] for place in kept], self.values[kept])

    def of_agents(self, names: Sequence[str]) -> Responses:
        """Keep some agents, in the order asked for.

        Raises:
            InvalidValueError: an agent that has no column here.
        """
        unknown = [name for name in names if name not in self.agents]
        if unknown:
            message = f"no responses of {unknown[0]!r}; there are those of: {', '.join(self.agents)}"
            raise InvalidValueError(message)
        return Responses(names, self.questions, self.values[:, [self.agents.index(name) for name in names]])


def _require(agents: tuple[str, ...], questions: tuple[str, ...], table: Floats) -> None:
    if table.shape != (len(questions), len(agents)):
        message = (
            f"values must be (questions, agents), here {(len(questions), len(agents))}, not {table.shape}; "
            "put NaN where an agent was not asked"
        )
        raise InvalidValueError(message)
    _require_distinct("agent", agents, "give each pipeline a name of its own")
    _require_distinct("question", questions, "Responses.from_observations(…) averages repeated ones")
    wrong = ~np.isnan(table) & ((table < 0) | (table > 1))
    if wrong.any():
        message = f"success is a number from 0 to 1, or NaN where it was not observed, not {table[wrong][0]:g}"
        raise InvalidValueError(message)


def _require_distinct(kind: str, names: tuple[str, ...], advice: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            message = f"the {kind} {name!r} stands there twice; {advice}"
            raise InvalidValueError(message)
        seen.add(name)
