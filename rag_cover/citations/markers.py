"""Where an answer cites passages: numbers in brackets, named sources, links, and lists of sources beside the answer.

Read are ``[1]``, ``[1][2]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``【1】``, ``[Source 1]`` and ``(Source 1)``, and Markdown links
to a passage's address, id or title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

from rag_cover.questions import Passage

__all__ = ["Citation", "Marker", "Numbering", "find_markers", "split_bibliography", "strip_markers"]

_LIST = r"\d{1,3}(?:\s*(?:[,;&–-]|and)\s*(?:sources?\s*)?\d{1,3})*"
_MARKER = re.compile(
    rf"""(?P<space>\s?)(?:
    \[(?P<text>[^\[\]\n]{{0,500}})\]\((?P<target>[^()\s]{{1,500}}(?:\([^()\s]{{0,200}}\)[^()\s]{{0,200}})?)\)
    |[\[【]\^?(?P<brackets>(?:sources?\s*)?{_LIST})(?:†[^\]】\n]{{0,200}})?[\]】]
    |\((?:see\s+)?(?P<named>sources?\s*{_LIST})\)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_MOST_IN_RANGE = 20
_SOURCE = re.compile(r"\s*Source (\d{1,3}):")
_LINKED_BY = ("url", "source", "link", "uri", "href", "file_path", "file_name", "path", "id")
_NAMED_BY = ("title", "name")
_IDS = ("source_id", "id", "number", "source", "url", "title", "doc_id", "document_id")
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)
_WEB = re.compile(r"^https?://", re.IGNORECASE)
_BIBLIOGRAPHY = re.compile(r"^\W*(?:sources?|references?|citations?|bibliography|works\ cited)\W*?(?::|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marker:
    """What cites in a text (code points): numbers, or a link."""

    start: int
    end: int
    label: str
    numbers: tuple[int, ...] = ()
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation as it is written, and the places of the passages that it cites; none where there is no such passage."""

    label: str
    passages: tuple[int, ...]


def find_markers(text: str) -> list[Marker]:
    """Find what cites in a text, in order.

    >>> [marker.numbers for marker in find_markers("It is wet [1][2], blue [1, 3-4] and old (Source 2).")]
    [(1,), (2,), (1, 3, 4), (2,)]
    >>> [marker.target for marker in find_markers("See [the Nile](https://example.org/nile).")]
    ['https://example.org/nile']
    """
    return [_marker(found) for found in _MARKER.finditer(text) if text[max(0, found.end("space") - 1)] != "!"]


def _marker(found: re.Match[str]) -> Marker:
    start, label = found.end("space"), found[0][len(found["space"]) :]
    if found["target"] is None:
        return Marker(start, found.end(), label, _numbers(found["brackets"] or found["named"]))
    numbers = _numbers(found["text"]) if re.fullmatch(r"\^?\d{1,3}", found["text"]) else ()
    return Marker(start, found.end(), label, numbers, found["target"], found["text"])


def _numbers(text: str) -> tuple[int, ...]:
    ranges = ((int(first), int(last or first)) for first, last in _RANGE.findall(text))
    return tuple(
        chain.from_iterable(
            range(first, last + 1) if first <= last < first + _MOST_IN_RANGE else (first, last) for first, last in ranges
        )
    )


def strip_markers(text: str) -> str:
    """Take out numbers that cite, with the space before them, and links that stand in brackets of their own; other links stay.

    >>> strip_markers("It is blue [1]."), strip_markers("It rains ([1](https://example.org)). [It](https://example.org) snows.")
    ('It is blue.', 'It rains. [It](https://example.org) snows.')
    """
    stripped = re.sub(rf"\s?\({_MARKER.pattern}\)", "", text, flags=re.VERBOSE | re.IGNORECASE)
    return _MARKER.sub(lambda found: found[0] if found["target"] and not _marker(found).numbers else "", stripped)


def split_bibliography(answer: str) -> tuple[str, str]:
    r"""Cut the list of sources off the end of an answer: from a heading on after which every line cites.

    >>> split_bibliography("It is blue [1].\nSources:\n[1] On the sky")
    ('It is blue [1].\n', 'Sources:\n[1] On the sky')
    """
    start = 0
    for line in answer.splitlines(keepends=True):
        if _BIBLIOGRAPHY.match(line.strip()):
            heading, *entries = answer[start:].splitlines()
            listed = [entry for entry in (heading.partition(":")[2], *entries) if entry.strip()]
            if listed and all(find_markers(entry) for entry in listed):
                return answer[:start], answer[start:]
        start += len(line)
    return answer, ""


@dataclass(frozen=True, slots=True)
class Numbering:
    """What citations mean: the places of passages by number, and by address, id and title.

    Numbers are those of the prompt's order, from 1, unless passages begin with "Source 1:", as LlamaIndex's CitationQueryEngine
    numbers them. Where an answer cites 0, and there is no such source, its numbers begin at 0.
    """

    numbers: Mapping[int, int]
    names: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    has_addresses: bool = False

    @classmethod
    def of(cls, prompt: Sequence[Passage], *, first: int = 1) -> Self:
        """Number the passages of a prompt, in its order."""
        named = {int(found[1]): place for place, passage in enumerate(prompt) if (found := _SOURCE.match(passage.text))}
        names: dict[str, tuple[int, ...]] = {}
        for place, passage in enumerate(prompt):
            for name in dict.fromkeys(_plain(name) for name in _names_of(passage)):
                names[name] = (*names.get(name, ()), place)
        addresses = any(_WEB.match(name) for passage in prompt for name in _names_of(passage))
        return cls(named or {place + first: place for place in range(len(prompt))}, names, addresses)

    def from_zero(self) -> Numbering:
        """Return the same numbering, one lower."""
        return Numbering({number - 1: place for number, place in self.numbers.items()}, self.names, self.has_addresses)

    def read(self, marker: Marker) -> list[Citation]:
        """Return the citations of a marker; a link that leads elsewhere is one only where the passages have addresses."""
        if marker.target:
            if found := self.names.get(_plain(marker.target)) or self.names.get(_plain(marker.text)):
                return [Citation(marker.label, found)]
            if not marker.numbers:
                is_lost = self.has_addresses and bool(_WEB.match(marker.target))
                return [Citation(marker.label, ())] if is_lost else []
        labels = [marker.label] if len(marker.numbers) == 1 else [f"[{number}]" for number in marker.numbers]
        return [Citation(label, self._numbered(number)) for label, number in zip(labels, marker.numbers, strict=True)]

    def read_list(self, sources: Iterable[Any]) -> list[Citation]:
        """Return the citations of a list of ids, numbers, addresses or titles, or of objects that have one (``source_id``)."""
        return [
            Citation(f"[{source}]", self.names.get(_plain(str(source))) or self._numbered(source))
            for source in map(_id_of, sources)
            if source is not None
        ]

    def _numbered(self, source: int | str) -> tuple[int, ...]:
        if isinstance(source, str) and not source.strip().isdecimal():
            return ()
        place = self.numbers.get(int(source))
        return () if place is None else (place,)


def _id_of(source: Any) -> int | str | None:
    if isinstance(source, Mapping):
        return next((found for name in _IDS if (found := _id_of(source.get(name))) is not None), None)
    return source if isinstance(source, int | str) and not isinstance(source, bool) and str(source).strip() else None


def _names_of(passage: Passage) -> Iterator[str]:
    named = (passage.metadata.get(name) for name in (*_LINKED_BY, *_NAMED_BY))
    yield from (name for name in (passage.id, passage.title, *named) if isinstance(name, str) and name.strip())


def _plain(name: str) -> str:
    """Reduce an address, id or title to what two ways of writing it share."""
    return _SCHEME.sub("", name.strip()).partition("#")[0].rstrip("/").casefold()
