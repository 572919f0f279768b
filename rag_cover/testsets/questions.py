"""Questions of a test set: what is asked, the passages that answer it, and what these say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag_cover.nuggets import Fragment, Importance, Nugget, NuggetSource
from rag_cover.questions import Passage, Question, RoleSource
from rag_cover.traces import Trace, content_hash

__all__ = ["GoldStatement", "QuestionKind", "TestsetQuestion"]

QuestionKind = Literal["single", "multi", "unanswerable"]
"""Answered by one passage, by two together, or by none of the corpus."""


@dataclass(frozen=True, slots=True)
class GoldStatement:
    """What answers a question or a part of it: the statement, the passage that states it, its words there.

    ``copies`` are other passages that say the same in nearly the same words.
    """

    question: str
    statement: str
    passage: Passage
    fragment: str
    copies: tuple[Passage, ...] = ()

    def nugget(self, by: RoleSource) -> Nugget:
        """Return the statement as a vital nugget, as ``by`` says, with its sources."""
        start = self.passage.text.find(self.fragment)
        fragment = Fragment(self.fragment, start=None if start < 0 else start)
        first = NuggetSource(kind="passage", id=self.passage.id or self.passage.key, fragments=(fragment,))
        others = (NuggetSource(kind="passage", id=passage.id or passage.key) for passage in self.copies)
        return Nugget(
            self.statement, importance=Importance.VITAL, importance_source=by, question=self.question, sources=(first, *others)
        )


@dataclass(frozen=True, slots=True)
class TestsetQuestion:
    """A question of a test set; an unanswerable one has no gold statements.

    ``rank`` is the last of the places, from 1, that its gold passages have among those that the retriever finds for what they
    answer. ``made_by`` is the rule or the model that wrote it.
    """

    __test__ = False  # for pytest, this is no test

    text: str
    kind: QuestionKind
    gold: tuple[GoldStatement, ...]
    made_by: str
    rank: int | None = None

    @property
    def reference(self) -> str | None:
        """Return a full answer, None where the corpus has none."""
        return " ".join(dict.fromkeys(each.statement for each in self.gold)) or None

    @property
    def passages(self) -> Sequence[Passage]:
        """Return one gold passage for each statement, each once."""
        return tuple({each.passage.key: each.passage for each in self.gold}.values())

    @property
    def id(self) -> str:
        """Return an id that the same question always has."""
        return content_hash([self.kind, self.text])[:12]

    def to_trace(self) -> Trace:
        """Return a trace without an answer, as pipelines are asked by and labels are added to."""
        by = self.made_by if self.made_by.startswith("model:") else "rules"
        return Trace(
            id=self.id,
            question=Question(self.text, id=self.id, references=(self.reference,) if self.reference else ()),
            nuggets=tuple(each.nugget(by) for each in self.gold) or None,
            tags=(self.kind,),
            metadata={
                "kind": self.kind,
                "made_by": self.made_by,
                "gold_passages": [passage.id or passage.key for passage in self.passages],
                "rank": self.rank,
            },
        )
