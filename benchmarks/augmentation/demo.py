"""What does augmentation find in the demo's corpus, by labels that people gave and no judge saw?

    python -m benchmarks.augmentation.demo

The demo's twenty questions with their own sub-questions over its 81 passages: how many core sub-questions the first k passages
of the question alone answer, and how many the k that are kept, by `labels.jsonl`.

Data: none (the demo's corpus).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, show
from rag_cover import Passage, build_retriever, open_scorer, read_traces
from rag_cover.augmentation import AugmentationMode
from rag_cover.coverage import Augmenter
from rag_cover.demo import corpus_path, labels_path, trace_paths

KEPT = (3, 5)
MODES: tuple[AugmentationMode, ...] = ("auto", "retrieval")


def answered(passages: Sequence[Passage], answers: Sequence[Collection[str]]) -> int:
    """Count the sub-questions, each given by the ids of the passages that answer it, that one of these passages answers."""
    ids = {passage.id for passage in passages}
    return sum(bool(ids.intersection(each)) for each in answers)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    retriever, scorer = build_retriever("embedded", corpus_path()), open_scorer(options.judge)
    labels: dict[str, list[Collection[str]]] = {}
    for row in lines(labels_path()):
        if row["role"] == "core":
            labels.setdefault(row["question_id"], []).append(row["passages"])
    table = []
    for k in KEPT:
        for mode in MODES:
            augmenter = Augmenter(retriever=retriever, scorer=scorer, mode=mode, k=k)
            counts, calls = [], 0
            for trace in read_traces(trace_paths()[0]):
                found = augmenter.augment(trace.question, sub_questions=trace.sub_questions)
                answers = labels[trace.question.id or ""]
                counts.append((answered(found.steps[0].passages, answers), answered(found.passages, answers)))
                calls += found.calls
            before, after = (sum(side) for side in zip(*counts, strict=True))
            gained, lost = sum(one < other for one, other in counts), sum(one > other for one, other in counts)
            table.append([mode, *map(str, (k, before, after, gained, lost, calls))])
    header = ["mode", "k", "answered before", "answered after", "questions that gain", "that lose", "searches"]
    show(f"{len(labels)} questions, {sum(map(len, labels.values()))} core sub-questions, by labels", header, table)


if __name__ == "__main__":
    main()
