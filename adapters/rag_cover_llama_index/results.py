"""What the evaluators return: LlamaIndex's `EvaluationResult` with the whole result of rag_cover in it.

It is there as the value that rag_cover's own functions take, and as JSON data in ``model_dump()`` and ``model_dump_json()``,
from which ``model_validate`` reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol, Self, TypeVar

from llama_index.core.evaluation import EvaluationResult
from pydantic import ConfigDict, Field, GetPydanticSchema, PlainSerializer, WithJsonSchema
from pydantic_core import core_schema

from rag_cover import Trace
from rag_cover.backends import Failure
from rag_cover.belief import TraceUtility
from rag_cover.complexity import Complexity
from rag_cover.coverage import CoverageResult, SubQuestionCoverage
from rag_cover.grounding import GroundednessResult
from rag_cover.integration import core_of
from rag_cover.measures import MeasureResult

__all__ = [
    "ComplexityEvaluationResult",
    "CoverageEvaluationResult",
    "GroundednessEvaluationResult",
    "MeasureEvaluationResult",
    "TraceEvaluationResult",
    "UtilityEvaluationResult",
]


class _Written(Protocol):
    """A result of rag_cover, which goes to JSON and back."""

    def to_dict(self) -> dict[str, Any]: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self: ...


Kind = TypeVar("Kind", bound=_Written)


def _schema_of(kind: type[Kind]) -> GetPydanticSchema:
    """Take the value itself or what it wrote, and write it."""

    def read(value: object) -> Kind:
        if isinstance(value, kind):
            return value
        if isinstance(value, Mapping):
            return kind.from_dict(value)
        message = f"{type(value).__name__} is no {kind.__name__}"
        raise ValueError(message)

    written = core_schema.plain_serializer_function_ser_schema(kind.to_dict)
    return GetPydanticSchema(lambda *_: core_schema.no_info_plain_validator_function(read, serialization=written))


_JSON = WithJsonSchema({"type": "object"})


class TraceEvaluationResult(EvaluationResult):
    """An evaluation that knows what was measured, and why it has no result where it has none.

    ``trace`` is what was measured, for other measures, trace files and reports; it is not written again by ``model_dump``.
    ``failure`` is what failed, with what a model wrote where that is why; None where inputs were missing.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    trace: Trace | None = Field(default=None, exclude=True, repr=False)
    failure: Failure | None = None


class CoverageEvaluationResult(TraceEvaluationResult):
    """``score``: the share of core sub-questions that the answer covers, in [0, 1] (coverage paper, metric #1)."""

    coverage: Annotated[CoverageResult, _schema_of(CoverageResult), _JSON] | None = None

    @property
    def lost(self) -> tuple[SubQuestionCoverage, ...]:
        """Return the core sub-questions that the answer does not cover; each says where it was lost."""
        core = core_of(self.coverage) if self.coverage else ()
        return tuple(each for each in core if each.answer is not None and not each.answer.covered)


class UtilityEvaluationResult(TraceEvaluationResult):
    """``score``: what all retrieval steps together were worth (ΔSePer), in [-1, 1]; below 0 they did harm."""

    utility: Annotated[TraceUtility, _schema_of(TraceUtility), _JSON] | None = None


class ComplexityEvaluationResult(TraceEvaluationResult):
    """``score``: how complex the question is for what was retrieved, in [0, 1]; lower is easier."""

    complexity: Annotated[Complexity, _schema_of(Complexity), _JSON] | None = None


class MeasureEvaluationResult(TraceEvaluationResult):
    """``score``: the number that stands for the result of a measure; ``model_dump`` writes the result as JSON data."""

    result: Annotated[Any, PlainSerializer(lambda found: found if found is None else _as_json(found)), _JSON] = None


def _as_json(found: object) -> object:
    return found.to_dict() if isinstance(found, MeasureResult) else found


class GroundednessEvaluationResult(TraceEvaluationResult):
    """``score``: the share of the answer's sentences that the passages support, in [0, 1]."""

    groundedness: Annotated[GroundednessResult, _schema_of(GroundednessResult), _JSON] | None = None
