"""What a template may be filled with: the words a question's shape names, and what follows from them.

Of a noun phrase ``x`` follow ``x_is`` ("is" or "are"), ``x_was``, ``x_does``, ``what_x`` ("What is x?", where that is worth
asking) and, where things are compared, ``how_x`` or ``merits_x``. What cannot be told is absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag_cover.coverage.phrases import definition_of, is_noun_phrase, is_plural, objective, subject_in
from rag_cover.coverage.words import content_words, words_of

__all__ = ["Fields", "fields_of", "filled"]

Fields = Mapping[str, str]

_LONGEST = 15  # words; anything longer reads badly in a template
_TELLING = 8  # letters; a shorter common noun ("cats") needs no definition
_AS_GIVEN = ("act", "other", "best", "what", "adjective", "rest")
_IRREGULAR = frozenset({"better", "worse", "further", "farther", "rather", "other", "after", "under", "over"})
_ENDS_IN_E = tuple(words_of("saf larg nic clos wis rar strang simpl pur rip loos dens wid fin gentl"))
_ADJECTIVAL = re.compile(
    r"(?:\w+(?:en|al|ic|ed|ing|ive|ous|ful|less|able|ible|ary|ian|ese|ish)|fresh|raw|whole|skim|hot|cold|red|green|white|black|brown|big|small"
    r"|old|new|fast|slow|hard|soft|wet|dry|high|low|long|short|left|right|public|private|dark|light|blue|sweet|single|double)",
    re.IGNORECASE,
)


def filled(template: str, fields: Fields) -> str | None:
    """Fill a template, None where it needs what could not be told.

    >>> filled("What is {x}?", {"x": "rust"}), filled("What is {x}?", {})
    ('What is rust?', None)
    """
    try:
        return template.format_map(fields)
    except KeyError:
        return None


def fields_of(groups: Mapping[str, str | None]) -> Fields:
    """Derive all that templates may use from what a shape's pattern names.

    >>> fields_of({"x": "fresh", "y": "frozen vegetables", "comparative": "healthier"})["how_x"]
    'How healthy are fresh vegetables?'
    """
    named = {name: text.strip() for name, text in groups.items() if text}
    fields = {name: named[name] for name in _AS_GIVEN if name in named and len(named[name].split()) <= _LONGEST}
    x, y = _shared_head(named.get("x", ""), named.get("y", ""))
    for name, phrase in (("x", x), ("y", y)):
        if is_noun_phrase(phrase):
            fields |= _about(name, phrase) | _compared(name, phrase, named.get("comparative"))
    return fields | _of_clause(named)


def _about(name: str, phrase: str) -> dict[str, str]:
    plural = is_plural(phrase)
    facts = {
        name: phrase,
        f"{name}_is": "are" if plural else "is",
        f"{name}_was": "were" if plural else "was",
        f"{name}_does": "do" if plural else "does",
    }
    return facts | ({f"what_{name}": definition_of(phrase)} if _worth_defining(phrase) else {})


def _worth_defining(phrase: str) -> bool:
    """Tell whether a phrase is telling enough, and whole enough, that a reader might ask what it is."""
    telling = phrase[:1].isupper() or len(content_words(phrase)) > 1 or (" " not in phrase and len(phrase) >= _TELLING)
    return telling and not re.search(r"^the\b.* of |\b(?:and|or|my|your|our)\b|['’]", phrase, re.IGNORECASE)


def _compared(name: str, phrase: str, comparative: str | None) -> dict[str, str]:
    """Ask how a compared thing does by the comparative, or for its merits where that names nothing to go by."""
    plain = _positive(comparative) if comparative else None
    if plain:
        return {f"how_{name}": f"How {plain} {'are' if is_plural(phrase) else 'is'} {phrase}?"}
    merits = "advantages and disadvantages" if comparative else "characteristics"
    return {f"merits_{name}": f"What are the {merits} of {phrase}?"}


def _positive(comparative: str) -> str | None:
    """Undo a comparative: "healthier" to "healthy", "more useful" to "useful"; None for "better" and its like."""
    word = comparative.lower()
    if word.startswith("more "):
        return word.removeprefix("more ")
    if word in _IRREGULAR:
        return None
    if word.endswith("ier"):
        return f"{word[:-3]}y"
    stem = word.removesuffix("er")
    if stem.endswith(_ENDS_IN_E):
        return f"{stem}e"
    return stem[:-1] if stem[-1:] == stem[-2:-1] and stem[-1:] not in "lsf" else stem


def _shared_head(x: str, y: str) -> tuple[str, str]:
    """Give "fresh" its noun in "fresh or frozen vegetables"."""
    tokens = y.split()
    shared = len(x.split()) == 1 and len(tokens) > 1 and _ADJECTIVAL.fullmatch(x)
    return (f"{x} {tokens[-1]}", y) if shared else (x, y)


def _of_clause(named: Mapping[str, str]) -> dict[str, str]:
    """Use the clause that an auxiliary was taken off: its subject, and the clause as a causative takes it."""
    clause = named.get("clause") or named.get("past") or ""
    subject = subject_in(clause)
    fields = {"what_subject": definition_of(subject)} if subject and _worth_defining(subject) else {}
    if "clause" in named and not _has_participle(clause):
        fields["causative"] = objective(clause)
    return fields


def _has_participle(clause: str) -> bool:
    return any(re.fullmatch(r"\w{3,}(?:ing|ed)", word) for word in clause.lower().split()[1:] if word != "tired")
