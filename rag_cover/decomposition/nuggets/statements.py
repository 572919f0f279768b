"""Statements in texts: sentences that say something, made to stand by themselves.

A sentence that begins with a pronoun gets the subject of the sentence before it, or the title of its text; where neither is
known it is left out. Questions, headings, talk ("Here is a summary:") and refusals are no statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_cover.english.claims import claim_in
from rag_cover.english.lexicon import AUXILIARIES
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural, subject_in
from rag_cover.english.words import content_words, words_of
from rag_cover.short_forms import capitalise
from rag_cover.texts import sentences

__all__ = ["SourcedStatement", "StatementSource", "statements_in"]

_FEWEST_WORDS = 4
_MOST_WORDS = 60
_FEWEST_CONTENT_WORDS = 3
_SUBJECT_WORDS = 6

_PRONOUN = re.compile(r"(?P<pronoun>it|they|he|she)(?P<rest>(?:['’](?:s|re|ve|ll|d))?\s.*)", re.IGNORECASE | re.DOTALL)
_POSSESSIVE = re.compile(r"(?P<pronoun>its|their|his|her)\s+(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_CONTRACTIONS = {"'s": " is", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_EXPLETIVE = re.compile(
    r"""it(?:\s(?:is|was|(?:may|might|can|could|will|would|should)\ be|has\ been)|['’]s)\s(?:(?:also|always|not)\s)?(?:\w+\s)?
        \w+(?:al|ant|ent|ble|ul|ial|ry|ed|ard|asy|ear|est|ise|rth|ood|ue|wn|ely|ive|ic|st)\s
        (?:to|that|for|when|if|whether|how|what|why)\b
      | it\s(?:seems|appears|depends|follows|turns\ out|takes|helps|means|makes\ sense)\b
      | there(?:['’]s|\s(?:is|are|was|were|may|can|exist))\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""An "it" or "there" that stands for nothing: "it is important to …"."""
_NOTE = re.compile(
    r"""it(?:\ is|['’]s)\ (?:(?:also|always)\ )?(?:important|worth|essential|crucial|interesting|useful|helpful)\ (?:noting
    |mentioning|remembering|to\ (?:note|remember|mention|know|understand|point\ out|keep\ in\ mind|be\ aware))\ that\ (?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"""(?:according\ to|based\ on|as\ (?:stated|mentioned|described|noted)\ in|from)\ (?:(?:the|this|these)\ )?
    (?:(?:provided|given|above|retrieved)\ )*(?:context|text|passages?|documents?|information|articles?|excerpts?|sources?
    |search\ results?)(?:\ (?:provided|above|given))?,\s*(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_LINK = re.compile(
    r"""(?:however|moreover|furthermore|additionally|in\ addition|also|therefore|thus|hence|consequently|as\ a\ result|finally
    |for\ (?:example|instance)|overall|similarly|in\ contrast|on\ the\ other\ hand|instead|likewise|besides|nevertheless|still
    |then|so|and|but|first(?:ly)?|second(?:ly)?|third(?:ly)?|lastly|in\ (?:summary|conclusion|short|general|fact)|ultimately
    |generally|primarily|basically|essentially|again|meanwhile),?\s+(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_OPENINGS = (_LINK, _ATTRIBUTION, _NOTE)
"""What a sentence may begin with and does not need."""
_VAGUE = re.compile(
    r"""\b(?:the\ (?:above|following|former|latter|same)|the\ (?:(?:provided|given)\ )?(?:text|context|passages?|excerpts?
    |documents?)|(?:as|see)\ (?:above|below|mentioned|shown)|this\ (?:section|article|page|answer|passage|text|context)
    |i|we|my|our|me|us)\b
    |^(?:this|that|these|those|such|both|another|others?|either|neither|one\ (?:of\ )?(?:the|these)|some\ (?:of|others?)
    |the\ (?:other|second|third|next))\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that point to something that the sentence does not name."""
_HOLLOW = re.compile(
    r"""\b(?:several|various|many|multiple|different|a\ (?:number|variety|range|few)\ of|some|certain|two|three|four|five)\s
    (?:\w+[\s-]){0,2}?(?:factors?|ways?|reasons?|approach(?:es)?|methods?|metrics|techniques|options?|situations?|things?|aspects?
    |steps?|possibilit(?:y|ies)|considerations?|benefits|advantages|disadvantages|types|kinds|categories|points)\b[^,;:]{0,80}$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What only announces: "There are several reasons why …"."""
_AUXILIARIES = AUXILIARIES | frozenset(words_of("may might must should been"))


@dataclass(frozen=True, slots=True)
class StatementSource:
    """A text that statements are taken from.

    ``id`` names it (the key of a passage, the id of an answer's trace). Texts of one ``group`` are not independent: the answers
    of one pipeline, the passages of one document. ``weight`` is how much what it states counts: less for a passage that a
    search found late.
    """

    kind: Literal["passage", "answer"]
    id: str
    text: str
    group: str
    title: str | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class SourcedStatement:
    """What a sentence of a source states, in words that stand by themselves; ``start`` and ``end``: where, in code points."""

    text: str
    source: StatementSource
    start: int
    end: int

    @property
    def fragment(self) -> str:
        """Return the sentence as it stands in its source."""
        return self.source.text[self.start : self.end]


def statements_in(source: StatementSource) -> Iterator[SourcedStatement]:
    """Yield the statements of a text, in its order.

    >>> text = "Heat pumps move heat. They need a third of the electricity. Why? It depends."
    >>> [each.text for each in statements_in(StatementSource("passage", "p1", text, "p1"))]
    ['Heat pumps move heat.', 'Heat pumps need a third of the electricity.']
    """
    subject = _subject_of_title(source.title)
    for span in sentences(source.text):
        said = claim_in(span.of(source.text))
        if said is None:
            continue
        for opening in _OPENINGS:
            said = said[match.end() :] if (match := opening.match(said)) else said
        resolved = _resolve(said, subject)
        subject = _subject_in(said) or subject
        if resolved is not None and _stands_alone(resolved):
            yield SourcedStatement(capitalise(resolved), source, span.start, span.end)


def _resolve(text: str, subject: str | None) -> str | None:
    """Put the subject in the place of a pronoun at the start; None where it is not known.

    >>> _resolve("It's cheap.", "Steel"), _resolve("It is important to check.", "Steel"), _resolve("Its price fell.", "Steel")
    ('Steel is cheap.', 'It is important to check.', "Steel's price fell.")
    """
    if _EXPLETIVE.match(text):
        return text
    possessive, pronoun = _POSSESSIVE.match(text), _PRONOUN.match(text)
    match = possessive or pronoun
    if match is None:
        return text
    if subject is None or not _agrees(match["pronoun"], subject):
        return None
    return f"{subject}{_genitive(subject)} {match['rest']}" if possessive else f"{subject}{_written_out(match['rest'])}"


def _agrees(pronoun: str, subject: str) -> bool:
    """Return whether a pronoun can stand for a subject: "they" for no single thing, but for a name, which may be of several.

    >>> _agrees("They", "The hotel"), _agrees("They", "Heat pump"), _agrees("It", "The hotel")
    (False, True, True)
    """
    is_one_thing = subject.lower().startswith(("the ", "a ", "an ")) and not is_plural(subject)
    return not (pronoun.lower() in {"they", "their"} and is_one_thing)


def _written_out(rest: str) -> str:
    contraction, space, after = rest.partition(" ")
    return f"{_CONTRACTIONS[contraction.replace('’', chr(39))]}{space}{after}" if contraction else rest


def _genitive(subject: str) -> str:
    return "'" if subject.endswith("s") else "'s"


def _subject_in(text: str) -> str | None:
    """Return the noun phrase that a sentence begins with, up to its first verb; None where it names nothing by itself.

    >>> _subject_in("The old bridge was closed in 1990."), _subject_in("Heat pumps move heat."), _subject_in("This is new.")
    ('The old bridge', 'Heat pumps', None)
    """
    words = text.rstrip(".!").split()
    verb = next((place for place, word in enumerate(words[: _SUBJECT_WORDS + 1]) if word.lower() in _AUXILIARIES), None)
    phrase = subject_in(" ".join(words)) if verb is None else " ".join(words[:verb])
    return phrase if phrase and is_noun_phrase(phrase) and not _VAGUE.search(phrase) and content_words(phrase) else None


def _subject_of_title(title: str | None) -> str | None:
    """Return a title that can stand for a subject: a few words without a verb or a mark."""
    name = (title or "").strip()
    return name if name and len(name.split()) <= _SUBJECT_WORDS - 2 and re.fullmatch(r"[\w\s'’().-]+", name) else None


def _stands_alone(text: str) -> bool:
    count = len(text.split())
    return (
        _FEWEST_WORDS <= count <= _MOST_WORDS
        and len(content_words(text)) >= _FEWEST_CONTENT_WORDS
        and not _VAGUE.search(text)
        and not _HOLLOW.search(text)
    )
