"""What holding a judge against people's labels gives: frozen values that go to JSON and back without loss.

Nothing undefined is a number: it is None, and a sentence beside it says why where that is not plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from rag_cover.stats.intervals import Interval
from rag_cover.stats.prediction_powered import LEAST_QUESTIONS
from rag_cover.stats.reliability import ReliabilityBin

__all__ = ["Agreement", "CanaryVerdict", "Disagreement", "JudgeCheck", "JudgeThreshold", "SharesCovered"]


@dataclass(frozen=True, slots=True)
class CanaryVerdict:
    """A pair that any working judge gets right, and what this one said.

    ``kind`` is "answering" or "entailment" for the plainest pairs, else what is special about the text ("short replies").
    ``given`` is a question or a premise, ``text`` what was judged; ``probability`` is that of the ``expected`` verdict.
    """

    kind: str
    given: str
    text: str
    expected: str
    said: str
    probability: float

    @property
    def passed(self) -> bool:
        """Return whether the judge said what was expected."""
        return self.said == self.expected


@dataclass(frozen=True, slots=True)
class JudgeThreshold:
    """The judge's own cut against one fitted on these labels.

    ``fitted`` is the cut to use, fitted on all of them. ``agreement`` is that of verdicts by cuts fitted on other questions,
    ``gain`` how much of it is gained on the judge's own cut; all None where labels of two questions and both kinds are lacking.
    """

    shipped: float
    fitted: float | None
    agreement: Interval | None
    gain: Interval | None

    @property
    def is_better(self) -> bool:
        """Return whether the fitted cut is clearly better: the whole interval of its gain lies above 0.

        On fewer than `LEAST_QUESTIONS` questions it never is: of so few, intervals are too narrow to choose a cut by.
        """
        gain = self.gain
        return gain is not None and gain.n >= LEAST_QUESTIONS and gain.lower is not None and gain.lower > 0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row on which the judge's verdict is not the label; ``key`` tells its question or trace, where the row did."""

    question: str
    text: str
    label: bool
    probability: float
    key: str | None = None


@dataclass(frozen=True, slots=True)
class SharesCovered:
    """The share covered of all rows, or of those of a group, by three ways to tell it.

    ``judged`` is the share of all rows that the judge calls covered; ``by_labels`` rests on the labelled rows alone,
    ``powered`` on labelled and unlabelled rows together, the judge weighing ``weight`` (`estimate_powered_share`). Where one of
    the last three is None, ``undefined_because`` says why.
    """

    group: str | None
    labelled: int
    unlabelled: int
    judged: float
    by_labels: Interval | None
    powered: Interval | None
    weight: float | None
    undefined_because: str | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge against labels, over rows that all have references or all have none: one judgment, one ``cut``.

    Intervals resample whole questions (``questions`` of them are labelled). ``majority`` is the agreement of always saying
    what most labels say. ``disagreements`` are the worst first, at most ten of ``disagreeing``. Undefined figures are None.
    """

    cut: float
    labelled: int
    positives: int
    unlabelled: int
    questions: int
    agreement: Interval | None
    kappa: Interval | None
    precision: Interval | None
    recall: Interval | None
    area_under_roc: Interval | None
    majority: float | None
    threshold: JudgeThreshold
    calibration_error: float | None
    reliability: tuple[ReliabilityBin, ...]
    disagreeing: int
    disagreements: tuple[Disagreement, ...]
    shares: tuple[SharesCovered, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `JudgeCheck.to_dict` wrote of it."""
        figures = ("agreement", "kappa", "precision", "recall", "area_under_roc")
        fit = data["threshold"]
        return cls(
            **{
                **data,
                **{name: _interval(data[name]) for name in figures},
                "threshold": JudgeThreshold(
                    **{**fit, "agreement": _interval(fit["agreement"]), "gain": _interval(fit["gain"])}
                ),
                "reliability": tuple(ReliabilityBin(**each) for each in data["reliability"]),
                "disagreements": tuple(Disagreement(**each) for each in data["disagreements"]),
                "shares": tuple(
                    SharesCovered(**{**each, "by_labels": _interval(each["by_labels"]), "powered": _interval(each["powered"])})
                    for each in data["shares"]
                ),
            }
        )


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """How far a judge can be trusted on these texts.

    ``reference_free`` is about rows without references, ``with_references`` about the others; None where there are no such
    rows. ``failed_because`` says why the judge fails its canaries, None where it does not.
    """

    judge: str
    canaries: tuple[CanaryVerdict, ...]
    failed_because: str | None
    reference_free: Agreement | None
    with_references: Agreement | None
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Return whether the judge passes its canaries."""
        return self.failed_because is None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        free, referred = (
            Agreement.from_dict(block) if block else None for block in (data["reference_free"], data["with_references"])
        )
        return cls(
            judge=data["judge"],
            canaries=tuple(CanaryVerdict(**each) for each in data["canaries"]),
            failed_because=data["failed_because"],
            reference_free=free,
            with_references=referred,
            notes=tuple(data["notes"]),
        )


def _interval(data: Mapping[str, Any] | None) -> Interval | None:
    return None if data is None else Interval(**data)


def _plain(value: Any) -> Any:
    """Write tuples as JSON does, so that what is written equals what is read."""
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return value
