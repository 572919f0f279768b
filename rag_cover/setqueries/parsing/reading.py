"""A question read: framed, cut, its readings listed, and the likeliest taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.parsing.brackets import drop_brackets, operands_of
from rag_cover.setqueries.parsing.candidates import Parse, readings_of
from rag_cover.setqueries.parsing.choice import refuse_too_many, select_reading
from rag_cover.setqueries.parsing.framing import strip_frame
from rag_cover.setqueries.parsing.gazetteer import word_list
from rag_cover.setqueries.parsing.general import general_readings
from rag_cover.setqueries.parsing.parsed import ParsedQuery
from rag_cover.setqueries.parsing.scoring import ParseWeights, load_weights
from rag_cover.setqueries.parsing.splitting import Cut, cut_at_connectives, sides_of
from rag_cover.setqueries.parsing.tokens import join_tokens, tokens_of

__all__ = ["LONGEST", "Proposals", "parse", "parse_by", "propose_readings"]

LONGEST = 2_000
"""Characters of the longest question that is read as more than one atom."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """What a question may mean: its readings (none where it is ordinary), or the operands that brackets set apart."""

    asked: str
    readings: tuple[Parse, ...] = ()
    notes: tuple[str, ...] = ()
    operands: tuple[tuple[str, Proposals], ...] = ()


def parse(question: str) -> ParsedQuery:
    r"""Read a question as a set query, without a language model.

    A question that asks for no set, or for one, is one atom. Of films, books and living things a fitted model chooses among the
    readings; of anything else grammar alone decides on one. The confidence says how often readings as likely were right on
    QUEST's training questions, each read by weights fitted without it: right in template, nearly in words (token F1 at least
    0.8); where grammar alone decides it is that of a question with one reading, and not calibrated. Sentence embeddings as
    features did not choose better (benchmarks/set_queries/parsing.py), so no encoder is asked.

    >>> print(parse("birds of Chile that are also birds of Peru but not fauna of the Guianas").query)
    ("Birds of Chile" ∩ "Birds of Peru") \ "Fauna of the Guianas"
    >>> parse("Why is the sky blue?").is_set_query
    False

    Raises:
        InvalidValueError: the question is no text, or blank, names nothing to start from, or asks for more than 20 atoms.
    """
    if not isinstance(question, str):
        message = f"a question is a text, not {type(question).__name__}"
        raise InvalidValueError(message)
    return parse_by(question, load_weights())


def parse_by(question: str, weights: ParseWeights) -> ParsedQuery:
    """Read a question by given weights; raises as `parse` does."""
    proposals = propose_readings(question)
    return (
        _combine_operands(question, proposals, weights) if proposals.operands else select_reading(question, proposals, weights)
    )


def propose_readings(question: str) -> Proposals:
    """List what a question may mean; raises as `parse` does."""
    if not question.strip():
        message = "a question needs words; this one is blank: ask for something, as in 'birds of Chile but not of Peru'"
        raise InvalidValueError(message)
    text = " ".join(question.split())
    if len(text) > LONGEST:
        note = f"A question of {len(text):,} characters is taken as a whole: set operations are read in {LONGEST:,} at most."
        return Proposals(text, notes=(note,))
    frame = strip_frame(text)
    if frame.frame == "ordinary":
        return Proposals(text)
    tokens, open_quote = tokens_of(frame.body)
    notes = ("A quotation mark without its partner was ignored.",) if open_quote else ()
    if operands := operands_of(tokens):
        parts = tuple((each.joined, _propose_ungrouped(join_tokens(each.words), each.words, ())) for each in operands)
        return Proposals(text, notes=notes, operands=parts)
    return _propose_ungrouped(text, drop_brackets(tokens), notes)


def _propose_ungrouped(asked: str, tokens: Sequence[str], notes: tuple[str, ...]) -> Proposals:
    """List what words may mean in which nothing is set apart by brackets."""
    parts = cut_at_connectives(tokens)
    if not parts.items:
        return Proposals(asked, notes=notes)
    if parts.doubled:
        notes = (*notes, "A double negation was read as none.")
    _refuse_only_taken_away(parts)
    return Proposals(asked, tuple(general_readings(tokens) or readings_of(parts)), notes)


def _combine_operands(question: str, proposals: Proposals, weights: ParseWeights) -> ParsedQuery:
    """Join operands from the left; what is taken away is taken away from all of it."""
    parsed = [(joiner, select_reading(each.asked, each, weights)) for joiner, each in proposals.operands]
    wanted = [(joiner, one.query) for joiner, one in parsed if joiner != "not"]
    taken = [one.query for joiner, one in parsed if joiner == "not"]
    if not wanted:
        raise InvalidValueError(_nothing_wanted(str(taken[0])))
    query = wanted[0][1]
    for joiner, other in wanted[1:]:
        query = query | other if joiner == "or" else query & other
    query = SetQuery.difference(query, *taken)
    refuse_too_many(query)
    notes = (*proposals.notes, *(note for _, one in parsed for note in one.notes))
    words = {atom: said for _, one in parsed for atom, said in one.words.items()}
    confidence = math.prod(one.confidence for _, one in parsed)
    return ParsedQuery(question, query, confidence, "grammar", notes=notes, words=words)


def _refuse_only_taken_away(parts: Cut) -> None:
    positive, negative = sides_of(parts.items)
    vague = len(positive) == 1 and len(positive[0].words) == 1 and positive[0].words[0].lower() in word_list("vague")
    if not positive or (vague and len(parts.items) > 1):
        raise InvalidValueError(_nothing_wanted(join_tokens((negative or parts.items)[0].words)))


def _nothing_wanted(taken: str) -> str:
    message = f"the question only says what is not wanted ({taken!r}) and names nothing to start from; "
    return message + "say of what it is taken away, as in 'birds of South America but not birds of Chile'"
