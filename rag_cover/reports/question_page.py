"""One question as it is shown: its answer with fragments marked, its sub-questions, its passages."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import Failure, Span
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.standing import hardness
from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.coverage.notes import declines_in_words
from rag_cover.frames import column_of
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Role, RoleSource
from rag_cover.reports.complexity_page import EvidenceView, evidence_view
from rag_cover.reports.corpus_searches import CorpusSearchView, corpus_search_views
from rag_cover.reports.excerpts import ExcerptPiece, Mark, excerpt
from rag_cover.reports.passages import StepView, covering, number_passages, step_views
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.sub_question_state import ROLES, State, by_role, core_coverage, describe_state, has_lost_core, state_of
from rag_cover.reports.text import format_count, number_text, percent
from rag_cover.reports.unclear_losses import UnclearLoss, list_unclear_losses
from rag_cover.reports.utility_text import total_of
from rag_cover.reports.waterfall import Waterfall, waterfall_of
from rag_cover.short_forms import capitalise

__all__ = ["QuestionView", "SubQuestionView", "question_view", "worst"]

_IMPORTANCE: Mapping[str, str] = {Role.CORE: "vital", Role.BACKGROUND: "okay", "untyped": "of no importance given"}

_ANSWER_SHOWN = 20_000  # characters; longer answers are cut around their fragments


_LOST: Mapping[Loss, str] = {
    Loss.UNUSED: "not used",
    Loss.DROPPED: "dropped",
    Loss.SUB_ANSWER: "left out of a sub-answer",
    Loss.NOT_RETRIEVED: "not retrieved",
    Loss.NOT_IN_CORPUS: "not in the corpus",
    Loss.FAILED: "with failed retrieval",
}


@dataclass(frozen=True, slots=True)
class SubQuestionView:
    """One sub-question with its number, how far it came, and by which passages."""

    number: int
    text: str
    role: str
    typed_by: str | None
    state: State
    came: str
    answered: str
    found_in: tuple[int, ...] | None
    question: str = ""
    is_nugget: bool = False

    @property
    def role_words(self) -> str:
        """Name the role, of a nugget the importance."""
        return _IMPORTANCE.get(self.role, self.role) if self.is_nugget else self.role


_WITH_SECTIONS = frozenset(("coverage", "groundedness", "utility", "complexity"))


@dataclass(frozen=True, slots=True)
class ValueView:
    """One number of a measure that has no section of its own, and its result's ``reason``, where that has one."""

    label: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionView:
    """All that is shown of one trace; ``name`` is its anchor in the page."""

    name: str
    text: str
    references: tuple[str, ...]
    pipeline: str
    core: str
    core_words: str
    lost_core: bool
    losses: str
    declines: str
    answer: tuple[ExcerptPiece, ...] | None
    sub_questions: tuple[SubQuestionView, ...]
    unclear: tuple[UnclearLoss, ...]
    searches: tuple[CorpusSearchView, ...]
    groundedness: str
    steps: tuple[StepView, ...]
    notes: tuple[str, ...]
    waterfall: Waterfall | None
    evidence: EvidenceView | None
    values: tuple[ValueView, ...]
    facets: str = "sub-questions"

    def tone(self, numbers: Sequence[int]) -> str:
        """Return the style class of a fragment: of the first lost sub-question among those it answers, if there is one."""
        states = [self.sub_questions[number - 1].state for number in numbers]
        return next((state for state in states if state not in (State.ANSWERED, State.MEMORY)), State.ANSWERED).css

    @property
    def groups(self) -> Mapping[str, list[SubQuestionView]]:
        """Group the sub-questions by role, in the order of the page."""
        return {role: [s for s in self.sub_questions if s.role == role] for role in ROLES}


def worst(results: Sequence[TraceResult], *, limit: int) -> list[TraceResult]:
    """Pick the traces with the lowest core coverage, lowest first; those without any come last, least useful or hardest first.

    Reads ``results`` once.
    """
    return heapq.nsmallest(limit, results, key=_badness)


def question_view(result: TraceResult, name: str) -> QuestionView:
    """Gather what is shown of one trace."""
    trace, coverage = result.trace, result.coverage
    rows = by_role(coverage) if coverage else []
    counts = core_coverage(coverage)
    numbers = number_passages(trace)
    return QuestionView(
        name=name,
        text=clip(trace.question.text, 2000),
        references=tuple(clip(reference, 500) for reference in trace.question.references),
        pipeline=one_line(trace.pipeline or "", limit=60),
        core=f"{counts[0]}/{counts[1]}" if counts else "–",
        core_words=f"{counts[0]} of {format_count(counts[1], coverage.noun_of(Role.CORE))} answered"
        if counts and coverage
        else "core coverage not measured",
        lost_core=has_lost_core(coverage),
        losses=_losses(coverage),
        declines=declines_in_words(coverage).removeprefix("the answer ") if coverage else "",
        answer=None if trace.answer is None else _answer(trace.answer, rows, result),
        sub_questions=tuple(_sub_question(number, row, coverage, numbers) for number, row in rows),
        unclear=list_unclear_losses(result, rows, numbers),
        searches=corpus_search_views(rows),
        groundedness=_groundedness(result),
        steps=step_views(trace, covering(coverage, rows)),
        notes=tuple(_notes(result)),
        waterfall=waterfall_of(result.utility, numbers) if result.utility else None,
        evidence=evidence_view(result.complexity, numbers) if result.complexity else None,
        values=tuple(_values(result)),
        facets="nuggets" if coverage and coverage.on_nuggets else "sub-questions",
    )


def _values(result: TraceResult) -> Iterator[ValueView]:
    for measure, measured in result.measured.items():
        if measure in _WITH_SECTIONS:
            continue
        reason = getattr(measured, "reason", "")  # beside the first of several numbers: it is about all of them
        for place, (name, value) in enumerate(measured.values.items()):
            label = capitalise(one_line(column_of(measure, name).replace("_", " ").replace(".", " "), limit=80))
            said = clip(reason, 500) if isinstance(reason, str) and place == 0 else ""
            yield ValueView(label, "undefined" if value is None else number_text(value), said)


def _losses(coverage: CoverageResult | None) -> str:
    """Count the lost core sub-questions by where they were lost."""
    core = [row for row in coverage.sub_questions if row.role == Role.CORE] if coverage else []
    counts = Counter(row.loss for row in core if row.is_loss_clear)
    named = [f"{counts[loss]} {word}" for loss, word in _LOST.items() if counts[loss]]
    unclear = sum(row.loss is not None and not row.is_loss_clear for row in core)
    return " · ".join([*named, *([f"{unclear} unclear"] if unclear else [])])


def _badness(result: TraceResult) -> tuple[float, float, float, float]:
    counts = core_coverage(result.coverage)
    rank, hard = hardness(result.complexity) if result.complexity else (0, 0.0)
    return math.inf if counts is None else counts[0] / counts[1], total_of(result), -rank, -hard


def _answer(text: str, rows: Sequence[tuple[int, SubQuestionCoverage]], result: TraceResult) -> tuple[ExcerptPiece, ...]:
    marks = [
        Mark(row.answer.fragment, number) for number, row in rows if row.answer and row.answer.covered and row.answer.fragment
    ]
    sentences = result.groundedness.sentences if result.groundedness else ()
    unsupported = [Mark(Span(sentence.start, sentence.end), 0) for sentence in sentences if not sentence.supported]
    return excerpt(text, [*marks, *unsupported], limit=_ANSWER_SHOWN)


def _sub_question(
    number: int, row: SubQuestionCoverage, coverage: CoverageResult | None, numbers: Mapping[str, int]
) -> SubQuestionView:
    keys = coverage.chunk_keys if coverage else ()
    return SubQuestionView(
        number=number,
        text=clip(row.text, 500),
        role=row.role or "untyped",
        typed_by=_role_author(row.role_source),
        state=state_of(row),
        came=describe_state(row),
        answered=_verdict(row.answer),
        found_in=None
        if row.chunks is None
        else tuple(
            sorted(numbers[key] for key, chunk in zip(keys, row.chunks, strict=False) if chunk.covered and key in numbers)
        ),
        question=clip(row.question or "", 500),
        is_nugget=coverage is not None and coverage.on_nuggets,
    )


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no answer to judge"
    if verdict.judged is not None:
        return f"{'yes' if verdict.covered else 'no'}, by a person’s label · judge {verdict.probability:.2f}"
    said = "declined" if verdict.refused else "yes" if verdict.covered else "in part" if verdict.partial else "no"
    return f"{said} · {verdict.probability:.2f}"


def _groundedness(result: TraceResult) -> str:
    found = result.groundedness
    if found is None or found.share is None:
        return ""
    supported = sum(sentence.supported for sentence in found.sentences)
    return f"{supported} of {format_count(len(found.sentences), 'sentence')} supported by the prompt ({percent(found.share)})"


def _notes(result: TraceResult) -> list[str]:
    notes = [f"{measure}: {reason}" for measure, outcome in result.outcomes.items() if (reason := _reason(outcome))]
    if any(outcome.prompt_assumed for outcome in (result.coverage, result.groundedness) if outcome):
        notes.append("The trace does not record its prompt: the last context is taken for it.")
    notes += _notes_on_answer(result.coverage) if result.coverage else []
    notes += _notes_on_complexity(result.complexity) if result.complexity else []
    if result.coverage:
        reply = result.coverage.reply_threshold
        of_answers = "" if reply is None else f", an answer from {reply:.2f}"
        cut = f"{result.coverage.threshold:.2f}{of_answers}"
        notes.append(f"A text counts as covering a {result.coverage.noun_of(None)} from a probability of {cut}.")
    return notes


def _notes_on_complexity(complexity: Complexity) -> list[str]:
    parts = f"Complexity: a passage answers it where it answers each part: {' '.join(complexity.parts)}"
    return [*(f"Complexity: {note}." for note in complexity.notes), *([parts] if complexity.parts else [])]


def _notes_on_answer(coverage: CoverageResult) -> list[str]:
    notes = [f"{capitalise(said)}."] if (said := declines_in_words(coverage)) else []
    return [*notes, *(["The answer only repeats the question."] if coverage.repeats_question else [])]


def _reason(outcome: object) -> str:
    match outcome:
        case NotApplicable(reason):
            return f"not applicable, {one_line(reason)}"
        case Failure(kind, message):
            return f"failed, {one_line(kind)}: {one_line(message)}"
        case _:
            return ""


def _role_author(source: RoleSource | None) -> str | None:
    """Name who gave the role, where it was not given with the trace."""
    match source:
        case None | "given":
            return None
        case "embedded" | "model":
            return "a model"
        case _:
            return one_line(source.removeprefix("model:"), limit=80)
