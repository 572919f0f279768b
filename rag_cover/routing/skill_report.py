"""What skills were learnt from, kept beside them: responses, what the model makes of each question, and how good it is.

Predictions are held out: each question's comes from a model that was chosen and fitted without it, so that figures and
frontiers made of them do not flatter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import CorruptFileError
from rag_cover.routing.complexity_adjustment import Adjustment
from rag_cover.routing.responses import Responses
from rag_cover.stats.intervals import Interval
from rag_cover.stores.files import open_input, read_whole_file, replacing

__all__ = ["HeldOut", "SkillRecord", "record_path"]

Floats = NDArray[np.float64]

_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well success is predicted on questions that were not fitted on, in nats per response: lower is better.

    ``gain`` is the agents' means' log-loss less the model's, with its 95% interval over questions; ``area`` is the area under
    the ROC curve over all responses, None where all are right or all wrong. ``dimensions`` are those of each fold's model,
    which were chosen without that fold's questions; empty in records of earlier versions, whose folds chose, too.
    """

    log_loss: float
    agent_means_log_loss: float
    gain: Interval
    area: Interval | None
    dimensions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SkillRecord:
    """Beside a skill model with m dimensions of a agents: its n questions, and what it makes of them.

    ``relevance`` and ``difficulty`` are (n, m), ``predicted`` (n, a) is held out; ``adjustment`` is None where complexity was
    not known or did not help, and ``notes`` say so. ``costs`` are the agents' per question, where the outcomes came with them.
    """

    criterion: str
    responses: Responses
    relevance: Floats
    difficulty: Floats
    predicted: Floats
    held_out: HeldOut
    adjustment: Adjustment | None = None
    notes: tuple[str, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict)

    @property
    def effective_difficulty(self) -> Floats:
        """Return (n, m): relevance times difficulty, what makes each question hard."""
        return self.relevance * self.difficulty

    def save(self, skills: Path) -> None:
        """Write beside a model that is kept in ``skills``."""
        with replacing(record_path(skills)) as file:
            file.write((json.dumps(self.to_dict(), ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, skills: Path) -> Self:
        """Read what was written beside a model.

        Raises:
            InputError: there is no such file.
            CorruptFileError: it is no record, or was damaged.
        """
        path = record_path(skills)
        with open_input(path) as file:
            content = read_whole_file(file, path)
        try:
            return cls.from_dict(json.loads(content.decode("utf-8", "surrogatepass")))
        except (ValueError, KeyError, TypeError, AttributeError) as damaged:
            message = (
                f"{path} is no record of skills that this version reads ({damaged}); fit them again with 'rag-cover skills fit'"
            )
            raise CorruptFileError(message) from damaged

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; what was not observed is null."""
        tables = {name: getattr(self, name).tolist() for name in ("relevance", "difficulty", "predicted")}
        values = [[None if np.isnan(value) else value for value in row] for row in self.responses.values.tolist()]
        return {
            "schema": _SCHEMA,
            "criterion": self.criterion,
            "agents": list(self.responses.agents),
            "questions": list(self.responses.questions),
            "values": values,
            **tables,
            "held_out": asdict(self.held_out),
            "adjustment": self.adjustment.to_dict() if self.adjustment else None,
            "notes": list(self.notes),
            "costs": dict(self.costs),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        if data["schema"] != _SCHEMA:
            message = f"schema {data['schema']!r}"
            raise ValueError(message)
        values = np.array([[np.nan if value is None else value for value in row] for row in data["values"]], dtype=np.float64)
        held_out = dict(data["held_out"])
        held_out["dimensions"] = tuple(held_out.get("dimensions", ()))
        return cls(
            criterion=data["criterion"],
            responses=Responses(data["agents"], data["questions"], values),
            relevance=np.array(data["relevance"], dtype=np.float64),
            difficulty=np.array(data["difficulty"], dtype=np.float64),
            predicted=np.array(data["predicted"], dtype=np.float64),
            held_out=HeldOut(**(held_out | {name: _interval(held_out[name]) for name in ("gain", "area")})),
            adjustment=Adjustment.from_dict(data["adjustment"]) if data["adjustment"] else None,
            notes=tuple(data["notes"]),
            costs={str(name): float(cost) for name, cost in data.get("costs", {}).items()},
        )


def record_path(skills: Path) -> Path:
    """Name the file beside a model's own.

    >>> record_path(Path("runs/skills")).name
    'skills.record.json'
    """
    return skills.with_name(f"{skills.name}.record.json")


def _interval(data: Mapping[str, Any] | None) -> Any:
    return None if data is None else Interval(**data)
