"""Do rules split a message into the questions that it asks, and leave a single question whole?

    python -m benchmarks.coverage.question_splitting

Messages of four questions each (`training/texts/crossed.jsonl`) were written with their four sub-questions; printed is how many
of them get exactly four core sub-questions, how many none too many, and the mean number. The rules were improved with part of
these messages in view. Questions on one thing each (`near_questions.jsonl`) should stay whole. Beside the rules: the message
cut at every comma and "and", at question words only, and not at all.

Data: none (texts in the repository).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, percent, show
from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.questions import Role
from rag_cover.stats.intervals import wilson
from rag_cover_embedded.training.authored_examples import TEXTS

ASKED = 4
MOST = 12
_JOINT = re.compile(r",? and |, ")
_AT_QUESTION_WORD = re.compile(r"(?:,? and |, )(?=(?:who|what|which|when|where|why|how)\b)", re.IGNORECASE)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    messages = [row["question"] for row in lines(TEXTS / "crossed.jsonl") if len(row["subs"]) == ASKED][: options.limit]
    single = [str(question) for row in lines(TEXTS / "near_questions.jsonl") for question in list_questions(row)][
        : options.limit
    ]
    ways: dict[str, Callable[[str], int]] = {
        "rules": count_by_rules,
        "cut at commas and 'and'": lambda text: len(_JOINT.split(text)),
        "cut there before question words": lambda text: len(_AT_QUESTION_WORD.split(text)),
        "left whole": lambda _: 1,
    }
    rows = []
    for name, count in ways.items():
        parts = np.array([count(each) for each in messages])
        whole = np.array([count(each) for each in single])
        exact, most = (percent(wilson(int(found.sum()), len(parts))) for found in (parts == ASKED, parts <= ASKED))
        rows.append([name, exact, most, f"{parts.mean():.2f}", percent(wilson(int((whole == 1).sum()), len(whole)))])
    title = f"{len(messages)} messages of four questions, {len(single)} single questions"
    show(title, ["way", "exactly four", "at most four", "mean", "single ones left whole"], rows)


def list_questions(row: dict[str, object]) -> list[object]:
    """List the questions of a row."""
    questions = row["questions"]
    return [each["question"] if isinstance(each, dict) else each for each in questions] if isinstance(questions, list) else []


def count_by_rules(text: str) -> int:
    """Count the core sub-questions."""
    return sum(each.role is Role.CORE for each in decompose_by_rules(text, most=MOST))


if __name__ == "__main__":
    main()
