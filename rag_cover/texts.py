"""Texts cut into sentences and windows, in linear time, so that nothing long is ever silently cut off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag_cover.backends import Span

__all__ = ["character_windows", "encodable", "flatten", "group_lengths", "is_table_rule", "sentences", "windows"]

_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Mt|Gen|Col|Lt|Capt|Sgt|Rev|Hon|Gov|Sen|Rep|vs|e\.g|i\.e|cf|Cf)\.\s*$")
"""What a name or a word follows, whatever its first letter."""
_ABBREVIATION = re.compile(
    r"""\b(?:Sr|Jr|al|approx|ca|resp|Figs?|figs?|Eq|Sec|Art|Vol|vol|pp|apt|bldg|min|max|Min|Max|incl|est|tbsp|tsp|arch|dial|lbs|etc
    |Nos?|nos?)\.\s*$""",
    re.VERBOSE,
)
"""What ends a sentence unless a small letter or a figure follows."""
_MARKER = re.compile(r"\W*(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[IVXLC]{1,5}|[A-Z]\d{1,3})[.)]\s*")
_CLOSING = re.compile(r"(?:\*{1,3}|_{1,3})(?=\s|$)\s*")
"""What closes emphasis: it belongs to the sentence before it."""
_LINE = re.compile(r"[^\n]+")
_LONGEST = 2_000
_BLOCK = 4_000


def sentences(text: str) -> list[Span]:
    """Cut a text into sentences, as code points without the white space around them; blank ones are left out.

    Lines count as sentences, list items and rows of tables among them; `sentencex` cuts within other lines. A run of more than
    2,000 characters without an end is cut at white space.

    >>> [span.of("Dr. Who left. Did he? Yes!") for span in sentences("Dr. Who left. Did he? Yes!")]
    ['Dr. Who left.', 'Did he?', 'Yes!']
    >>> [span.of("**Costs.** A day is free.") for span in sentences("**Costs.** A day is free.")]
    ['**Costs.**', 'A day is free.']
    """
    return [part for start, end in _raw(text) for part in _strip_spans(text, start, end)]


def _raw(text: str) -> Iterator[tuple[int, int]]:
    text = encodable(text)
    for line in _LINE.finditer(text):
        start = line.start()
        for found in [] if len(_BAR.findall(line[0])) > 1 else _ends(text, line.start(), line.end()):
            closing = _CLOSING.match(text, found, line.end())
            end = closing.end() if closing else found
            if end < line.end() and _goes_on(text, start, end):
                continue
            yield start, end
            start = end
        if start < line.end():
            yield start, line.end()


def _ends(text: str, start: int, stop: int) -> Iterator[int]:
    """Yield where sentencex ends the sentences of a line, read in blocks, as odd marks cost it quadratic time."""
    from sentencex import get_sentence_boundaries

    while start < stop:
        found = [start + each["end_index"] for each in get_sentence_boundaries("en", text[start : min(stop, start + _BLOCK)])]
        if start + _BLOCK < stop and len(found) > 1:
            found.pop()  # it may go on behind the block
        yield from found
        start = found[-1] if found else stop


def _goes_on(text: str, start: int, end: int) -> bool:
    """Return whether a sentence goes on where sentencex ends it: after an abbreviation, or the number of a list item."""
    first, follows = max(start, end - 12), text[end : end + 1]
    if _TITLE.search(text, first, end) or _MARKER.fullmatch(text, start, end):
        return True
    return (follows.islower() or follows.isdigit()) and bool(_ABBREVIATION.search(text, first, end))


def _strip_spans(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = end
        if end - start > _LONGEST:
            space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
            stop = space + 1 if space > 0 else start + _LONGEST
        piece = text[start:stop]
        if stripped := piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            yield Span(left, left + len(stripped))
        start = stop


def is_table_rule(line: str) -> bool:
    """Check whether a line stands between the head of a table and its rows.

    >>> is_table_rule("|---|:-:|"), is_table_rule("---"), is_table_rule("| a | b |")
    (True, False, False)
    """
    return "|" in line and bool(_RULE.fullmatch(line))


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot carry (lone surrogates), code point by code point, so that offsets stay true.

    >>> encodable("a" + chr(0xD800) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def windows(spans: Sequence[Span], *, size: int, length: Callable[[Span], int], overlap: int = 1) -> list[Span]:
    """Join consecutive sentences into windows of at most ``size`` (as ``length`` counts), ``overlap`` sentences shared.

    A single sentence longer than ``size`` is a window of its own. The windows together hold every sentence.
    """
    groups = group_lengths([length(span) for span in spans], size=size, overlap=overlap)
    return [Span(spans[first].start, spans[stop - 1].end) for first, stop in groups]


def character_windows(text: str, longest: int) -> list[Span]:
    """Cut a text into windows of whole sentences of at most so many characters; a short text is one window.

    >>> [each.of("Rain fell. Wind rose. It froze.") for each in character_windows("Rain fell. Wind rose. It froze.", 22)]
    ['Rain fell. Wind rose.', 'Wind rose. It froze.']
    """
    if len(text) <= longest:
        return [Span(0, len(text))]
    return windows(sentences(text), size=longest, length=lambda span: span.end - span.start)


def group_lengths(lengths: Sequence[int], *, size: int, overlap: int = 1) -> list[tuple[int, int]]:
    """Group consecutive parts, given their lengths, into half-open ranges of at most ``size`` in all.

    >>> group_lengths([3, 3, 3, 9, 1], size=7)
    [(0, 2), (1, 3), (3, 4), (4, 5)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(lengths):
        end, total = start + 1, lengths[start]
        while end < len(lengths) and total + lengths[end] <= size:
            total += lengths[end]
            end += 1
        found.append((start, end))
        if end == len(lengths):
            break
        shared = max(start + 1, end - overlap)
        start = shared if sum(lengths[shared : end + 1]) <= size else end
    return found


_FENCE = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*+[\w+#.-]*+[ \t]*+$", re.MULTILINE)
_RULE = re.compile(r"[ \t]*+(?:(?:[-*_=][ \t]*+){3,}|\|?[ \t]*+:?-{2,}:?[ \t]*+(?:\|[ \t]*+:?-{1,}:?[ \t]*+)*+\|?[ \t]*+)")
_LINE_START = re.compile(r"^[ \t]*+(?:>[ \t]?+)*+(?:#{1,6}[ \t]++|[-*+•‣◦][ \t]++(?:\[[ xX]\][ \t]++)?)?", re.MULTILINE)
_TARGET = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?\)")
_TAG = re.compile(
    r"""</?(?:a|abbr|article|aside|b|blockquote|body|br|caption|center|cite|code|col|dd|del|details|div|dl|dt|em|font|footer|h[1-6]
    |head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|section|small|span|strong|sub|summary|sup|table|tbody|td|tfoot
    |th|thead|title|tr|u|ul)(?:[ \t][^<>\n]{0,300})?[ \t]?/?>|<!--[^<>]{0,500}-->""",
    re.VERBOSE | re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<!\s)\*{1,3}|\*{1,3}(?!\s)|~~|`+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_BAR = re.compile(r"(?<![|\S])\|(?!\|)|(?<!\|)\|(?![|\S])")
"""A bar with white space or the end of the line beside it, as between cells of a table."""


def flatten(text: str) -> str:
    r"""Blank out the markup of Markdown, HTML and tables, character by character, so that offsets stay true.

    Headings, list markers, quotes, emphasis, code fences, link targets and tags become spaces, the bars of a table commas.

    >>> flatten("## Salt\n- **14 g** a [loaf](x.html)")
    '   Salt\n    14 g   a  loaf         '
    >>> flatten("| salt | 14 g |")
    '  salt , 14 g  '
    """
    for pattern in (_FENCE, _TAG):
        text = pattern.sub(lambda found: _blank(found[0]), text)
    text = "\n".join(_blank(line) if line and _RULE.fullmatch(line) else line for line in text.split("\n"))
    text = _TARGET.sub(_only, text)
    text = _LINE_START.sub(lambda found: _blank(found[0]), text)
    text = _EMPHASIS.sub(lambda found: _blank(found[0]), text)
    return "\n".join(_cells(line) if len(_BAR.findall(line)) > 1 else line for line in text.split("\n"))


def _blank(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)


def _only(link: re.Match[str]) -> str:
    """Keep a link's words."""
    start, end = link.start(1) - link.start(), link.end(1) - link.start()
    return " " * start + link[0][start:end] + " " * (len(link[0]) - end)


def _cells(line: str) -> str:
    """Turn the bars between cells into commas, the outer ones into spaces."""
    first, last = line.find("|"), line.rfind("|")
    outer = {place for place, rest in ((first, line[:first]), (last, line[last + 1 :])) if not rest.strip()}
    return _BAR.sub(lambda bar: " " if bar.start() in outer else ",", line)
