"""Whether a text states something: what is asked where a nugget has no question, and who can tell it.

A statement is judged as the hypothesis of an entailment whose premise is the text, or by a model that tells partial support
from full, which an entailment does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rag_cover.backends import Entailer, Span
from rag_cover.english.words import content_words
from rag_cover.errors import ModelFailedError
from rag_cover.model_calls import ask_relations
from rag_cover.nuggets import Assignment
from rag_cover.texts import sentences

__all__ = ["STATED", "EntailedStatements", "StatementItem", "StatementJudge", "StatementVerdict", "judge_statements"]

STATED = 0.5
"""The probability from which a text states a statement, as that from which a sentence is grounded."""

_SENTENCES = 8  # of a text that are held against a statement to find where it is stated: those that share most words with it


@dataclass(frozen=True, slots=True)
class StatementItem:
    """One judgment asked: does this text state it? ``user_question`` is what the text replies to; empty for passages."""

    statement: str
    text: str
    user_question: str = ""


@dataclass(frozen=True, slots=True)
class StatementVerdict:
    """P(the text states all of it), whether it states a part of it, and the fragment that does, where one is known."""

    probability: float
    partial: bool = False
    fragment: Span | None = None

    @property
    def assignment(self) -> Assignment:
        """Return the verdict in the words of the TREC 2024 RAG track."""
        if self.probability >= STATED:
            return Assignment.SUPPORT
        return Assignment.PARTIAL_SUPPORT if self.partial else Assignment.NOT_SUPPORT


@runtime_checkable
class StatementJudge(Protocol):
    """Judges whether texts state statements; one that cannot tell partial support from none never says ``partial``."""

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        """Return one verdict for each item."""
        ...


@dataclass(frozen=True, slots=True)
class EntailedStatements:
    """Judges statements by an entailer: premise the text, hypothesis the statement."""

    entailer: Entailer

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        """Return P(entailment) of each; the fragment is the sentence that entails it most, where one does so alone.

        A statement that is a sentence of the text, word for word, has probability 1, and the entailer is not asked.
        """
        said = {item: span for item in items if (span := _find_verbatim(item)) is not None}
        whole = ask_relations(self.entailer, ((item.text, item.statement) for item in items if item not in said))
        found = {item: 1.0 if item in said else whole[item.text, item.statement][0] for item in items}
        spans = self._locate([item for item, probability in found.items() if probability >= STATED and item not in said])
        return [StatementVerdict(found[item], fragment=said.get(item) or spans.get(item)) for item in items]

    def _locate(self, items: Iterable[StatementItem]) -> Mapping[StatementItem, Span]:
        pieces = {item: _nearest_sentences(item) for item in items}
        pairs = ((span.of(item.text), item.statement) for item, spans in pieces.items() for span in spans)
        said = ask_relations(self.entailer, pairs)
        spans: dict[StatementItem, Span] = {}
        for item, candidates in pieces.items():
            probabilities = {span: said[span.of(item.text), item.statement][0] for span in candidates}
            best = max(probabilities, key=probabilities.__getitem__, default=None)
            if best is not None and probabilities[best] >= STATED:
                spans[item] = best
        return spans


def judge_statements(judge: object, items: Iterable[StatementItem]) -> Mapping[StatementItem, StatementVerdict]:
    """Ask a judge about every distinct item, in one call; without items it is not asked.

    A judge that tells statements itself is asked as it is, one that entails by way of `EntailedStatements`.

    Raises:
        ModelFailedError: it can do neither, or returned another number of verdicts.
    """
    distinct = tuple(dict.fromkeys(items))
    if not distinct:
        return {}
    able = judge if isinstance(judge, StatementJudge) else EntailedStatements(judge) if isinstance(judge, Entailer) else None
    if able is None:
        message = (
            f"{type(judge).__name__} cannot tell whether a text states a nugget: it is no entailer; name another judge "
            "(the embedded one can), or give each nugget its question"
        )
        raise ModelFailedError(message, kind="no entailer")
    verdicts = able.judge_statements(distinct)
    if len(verdicts) != len(distinct):
        message = f"{type(judge).__name__} returned {len(verdicts)} verdicts on {len(distinct)} statements"
        raise ModelFailedError(message)
    return dict(zip(distinct, verdicts, strict=True))


def _find_verbatim(item: StatementItem) -> Span | None:
    """Find the sentence that is the statement, up to case, white space and the mark at its end; None where none is."""
    statement = _plain(item.statement)
    return next((span for span in sentences(item.text) if _plain(span.of(item.text)) == statement), None) if statement else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).lstrip("-*• ").rstrip(" .!;")


def _nearest_sentences(item: StatementItem) -> list[Span]:
    wanted = content_words(item.statement)
    spans = sentences(item.text)
    return sorted(spans, key=lambda span: -len(wanted & content_words(span.of(item.text))))[:_SENTENCES]
