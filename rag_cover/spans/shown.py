"""Which passages stand in what language models were shown: whole, or the part that was left where an input was cut to fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["find_shown"]

_Passage = Mapping[str, Any]

_BLANKS = re.compile(r"(?:\s|\\[nrt])+")  # a list of texts is written into a prompt with its line breaks escaped
_QUOTES = re.compile(r"""\\(['"\\])""")
_LEAST, _MOST = 40, 100  # characters by which a part of a passage is known
_MOST_PLACES = 100


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a passage, or a part of it, stands in a prompt."""

    text: str
    start: int
    part: str

    @property
    def end(self) -> int:
        return self.start + len(self.part)

    def count_outside(self, other: _Place) -> int:
        """Count the characters that do not stand within another place."""
        return len(self.part) - max(0, min(self.end, other.end) - max(self.start, other.start))


def find_shown(prompts: Iterable[str], passages: Iterable[_Passage]) -> list[_Passage]:
    r"""Return the passages that stand in any of these prompts, in their order there, each text once.

    Blanks are compared as one space. A passage that was cut counts by its first or last 100 characters, or by half where that
    is less, at least 40: its text is then the part that stands there, the whole where its parts stand in several prompts. What
    stands within another passage's text, such as a shared beginning or an overlap, is no part of it.

    >>> passages = [{"text": "Air scatters  light."}, {"text": "Rain falls."}]
    >>> find_shown(["Context: ['Air scatters\\nlight.']"], passages)
    [{'text': 'Air scatters  light.'}]
    """
    known: dict[str, _Passage] = {}
    for passage in passages:
        if text := _plain(passage["text"]):
            known.setdefault(text, passage)
    parts: dict[str, list[str]] = {}
    read = [_plain(prompt) for prompt in prompts]
    for prompt in read:
        for text, part in _shown_in(prompt, list(known)):
            parts.setdefault(text, []).append(part)
    return [_cut(known[text], text, found, read) for text, found in parts.items()]


def _cut(passage: _Passage, text: str, parts: Sequence[str], prompts: Sequence[str]) -> _Passage:
    """Return a passage as it was shown: the part of it, unless the rest stands in another prompt."""
    rest = text.replace(parts[0], "", 1).strip()
    is_whole = len(parts) > 1 or not rest or (len(prompts) > 1 and any(rest in prompt for prompt in prompts))
    return passage if is_whole else {**passage, "text": parts[0].strip()}


def _plain(text: str) -> str:
    if "\\" not in text:  # nothing is escaped: the same, in a fraction of the time
        return " ".join(text.split())
    return _QUOTES.sub(r"\1", _BLANKS.sub(" ", text)).strip()


def _shown_in(prompt: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    whole = [_Place(text, start, text) for text in texts for start in _starts(text, prompt)]
    taken, parts = list(whole), list[_Place]()
    for place in sorted(_find_parts(prompt, texts, {each.text for each in whole}), key=lambda each: -len(each.part)):
        if all(place.count_outside(each) >= _enough(place.text) for each in taken):
            taken.append(place)
            parts.append(place)
    seen: set[str] = set()
    for place in sorted([*whole, *parts], key=lambda each: (each.start, -len(each.part))):
        if place.text not in seen:
            seen.add(place.text)
            yield place.text, place.part


def _find_parts(prompt: str, texts: Sequence[str], whole: set[str]) -> Iterator[_Place]:
    for text in texts:
        enough = _enough(text)
        if text in whole or len(text) <= enough:
            continue
        for start in _starts(text[:enough], prompt):
            yield _Place(text, start, text[: _count_common(text, prompt[start : start + len(text)])])
        for start in _starts(text[-enough:], prompt):
            end = start + enough
            before = prompt[max(0, end - len(text)) : end]
            length = _count_common(text[::-1], before[::-1])
            yield _Place(text, end - length, text[-length:])


def _enough(text: str) -> int:
    """Return how many characters of a passage make a part of it known."""
    return max(_LEAST, min(_MOST, -(-len(text) // 2)))


def _count_common(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _starts(text: str, prompt: str) -> Iterator[int]:
    """Yield where a text stands in a prompt, the first hundred places."""
    start = prompt.find(text)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        yield start
        start = prompt.find(text, start + len(text))
