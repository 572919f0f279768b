"""Which splitter cuts hard texts into the sentences that a reader sees?

    python -m benchmarks.judge.sentence_splitting       # pip install pysbd, for the third row

200 texts of ten kinds (`probes/sentences.jsonl`), each with its sentences. A text is right where all of them are found and
nothing else; every line is a sentence. Beside the package's own splitter (`rag_cover.texts.sentences`: sentencex within a line,
joined again after titles and other abbreviations) stand sentencex and pysbd as they come, applied line by line, and a regular
expression: an end mark, white space, a capital.

Data: none (cases beside the script).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from sentencex import segment

from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, percent, show
from rag_cover.stats.intervals import wilson
from rag_cover.texts import sentences

CASES = Path(__file__).parent / "probes" / "sentences.jsonl"
_END = re.compile(r"(?<=[.!?…])\s+(?=[\"'“(\[]?[A-Z0-9])")
Splitter = Callable[[str], Iterator[str]]


def by_package(text: str) -> Iterator[str]:
    """Split as the package does."""
    yield from (span.of(text) for span in sentences(text))


def by_sentencex(text: str) -> Iterator[str]:
    """Split each line by sentencex."""
    yield from (part for line in text.split("\n") for part in segment("en", line))


def by_expression(text: str) -> Iterator[str]:
    """Split each line at end marks before a capital or a digit."""
    yield from (part for line in text.split("\n") for part in _END.split(line))


def by_pysbd(text: str) -> Iterator[str]:
    """Split each line by pysbd."""
    segmenter = import_module("pysbd").Segmenter(language="en", clean=False)
    yield from (part for line in text.split("\n") for part in segmenter.segment(line))


SPLITTERS: dict[str, Splitter] = {
    "the package's": by_package,
    "sentencex": by_sentencex,
    "pysbd": by_pysbd,
    "a regular expression": by_expression,
}


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--errors", action="store_true", help="print the texts that the package's splitter cuts wrongly")
    options = parser.parse_args()
    rows = list(lines(CASES))
    right: dict[str, dict[str, list[bool]]] = {}
    for name, split in SPLITTERS.items():
        kinds: dict[str, list[bool]] = defaultdict(list)
        try:
            for row in rows:
                found = [part.strip() for part in split(row["text"]) if part.strip()]
                kinds[row["kind"]].append(found == [each.strip() for each in row["sentences"]])
                if options.errors and split is by_package and not kinds[row["kind"]][-1]:
                    print(f"- {row['kind']}: {found}\n  wanted {row['sentences']}")
        except ModuleNotFoundError:
            print(f"{name} is not installed here and is left out")
            continue
        right[name] = kinds
    table = [
        [kind, *(f"{sum(kinds[kind])} of {len(kinds[kind])}" for kinds in right.values())]
        for kind in dict.fromkeys(row["kind"] for row in rows)
    ]
    totals = [percent(wilson(sum(map(sum, kinds.values())), len(rows))) for kinds in right.values()]
    show(f"Texts cut rightly, n = {len(rows)}", ["kind", *right], [*table, ["all, %", *totals]])


if __name__ == "__main__":
    main()
