"""How far can a reader trust what a report says about where a core sub-question was lost?

    python -m benchmarks.reports.losses

Traces whose losses are labelled: the demo's two pipelines; a trial of 30 questions on bicycles and three smaller pipelines,
written and labelled by one writer before any judge saw them (benchmarks/reports/trial/README.md); and pipelines over 12 of the
30 questions that only refuse, echo the question, answer in one or two words, or answer in German. Where the judge does not read
a trace's language, the trace is left out, and the table says so.

By the labels, a sub-question that the answer leaves out was lost in the answer where the prompt holds a passage that answers
it, at the reranker where only another retrieved passage does, else at retrieval. "Named" are the losses that a report tells as
clear.
Beside it a simple rule: a text covers a sub-question when it holds half of its content words or more. Intervals are bootstraps
over questions.

Data: none (the demo and the trial).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines, sample
from benchmarks.support.judges import about_judge, overlap
from benchmarks.support.scores import estimate, ratio
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Models, Role, Trace, demo, evaluate
from rag_cover.coverage import Loss, SubQuestionCoverage
from rag_cover.questions import Passage, prepend_title
from rag_cover.stores import read_traces

TRIAL = Path(__file__).with_name("trial")
DEGENERATE = ("refusing", "echoing", "single_words", "german", "mixed")
UNSEEN = ("Trial", "Three more pipelines")
"""Ordinary answers that no judge was fitted on."""

ENOUGH_SHARED_WORDS = 0.5
HEADER = (
    "pipeline",
    "traces read",
    "core",
    "lost",
    "named",
    "right",
    "covered after all",
    "unclear",
    "named are right %",
    "covered by the labels %",
    "by the judge or rule %",
)

Labels = Mapping[tuple[str, str], tuple[bool, frozenset[str]]]
"""By question id and sub-question: does the answer cover it, and which passages do?"""


@dataclass(frozen=True, slots=True)
class LabelledTraces:
    """A pipeline's traces, and the files of labels that tell what is true of them."""

    traces: Path
    labels: tuple[Path, ...]

    def read_labels(self, pipeline: str) -> Labels:
        """Read what is true of the answers of one pipeline."""
        rows = [row for path in self.labels for row in lines(path) if pipeline in row["answers"]]
        return {
            (row["question_id"], row["sub_question"]): (row["answers"][pipeline], frozenset(row["passages"])) for row in rows
        }


@dataclass(frozen=True, slots=True)
class Case:
    """A core sub-question: where it was lost and where it is said to be, None where the answer covers it.

    ``clear`` is False where the report does not commit itself to the loss that it names.
    """

    question: str
    lost: Loss | None
    said: Loss | None
    clear: bool = True

    @property
    def named(self) -> bool:
        """Check whether the report names where it was lost."""
        return self.said is not None and self.clear

    @property
    def right(self) -> bool:
        """Check whether what is named is true."""
        return self.named and self.said == self.lost


def locate_loss(*, answered: bool, in_prompt: bool, retrieved: bool) -> Loss | None:
    """Tell at which stage a sub-question was lost, None where the answer covers it.

    >>> locate_loss(answered=False, in_prompt=False, retrieved=True)
    <Loss.DROPPED: 'retrieved, then dropped'>
    """
    if answered:
        return None
    if in_prompt:
        return Loss.UNUSED
    return Loss.DROPPED if retrieved else Loss.NOT_RETRIEVED


def find_true_loss(trace: Trace, answered: bool, answering: frozenset[str]) -> Loss | None:  # noqa: FBT001  # a label
    """Tell by the labels where a sub-question was lost."""
    in_prompt, retrieved = (
        any(passage.id in answering for passage in passages) for passages in (trace.prompt or (), trace.chunks)
    )
    return locate_loss(answered=answered, in_prompt=in_prompt, retrieved=retrieved)


def find_loss_by_words(trace: Trace, sub_question: str) -> Loss | None:
    """Tell by shared words where a sub-question was lost."""

    def covers(text: str) -> bool:
        return overlap(sub_question, text) >= ENOUGH_SHARED_WORDS

    def any_covers(passages: Sequence[Passage]) -> bool:
        return any(covers(prepend_title(passage.title, passage.text)) for passage in passages)

    return locate_loss(
        answered=covers(trace.answer or ""), in_prompt=any_covers(trace.prompt or ()), retrieved=any_covers(trace.chunks)
    )


def judge_sub_questions(
    traces: Sequence[Trace], judge: str, seed: int
) -> Iterator[tuple[Trace, Sequence[SubQuestionCoverage]]]:
    """Yield the traces that the judge reads, each with its core sub-questions as judged."""
    evaluation = evaluate(traces, measures=["coverage"], models=Models(judge=judge), on_error="raise", seed=seed)
    for result in evaluation.results:
        if result.coverage is not None:
            yield result.trace, [each for each in result.coverage.sub_questions if each.role == Role.CORE]


def compare(traces: Sequence[Trace], labels: Labels, judge: str, seed: int) -> tuple[int, list[Case], list[Case]]:
    """Return how many traces the judge read, and their core sub-questions as the judge and as shared words have them."""
    read, judged, by_words = 0, [], []
    for trace, sub_questions in judge_sub_questions(traces, judge, seed):
        read, question = read + 1, trace.question.id or ""
        for each in sub_questions:
            lost = find_true_loss(trace, *labels[question, each.text])
            judged.append(Case(question, lost, each.loss, clear=each.is_loss_clear or each.loss is None))
            by_words.append(Case(question, lost, find_loss_by_words(trace, each.text)))
    return read, judged, by_words


def row_of(name: str, read: str, cases: Sequence[Case], seed: int) -> list[str]:
    """Count what is named, and how much of it is true."""
    named = [case for case in cases if case.named]
    counts = (
        len(cases),
        sum(case.lost is not None for case in cases),
        len(named),
        sum(case.right for case in named),
        sum(case.lost is None for case in named),
        sum(case.said is not None and not case.clear for case in cases),
    )
    keys = [case.question for case in cases]
    shares = np.array([[case.right, case.named] for case in cases], dtype=np.float64).reshape(-1, 2)
    right = percent(estimate(shares, keys, _share, seed=seed)) if named else "–"
    covered = (
        f"{np.mean([each is None for each in found]):.1%}" for found in zip(*((c.lost, c.said) for c in cases), strict=True)
    )
    return [name, read, *map(str, counts), right, *(covered if cases else ("–", "–"))]


def show_stages(cases: Sequence[Case]) -> None:
    """Print what is true of the losses that are named at each stage."""
    stages = (Loss.UNUSED, Loss.DROPPED, Loss.NOT_RETRIEVED)
    rows = []
    for stage in stages:
        true = [case.lost for case in cases if case.named and case.said == stage]
        rows.append([stage.value, *(str(true.count(each)) for each in (*stages, None)), str(len(true))])
    found = [case.lost for case in cases if case.said is None]
    rows.append(["(covered)", *(str(found.count(each)) for each in (*stages, None)), str(len(found))])
    header = ["named", *(f"truly: {each.value}" for each in stages), "truly covered", "together"]
    show("What is named against what is true, the trial and the three pipelines", header, rows)


def _share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])


def labelled_sets() -> dict[str, list[LabelledTraces]]:
    """Return the labelled traces, by title."""
    ours, german = TRIAL / "labels.jsonl", TRIAL / "german_labels.jsonl"
    folders = sorted((TRIAL / "pipelines").iterdir())
    return {
        "Demo": [LabelledTraces(path, (demo.labels_path(),)) for path in demo.trace_paths()],
        "Trial": [LabelledTraces(TRIAL / "workshop.jsonl", (ours,))],
        "Three more pipelines": [LabelledTraces(each / "traces.jsonl", (each / "labels.jsonl",)) for each in folders],
        "Degenerate answers": [LabelledTraces(TRIAL / f"{name}.jsonl", (ours, german)) for name in DEGENERATE],
    }


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    seen = " (used to fit the judge)" if "demo" in str(about_judge(options.judge)) else ""
    pooled: list[Case] = []
    for title, pipelines in labelled_sets().items():
        rows = []
        for each in pipelines:
            traces = sample(list(read_traces(each.traces)), options.limit, options.seed)
            name = traces[0].pipeline or each.traces.stem
            read, judged, by_words = compare(traces, each.read_labels(name), options.judge, options.seed)
            rows.append(row_of(name, f"{read} of {len(traces)}", judged, options.seed))
            rows.append(row_of("  by shared words", "", by_words, options.seed))
            pooled += judged if title in UNSEEN else []
        show(f"{title}{seen if title == 'Demo' else ''}", HEADER, rows)
    show_stages(pooled)


if __name__ == "__main__":
    main()
