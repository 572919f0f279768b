"""The statements of a text: its sentences without those that claim nothing, and the ways in which each may be supported.

Headings, table rules, list numbers, questions, greetings and refusals claim nothing; list markers and citations are stripped. A
text of a few words is read after its question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_cover.backends import AbstentionDetector, ScoringItem, Span
from rag_cover.english.claims import claim_in, sentences_with_headings, strip_citations
from rag_cover.model_calls import abstentions
from rag_cover.texts import flatten, sentences

__all__ = [
    "Statement",
    "leave_out_refusals",
    "normalise",
    "normalise_sentences",
    "read_after_question",
    "statements_of",
    "strip_markup",
]

_FRAGMENT = 5  # words; anything shorter says nothing without its question

_CLAUSES = re.compile(
    r";\s+|,\s+(?:and|but|while|whereas)\s+(?=(?:the|a|an|it|they|he|she|we|you|i|there|this|these|its|their|his|her|our|your|my)\b|[A-Z])"
)
_SHORTEST_CLAUSE = 4  # words
_DECLINES = re.compile(
    r"""\b(?:no|not|none|nothing|nowhere|never|neither|nor|without|cannot|unable|unknown|unclear|unspecified|unavailable|unanswer\w*
    |insufficient|lack\w*|missing|absent|silent|fails?|sorry|afraid|apolog\w+|regret\w*|unfortunately|contact|consult|ask|check|visit
    |refer|see|provide|clarify|depends)\b|n['’]t\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of which a refusal has at least one: other sentences are claims, whatever a detector makes of them."""
_KNOWING = re.compile(
    r"""\b(?:mention|specif|provid|contain|includ|stat(?:e|ing)|inform|detail|answer|determin|identif|confirm|verif|conclu|infer|guess
        |speculat|unclear|unknown|unspecified|unanswer|unavailable|available|sorry|afraid|apolog|regret|unfortunately|help|assist|context
        |passage|document|file|page|text|source|excerpt|material|manual|article|section|report|cover|address|discuss|describ|record
        |explain|question|contact|consult|ask|check|refer|visit|look|indicat|silen|miss|nothing|advice|read)\w*
    |\b(?:say|says|said|tell|told|data|figures?|facts?|kn[eo]w[ns]?|find|found|see|list|listed|give|gives|given|name|names|named|show|shown
        |note|noted|aware|sure|share|have|has|there)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of which a refusal also has one: of what is known or said, or of who would know. "They need no ticket" has none."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that says something: where it stands, its words, the readings of it.

    A statement is supported where all parts of one reading are: the sentence as it stands, or its clauses one by one.
    ``sentence`` is None where the statement stands in no text. A sentence that begins with a pronoun is not read after the one
    before it: what that one says would speak for it (benchmarks.judge.case_sets).
    """

    sentence: Span | None
    words: str
    readings: tuple[tuple[str, ...], ...]

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """List what is asked of a text about it, each once."""
        return tuple(dict.fromkeys(part for reading in self.readings for part in reading))


def statements_of(text: str, question: str, *, strip: Callable[[str], str] = lambda sentence: sentence) -> list[Statement]:
    r"""List the statements of a text that answers a question, in their order; ``strip`` takes out what is no part of them.

    >>> [statement.words for statement in statements_of("Sure!\n- The sky is blue [1].\nIs it?", "Which colour is the sky?")]
    ['The sky is blue.']
    """
    stated = ((span, claim_in(strip(span.of(text)))) for span in sentences_with_headings(text))
    return [
        Statement(span, words, _readings(read_after_question(words, question))) for span, words in stated if words is not None
    ]


def read_after_question(text: str, question: str) -> str:
    """Put a question before a text of fewer than five words, which says nothing without it.

    >>> read_after_question("Paris.", "Where is the Louvre?"), read_after_question("It stands in central Paris.", "Where?")
    ('Where is the Louvre? Paris.', 'It stands in central Paris.')
    """
    return text if len(text.split()) >= _FRAGMENT else f"{question} {text}"


def strip_markup(text: str) -> str:
    r"""Strip markup and citations, line by line; blank lines are left out.

    >>> strip_markup("## Bread\n\nIt takes 14 g [1, 3].")
    'Bread\nIt takes 14 g.'
    """
    lines = (" ".join(line.split()) for line in strip_citations(flatten(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def leave_out_refusals(
    statements: Sequence[Sequence[Statement]], questions: Sequence[str], detector: AbstentionDetector
) -> list[list[Statement]]:
    """Leave out statements that decline to answer their question; those have words that say so."""
    doubted = [
        {
            statement: ScoringItem(question, statement.words, user_question=question)
            for statement in each
            if _DECLINES.search(statement.words) and _KNOWING.search(statement.words)
        }
        for question, each in zip(questions, statements, strict=True)
    ]
    verdicts = abstentions(detector, (item for each in doubted for item in each.values()))
    return [
        [statement for statement in each if statement not in items or verdicts[items[statement]] != "wholly"]
        for each, items in zip(statements, doubted, strict=True)
    ]


def _readings(text: str) -> tuple[tuple[str, ...], ...]:
    """List the ways in which a sentence may be supported.

    >>> _readings("It was sold in 1990, and the buyer closed it.")
    (('It was sold in 1990, and the buyer closed it.',), ('It was sold in 1990', 'the buyer closed it.'))
    """
    clauses = tuple(part.strip() for part in _CLAUSES.split(text))
    if len(clauses) > 1 and all(len(clause.split()) >= _SHORTEST_CLAUSE for clause in clauses):
        return (text,), clauses
    return ((text,),)


def normalise_sentences(text: str) -> frozenset[str]:
    """Return the sentences and lines of a text, normalised: what is among them, the text has word for word."""
    return frozenset(normalise(line) for part in text.split("\n") for line in (part, *_sentence_texts(part)))


def _sentence_texts(text: str) -> Iterator[str]:
    return (span.of(text) for span in sentences(text))


def normalise(text: str) -> str:
    """Reduce a text to its words: what is the same up to case, punctuation and markup is a quotation."""
    return " ".join(re.findall(r"\w+", text.casefold()))
