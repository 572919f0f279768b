"""Does the router know what everyday questions to small corpora demand: FAQ pages, handbooks, terms, help pages?

    python -m benchmarks.routing.everyday_questions

Twelve corpora of 20 to 26 passages with 16 questions each (`everyday/`, a file each): 7 that one passage answers, most of them
in other words, 4 that take two passages, 5 that nothing answers, 3 of these near the topic. One writer, a language model that
knew nothing of the judge or the rules, wrote all. The half *seen* was looked at while rules for splitting questions were
mended; *blind* was opened once, afterwards. Ten passages each by the embedded retriever. Beside the rule that ships: the
paper's thresholds, "several steps are complex, else unanswerable below a best answer probability of .7", "over ten words is
complex", and never abstaining.

A last table asks which passage is taken for the best: how often it is the one that answers, by the judge's probability and by
the retriever's order.

Data: none (cases beside the script).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.routing.mixed_stream import Decide, by_rule, show_rules
from benchmarks.support.datasets import lines
from benchmarks.support.mixed import Streamed
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage, build_retriever, open_scorer
from rag_cover.backends import Scorer, fingerprint_of
from rag_cover.complexity import complexity_of
from rag_cover.routing.evidence import evidence_rule_for, read_steps
from rag_cover.stats.intervals import wilson

CASES = Path(__file__).parent / "everyday"
K = 10


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer = open_scorer("embedded")
    rule = evidence_rule_for(fingerprint_of(scorer))
    assert rule is not None  # noqa: S101  # it ships for this judge
    never: Decide = lambda each: "complex" if each.steps.is_nested else "direct"  # noqa: E731
    best = []
    for half in ("seen", "blind"):
        stream, found = [], []
        for path in sorted((CASES / half).glob("*.jsonl")):
            for each, by_judge, by_order in ask(path, scorer, limit=options.limit):
                stream.append(each)
                found += [] if by_judge is None else [(by_judge, by_order)]
        show_rules(f"{half.capitalize()}", stream, by_rule(rule), {"several steps, else direct": never})
        shares = [percent(wilson(sum(column), len(found))) for column in zip(*found, strict=True)]
        best.append([half, str(len(found)), *shares])
    show(
        "The first passage is the one that answers, of direct questions",
        ["half", "n", "by the judge", "by the retriever"],
        best,
    )


def ask(path: Path, scorer: Scorer, *, limit: int | None) -> Iterator[tuple[Streamed, bool | None, bool | None]]:
    """Ask the questions of a corpus; for direct ones tell whether the passage that answers comes first, by either order."""
    rows = list(lines(path))
    texts = {row["id"]: row["text"] for row in rows if row["kind"] == "passage"}
    retriever = build_retriever("embedded", [Passage(text) for text in texts.values()])
    for row in [row for row in rows if row["kind"] == "question"][:limit]:
        passages = retriever.retrieve(row["text"], k=K)
        complexity = complexity_of(row["text"], passages, scorer, references=())
        steps = read_steps(row["text"], passages, scorer)
        scores = tuple(float(passage.score or 0.0) for passage in passages)
        each = Streamed(path.stem, row["text"], row["demand"], "plain", row["text"], complexity, scores, steps)
        if row["demand"] != "direct":
            yield each, None, None
            continue
        gold = {texts[name] for name in row["gold"]}
        yield each, _first(passages, complexity.answer_probabilities) in gold, passages[0].text in gold


def _first(passages: Sequence[Passage], probabilities: Sequence[float]) -> str:
    return max(zip(probabilities, passages, strict=True), key=lambda pair: pair[0])[1].text


if __name__ == "__main__":
    main()
