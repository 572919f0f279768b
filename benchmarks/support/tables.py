"""How the benchmarks take their arguments and print their tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rag_cover.stats.intervals import Interval

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Make a parser with the arguments that every benchmark takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of data sets (default: ../shared/data)")
    parser.add_argument("--judge", default="embedded", help="the judge to measure, such as 'embedded:path/to/weights'")
    parser.add_argument("--limit", type=int, help="take a sample of so many rows of each set (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of samples and intervals")
    return parser


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown, its columns aligned."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    print(f"\n{title}\n")
    for number, row in enumerate(table):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def percent(interval: Interval | None, *, digits: int = 1) -> str:
    """Write a share or score in percent with its 95% interval.

    >>> percent(Interval(0.8, 0.49, 0.943, 10))
    '80.0 (49.0 to 94.3)'
    """
    return "undefined" if interval is None else _written(interval, 100, digits)


def plain(interval: Interval | None, *, digits: int = 3) -> str:
    """Write a number with its 95% interval.

    >>> plain(Interval(0.5, None, None, 1))
    '0.500'
    """
    return "undefined" if interval is None else _written(interval, 1, digits)


def _written(interval: Interval, scale: int, digits: int) -> str:
    estimate = f"{scale * interval.estimate:.{digits}f}"
    if interval.lower is None or interval.upper is None:
        return estimate
    return f"{estimate} ({scale * interval.lower:.{digits}f} to {scale * interval.upper:.{digits}f})"
