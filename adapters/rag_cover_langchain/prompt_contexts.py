"""Passages in the text of a prompt: what stands between tags or lines, or after a heading, that say so.

A prompt is free text. What no tag, line or heading marks as context is left alone: that nothing was seen is better than that
an instruction counts as a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["find_passages"]

_FLAGS = re.IGNORECASE | re.MULTILINE
_NAMES = r"(?:contexts?|documents?|docs|passages?|sources?|excerpts?|snippets?|search results|knowledge base)"
_BEFORE = r"(?:(?:the|here|is|are|some|retrieved|relevant|following|given|provided|background|reference|supporting) ){0,3}"
_NUMBER = r"(?:[ \t]*[#\[]?\d{1,3}\]?)?"
_DECORATION = r"[ \t>*_#=\[-]{0,12}"
_LABEL = re.compile(
    rf"^{_DECORATION}{_BEFORE}(?P<name>{_NAMES}){_NUMBER}(?: information)?(?: \([^)\n]{{0,60}}\))?[ \t]*:[ \t*_]*", _FLAGS
)
"""Such as "Context:" or "Document 2:"; what it marks may stand on the same line."""
_TITLE = re.compile(
    rf"^[ \t]*(?:\#{{1,6}}[ \t]+|={{2,}}[ \t]*|\*\*|\[)(?P<name>{_BEFORE}{_NAMES})[ \t]*[=*\]]{{0,9}}[ \t]*$", _FLAGS
)
_POINTS = r"(?:following|below|provided|retrieved|given|these|this)"
_HEADING = re.compile(rf"^[^\n]{{0,200}}\b{_POINTS}\b[^\n]{{0,100}}\b(?P<name>{_NAMES})\b[^\n:]{{0,80}}:[ \t]*$", _FLAGS)
"""A sentence: "Use the following context in your response:"."""
_FENCE = re.compile(r"^[ \t]*(-{3,}|={3,}|`{3,}|\"{3}|'{3}|\*{3,}|_{3,})\w{0,10}[ \t]*$", re.MULTILINE)
_NAMED = re.compile(rf"\b{_NAMES}\b", re.IGNORECASE)
_OPENING = re.compile(r"^[ \t]*<(contexts?|documents?|passages?|sources?|search_results)(?:\s[^>\n]{0,200})?>", _FLAGS)
_SINGLE = frozenset({"document", "passage", "source"})
_ABOUT = re.compile(r"<(source|url|id|index|metadata|title)>[^<]{0,300}</\1>", re.IGNORECASE)
_TAG = re.compile(r"</?\w{1,30}(?:\s[^>\n]{0,200})?>")
_NEXT = re.compile(
    rf"^{_DECORATION}(?:question|query|user|human|assistant|ai|q|a|answer|helpful answer|response|instructions?|chat history"
    r"|history|conversation|summary|task|rules?|input|output)\b[^\n:]{0,40}:"
    r"|^\#{1,6}[ \t]+[^\n]+|^={2,}[^=\n]{1,60}={2,}[ \t]*$|^\[/?[A-Z][A-Z _]{0,40}\][ \t]*$",
    _FLAGS,
)
_ANSWERED = re.compile(r"^[ \t*]{0,4}(?:answer|a|ai|assistant)[ \t*]{0,4}:[ \t*]*\S", _FLAGS)
_LOOK_BACK = 400  # characters before a line of dashes in which context is named


def find_passages(prompt: str, question: str = "") -> list[str]:
    r"""List the paragraphs of the part of a prompt that it marks as context; the question's own words are none.

    >>> find_passages("Use the context.\nQuestion: Why?\nContext: Air scatters light.\n\nBlue most.\nAnswer:", "Why?")
    ['Air scatters light.', 'Blue most.']
    >>> find_passages("You translate legal documents.\nKeep the layout.")
    []
    """
    parts = [*_within_tags(prompt)] or [*_between_lines(prompt)] or [*_after_headings(prompt, question)]
    paragraphs = (each.strip() for part in parts for each in re.split(r"\n[ \t]*\n", part))
    return [each for each in dict.fromkeys(paragraphs) if each and each not in question and not _is_heading(each)]


def _is_heading(paragraph: str) -> bool:
    """Tell what only announces something, such as "Answer:", from a passage."""
    match = _NEXT.match(paragraph)
    return (match is not None and match.end() == len(paragraph)) or _FENCE.fullmatch(paragraph) is not None


def _within_tags(prompt: str) -> Iterator[str]:
    """Yield what stands in tags of context: in the last pair of "context", in each of "document"."""
    found: dict[str, list[str]] = {}
    unclosed: set[str] = set()
    until = 0
    for opening in _OPENING.finditer(prompt):
        name = opening[1].lower()
        if name in unclosed or opening.start() < until:
            continue
        closing = re.compile(f"</{name}>", re.IGNORECASE).search(prompt, opening.end())
        if closing is None:
            unclosed.add(name)
        else:
            found.setdefault(name, []).append(prompt[opening.end() : closing.start()])
            until = closing.end()
    for name, texts in found.items():
        for text in texts if name in _SINGLE else texts[-1:]:
            bare = _ABOUT.sub("", text)
            yield from _within_tags(bare) if _OPENING.search(bare) else [_TAG.sub("", bare)]


def _between_lines(prompt: str) -> Iterator[str]:
    """Yield what stands between lines of dashes or the like, or after one, where context is named shortly before the first."""
    for fence in _FENCE.finditer(prompt):
        if _NAMED.search(prompt, max(0, fence.start() - _LOOK_BACK), fence.start()):
            following = (each for each in _FENCE.finditer(prompt, fence.end()) if each[1][0] == fence[1][0])
            closing = next(following, None)
            yield prompt[fence.end() : closing.start() if closing else len(prompt)]
            return


def _after_headings(prompt: str, question: str) -> Iterator[str]:
    """Yield what follows the first heading of context, and others of its name; of worked examples before it, nothing."""
    found = [match for pattern in (_LABEL, _TITLE, _HEADING) for match in pattern.finditer(prompt)]
    if not found:
        return
    first = min(found, key=lambda match: (match.start(), -match.end()))
    alike = [match for match in found if match.re is first.re and match["name"].lower() == first["name"].lower()]
    ends = [*(match.start() for match in alike[1:]), len(prompt)]
    segments = [(match.end(), end) for match, end in zip(alike, ends, strict=True)]
    if any(_ANSWERED.search(prompt, begin, end) for begin, end in segments[:-1]):
        segments = segments[-1:]
    for begin, end in segments:
        lines = prompt[begin : _end(prompt, begin, end, question)].rstrip().split("\n")
        while lines and _is_heading(lines[-1].strip()):
            lines.pop()
        yield "\n".join(lines)


def _end(prompt: str, begin: int, end: int, question: str) -> int:
    """Return where context ends: before the question where it follows, else before the next heading."""
    asked = prompt.rfind(question, begin, end) if question else -1
    if asked >= 0:
        return max(begin, prompt.rfind("\n", begin, asked) + 1)
    following = _NEXT.search(prompt, begin, end)
    return following.start() if following else end
