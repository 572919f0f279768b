"""How much faster is SePer's entailment stage when a block of questions is planned together? Against the published procedure.

    python -m benchmarks.belief.entailment_speed                                 # the judge's own graph on the CPU, both ways
    python -m benchmarks.belief.entailment_speed --checkpoint judge.pt           # and against the same weights in torch, fp32
    python -m benchmarks.belief.entailment_speed --device cuda                   # DeBERTa-v2-xlarge's shape on a GPU

The first ten sampled answers of each TriviaQA question (``belief/triviaqa_500x20_samples.json``), against its answer.
*Published* (`support.published`) is a plain rendering of the release of Dai et al. (ICLR 2025), question by question; *planned*
is `rag_cover.belief`: every distinct ordered pair of a block once, batched by length. Both ask the entailment head.

Printed are pairs, padded tokens and forwards of a question, then questions a second, from texts to scores (medians with
quartiles): every round times each way once, and a ratio is of two times of the same round. Beside them stands the largest
difference of the scores to the planned way's: the same weights in the same precision agree to 1e-6. DeBERTa's shape has random
weights; for *hard* the words decide who means the same, after the network has run.

Data: shared folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from json import loads
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.support.judges import opened_weights
from benchmarks.support.published import Asked, Forward, Tally, hard_score, soft_score
from benchmarks.support.tables import arguments, show
from rag_cover.backends import Entailer
from rag_cover.belief import BeliefKind
from rag_cover.belief.entailment import Judgments, gather
from rag_cover.belief.estimation import estimate_belief
from rag_cover.traces import Sample
from rag_cover_embedded.inputs import Encoded, Task, encode_pairs, open_tokenizer
from rag_cover_embedded.runtime import onnxruntime
from rag_cover_embedded.session import Session, feed
from rag_cover_embedded.verdicts import entailment

Floats = NDArray[np.float64]
Scores = list[float]

ANSWERS = 10
KINDS: tuple[BeliefKind, ...] = ("soft", "hard")


@dataclass(frozen=True, slots=True)
class Way:
    """One way to score all questions, and what it puts through its network."""

    name: str
    score: Callable[[BeliefKind], Scores]
    tally: Tally


def asked_in(data: Path) -> list[Asked]:
    """Read the questions with their first ten answers."""
    rows = loads((data / "belief/triviaqa_500x20_samples.json").read_text(encoding="utf-8"))
    return [
        Asked(
            row["question"].strip(), tuple(text.strip() for text in row["generations"]["text_cleaned"][:ANSWERS]), row["answer"]
        )
        for row in rows
    ]


def published(questions: Sequence[Asked], forward: Forward, kind: BeliefKind) -> Scores:
    """Score questions one by one."""
    score = soft_score if kind == "soft" else hard_score
    return [score(asked, forward) for asked in questions]


def planned(questions: Sequence[Asked], entailer: Entailer, kind: BeliefKind) -> Scores:
    """Score questions as one block."""
    samples = [[Sample(text) for text in asked.answers] for asked in questions]
    inquiries = [
        estimate_belief([asked.reference], drawn, question=asked.question, kind=kind, preset="unbiased")
        for asked, drawn in zip(questions, samples, strict=True)
    ]
    return [opinion.belief.score for opinion in Judgments(entailer).settle(gather(inquiries))]


class CountingSession(Session):
    """The judge's session, its batches counted."""

    def __init__(self, path: Path, *, threads: int, tally: Tally) -> None:
        super().__init__(path, threads=threads)
        self._tally = tally

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[NDArray[np.float32], ...]]:
        """Count, and run."""
        for rows in self._batches(encoded):
            self._tally.count([len(encoded[row]) for row in rows])
        return super().run(encoded, outputs)


@dataclass(frozen=True, slots=True)
class HeadEntailer:
    """The judge's entailment head."""

    session: Session
    tokenizer: Tokenizer
    temperature: float

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3) probabilities."""
        return entailment(self.session, self.tokenizer, pairs, temperature=self.temperature)


def graph_forward(path: Path, tokenizer: Tokenizer, temperature: float, threads: int, tally: Tally) -> Forward:
    """Return a forward of the judge's graph, the threads inside each operation."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    graph = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def forward(pairs: Sequence[tuple[str, str]]) -> Floats:
        encoded = encode_pairs(tokenizer, Task.ENTAILMENT, pairs)
        tally.count([len(each) for each in encoded])
        (logits,) = graph.run(["entailment"], feed(encoded, asks_tokens=False))
        powers = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature, dtype=np.float64)
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    return forward


def ways_on_cpu(questions: Sequence[Asked], judge: str, threads: int, checkpoint: Path | None) -> list[Way]:
    """Return the published way (in torch, where there is a checkpoint, and on the judge's graph), and the planned one."""
    weights = opened_weights(judge)
    tokenizer, temperature = open_tokenizer(weights.tokenizer), weights.entailment.temperature
    network = weights.entailment_network
    ways = []
    if checkpoint:
        from benchmarks.support.torch_stages import checkpoint_forward

        tally = Tally()
        forward = checkpoint_forward(checkpoint, tokenizer, temperature, threads, tally)
        ways.append(Way("published, torch fp32", partial(published, questions, forward), tally))
    tally = Tally()
    forward = graph_forward(network, tokenizer, temperature, threads, tally)
    ways.append(Way("published, the judge's graph", partial(published, questions, forward), tally))
    tally = Tally()
    entailer = HeadEntailer(CountingSession(network, threads=threads, tally=tally), tokenizer, temperature)
    return [*ways, Way("planned, the embedded judge", partial(planned, questions, entailer), tally)]


def measured(ways: Sequence[Way], kind: BeliefKind, rounds: int) -> tuple[list[Scores], list[Tally], Floats]:
    """Run each way once to warm up and to count, then (rounds, ways) seconds."""
    scores, tallies = [], []
    for way in ways:
        before = Tally(way.tally.forwards, way.tally.pairs, way.tally.tokens)
        scores.append(way.score(kind))
        after = way.tally
        tallies.append(Tally(after.forwards - before.forwards, after.pairs - before.pairs, after.tokens - before.tokens))
    seconds = np.zeros((rounds, len(ways)))
    for number in range(rounds):
        for place, way in enumerate(ways):
            began = time.perf_counter()
            way.score(kind)
            seconds[number, place] = time.perf_counter() - began
    return scores, tallies, seconds


def show_ways(questions: Sequence[Asked], ways: Sequence[Way], kind: BeliefKind, rounds: int) -> Floats:
    """Print what each way costs, and how many times the published ones' speed the planned one reaches; return its seconds."""
    scores, tallies, seconds = measured(ways, kind, rounds)
    n, last = len(questions), seconds[:, -1]
    rows = []
    for way, found, tally, taken in zip(ways, scores, tallies, seconds.T, strict=True):
        each = [f"{count / n:,.1f}" for count in (tally.pairs, tally.tokens, tally.forwards)]
        gap = max(abs(a - b) for a, b in zip(found, scores[-1], strict=True))
        rows.append([way.name, *each, _quartiles(n / taken, 1), _quartiles(taken / last, 2), f"{gap:.1e}"])
    header = [
        "way",
        "pairs",
        "padded tokens",
        "forwards",
        "questions/s",
        "planned is × as fast",
        "largest difference of scores",
    ]
    show(f"{kind}: {n} questions of {ANSWERS} answers, {rounds} rounds", header, rows)
    return last


def _quartiles(values: Floats, digits: int) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def show_shape(questions: Sequence[Asked], device: str, seed: int, rounds: int) -> None:
    """Print the same for DeBERTa-v2-xlarge's shape: published in fp32, as released, and in the planned way's precision."""
    from benchmarks.support.torch_stages import decided_by_words, flops_of, shaped

    exact, quick = shaped(device, "float32", seed), shaped(device, "auto", seed)
    peak = quick.peak

    def forward(judge: Forward, pairs: Sequence[tuple[str, str]]) -> Floats:
        return decided_by_words(pairs, judge(pairs))

    class ByWords:
        def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
            return decided_by_words(pairs, quick.entailer.entail(pairs))

    for kind in KINDS:
        hard = kind == "hard"
        plan = partial(planned, questions, ByWords() if hard else quick.entailer)
        ways = [
            Way(f"published, {each.precision}", partial(published, questions, judge), each.forwards)
            for each in (exact, quick)
            for judge in [partial(forward, each.forward) if hard else each.forward]
        ]
        ways.append(Way(f"planned, {quick.precision}", plan, quick.planned))
        seconds = float(np.median(show_ways(questions, ways, kind, rounds)))
        rate = flops_of(partial(plan, kind)) / seconds
        print(f"\n{kind}: {rate / 1e12:,.1f} TFLOP/s, {100 * rate / peak:.0f}% of the measured peak of {peak / 1e12:,.1f}")


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--checkpoint", type=Path, help="judge.pt of the training that made the judge")
    parser.add_argument("--device", help="measure DeBERTa-v2-xlarge's shape there instead, such as 'cuda'")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    questions = asked_in(options.data)[: options.limit]
    if options.device:
        show_shape(questions, options.device, options.seed, options.rounds)
        return
    ways = ways_on_cpu(questions, options.judge, options.threads, options.checkpoint)
    for kind in KINDS:
        show_ways(questions, ways, kind, options.rounds)


if __name__ == "__main__":
    main()
