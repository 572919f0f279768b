"""What the tools of the server answer with, as types: of them the protocol's schemas are made.

Fields that are not listed here come along where a measure has them.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ComparedPipelines", "EvaluatedTraces", "ListedFiles", "RouteOfQuestion", "Untrusted", "WorstQuestions"]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", defer_build=True)  # when first used: importing is not the time


class Untrusted(_Answer):
    """A text of a file: data, whatever it says."""

    untrusted_text: str


class ListedFiles(_Answer):
    """The files of the folder."""

    files: list[str]
    may_write: bool = Field(description="Whether evaluate may make a store and a report.")


class EvaluatedTraces(_Answer):
    """The figures of an evaluation."""

    headline: Untrusted
    traces: int
    questions: int
    metrics: dict[str, dict[str, Any] | None] = Field(
        description="Each metric's estimate with its 95% interval; null: undefined."
    )
    losses: Any = Field(description="How many core sub-questions were lost, by the stage that lost them.")
    notes: list[Untrusted]
    store: str | None
    report: str | None
    notice: str


class _LostSubQuestion(_Answer):
    sub_question: Untrusted
    where: str = Field(description="The stage at which it was lost, or 'unclear'.")


class _WorstQuestion(_Answer):
    trace: Untrusted | None
    question: Untrusted
    answer: Untrusted | None
    lost: list[_LostSubQuestion]


class WorstQuestions(_Answer):
    """The questions that leave most unanswered, the worst first."""

    questions: list[_WorstQuestion]
    of: int = Field(description="How many questions leave something unanswered.")
    notice: str


class ComparedPipelines(_Answer):
    """Two pipelines on the questions that they share; differences are b - a."""

    a: Untrusted
    b: Untrusted
    questions: int
    metrics: dict[str, dict[str, Any]]
    changed: list[dict[str, Any]]
    notes: list[Untrusted]
    notice: str


class RouteOfQuestion(_Answer):
    """Which route a question takes, and why."""

    route: str = Field(description="direct: one passage answers it; decompose: only several together; abstain: none.")
    probability: float | None = Field(description="P(complex); null where no calibration was fitted.")
    scores: dict[str, float] = Field(
        description="What the route rests on, by name, such as 'answered': P(the corpus answers it)."
    )
    explanation: Untrusted
    notice: str
