"""Does the local parser of set queries find the expression that a question paraphrases?

    python -m benchmarks.set_queries.parsing

1. QUEST's test rows: the shipped parser, and a baseline that splits at connectives. How atoms are matched: `support.quest`.
2. QUEST's training rows, read by weights fitted without them: ten folds, rows that share an atom kept together.
3. Whether sentence embeddings would help the choice among readings, on the same folds (`support.set_query_vectors`).
4. How often a question that is no set query is taken for one: training buckets of other sets. BREAK and FanOutQA ask real set
   queries too, so theirs are no rates of error.
5. How sure the parser is against how often it is right (template right, token F1 at least 0.8), and its speed.

Intervals are Wilson's; that of the token F1 is a bootstrap over rows.

Data: shared folder.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.support.datasets import lines, part_of
from benchmarks.support.quest import TEMPLATES, Row, Score, by_connectives, scored, testing, training
from benchmarks.support.set_query_model import cross_validated, is_right
from benchmarks.support.set_query_vectors import cross_validated_with
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_embedder
from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.parsing import ParsedQuery, parse
from rag_cover.stats.intervals import Interval, wilson

HEADER = ["rows", "n", "template %", "atoms' token F1", "all atoms exact %", "expression exact %"]


def figures(name: str, scores: Sequence[Score], *, seed: int) -> list[str]:
    """Write one line of a table."""
    n = len(scores)
    shares = [
        percent(wilson(sum(right), n))
        for right in ([each.template for each in scores], [each.atoms for each in scores], [each.expression for each in scores])
    ]
    return [name, str(n), shares[0], plain(_mean([each.token_f1 for each in scores], seed)), *shares[1:]]


def _mean(values: Sequence[float], seed: int) -> Interval:
    array = np.array(values)
    drawn = np.random.default_rng(seed).integers(len(array), size=(2_000, len(array)))
    lower, upper = np.quantile(array[drawn].mean(axis=1), [0.025, 0.975])
    return Interval(float(array.mean()), float(lower), float(upper), len(array))


def table(title: str, rows: Sequence[Row], scores: Sequence[Score], *, seed: int) -> None:
    """Print how near readings came, by template and overall."""
    by_template = [[score for row, score in zip(rows, scores, strict=True) if row.template == name] for name in TEMPLATES]
    kept = [(name, some) for name, some in zip(TEMPLATES, by_template, strict=True) if some]
    show(title, HEADER, [figures(name, some, seed=seed) for name, some in (*kept, ("all", scores))])


def read(rows: Sequence[Row], parser: Callable[[str], ParsedQuery]) -> list[ParsedQuery]:
    """Read every row."""
    return [parser(row.question) for row in rows]


def certainty(title: str, parsed: Sequence[ParsedQuery], scores: Sequence[Score]) -> None:
    """Print how often readings are right by how sure the parser was of them."""
    edges = [0.0, 0.5, 0.7, 0.85, 1.01]
    body = []
    judged = [(one.confidence, is_right(each)) for one, each in zip(parsed, scores, strict=True)]
    for low, high in pairwise(edges):
        chosen = [(sure, right) for sure, right in judged if low <= sure < high]
        if chosen:
            mean = sum(sure for sure, _ in chosen) / len(chosen)
            right = percent(wilson(sum(right for _, right in chosen), len(chosen)))
            body.append([f"{low:.2f} to {min(high, 1):.2f}", str(len(chosen)), f"{100 * mean:.1f}", right])
    show(title, ["confidence", "n", "mean confidence %", "right %"], body)


def ordinary(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Read the questions of the training buckets of sets that were not made of set operations."""
    yield "2WikiMultihopQA", [row["question"] for row in lines(data / "multihop/2wiki_500.jsonl")]
    yield "StrategyQA", [row["question"] for row in json.loads((data / "multihop/strategyqa_train.json").read_text("utf-8"))]
    for name, file in (("EVOUNA-NQ", "evouna_nq"), ("EfficientQA", "efficientqa_test"), ("SAS-NQ", "sas_nq")):
        yield name, [row["question"] for row in lines(data / f"answers/{file}.jsonl")]
    yield "FanOutQA", [row["question"] for row in json.loads((data / "multihop/fanoutqa_dev.json").read_text("utf-8"))]
    for name, file in (("BREAK", "break_dev"), ("BREAK, high level", "break_high_level_dev")):
        with (data / f"decomposition/{file}.csv").open(encoding="utf-8") as text:
            yield name, [row["question_text"] for row in csv.DictReader(text)]


def alarm(question: str) -> bool:
    """Tell whether a question is taken for a set query, or refused as one."""
    try:
        return parse(question).is_set_query
    except InvalidValueError:
        return True


def alarms(data: Path) -> None:
    """Print how often other questions are taken for set queries."""
    body = []
    for name, questions in ordinary(data):
        kept = part_of(list(dict.fromkeys(questions)), "train", key=str)
        body.append([name, str(len(kept)), percent(wilson(sum(map(alarm, kept)), len(kept)))])
    show("Questions of other sets taken for set queries", ["set", "n", "taken %"], body)


def speed(rows: Sequence[Row]) -> None:
    """Print how many questions are read in a second."""
    parse(rows[0].question)  # reads the numbers
    start = time.perf_counter()
    for row in rows:
        parse(row.question)
    print(f"\n{len(rows) / (time.perf_counter() - start):,.0f} questions a second, one thread, n = {len(rows)}")


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    seed = options.seed
    taught, tested = training(options.data), testing(options.data)
    parsed = read(tested, parse)
    scores = [scored(one.query, row) for one, row in zip(parsed, tested, strict=True)]
    table("Test rows, as shipped", tested, scores, seed=seed)
    plainly = [scored(by_connectives(row.question), row) for row in tested]
    table("Test rows, split at connectives", tested, plainly, seed=seed)
    certainty("Test rows: how sure, how right", parsed, scores)
    folded = cross_validated(taught, seed=seed)
    table("Training rows, ten folds", taught, [scored(o.query, r) for o, r in zip(folded, taught, strict=True)], seed=seed)
    body = []
    for name, queries in cross_validated_with(taught, open_embedder(options.judge), seed=seed):
        body.append(figures(name, [scored(query, row) for query, row in zip(queries, taught, strict=True)], seed=seed))
    show("Training rows, ten folds: the grammar's features with those of sentence embeddings", ["features", *HEADER[1:]], body)
    alarms(options.data)
    speed(taught)


if __name__ == "__main__":
    main()
