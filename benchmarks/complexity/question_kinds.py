"""Do the rules tell kinds of complex questions by their wording?

    python -m benchmarks.complexity.question_kinds

Recall on questions that are labelled with a kind, claims on questions of the same set that are labelled with another or none,
and precision over both. Labels: the ``type`` of 2WikiMultihopQA and its single-hop questions; QUEST, a set operation where the
original query joins two sets or more; ComQA, superlative where the BREAK decomposition has that operator (its other questions
ask for extremes too, by other operators, and tell nothing of precision). Then the shares of questions that the rules put into
each kind, in sets without such labels.

Test buckets; HotpotQA and MuSiQue whole, which are for testing only. The rules were written on train buckets. Intervals are
Wilson's.

Data: shared folder.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.support.datasets import Part, lines, part_of, sample, two_wiki
from benchmarks.support.tables import arguments, percent, show
from rag_cover.complexity import Kind, kinds_of
from rag_cover.stats.intervals import Interval, wilson

HOPS = ("compositional", "inference", "bridge_comparison")
COMPARISONS = ("comparison", "bridge_comparison")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Questions that are of a kind, and others that are not."""

    name: str
    kind: Kind
    those: Sequence[str]
    others: Sequence[str]

    @property
    def line(self) -> list[str]:
        """Return its line of the table: recall, claims among the others, precision."""
        found, claimed = (sum(self.kind in kinds_of(question) for question in part) for part in (self.those, self.others))
        precision = _share(found, found + claimed) if self.others else None
        shares = [_share(found, len(self.those)), _share(claimed, len(self.others)), precision]
        return [self.name, self.kind, str(len(self.those)), str(len(self.others)), *map(percent, shares)]


def labelled_sets(data: Path, part: Part = "test") -> list[Labelled]:
    """Read the sets whose labels are kinds."""
    rows = two_wiki(data, part)
    by_type: dict[str, list[str]] = {}
    for row in rows:
        by_type.setdefault(row["type"], []).append(row["question"])
    single = [pair["question"] for row in rows for pair in row["qa_pairs"]]
    quest = part_of(list(lines(data / "setqueries/quest_queries_part.jsonl")), part, key=lambda row: str(row["query"]))
    joined = [row["original_query"].count("<mark>") > 1 for row in quest]
    comqa = [row for row in _break(data, part) if row["question_id"].startswith("COMQA")]
    return [
        Labelled("2Wiki, by type", Kind.MULTI_HOP, *_split(by_type, HOPS)),
        Labelled("2Wiki, single-hop", Kind.MULTI_HOP, _split(by_type, HOPS)[0], single),
        Labelled("2Wiki, by type", Kind.COMPARATIVE, *_split(by_type, COMPARISONS)),
        Labelled("QUEST", Kind.SET_OPERATION, *_apart([row["query"] for row in quest], joined)),
        Labelled("ComQA", Kind.SUPERLATIVE, [row["question_text"] for row in comqa if "superlative" in row["operators"]], ()),
    ]


def plain_sets(data: Path, part: Part = "test") -> Mapping[str, list[str]]:
    """Read the sets without such labels; HotpotQA and MuSiQue are for testing only."""
    found = {"NQ-open": part_of(_asked(lines(data / "skills/nq_open_responses_part.jsonl")), part, key=str)}
    strategy = [row for name in ("train", "dev") for row in _json(data / f"multihop/strategyqa_{name}.json")]
    found["StrategyQA"] = part_of(_asked(strategy), part, key=str)
    if part != "train":
        found |= {name: _asked(lines(data / f"multihop/{name.lower()}_100.jsonl")) for name in ("HotpotQA", "MuSiQue")}
    return found


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    header = ["set", "kind", "n", "n others", "recall, %", "claimed of others, %", "precision, %"]
    show("Questions labelled with a kind", header, [each.line for each in labelled_sets(options.data)])
    rows = []
    for name, questions in plain_sets(options.data).items():
        kinds = [kinds_of(question) for question in sample(questions, options.limit, options.seed)]
        none = _share(sum(not found for found in kinds), len(kinds))
        of_kind = [f"{100 * sum(kind in found for found in kinds) / len(kinds):.1f}" for kind in Kind]
        rows.append([name, str(len(kinds)), percent(none), *of_kind])
    show("Shares of questions put into each kind, %", ["set", "n", "none", *Kind], rows)


def _share(count: int, n: int) -> Interval | None:
    return wilson(count, n) if n else None


def _split(by_type: Mapping[str, list[str]], types: Sequence[str]) -> tuple[list[str], list[str]]:
    those = [question for name in types for question in by_type.get(name, [])]
    return those, [question for name, asked in by_type.items() if name not in types for question in asked]


def _apart(questions: Sequence[str], labels: Sequence[bool]) -> tuple[list[str], list[str]]:
    paired = list(zip(questions, labels, strict=True))
    return [question for question, label in paired if label], [question for question, label in paired if not label]


def _break(data: Path, part: Part) -> list[dict[str, str]]:
    with (data / "decomposition/break_dev.csv").open(encoding="utf-8", newline="") as file:
        return part_of(list(csv.DictReader(file)), part, key=lambda row: row["question_text"])


def _asked(rows: Iterable[Mapping[str, object]]) -> list[str]:
    return [str(row["question"]) for row in rows]


def _json(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
