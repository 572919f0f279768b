"""What the terminal's reports are made of: tables of one look, and symbols that become ASCII where nothing else is carried."""

from __future__ import annotations

from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table

__all__ = ["Encodable", "plain_table"]

_PLAIN = str.maketrans("–—\N{MINUS SIGN}…·●━─█→≥×±λ⟦⟧Δ’✓✗∪∩“”\N{NO-BREAK SPACE}", '---~*o=-#>>x+l[]d\'+x|&"" ')


@dataclass(frozen=True, slots=True)
class Encodable:
    """Renders its content in ASCII of the same width where the terminal's encoding carries no more."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.content, options):
            plain = segment.text.translate(_PLAIN).encode("ascii", "replace").decode() if options.ascii_only else segment.text
            yield Segment(plain, segment.style, segment.control)


def plain_table(*columns: tuple[str, str]) -> Table:
    """Make a table of (name, "left" or "right") columns."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="dim", expand=False)
    for name, justify in columns:
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=justify == "right")
    return table
