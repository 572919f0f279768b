"""Does a rule on words refuse right answers: texts that answer a question for an amount or a time, and have neither?

    python -m benchmarks.judge.asked_kinds

The rule (`rag_cover_embedded.asked_kinds`) says that a short text without an amount or a time answers no question for one. Of
texts that answer such a question, by their labels, it should find none; of those that do not, it finds a part. *Written* are
replies and answers of the training texts and the probes, *natural* the collected sets, both splits. The words of the rule were
chosen with these texts in view, the natural test split among them.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.judge.probe_sets import PROBES
from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, show
from rag_cover_embedded.asked_kinds import asks_for_kind, lacks_asked_kind
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.near_questions import NEAR_MISS

Labelled = tuple[str, str, bool]
"""A question, a text, and whether it answers."""


def load_written_texts() -> Iterator[Labelled]:
    """Read the written texts with their questions."""
    for name in ("cases", "near_cases", "long_replies"):
        for row in lines(TEXTS / f"{name}.jsonl"):
            for reply in row["answers"]:
                yield from ((question, reply["text"], key in reply["covers"]) for key, question in row["subs"].items())
    for row in lines(TEXTS / "near_questions.jsonl"):
        for asked in row["questions"]:
            yield from ((asked["question"], text, form != NEAR_MISS) for form, text in asked["answers"].items())
    for row in lines(TEXTS / "crossed.jsonl"):
        for sub in row["subs"]:
            yield from ((sub["s"], text, side == "yes") for side in ("yes", "no") for text in sub[side].values())
    for path in sorted(PROBES.rglob("replies.jsonl")):
        yield from ((row["question"], row["text"], bool(row["label"])) for row in lines(path))


def load_natural_texts(data: Path) -> Iterator[Labelled]:
    """Read the collected texts with their questions."""
    with gzip.open(data / "judge/answers.jsonl.gz", "rt", encoding="utf-8") as rows:
        yield from ((row["question"], row["text"], bool(row["label"])) for row in map(json.loads, rows))


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    table = []
    for title, found in (("written", load_written_texts()), ("natural", load_natural_texts(options.data))):
        counts = Counter(
            (answers, lacks_asked_kind(question, text)) for question, text, answers in found if asks_for_kind(question, text)
        )
        table += [
            [title, name, f"{counts[answers, False] + counts[answers, True]:,}", f"{counts[answers, True]:,}"]
            for name, answers in (("answers", True), ("does not", False))
        ]
    show("Short texts to questions for an amount or a time", ["texts", "by its label", "n", "without one"], table)


if __name__ == "__main__":
    main()
