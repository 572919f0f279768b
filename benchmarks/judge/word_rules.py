"""Do rules on words refuse right answers: texts without the asked amount or time, and texts that only abstain?

    python -m benchmarks.judge.word_rules

One rule (`rag_cover_embedded.asked_kinds`) says that a short text without an amount or a time answers no question for one,
another (`rag_cover_embedded.bare_abstentions`) that a text whose words only say that a source says nothing answers none. Of
texts that answer, by their labels, they should find none; of those that do not, they find a part. *Written* are replies and
answers of the training texts and the probes, *natural* the collected sets, both splits. The words of the rules were chosen with
these texts in view, the natural test split among them.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.judge.probe_sets import PROBES
from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, show
from rag_cover_embedded.asked_kinds import asks_for_kind, lacks_asked_kind
from rag_cover_embedded.bare_abstentions import only_abstains
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.near_questions import NEAR_MISS

_HEADER = ("texts", "by its label", "n")
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
    texts = {"written": list(load_written_texts()), "natural": list(load_natural_texts(options.data))}
    kinds = {name: [row for row in rows if asks_for_kind(*row[:2])] for name, rows in texts.items()}
    show("Short texts to questions for an amount or a time", [*_HEADER, "without one"], table(kinds, lacks_asked_kind))
    show("Texts of words that only abstain", [*_HEADER, "abstain"], table(texts, only_abstains))


def table(texts: Mapping[str, Sequence[Labelled]], rule: Callable[[str, str], bool]) -> list[list[str]]:
    """Count the texts that a rule finds, by their label."""
    rows = []
    for title, found in texts.items():
        counts = Counter((answers, rule(question, text)) for question, text, answers in found)
        rows += [
            [title, name, f"{counts[answers, False] + counts[answers, True]:,}", f"{counts[answers, True]:,}"]
            for name, answers in (("answers", True), ("does not", False))
        ]
    return rows


if __name__ == "__main__":
    main()
