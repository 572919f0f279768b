"""Cases for `robustness.fuzzing`: kept seeds, changed as bytes, as text and as JSON, and long runs of one hostile kind of text.

A case is made from the run's seed, the target's name and its number alone, so that any of them can be made again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["LONG", "Seeds", "case_of", "long_case", "seeds_in"]

Seeds = Sequence[tuple[str, bytes]]
"""Files by name, whose endings say what they are."""

_FOLDER = Path(__file__).resolve().parents[1] / "robustness" / "fuzz_seeds"

LONG: Mapping[str, str] = {
    "letters": "a",
    "spaces": " ",
    "spaces and a letter": "   x",
    "lines": "\n",
    "carriage returns": "\r\n",
    "line separators": "\u2028",
    "dots": ".",
    "dots and brackets": ".)",
    "asterisks": "*",
    "bullets": "- ",
    "numbers": "1. ",
    "digits": "9",
    "double quotes": '"',
    "escaped quotes": '\\"',
    "single quotes": "'",
    "backslashes": "\\",
    "commas": ",",
    "commas and spaces": " , ",
    "square brackets": "[",
    "curly brackets": '{"a":',
    "closed brackets": "[]",
    "brackets": "(",
    "closing brackets": ")",
    "objects": '{"a": 1} ',
    "lists": '["a", "b"], ',
    "fences": "```json\n",
    "thoughts": "<think>",
    "tags": "<b>",
    "ampersands": "&amp;",
    "combining characters": "e\u0301\u0327\u0323",
    "zero width": "\u200b\u200d",
    "right to left": "\u202e\u05d0\u2067",
    "nul": "\x00",
    "escape": "\x1b[31m",
    "surrogates": "\ud83d",
    "pairs": "\U0001f600",
    "ideographs": "\u6c34\u3002",
    "or": "a or b and ",
    "not": "but not a ",
    "signs": "a | b & c - d \\ ",
    "fields": '"x": {"y": [1, ',
    "hyphens": "sk-",
    "underscores": "_a",
    "words": "follow up core ",
}
"""Runs of text that are made long, by the kind of what might be slow with them."""

_SIZES = (1_000_000, 100_000)  # as a whole file, and in a field
_SNIPPETS = (
    *LONG.values(),
    *("null", "NaN", "-Infinity", "1e999", "-0", "9" * 5000, "true", "{}", "[]", '""', "\ufeff", "\x85", "\x0b", "]]>", "|"),
    *("<think>", "</think>", "```", '{"', '": ', "}]", "['a' (]", "[1\n2]", "'\\x", "b'a'", "1+1j", "\ud800", "\U000e0041"),
)
_LEAVES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e300, 1e-320, 10**30, -(10**400), float("nan"), float("inf"), "", " ", "\n"),
    *(
        "a",
        "é\x00",
        "\ud800",
        "\u202e",
        "[",
        "['a' 'b']",
        "['a' (]",
        '["x"]',
        '{"query": "q"}',
        "1700000000000",
        " " * 40 + "1",
    ),
    *(
        "2026-01-01",
        "NaN",
        "RETRIEVER",
        "tool",
        "rerank",
        "core",
        "model:",
        "../../etc/passwd",
        "x" * 3000,
        [],
        {},
        [[]],
        [None],
    ),
)
_DEPTHS = (30, 400, 990, 3000)


def seeds_in(name: str) -> Seeds:
    """Read the kept seeds of a target."""
    return [(path.name, path.read_bytes()) for path in sorted((_FOLDER / name).iterdir())]


def case_of(seeds: Seeds, source: random.Random) -> tuple[str, bytes]:
    """Make one case from a seed: its file name and its content."""
    name, content = source.choice(seeds)
    ways: Sequence[Callable[[bytes, random.Random], bytes]] = (_structure, _structure, _text, _bytes)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        content = source.choice(ways)(content, source)
    return name, content


def long_case(seeds: Seeds, number: int) -> tuple[str, bytes]:
    """Make one of the long cases: in place of a seed, or in one of its fields."""
    place, kind = divmod(number, len(LONG))
    unit = list(LONG.values())[kind]
    run = unit * (_SIZES[place] // len(unit))
    name, content = seeds[number % len(seeds)]
    if not place:
        return name, run.encode("utf-8", "surrogatepass")
    source = random.Random(number)  # noqa: S311 -- to choose a field
    return name, _rewritten(content, lambda value: _put(value, run, source))


def _rewritten(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """Change the JSON of a content: one value, or one of its lines."""
    for parts in ([content], content.splitlines()):
        for index, part in enumerate(parts):
            try:
                written = json.dumps(change(json.loads(part)), ensure_ascii=index % 2 == 0).encode("utf-8", "surrogatepass")
            except (ValueError, RecursionError):
                continue
            return b"\n".join([*parts[:index], written, *parts[index + 1 :]])
    new = change("")
    return content + new.encode("utf-8", "surrogatepass") if isinstance(new, str) else content


def _structure(content: bytes, source: random.Random) -> bytes:
    lines = content.splitlines()
    if len(lines) > 1 and source.random() < 0.5:  # noqa: PLR2004 -- which line's turn it is
        source.shuffle(lines)
        content = b"\n".join(lines)
    return _rewritten(content, lambda value: _put(value, _value(source, value), source))


def _put(value: Any, new: Any, source: random.Random) -> Any:
    """Put something somewhere into JSON data: in a value's place, under a new name, or in the place of a name."""
    if not isinstance(value, dict | list) or not value or source.random() < 0.1:  # noqa: PLR2004 -- mostly go deeper
        return new
    if isinstance(value, list):
        at = source.randrange(len(value))
        return [*value[:at], _put(value[at], new, source), *value[at + 1 :]]
    name = source.choice(list(value))
    chance = source.random()
    if chance < 0.05:  # noqa: PLR2004 -- seldom a name of no meaning
        return {**value, source.choice(("x", "", "é", "id", "kwargs", "text")): new}
    if chance < 0.1:  # noqa: PLR2004 -- seldom nothing
        return {key: item for key, item in value.items() if key != name}
    return {**value, name: _put(value[name], new, source)}


def _value(source: random.Random, whole: Any) -> Any:
    """Make a value: a leaf, a part of the seed, the same many times, or something deep."""
    chance = source.random()
    if chance < 0.7:  # noqa: PLR2004 -- shares of the kinds
        return source.choice(_LEAVES)
    part = _part(whole, source)
    if chance < 0.85:  # noqa: PLR2004 -- shares of the kinds
        return part
    if chance < 0.95:  # noqa: PLR2004 -- shares of the kinds
        return [part] * source.choice((2, 3, 50))
    for _ in range(source.choice(_DEPTHS[:3])):
        part = [part] if source.random() < 0.5 else {source.choice(("text", "kwargs", "testRunData", "a")): part}  # noqa: PLR2004
    return part


def _part(value: Any, source: random.Random) -> Any:
    while isinstance(value, dict | list) and value and source.random() < 0.7:  # noqa: PLR2004 -- how deep
        value = source.choice(list(value.values()) if isinstance(value, dict) else value)
    return value


def _text(content: bytes, source: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    for _ in range(source.choice((1, 1, 2, 5))):
        start, stop = sorted(source.randrange(len(text) + 1) for _ in range(2))
        stop = min(stop, start + source.choice((0, 1, 5, 50)))
        new = source.choice(_SNIPPETS) * source.choice((1, 1, 2, 40))
        put = source.choice((new, "", text[start:stop] * 2))
        text = text[:start] + put + text[stop:]
    return text.encode("utf-8", "surrogatepass")


def _bytes(content: bytes, source: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(source.choice((1, 1, 3, 8))):
        at = source.randrange(len(changed) + 1)
        match source.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([source.randrange(256)])
            case 1:
                del changed[at : at + source.choice((1, 4, 30))]
            case 2:
                changed[at:at] = source.randbytes(source.choice((1, 2, 8)))
            case _:
                changed[at:] = b"" if source.random() < 0.3 else changed[at:]  # noqa: PLR2004 -- seldom cut off
    return bytes(changed)
