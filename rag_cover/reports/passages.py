"""The passages of one trace as they are shown: each in full once, by number afterwards, with what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.coverage import CoverageResult, SubQuestionCoverage
from rag_cover.questions import Passage
from rag_cover.reports.excerpts import ExcerptPiece, Mark, excerpt
from rag_cover.reports.sanitise import one_line
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["PassageView", "StepView", "covering", "number_passages", "step_views"]

_SHOWN = 1200  # characters around fragments that answer something
_SHOWN_UNMARKED = 500  # characters of a passage that answers nothing


@dataclass(frozen=True, slots=True)
class PassageView:
    """One passage in one step; ``pieces`` is empty where its text was shown before."""

    number: int
    heading: str
    score: str
    fate: str
    kept: bool
    covers: tuple[int, ...]
    pieces: tuple[ExcerptPiece, ...]
    repeated: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """One retrieval step, or the prompt that the answer was written from."""

    name: str
    kind: str
    query: str
    note: str
    error: str
    passages: tuple[PassageView, ...]


@dataclass(frozen=True, slots=True)
class _Fate:
    """What became of a passage, and whether it reached the prompt."""

    words: str
    kept: bool


def number_passages(trace: Trace) -> Mapping[str, int]:
    """Number the trace's passages by their first appearance, by `Passage.key`."""
    numbers: dict[str, int] = {}
    for passages in [*(step.passages for step in trace.steps), trace.prompt or ()]:
        for passage in passages:
            numbers.setdefault(passage.key, len(numbers) + 1)
    return numbers


def covering(
    coverage: CoverageResult | None, numbered_sub_questions: Iterable[tuple[int, SubQuestionCoverage]]
) -> Mapping[str, list[Mark | int]]:
    """List what each chunk covers, by `Passage.key`: a mark where the fragment is known, else the sub-question's number."""
    found: dict[str, list[Mark | int]] = {}
    for number, sub_question in numbered_sub_questions:
        for key, verdict in zip(coverage.chunk_keys if coverage else (), sub_question.chunks or (), strict=False):
            if verdict.covered:
                found.setdefault(key, []).append(Mark(verdict.fragment, number) if verdict.fragment else number)
    return found


def step_views(trace: Trace, covered: Mapping[str, list[Mark | int]]) -> tuple[StepView, ...]:
    """Show every step with its passages, and the prompt where the trace records it."""
    numbers, fates, seen = number_passages(trace), _fates(trace), set[str]()

    def shown(passage: Passage) -> PassageView:
        repeated = f"{passage.key}\n{passage.text}" in seen
        seen.add(f"{passage.key}\n{passage.text}")
        fate = fates.get(passage.key, _Fate("", kept=True))
        return _passage(passage, numbers[passage.key], covered.get(passage.key, ()), fate, repeated=repeated)

    steps = [_step(step, tuple(map(shown, step.passages))) for step in trace.steps]
    if trace.prompt is None:
        return tuple(steps)
    prompt = StepView("prompt", "prompt", "", "what the answer was written from", "", tuple(map(shown, trace.prompt)))
    return (*steps, prompt)


def _step(step: RetrievalStep, passages: tuple[PassageView, ...]) -> StepView:
    seconds = "" if step.duration_s is None else f"{step.duration_s:.2f} s"
    inputs = f"of {one_line(', '.join(step.input_ids), limit=80)}" if step.input_ids else ""
    return StepView(
        name=one_line(step.id, limit=60),
        kind=step.kind,
        query=one_line(step.query, limit=400),
        note=" · ".join(part for part in (inputs, seconds) if part),
        error=one_line(step.error or "", limit=400),
        passages=passages,
    )


def _passage(passage: Passage, number: int, covers: Sequence[Mark | int], fate: _Fate, *, repeated: bool) -> PassageView:
    marks = [mark for mark in covers if isinstance(mark, Mark)]
    limit = _SHOWN if marks else _SHOWN_UNMARKED
    return PassageView(
        number=number,
        heading=one_line(passage.title or passage.id or "", limit=160),
        score="" if passage.score is None else f"{passage.score:.3g}",
        fate=fate.words,
        kept=fate.kept,
        covers=tuple(sorted(mark.number if isinstance(mark, Mark) else mark for mark in covers)),
        pieces=() if repeated else excerpt(passage.text, marks, limit=limit),
        repeated=repeated,
    )


def _fates(trace: Trace) -> Mapping[str, _Fate]:
    """Say of every passage whether the answer was written from it, and if not, which step dropped it."""
    prompt, assumed = trace.effective_prompt
    if prompt is None:
        return {}
    dropped = _find_dropped(trace)
    fates = {key: _Fate(dropped.get(key, "left out of the prompt"), kept=False) for key in number_passages(trace)}
    words = "in the prompt (assumed)" if assumed else "in the prompt"
    return fates | dict.fromkeys((passage.key for passage in prompt), _Fate(words, kept=True))


def _find_dropped(trace: Trace) -> Mapping[str, str]:
    before: set[str] = set()
    dropped: dict[str, str] = {}
    for step, context in zip(trace.steps, trace.contexts(), strict=True):
        after = {passage.key for passage in context}
        dropped |= dict.fromkeys(before - after, f"dropped by {one_line(step.id, limit=60)} ({step.kind})")
        before = after
    return dropped
