"""What augmenting the retrieval for a question gave: passages, what was sought, and what every extra search bought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from rag_cover.augmentation.chains import searchable
from rag_cover.backends import Failure, Message
from rag_cover.belief import TraceUtility
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.traces import RetrievalStep, Trace, distinct

__all__ = ["Augmentation", "AugmentationMode", "Purchase", "Sought"]

AugmentationMode = Literal["definition", "subquestions", "retrieval", "end-to-end", "auto"]
"""How sub-questions help: M1 to M4 of the coverage paper, and M3 only where it pays."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A core sub-question for which passages were searched.

    Attributes:
        text: as it was searched for and judged: references to earlier answers (`#1`) are replaced by these answers, or
            removed where there is none; it may then be empty.
        given: as it was given.
        role_source: who typed it as core (`rag_cover.questions.RoleSource`), None where nobody did.
        step: the search for it; None where none was made.
        covered_at_first: whether a passage that the question alone brought back covers it.
        covered: whether a passage that was kept does.
        probability: the highest P(covers) of those that have a text; None where none has.
        answer: what was read for a later sub-question (`#1`), or what the generator wrote (end-to-end).

    ``covered_at_first``, ``covered`` and ``probability`` are None without a judge, and where nothing is left to ask;
    ``covered_at_first`` also where the question alone was not searched for, or that search failed. No passages cover nothing.
    """

    text: str
    given: str
    role_source: str | None = None
    step: str | None = None
    covered_at_first: bool | None = None
    covered: bool | None = None
    probability: float | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Purchase:
    """What one search beyond the question's own bought: the sub-questions that its passages cover, and none before it did.

    ``covered`` is empty without a judge. ``utility`` is the search's marginal ΔSePer, None where it was not measured.
    """

    step: str
    query: str
    covered: tuple[str, ...]
    utility: float | None = None


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A question with the passages to answer it from, and how they came about.

    ``steps`` are the searches in their order, a failed one with its error; ``calls`` counts them all. ``passages`` are what was
    kept, best first. ``prompt`` asks a generator for the answer, and ``answer`` is what the one that was given wrote.
    ``others`` are sub-questions that are not core. ``rounds`` counts how often it was searched again, with what the searches
    before had brought. ``failures`` name what went wrong on the way, ``notes`` what was left out.
    """

    question: Question
    mode: AugmentationMode
    sub_questions: tuple[Sought, ...]
    steps: tuple[RetrievalStep, ...]
    passages: tuple[Passage, ...]
    prompt: tuple[Message, ...] = ()
    answer: str | None = None
    bought: tuple[Purchase, ...] = ()
    others: tuple[SubQuestion, ...] = ()
    rounds: int = 0
    threshold: float | None = None
    utility: TraceUtility | None = None
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Count the searches."""
        return len(self.steps)

    @property
    def uncovered(self) -> tuple[str, ...]:
        """List the core sub-questions that no kept passage covers."""
        return tuple(each.text for each in self.sub_questions if each.covered is False)

    def trace(self, *, pipeline: str | None = None) -> Trace:
        """Return it as a trace: its searches, a step that kept some of their passages, and the answer where there is one.

        Measured as any other trace, it shows what each search was worth and what was covered. An answer that was put together
        from answers (end-to-end) was written from all that was found, so that no step keeps some.
        """
        found = [step for step in self.steps if step.error is None]
        if self.mode == "end-to-end" and any(searchable(each.text) for each in self.sub_questions):
            return self._trace(self.steps, distinct(passage for step in found for passage in step.passages), pipeline)
        kept = RetrievalStep(
            id="kept",
            kind="rerank",
            query=self.question.text,
            passages=self.passages,
            input_ids=tuple(step.id for step in found),
        )
        return self._trace((*self.steps, *([kept] if found else [])), self.passages, pipeline)

    def _trace(self, steps: tuple[RetrievalStep, ...], prompt: tuple[Passage, ...], pipeline: str | None) -> Trace:
        return Trace(
            question=self.question,
            steps=steps,
            prompt=prompt,
            answer=self.answer,
            sub_questions=self._distinct_sub_questions() or None,
            pipeline=pipeline,
            metadata={"augmentation": self._summary()},
        )

    def _distinct_sub_questions(self) -> tuple[SubQuestion, ...]:
        """Return every sub-question that asks something, the first of those with one text: slots left out may make them so."""
        sought = [each for each in self.sub_questions if searchable(each.text)]
        core = [SubQuestion(each.text, role=Role.CORE, role_source=each.role_source) for each in sought]
        found: dict[str, SubQuestion] = {}
        for each in (*core, *self.others):
            found.setdefault(each.text, each)
        return tuple(found.values())

    def _summary(self) -> dict[str, Any]:
        summary = {
            "mode": self.mode,
            "calls": self.calls,
            "rounds": self.rounds,
            "sub_questions": [_present(asdict(each)) for each in self.sub_questions],
            "bought": [_present(asdict(each)) for each in self.bought],
            "failures": [_present(asdict(each)) for each in self.failures],
            "notes": list(self.notes),
        }
        return {name: value for name, value in summary.items() if value not in ([], 0)}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "question": self.question.model_dump(mode="json", exclude_defaults=True),
            "mode": self.mode,
            "sub_questions": [asdict(each) for each in self.sub_questions],
            "steps": [step.model_dump(mode="json", exclude_defaults=True) for step in self.steps],
            "passages": [passage.model_dump(mode="json", exclude_defaults=True) for passage in self.passages],
            "prompt": [asdict(message) for message in self.prompt],
            "answer": self.answer,
            "bought": [asdict(each) for each in self.bought],
            "others": [each.model_dump(mode="json", exclude_defaults=True) for each in self.others],
            "rounds": self.rounds,
            "threshold": self.threshold,
            "utility": None if self.utility is None else self.utility.to_dict(),
            "failures": [asdict(each) for each in self.failures],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        parts = {
            "question": Question.model_validate(data["question"]),
            "sub_questions": tuple(Sought(**each) for each in data["sub_questions"]),
            "steps": tuple(map(RetrievalStep.model_validate, data["steps"])),
            "passages": tuple(map(Passage.model_validate, data["passages"])),
            "prompt": tuple(Message(**each) for each in data["prompt"]),
            "bought": tuple(Purchase(**{**each, "covered": tuple(each["covered"])}) for each in data["bought"]),
            "others": tuple(map(SubQuestion.model_validate, data["others"])),
            "utility": None if data["utility"] is None else TraceUtility.from_dict(data["utility"]),
            "failures": tuple(Failure(**each) for each in data["failures"]),
            "notes": tuple(data["notes"]),
        }
        return cls(**{**data, **parts})


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value is not None}
