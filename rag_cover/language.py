"""Language detection, so that a judge of English is not asked about texts in other languages.

The decision is conservative: a text counts as English unless it is clear that it is not. Three kinds of evidence are read, the
cheapest first:

1. the script: texts mostly in another script than the Latin one are not English;
2. the share of English function words ("the", "of", "which"): texts with enough of them are English;
3. a detector, `py3langid <https://pypi.org/project/py3langid/>`_, which must be sure twice: of the text without its code,
   tables, lists and quotations, and of its uncapitalised words alone, so that names and titles decide nothing. The model
   (4.6 MB) is loaded where a text first needs it.

Of a text longer than 3,000 characters the beginning, the middle and the end are read, 1,000 characters each. A text in two
languages is judged as one: the larger part decides, and of even parts mostly the English one. Latin counts as English, as
English texts on law, medicine and biology are full of it; so do tables and lists in any language of the Latin script.
``python -m benchmarks.language.detection`` measures all this.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rag_cover.texts import flatten

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["is_english", "language_of", "language_unread", "unread_reason"]

SHORTEST = 5
"""Words below which a text in Latin script has no language."""
SHORTEST_LETTERS = 20
"""The same for other scripts, in letters; a character of a script that is written without spaces counts as three."""

_SAMPLE = 1_000
_ENGLISH_SHARE = 0.15
_SURE = 0.4
"""Of one language: close relatives share the rest, so that this is far from even odds."""
_TIMES_ENGLISH = 5
_LEAST_UNCAPITALISED = 3

_FUNCTION_WORDS = """
the and of to that with which from this are were been has it its it's isn't don't doesn't what who whose when where why how did
does would could should not you your they their there his she our about between because if than these those such but while after
before during both each other most some only
"""
"""Those that are no words, or rare ones, in other languages: not "in", "was", "for", "also" or "is"."""
_ENGLISH_WORDS = frozenset(_FUNCTION_WORDS.split())

_LANGUAGES = """
af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko la lo lt lv mk ml
mn mr ms mt my ne nl nn no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi yo zh zu zxx
"""
"""Those with many readers; ``zxx`` is py3langid's class of what is no language."""
_UNDECIDED = ("la", "zxx")

_NAMES: Mapping[str, str] = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
_UNREAD = re.compile(r" in (.+) \(([a-z]+)\), and the judge reads ")

_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CODE_BLOCK = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_CODE_TOKEN = re.compile(r"[\\/_{}<>=$#@`]|\w[.:(]\w")
_QUOTATION = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|„[^“”\n]{1,200}[“”]')
_CELL_END = re.compile(r"[,;:|•\t]")
_SENTENCE_END = re.compile(r"[.!?…]\W*$")
_LEAST_CELLS = 4


def unread_reason(part: str, language: str, read: Sequence[str]) -> str:
    """Write that a part of a trace is in a language that a judge does not read.

    >>> unread_reason("the answer is", "de", ("en",))
    'the answer is in German (de), and the judge reads English'
    """
    wanted = " and ".join(_NAMES.get(each, each) for each in read)
    return f"{part} in {_NAMES.get(language, 'another language')} ({language}), and the judge reads {wanted}"


def language_unread(reason: str) -> str | None:
    """Name the language of a reason that `unread_reason` gave; None for any other reason.

    >>> language_unread(unread_reason("the answer is", "de", ("en",)))
    'German'
    >>> language_unread(unread_reason("the answer is", "sk", ("en",))), language_unread("the trace has no answer")
    ('another language (sk)', None)
    """
    found = _UNREAD.search(reason)
    return None if found is None else _NAMES.get(found[2], f"{found[1]} ({found[2]})")


def is_english(text: str) -> bool:
    """Return whether a text is English, or may be: False only where `language_of` is sure of another language.

    >>> is_english("What is the capital of Australia?"), is_english("Die Hauptstadt von Australien ist die Stadt Canberra.")
    (True, False)
    >>> is_english("Guten Tag!"), is_english("Giuseppe Verdi, Giacomo Puccini, Gaetano Donizetti, Vincenzo Bellini")
    (True, True)
    """
    return language_of(text) in {"en", None}


def language_of(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language, None where it is unknown.

    Unknown are texts of fewer than five words (20 letters in other scripts, seven Chinese or Japanese characters), code,
    tables, lists of names and other texts of which the detector is not sure.

    >>> language_of("Il treno per Napoli arriva con circa venti minuti di ritardo.")
    'it'
    >>> language_of("患者は昨夜から胸の痛みを訴えています。")
    'ja'
    """
    sample = _sample(text)
    if other := _in_other_script(sample):
        return _best(_probabilities(other)) if _weight(other) >= SHORTEST_LETTERS else None
    prose = _prose(sample)
    words = _WORD.findall(prose)
    if len(words) < SHORTEST or 2 * len(words) < len(_WORD.findall(sample)):
        return None
    if sum(word.lower() in _ENGLISH_WORDS for word in words) >= _ENGLISH_SHARE * len(words):
        return "en"
    return _detect(prose, words)


def _sample(text: str) -> str:
    """Return a text, or its beginning, middle and end where it is long."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = (len(text) - _SAMPLE) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _in_other_script(text: str) -> str:
    """Return the words in other scripts where they are the larger part, or nothing."""
    if text.isascii():
        return ""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    other = " ".join(word for word in words if not any("LATIN" in unicodedata.name(char, "") for char in word))
    letters = sum(map(str.isalpha, text)) - sum(map(str.isalpha, other))
    return other if _weight(other) > letters else ""


def _weight(text: str) -> int:
    """Count letters, those of scripts without spaces three times."""
    return sum(3 if unicodedata.name(char, "").startswith(_UNSPACED) else 1 for char in text if char.isalpha())


def _prose(text: str) -> str:
    """Leave out code, rows of tables, lists of short items and quotations."""
    text = flatten(_CODE_BLOCK.sub("\n", text))
    if not _QUOTATION.fullmatch(text.strip()):
        text = _QUOTATION.sub(" ", text)
    return "\n".join(line for line in map(_without_code, text.split("\n")) if not _is_list(line))


def _without_code(line: str) -> str:
    """Leave out names of files, calls, addresses and the like; the whole line where they are a quarter of it."""
    tokens = line.split()
    words = [token for token in tokens if not _CODE_TOKEN.search(token)]
    return " ".join(words) if 4 * len(words) > 3 * len(tokens) else ""


def _is_list(line: str) -> bool:
    """Return whether a line has four items or more, of at most three words on average (two where it ends like a sentence)."""
    cells = [cell for cell in _CELL_END.split(line) if cell.strip()]
    return len(cells) >= _LEAST_CELLS and len(line.split()) <= (2 if _SENTENCE_END.search(line) else 3) * len(cells)


def _detect(prose: str, words: list[str]) -> str | None:
    """Return the language of which the detector is sure twice."""
    uncapitalised = [word for word in words if word[0].islower()] if not prose.isupper() else [word.lower() for word in words]
    found = _sure_of(prose)
    if found in {"en", None} or len(uncapitalised) < _LEAST_UNCAPITALISED:
        return "en" if found == "en" else None
    return found if _sure_of(" ".join(uncapitalised)) not in {"en", None} else None


def _sure_of(text: str) -> str | None:
    probabilities = _probabilities(text)
    best = _best(probabilities)
    rivals = [probabilities[each] for each in _UNDECIDED]
    if probabilities["en"] > max(probabilities[best], *rivals):
        return "en"
    sure = probabilities[best] >= max(_SURE, *rivals, _TIMES_ENGLISH * probabilities["en"])
    return best if sure else None


def _best(probabilities: Mapping[str, float]) -> str:
    """Return the likeliest language but English."""
    return max(
        (each for each in probabilities if each != "en" and each not in _UNDECIDED), key=lambda each: probabilities[each]
    )


def _probabilities(text: str) -> dict[str, float]:
    return dict(_identifier().rank(text))


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES.split())
    return identifier
