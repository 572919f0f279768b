"""Folders of documents as passages: Markdown, HTML, plain text and JSON Lines, cut at headings into some 120 words each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError, needs_extra
from rag_cover.questions import Passage
from rag_cover.stores import read_passages
from rag_cover.stores.jsonl import Skipped
from rag_cover.texts import sentences, windows

__all__ = ["HEADINGS", "SUFFIXES", "Section", "load_documents", "sections_of"]

PASSAGE_WORDS = 120
HEADINGS = " › "  # noqa: RUF001  # the mark between the parts of a path that readers know
_MARKDOWN = (".md", ".markdown")
_HTML = (".html", ".htm")
_TEXT = (".txt", ".text")
_LINES = (".jsonl",)
SUFFIXES = (*_MARKDOWN, *_HTML, *_TEXT, *_LINES)
_MOST_BYTES = 16 << 20
_LONGEST_MARKED = 5_000  # characters of a paragraph; the time for its brackets grows with their square
_SKIPPED_TAGS = ("script", "style", "nav", "header", "footer", "aside", "form", "noscript", "template", "svg", "pre")
_HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCK_TAGS = (
    *_HEADING_TAGS,
    *("p", "li", "dt", "dd", "tr", "caption", "summary", "details", "figcaption", "blockquote", "div", "section", "article"),
    *("main", "ul", "ol", "dl", "table", "body"),
)
_FRONT_MATTER = re.compile(r"\A---\n(?P<fields>.*?)\n---\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*(?P<title>\S.*)$", re.MULTILINE)


@dataclass(slots=True)
class Section:
    """Paragraphs under one heading; ``headings`` are those above it, the document's title first."""

    headings: tuple[str, ...]
    paragraphs: list[str] = field(default_factory=list)

    @property
    def title(self) -> str | None:
        """Return the headings as one line, None without any."""
        return HEADINGS.join(self.headings) or None


def load_documents(path: Path | str, *, skipped: Skipped | None = None) -> list[Passage]:
    """Read the passages of a folder of documents, with its subfolders, or of one file.

    A passage's id is the file's path under the folder with its number, such as ``guide/install.md#3``; its title are the
    headings above it. Files of other kinds and hidden ones are passed over. With ``skipped``, such as a list's ``append``, the
    error of each file that cannot be read is handed to it, as long as another file of the folder can be.

    Raises:
        InputError: there is no such file, it cannot be read, or nothing in it is a passage.
    """
    root = Path(path)
    if not root.exists():
        problem = "there is no such file or folder; name a folder of .md, .html, .txt or .jsonl files, or one of them"
        raise InputError(problem, file=root)
    if root.is_file() and root.suffix.lower() not in SUFFIXES:
        return list(read_passages(root))
    files = [root] if root.is_file() else sorted(each for each in root.rglob("*") if _is_document(each, root))
    passages: list[Passage] = []
    unread: list[InputError] = []
    for file in files:
        try:
            passages.extend(_passages_of(file, root))
        except InputError as error:
            if skipped is None:
                raise
            unread.append(error)
    if unread and not passages:
        raise unread[0]
    if not passages:
        problem = f"there is no passage in it; documents are files that end in {', '.join(SUFFIXES)}"
        raise InputError(problem, file=root)
    if skipped is not None:
        for each in unread:
            skipped(each)
    return passages


def _is_document(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return path.suffix.lower() in SUFFIXES and path.is_file() and not hidden


def _passages_of(file: Path, root: Path) -> Iterator[Passage]:
    name = file.name if file == root else file.relative_to(root).as_posix()
    if file.suffix.lower() in _LINES:
        for passage in read_passages(file):
            yield passage.model_copy(update={"id": f"{name}#{passage.id or passage.key}"}) if file != root else passage
        return
    number = 0
    for section in sections_of(_read(file), file.suffix.lower(), file):
        for text in _pieces(section.paragraphs):
            number += 1
            yield Passage(text=text, title=section.title, id=f"{name}#{number}", metadata={"document": name})


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > _MOST_BYTES:
            problem = f"the document holds more than {_MOST_BYTES >> 20} MB; split it, or leave it out of the folder"
            raise InputError(problem, file=file)
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as broken:
        problem = f"this is no UTF-8 text (byte {broken.start:,}); save it as UTF-8, or leave it out of the folder"
        raise InputError(problem, file=file) from broken
    except OSError as denied:
        problem = f"it cannot be read ({denied.strerror or denied}); check its permissions"
        raise InputError(problem, file=file) from denied


def sections_of(text: str, suffix: str, file: Path) -> list[Section]:
    """Cut a document at its headings; code, navigation and tables of Markdown are left out.

    Raises:
        MissingExtraError: HTML is read by beautifulsoup4, which is not installed.
    """
    if suffix in _MARKDOWN:
        return _markdown_sections(text)
    if suffix in _HTML:
        return _html_sections(text)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return [Section((file.stem.replace("_", " ").replace("-", " "),), [part for part in paragraphs if part])]


def _markdown_sections(text: str) -> list[Section]:
    from markdown_it import MarkdownIt  # where a document is read

    front = _FRONT_MATTER.match(text)
    titled = _TITLE.search(front["fields"]) if front else None
    reader = MarkdownIt()
    reader.core.ruler.at("inline", _parse_inline)
    tokens = reader.parse(text[front.end() :] if front else text)
    blocks = [
        (before.tag if before.type == "heading_open" else "", _inline_text(token.children or []))
        for before, token in pairwise(tokens)
        if token.type == "inline"
    ]
    return _sections(_put_title(titled["title"].strip("\"' ") if titled else "", blocks))


def _put_title(title: str, blocks: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Put a document's title above all, where it has no first heading of its own."""
    return blocks if not title or any(tag == "h1" for tag, _ in blocks) else [("h1", title), *blocks]


def _parse_inline(state: Any) -> None:
    """Parse the marks within paragraphs, as Markdown's own rule does; very long ones are taken as they are."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _LONGEST_MARKED:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _inline_text(children: Sequence[object]) -> str:
    parts = []
    for child in children:
        kind, content = getattr(child, "type", ""), getattr(child, "content", "")
        parts.append(" " if kind in {"softbreak", "hardbreak"} else content if kind in {"text", "code_inline"} else "")
    return " ".join("".join(parts).split())


def _html_sections(text: str) -> list[Section]:
    with needs_extra("documents", "bs4"):
        from bs4 import BeautifulSoup  # an extra
        from bs4.element import NavigableString
    page = BeautifulSoup(text, "html.parser")
    for tag in page.find_all(_SKIPPED_TAGS):
        tag.decompose()
    for tag in page.find_all("br"):
        tag.replace_with(" ")
    title = ""
    if page.title is not None:
        title = " ".join(page.title.get_text().split())
        page.title.decompose()
    for table in page.find_all("table"):
        _write_rows(table)
    blocks: list[tuple[str, str]] = []
    last = None
    for string in page.find_all(string=True):
        block = string.find_parent(_BLOCK_TAGS)
        if type(string) is not NavigableString:
            continue  # a comment, a declaration
        if block is not None and block is last:
            blocks[-1] = blocks[-1][0], f"{blocks[-1][1]}{string}"
        else:
            blocks.append((block.name if block is not None and block.name in _HEADING_TAGS else "", str(string)))
        last = block
    return _sections(_put_title(title, [(tag, " ".join(text.split())) for tag, text in blocks]))


def _write_rows(table: Any) -> None:
    """Write each row of a table as one line, a cell after the heading of its column where there is one."""
    columns: list[str] = []
    for row in table.find_all("tr"):
        cells = row.find_all(("td", "th"))
        texts = [" ".join(cell.get_text().split()) for cell in cells]
        if cells and all(cell.name == "th" for cell in cells):
            columns = texts
            row.decompose()
        elif len(columns) == len(texts) and any(columns):
            row.string = "; ".join(f"{column}: {text}" if column else text for column, text in zip(columns, texts, strict=True))
        else:
            row.string = ": ".join(filter(None, texts))


def _sections(blocks: Sequence[tuple[str, str]]) -> list[Section]:
    """Gather (heading's tag or nothing, text) under their headings."""
    found, above = [Section(())], list[tuple[int, str]]()
    for tag, text in blocks:
        if not text:
            continue
        if tag:
            level = int(tag[1:])
            above = [*((depth, heading) for depth, heading in above if depth < level), (level, text.strip("¶# "))]
            found.append(Section(tuple(heading for _, heading in above)))
        else:
            found[-1].paragraphs.append(text)
    return [section for section in found if section.paragraphs]


def _pieces(paragraphs: Sequence[str]) -> Iterator[str]:
    """Put paragraphs together up to the length of a passage; a longer one is cut between sentences."""
    pending: list[str] = []
    count = 0
    for paragraph in paragraphs:
        words = len(paragraph.split())
        if pending and count + words > PASSAGE_WORDS:
            yield "\n".join(pending)
            pending, count = [], 0
        if words > PASSAGE_WORDS:
            yield from _cut(paragraph)
        else:
            pending.append(paragraph)
            count += words
    if pending:
        yield "\n".join(pending)


def _cut(paragraph: str) -> Iterator[str]:
    spans = windows(sentences(paragraph), size=PASSAGE_WORDS, length=lambda span: len(span.of(paragraph).split()), overlap=0)
    return (span.of(paragraph) for span in spans)
