"""What the citations of an answer are worth: ALCE's recall and precision, and which citations are misattributed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Self

from rag_cover.citations.metrics import CitedSupport, citation_precision, citation_recall, list_precision
from rag_cover.measures.texts import PassageKey, Text

__all__ = ["CitationVerdict", "CitationsResult", "Finding", "StatementCitations"]

Finding = Literal["supports", "needed", "irrelevant", "misattributed", "unsupported", "missing"]
"""What a citation is to its statement.

It supports its statement where its passage entails it, and is needed where only the citations together do, not the others
without it. Of the rest, it is misattributed where some other passage entails the statement, irrelevant where the other
citations together do (and where it is one of a list for the whole answer), unsupported where nothing does, and missing where
there is no such passage.
"""

_QUOTED, _SHOWN = 80, 3


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """One citation, as it is written, and how probable it is that its statement follows.

    Args:
        label: the citation as it is written.
        passages: the passages that it cites, by their places in `CitationsResult.passage_keys`; none where there is none.
        alone: P(entailment) by these passages, None where there is none.
        without: P(entailment) by what the statement's other citations cite together, None where there are no others.
        supporting: the other passages that entail the statement, by their places.
        finding: what the citation is to its statement.
    """

    label: Annotated[str, Text()]
    passages: tuple[int, ...]
    alone: float | None
    without: float | None
    supporting: tuple[int, ...]
    finding: Finding


@dataclass(frozen=True, slots=True)
class StatementCitations:
    """One statement of the answer's text (code points) with its citations.

    ``together`` is P(entailment) by all that it cites, None where it cites no passage.
    """

    text: Annotated[str, Text()]
    start: int
    end: int
    together: float | None
    citations: tuple[CitationVerdict, ...]

    def support(self, threshold: float) -> CitedSupport:
        """Return which of its citations entail it."""
        there = [each for each in self.citations if each.passages]
        return CitedSupport(
            together=self.together is not None and self.together >= threshold,
            alone=tuple(each.alone is not None and each.alone >= threshold for each in there),
            without=tuple(each.without is not None and each.without >= threshold for each in there),
            missing=len(self.citations) - len(there),
        )


@dataclass(frozen=True, slots=True)
class CitationsResult:
    """The statements of one answer with their citations; a statement follows from ``threshold`` on.

    ``passage_keys`` are the passages of the prompt in its order (``prompt_size`` of them), then others that were retrieved.
    ``listed`` tells whether the answer lists its sources as a whole instead of citing them in its sentences.
    """

    statements: tuple[StatementCitations, ...]
    passage_keys: tuple[PassageKey, ...]
    prompt_size: int
    threshold: float
    listed: bool = False
    prompt_assumed: bool = False

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return citation recall and precision, and the share of citations that are misattributed, each in [0, 1].

        Recall is None without statements, the others are None where nothing is cited.
        """
        supports = [each.support(self.threshold) for each in self.statements]
        counted, wrong = self.misattributed_counts
        return {
            "citation_recall": citation_recall(supports),
            "citation_precision": list_precision(supports) if self.listed else citation_precision(supports),
            "misattributed_citations": wrong / counted if counted else None,
        }

    @property
    def misattributed(self) -> tuple[tuple[StatementCitations, CitationVerdict], ...]:
        """List the misattributed citations, each with its statement.

        Of a list for the whole answer none is: what is listed need not support each statement.
        """
        return tuple((each, cited) for each in self.statements for cited in each.citations if cited.finding == "misattributed")

    @property
    def misattributed_counts(self) -> tuple[int, int]:
        """Count the citations in sentences, and the misattributed ones among them."""
        return (0, 0) if self.listed else (sum(len(each.citations) for each in self.statements), len(self.misattributed))

    @property
    def reason(self) -> str:
        """Say what is wrong: how many citations, and what the first misattributed ones should have been."""
        bare = sum(not each.citations for each in self.statements)
        supported = sum(each.support(self.threshold).supported for each in self.statements)
        lost = sum(citation.finding == "missing" for each in self.statements for citation in each.citations)
        said = f"{supported} of {_count(len(self.statements), 'statement')} supported by citations"
        said += f"; {bare} without any" if bare else ""
        said += f"; {lost} {'citation' if lost == 1 else 'citations'} of a passage that is not there" if lost else ""
        wrong = [self._describe(statement, citation) for statement, citation in self.misattributed[:_SHOWN]]
        more = len(self.misattributed) - len(wrong)
        return "; ".join([said, *wrong, *([f"and {more} more misattributed"] if more > 0 else [])])

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        statements = tuple(
            StatementCitations(**{**each, "citations": tuple(map(_citation, each["citations"]))}) for each in data["statements"]
        )
        return cls(**{**data, "statements": statements, "passage_keys": tuple(data["passage_keys"])})

    def _describe(self, statement: StatementCitations, citation: CitationVerdict) -> str:
        text = statement.text if len(statement.text) <= _QUOTED else f"{statement.text[:_QUOTED]}…"
        right = ", ".join(self._name(place) for place in citation.supporting[:_SHOWN])
        return f"“{text}” cites {citation.label}, which does not support it; {right} does"

    def _name(self, place: int) -> str:
        return f"passage {place + 1}" if place < self.prompt_size else f"retrieved passage {place + 1}, not in the prompt,"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _citation(data: Mapping[str, Any]) -> CitationVerdict:
    return CitationVerdict(**{**data, "passages": tuple(data["passages"]), "supporting": tuple(data["supporting"])})
