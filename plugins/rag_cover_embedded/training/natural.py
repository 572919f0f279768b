"""Examples from the collected sets of ``judge/``: natural questions, claims and answers, sampled by source.

Each source counts alike: at most ``MOST`` rows of it are drawn for a pass. Kinds of negatives that a rule made weigh half.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import ABSTAINS, ENTAILMENT, NO_SPAN, NOT_ENTAILED, Example, agreeing
from rag_cover_embedded.training.sources import sentence_spans
from rag_cover_embedded.training.splits import Part, bucket

MOST = 4_000
LONGEST = 150
"""Words of a text that surely fit into one input; longer ones are cut around their answer, or left out."""
REPLY_KINDS = frozenset({"answer", "terse", "indirect", "no-information", "asks-back", "list"})
RULE_KINDS = frozenset({"passage-minus", "table-minus", "swapped-question"})
RULE_WEIGHT = 0.5
FITTING_BUCKETS = range(64, 70)
"""Of each source's groups, those that temperatures and cuts are fitted on."""


@cache
def _rows(path: Path) -> tuple[dict[str, Any], ...]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(row for row in map(json.loads, lines) if row["split"] == "train")


def part_rows(path: Path, part: Part) -> list[dict[str, Any]]:
    """Read the training rows of a part: those that are fitted on are the groups in `FITTING_BUCKETS`."""
    return [row for row in _rows(path) if (bucket(row["group"]) in FITTING_BUCKETS) == part.is_fitted_on]


def sample_rows(rows: Sequence[dict[str, Any]], rng: random.Random, most: int) -> Iterator[dict[str, Any]]:
    """Draw at most so many rows of each source."""
    sources: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        sources[row["source"].split("/")[0]].append(row)
    for found in sources.values():
        yield from rng.sample(found, min(most, len(found)))


def natural_answers(data: Path, rng: random.Random, part: Part, *, most: int = MOST) -> Iterator[Example]:
    """Pair questions with sentences, passages, tables and replies that answer them or do not."""
    for row in sample_rows(part_rows(data / "judge/answers.jsonl.gz", part), rng, most):
        cut = _cut(row, rng)
        if cut is None:
            continue
        text, span = cut
        kind = row["kind"]
        weight = RULE_WEIGHT if kind in RULE_KINDS else 1.0
        reply = rng.random() < (0.7 if kind in REPLY_KINDS else 0.15)
        abstains = ABSTAINS["wholly"] if kind == "no-information" else None
        if reply:
            yield Example(Task.REPLIES, row["question"], text, float(row["label"]), span, weight=weight, abstains=abstains)
        else:
            touched = row["question"] if row["label"] else None
            yield Example(Task.ANSWERS, row["question"], text, float(row["label"]), span, touched=touched, weight=weight)


def _cut(row: dict[str, Any], rng: random.Random) -> tuple[str, tuple[int, int] | None] | None:
    """Cut a long text to sentences around its answer; None where that place is unknown."""
    text = row["text"]
    marked = row.get("span") or ""
    begin = text.find(marked) if marked else -1
    if len(text.split()) <= LONGEST:
        if not row["label"]:
            return text, NO_SPAN
        return text, (begin, begin + len(marked)) if begin >= 0 else None
    sentences = sentence_spans(text)
    if row["label"] and begin < 0:
        return None
    place = (
        next((i for i, (_, end) in enumerate(sentences) if begin < end), 0) if row["label"] else rng.randrange(len(sentences))
    )
    first = last = place
    while True:
        choices = [each for each in ((first - 1, last), (first, last + 1)) if each[0] >= 0 and each[1] < len(sentences)]
        choices = [(a, b) for a, b in choices if len(text[sentences[a][0] : sentences[b][1]].split()) <= LONGEST]
        if not choices:
            break
        first, last = rng.choice(choices)
    start, end = sentences[first][0], sentences[last][1]
    if len(text[start:end].split()) > LONGEST:
        return None
    if not row["label"]:
        return text[start:end], NO_SPAN
    return text[start:end], (begin - start, min(end, begin + len(marked)) - start)


def natural_claims(data: Path, rng: random.Random, part: Part, *, most: int = MOST) -> Iterator[Example]:
    """Pair documents, tables and arguments with claims that they support or do not."""
    classes = {**ENTAILMENT, "supported": ENTAILMENT["entailment"], "not_supported": NOT_ENTAILED}
    for row in sample_rows(part_rows(data / "judge/entailment.jsonl.gz", part), rng, most):
        if len(row["premise"].split()) <= LONGEST + 20 and len(row["hypothesis"].split()) <= 60:
            yield Example(Task.ENTAILMENT, row["premise"], row["hypothesis"], classes[row["label"]])


def natural_agreement(data: Path, rng: random.Random, part: Part, *, most: int = MOST) -> Iterator[Example]:
    """Pair references with students', readers' and annotators' answers."""
    for row in sample_rows(part_rows(data / "judge/equivalence.jsonl.gz", part), rng, most):
        yield agreeing(row["question"], row["references"], row["answer"], float(row["label"]))
