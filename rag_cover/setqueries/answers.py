"""What comes of a set query: the entities that belong, those that were left out and why, and the evidence for each atom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from rag_cover.backends import Failure
from rag_cover.notebook_views import show_in_notebook
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.memberships import Combination
from rag_cover.setqueries.parsing import ParsedQuery
from rag_cover.short_forms import quote
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["AtomEvidence", "Candidate", "SetAnswer", "question_for"]


def question_for(atom: str) -> str:
    """Ask for what belongs to an atom, as a judge of answers is asked.

    >>> question_for("birds of Chile")
    'What are examples of birds of Chile?'
    """
    return f"What are examples of {atom}?"


@dataclass(frozen=True, slots=True)
class AtomEvidence:
    """What a candidate's passages say of one atom.

    Attributes:
        atom: the atom.
        probability: P(the candidate belongs to it), of the passage that speaks for it most; None where it could not be judged.
        negated: the query takes the atom's members away.
        passage: `Passage.key` of that passage.
        fragment: the words of it that tell; None where none were sought, or none were found.
        rank: where the atom's own search found the candidate, from 1; None where it did not.
        matched: the probability counts as a match where the answer is decided; None where there is none.
        skipped: it was not judged by this atom, since it could not belong whatever the verdict.
    """

    atom: str
    probability: float | None
    negated: bool = False
    passage: str | None = None
    fragment: str | None = None
    rank: int | None = None
    matched: bool | None = None
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that was found for some atom, and what was made of it.

    Attributes:
        name: the entity.
        passages: its passages that were found, by the searches' ranks.
        probability: P(it belongs to the query), the most that it can be where some atom was skipped; None where an atom could
            not be judged.
        evidence: of each atom, in the query's order.
        reason: a sentence: why it is in, or left out.
    """

    name: str
    passages: tuple[Passage, ...]
    probability: float | None
    evidence: tuple[AtomEvidence, ...]
    reason: str = ""

    @property
    def telling(self) -> tuple[Passage, ...]:
        """Return the passages that speak most for the atoms that are not negated, the first of them if there are none."""
        keys = [each.passage for each in self.evidence if not each.negated]
        return tuple(each for each in self.passages if each.key in keys) or self.passages[:1]


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """The answer to a set query.

    Attributes:
        parsed: what the question was read as.
        entities: what belongs to the query, the likeliest first; exhaustive as far as the searches went.
        left_out: the other candidates, by the most that their probability can be; last those that could not be judged.
        steps: each atom's search, in the atoms' order; one that failed carries its error.
        threshold: an entity is kept if its probability is above this.
        combination: how atoms' probabilities were combined.
        judged: how many (passage, atom) pairs the judge was asked about.
        unjudged: how many candidates the budget left no room for.
        failures: of searches and of the judge.
        notes: sentences for who asked: what nothing matched, what was contradictory, what the budget cut.
    """

    parsed: ParsedQuery
    entities: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...]
    steps: tuple[RetrievalStep, ...]
    threshold: float
    combination: Combination
    judged: int = 0
    unjudged: int = 0
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return a short form: the question, how it was read, and the first that belong."""
        names = ", ".join(map(quote, self.names[:3])) + (", …" if len(self.names) > 3 else "")  # noqa: PLR2004 - a few
        read = quote(str(self.query))
        return f"SetAnswer({quote(self.question)}, read as {read}, {len(self.names):,} belong: [{names}])"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    @property
    def question(self) -> str:
        """Return the question as it was asked."""
        return self.parsed.question

    @property
    def query(self) -> SetQuery:
        """Return what it was read as."""
        return self.parsed.query

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of what belongs."""
        return tuple(each.name for each in self.entities)

    @property
    def ranked(self) -> tuple[Candidate, ...]:
        """Return all candidates, the likeliest first."""
        return (*self.entities, *self.left_out)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the passages that tell of what belongs, by entity, each once."""
        return tuple({passage.key: passage for each in self.entities for passage in each.telling}.values())

    def trace(self, *, answer: str | None = None, pipeline: str | None = None) -> Trace:
        """Return the run as a trace: a search for each atom, a fusion of what belongs.

        The atoms that members come from are its core sub-questions; what is taken away should not be covered, and is none.
        """
        found = tuple(step for step in self.steps if step.error is None)
        kept = RetrievalStep(
            id="set-algebra",
            kind="fuse",
            query=self.question,
            passages=self.passages,
            input_ids=tuple(step.id for step in found),
        )
        return Trace(
            question=Question(self.question),
            steps=(*self.steps, *([kept] if found else [])),
            prompt=self.passages,
            answer=answer,
            sub_questions=tuple(
                SubQuestion(question_for(self.parsed.words.get(atom, atom)), role=Role.CORE, role_source="rules")
                for atom in self.query.sources
            ),
            pipeline=pipeline,
            metadata={"set_query": self._summary()},
        )

    def _summary(self) -> dict[str, Any]:
        return {
            "query": str(self.query),
            "confidence": self.parsed.confidence,
            "threshold": self.threshold,
            "entities": [each.name for each in self.entities],
            "left_out": len(self.left_out),
            "judged": self.judged,
            "notes": list(self.notes),
        }

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; `from_dict` reads it."""
        return {
            "parsed": self.parsed.to_dict(),
            "entities": list(map(_describe_candidate, self.entities)),
            "left_out": list(map(_describe_candidate, self.left_out)),
            "steps": [step.model_dump(mode="json", exclude_defaults=True) for step in self.steps],
            "threshold": self.threshold,
            "combination": self.combination,
            "judged": self.judged,
            "unjudged": self.unjudged,
            "failures": [asdict(each) for each in self.failures],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        parts = {
            "parsed": ParsedQuery.from_dict(data["parsed"]),
            "entities": tuple(map(_read_candidate, data["entities"])),
            "left_out": tuple(map(_read_candidate, data["left_out"])),
            "steps": tuple(map(RetrievalStep.model_validate, data["steps"])),
            "failures": tuple(Failure(**each) for each in data["failures"]),
            "notes": tuple(data["notes"]),
        }
        return cls(**{**data, **parts})


def _describe_candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "probability": candidate.probability,
        "reason": candidate.reason,
        "evidence": [asdict(each) for each in candidate.evidence],
        "passages": [passage.model_dump(mode="json", exclude_defaults=True) for passage in candidate.passages],
    }


def _read_candidate(data: Mapping[str, Any]) -> Candidate:
    return Candidate(
        name=data["name"],
        probability=data["probability"],
        reason=data["reason"],
        evidence=tuple(AtomEvidence(**each) for each in data["evidence"]),
        passages=tuple(map(Passage.model_validate, data["passages"])),
    )
