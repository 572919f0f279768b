"""Does a passage hold the accepted answer? Passages judged with the gold answer that a test set gives for the question.

    python -m benchmarks.judge.passages_with_references [--limit N]

A passage covers a sub-question with references where it answers the sub-question and quotes a reference, or agrees with one
(`rag_cover.coverage`). Beside this: the judge without the references, the judge that has to agree even where the passage quotes
one (the rule up to version 9 of the judge), agreement alone, and the quotation alone. MuSiQue's first steps with their
paragraph and two others, and SQuAD's questions with their paragraph and the one before it: the gold answers are quotations of
the paragraph. FairytaleQA, FriendsQA and QAMR: another person's answer to the same question, not quoted where there is such a
one. Test questions; ``--limit`` is the number of questions of each set (default 300).

Data: shared folder.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judge.natural_texts import test_rows
from benchmarks.support.datasets import lines, part_of, squad_articles
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Role, ScoringItem, open_scorer
from rag_cover.backends import Mode, Scorer, reply_threshold_of
from rag_cover.coverage.judged_texts import Bench, CoverageFacet, JudgedText
from rag_cover.coverage.quotations import quotes_any
from rag_cover.questions import prepend_title
from rag_cover.stats.intervals import wilson

_LIMIT = 300
_EVEN = 0.5
_OTHER_ANSWERS = ("fairytaleqa", "friendsqa", "qamr")
_LEAST_WORDS = 12  # shorter texts are no passages

Row = tuple[str, tuple[str, ...], str, bool]
"""A question, its references, a passage, and whether the passage answers."""


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    draw = random.Random(options.seed)  # noqa: S311  # a sample, not a secret
    scorer = open_scorer(options.judge)
    sets = {"MuSiQue": load_musique, "SQuAD": load_squad, **{name: load_others(name) for name in _OTHER_ANSWERS}}
    table = [
        [name, str(len(rows)), way, *figures(found, np.array([label for *_, label in rows]))]
        for name, load in sets.items()
        for rows in [load(options.data, options.limit or _LIMIT, draw)]
        for way, found in verdicts(rows, scorer).items()
    ]
    show("Passages judged with the gold answer", ["set", "n", "by", "right", "found", "false"], table)


def load_musique(data: Path, limit: int, draw: random.Random) -> list[Row]:
    """Pair steps without a slot with the paragraph that supports them and with two others."""
    asked = part_of(list(lines(data / "multihop/musique_100.jsonl")), "test", key=lambda row: str(row["question"]))
    rows: list[Row] = []
    for row in asked:
        paragraphs = {each["idx"]: prepend_title(each["title"], each["paragraph_text"]) for each in row["paragraphs"]}
        for step in row["question_decomposition"]:
            if "#" not in step["question"]:
                place = step["paragraph_support_idx"]
                others = draw.sample([text for at, text in paragraphs.items() if at != place], 2)
                rows += labelled(step["question"].replace(" >> ", ", "), (step["answer"],), paragraphs[place], others)
    return rows[: 3 * limit]


def load_squad(data: Path, limit: int, draw: random.Random) -> list[Row]:
    """Pair questions with their paragraph and with the one before it."""
    found: list[list[Row]] = []
    for article in squad_articles(data, "test"):
        texts = [each["context"] for each in article["paragraphs"]]
        for place, paragraph in enumerate(article["paragraphs"]):
            for asked in paragraph["qas"]:
                references = tuple(dict.fromkeys(answer["text"] for answer in asked["answers"]))
                if references:
                    found.append(labelled(asked["question"], references, texts[place], [texts[place - 1]]))
    return [row for rows in draw.sample(found, min(limit, len(found))) for row in rows]


def load_others(source: str) -> Callable[[Path, int, random.Random], list[Row]]:
    """Return what pairs passages of a source with another person's answer to the question."""

    def load(data: Path, limit: int, draw: random.Random) -> list[Row]:
        answers: dict[str, list[str]] = defaultdict(list)
        for row in (each for each in test_rows(data / "judge/equivalence.jsonl.gz") if each["source"] == source):
            answers[row["question"]] += [*row["references"], *([row["answer"]] if row["label"] else [])]
        rows: list[Row] = []
        for row in (each for each in test_rows(data / "judge/answers.jsonl.gz") if each["source"] == source):
            given = list(dict.fromkeys(answers[row["question"]]))
            if given and len(row["text"].split()) > _LEAST_WORDS:
                unquoted = [each for each in given if not quotes_any(row["text"], [each])]
                rows.append((row["question"], (draw.choice(unquoted or given),), row["text"], bool(row["label"])))
        return draw.sample(rows, min(limit, len(rows)))

    return load


def labelled(question: str, references: tuple[str, ...], right: str, wrong: Sequence[str]) -> list[Row]:
    """Label a passage that answers, and others."""
    return [(question, references, right, True), *((question, references, text, False) for text in wrong)]


def verdicts(rows: Sequence[Row], scorer: Scorer) -> Mapping[str, NDArray[np.bool_]]:
    """Return what each way says of each passage."""
    free = scorer.correctness([ScoringItem(question, text) for question, _, text, _ in rows]) >= scorer.threshold
    agrees = scorer.correctness([ScoringItem(question, text, given) for question, given, text, _ in rows]) >= _EVEN
    pairs = [
        (JudgedText(text), CoverageFacet(question, Role.CORE, "given", question, given)) for question, given, text, _ in rows
    ]
    cuts: Mapping[Mode, float] = {"passage": scorer.threshold, "reply": reply_threshold_of(scorer), "reference": _EVEN}
    bench = Bench(cuts, _EVEN, {}).judging(scorer, (item for text, facet in pairs for item in text.items(facet)))
    return {
        "coverage: answers, and quotes or agrees": np.array([bench.covers(text, facet) for text, facet in pairs]),
        "answers and agrees": free & agrees,
        "answers (no references)": free,
        "agrees": agrees,
        "quotes": np.array([quotes_any(text, given) for _, given, text, _ in rows]),
    }


def figures(found: NDArray[np.bool_], labels: NDArray[np.bool_]) -> list[str]:
    """Write the share that is right, that of the answering passages found, and that of the others."""
    right = int((found == labels).sum())
    sides = [percent(wilson(int(each.sum()), len(each))) if len(each) else "–" for each in (found[labels], found[~labels])]
    return [percent(wilson(right, len(found))), *sides]


if __name__ == "__main__":
    main()
