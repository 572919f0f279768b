"""What do bytes cost? The shipped network against the same weights in fp32, head by head.

    python -m benchmarks.judge.quantisation --checkpoint judge.pt        # needs pip install 'rag-cover[train]'

The same encodings go through torch in fp32 and through the shipped ONNX file, ``--limit`` of each set (default 1,500):

- *entailment*: 3-way accuracy on NLI, premises of the test buckets;
- *correct*: accuracy at 0.5 on EVOUNA-NQ, questions of the test buckets, five systems' answers, their first window;
- *answers*: ROC-AUC and balanced accuracy at 0.5 on SQuAD 2.0, held-out articles, questions with their whole paragraph;
- *span*: exact match and token F1 of the likeliest span, on the questions among these that have an answer.

Inputs are cut to 256 tokens. Intervals of differences are bootstraps over pairs; probabilities are the largest difference of
any class of a pair.

Data: shared folder; a training checkpoint.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tokenizers import Tokenizer

from benchmarks.judge.answer_equivalence import SYSTEMS, golden, scorable, token_f1
from benchmarks.judge.nli import CLASSES
from benchmarks.support.datasets import lines, part_of, sample, squad_articles
from benchmarks.support.judges import opened_weights
from benchmarks.support.originals import Original
from benchmarks.support.scores import balanced_accuracy, counts, ranks
from benchmarks.support.tables import arguments, percent, show
from rag_cover.backends import ScoringItem
from rag_cover.stats.intervals import Interval
from rag_cover_embedded.answers import likeliest_span
from rag_cover_embedded.inputs import Encoded, Task, encode_pairs, open_tokenizer
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.session import Session
from rag_cover_embedded.training.splits import trains_by_document
from rag_cover_embedded.verdicts import correctness_inputs

Floats = NDArray[np.float64]
Logits = Sequence[NDArray[np.float32]]
Metric = Callable[[Floats, Floats], float]

CUT = 0.5
LIMIT = 1_500
RESAMPLED = 1_000


@dataclass(frozen=True, slots=True)
class Head:
    """One output of the network on labelled pairs.

    ``values`` turns logits into what the metrics take, one number a pair; ``truth`` is the other thing they take.
    """

    output: str
    encoded: Sequence[Encoded]
    truth: Floats
    metrics: dict[str, tuple[Callable[[Logits], Floats], Metric]]


def entailment_head(data: Path, tokenizer: Tokenizer, limit: int, seed: int) -> Head:
    """Read NLI rows of the test buckets that tell all three classes apart."""
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["scheme"] == "3way" and not trains_by_document(row["premise"])]
    chosen = sample(rows, limit, seed)
    encoded = encode_pairs(tokenizer, Task.ENTAILMENT, [(row["premise"], row["hypothesis"]) for row in chosen])
    truth = np.array([CLASSES.index(row["label"]) for row in chosen], dtype=np.float64)
    return Head("entailment", encoded, truth, {"3-way accuracy": (_likeliest, _agreement)})


def correct_head(data: Path, tokenizer: Tokenizer, limit: int, seed: int) -> Head:
    """Read EVOUNA-NQ answers to questions of the test buckets."""
    rows = [row for row in lines(data / "answers/evouna_nq.jsonl") if scorable(row)]
    asked = [(row, system) for row in part_of(rows, "test", key=lambda row: str(row["question"])) for system in SYSTEMS]
    chosen = sample(asked, limit, seed)
    items = [ScoringItem(row["question"], row[f"answer_{system}"] or "?", golden(row)) for row, system in chosen]
    texts = segment_texts(tokenizer, [item.text for item in items])
    encoded = [correctness_inputs(tokenizer, item, text)[0] for item, text in zip(items, texts, strict=True)]
    truth = np.array([row[f"judge_{system}"] for row, system in chosen], dtype=np.float64)
    return Head("correct", encoded, truth, {"accuracy": (_positive, _agreement)})


def reading_heads(data: Path, tokenizer: Tokenizer, limit: int, seed: int) -> tuple[Head, Head]:
    """Read SQuAD's questions of held-out articles with their paragraphs."""
    asked = [
        (question, paragraph["context"])
        for article in squad_articles(data, "test")
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    chosen = sample(asked, limit, seed)
    pairs = [(question["question"].strip(), context) for question, context in chosen]
    encoded = encode_pairs(tokenizer, Task.ANSWERS, pairs)
    truth = np.array([not question["is_impossible"] for question, _ in chosen], dtype=np.float64)
    answering = Head(
        "answers", encoded, truth, {"ROC-AUC": (_probability, _area), "balanced accuracy": (_probability, _balanced)}
    )
    answered = [row for row, found in enumerate(truth) if found]
    golds = [[answer["text"] for answer in chosen[row][0]["answers"]] for row in answered]
    where = [encoded[row] for row in answered]

    def overlaps(logits: Logits) -> Floats:
        texts = [_text(each, code, pairs[row][1]) for each, code, row in zip(logits, where, answered, strict=True)]
        return np.array([max(token_f1(text, gold) for gold in found) for text, found in zip(texts, golds, strict=True)])

    span_metrics: dict[str, tuple[Callable[[Logits], Floats], Metric]] = {
        "exact match": (lambda logits: (overlaps(logits) == 1).astype(np.float64), _mean),
        "token F1": (overlaps, _mean),
    }
    return answering, Head("span", where, np.ones(len(where)), span_metrics)


def _text(logits: NDArray[np.float32], encoded: Encoded, text: str) -> str:
    first, last = likeliest_span(logits[encoded.start : -1])
    return text[encoded.offsets[first][0] : encoded.offsets[last][1]]


def _likeliest(logits: Logits) -> Floats:
    return np.array([each.argmax() for each in logits], dtype=np.float64)


def _probability(logits: Logits) -> Floats:
    return 1 / (1 + np.exp(-np.array([each[0] for each in logits], dtype=np.float64)))


def _positive(logits: Logits) -> Floats:
    return (_probability(logits) >= CUT).astype(np.float64)


def _agreement(values: Floats, truth: Floats) -> float:
    return float((values == truth).mean())


def _mean(values: Floats, truth: Floats) -> float:  # noqa: ARG001  # a metric takes both
    return float(values.mean())


def _balanced(values: Floats, truth: Floats) -> float:
    return float(balanced_accuracy(counts(values >= CUT, truth).sum(axis=0)))


def _area(values: Floats, truth: Floats) -> float:
    """Return the area under the ROC curve from the positives' mean rank (Mann and Whitney)."""
    positive, negative = int(truth.sum()), int((1 - truth).sum())
    return float((ranks(values)[truth == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def difference(metric: Metric, values: tuple[Floats, Floats], truth: Floats, seed: int) -> Interval:
    """Return what the second values lose or win against the first, resampling pairs."""

    def lost(rows: ArrayLike) -> float:
        first, second = (metric(each[rows], truth[rows]) for each in values)
        return second - first

    n, rng = len(truth), np.random.default_rng(seed)
    found = [lost(rng.integers(n, size=n)) for _ in range(RESAMPLED)]
    return Interval(lost(np.arange(n)), *np.percentile(found, [2.5, 97.5]).tolist(), n)


def probability_differences(output: str, encoded: Sequence[Encoded], first: Logits, second: Logits) -> Floats:
    """Return the largest difference of any class's probability, for each pair."""
    found = []
    for code, one, other in zip(encoded, first, second, strict=True):
        if output == "span":
            one, other = (each[code.start : -1].T for each in (one, other))  # noqa: PLW2901  # starts and ends by token
        found.append(np.abs(_normalised(one) - _normalised(other)).max())
    return np.array(found, dtype=np.float64)


def _normalised(logits: NDArray[np.float32]) -> Floats:
    """Return probabilities: of one logit by the logistic function, of several by softmax."""
    if logits.shape[-1] == 1:
        return 1 / (1 + np.exp(-logits.astype(np.float64)))
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="judge.pt of the training that made the judge")
    options = parser.parse_args()
    weights = opened_weights(options.judge)
    original, session = Original(options.checkpoint), Session(weights.network)
    given = options.data, open_tokenizer(weights.tokenizer), options.limit or LIMIT, options.seed
    rows = []
    for head in (entailment_head(*given), correct_head(*given), *reading_heads(*given)):
        logits = [[array for (array,) in each.run(head.encoded, [head.output])] for each in (original, session)]
        apart = probability_differences(head.output, head.encoded, logits[0], logits[1])
        for name, (values_of, metric) in head.metrics.items():
            values = (values_of(logits[0]), values_of(logits[1]))
            scores = [f"{100 * metric(each, head.truth):.1f}" for each in values]
            lost = percent(difference(metric, values, head.truth, options.seed), digits=2)
            rows.append([head.output, name, str(len(head.truth)), *scores, lost, f"{apart.mean():.4f}", f"{apart.max():.3f}"])
    header = ["head", "metric", "n", "fp32 %", "shipped %", "difference, in points", "mean |ΔP|", "max |ΔP|"]
    show("The shipped network against fp32", header, rows)


if __name__ == "__main__":
    main()
