"""Learning from what happened: which pipeline answered which question well, read from evaluated traces.

One criterion decides for all traces, so that no pipeline is measured by an easier one:

- ``correct``: the scorer gives the answer at least 0.5 against the question's references;
- ``coverage``: the answer covers at least a stated share of the question's core sub-questions;
- ``label:KEY``: the trace's metadata says so, as true or false, or as a number in [0, 1].

Where a pipeline answered a question several times, its success is the mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.complexity import Complexity
from rag_cover.coverage import CoverageResult
from rag_cover.errors import IncomparableError, InputError, InvalidValueError, ModelFailedError
from rag_cover.measures import TraceResult
from rag_cover.question_keys import normalise_question
from rag_cover.questions import Passage, Question, Role
from rag_cover.routing.responses import Responses
from rag_cover.routing.subjects import agreed_subjects
from rag_cover.traces import Trace

__all__ = ["Outcomes", "gather_outcomes", "trace_subject"]

_CUT = 0.5  # of a scorer that is given references: its probability is calibrated
_AT_ONCE = 256
_LABEL = "label:"
_NO_PIPELINE = "names no pipeline"
_NO_ANSWER = "has no answer"
_SUBJECTS = ("subject", "collection")  # keys of a trace's metadata


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A question with what one pipeline retrieved for it, and how complex it was found for that; None: not measured."""

    question: Question
    passages: tuple[Passage, ...]
    complexity: Complexity | None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The responses of pipelines, and how they came about.

    ``criterion`` says in words what counted as success; ``left_out`` counts traces by reason. ``retrieved`` are questions, in
    the order of the responses, with the passages of the pipeline that has most (``retrieved_by``); None where it has none.
    ``subjects`` are the questions', None where it is not known; ``costs`` the pipelines', per question, empty where they are
    not known. ``remarks`` are further notes of whoever read the outcomes.
    """

    responses: Responses
    success: str
    criterion: str
    traces: int
    left_out: Mapping[str, int]
    repeated: int
    retrieved: tuple[Retrieved | None, ...] = ()
    retrieved_by: str | None = None
    subjects: tuple[str | None, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Note what was left out and what was averaged."""
        left = [f"{count:,} of {self.traces:,} traces left out: {reason}." for reason, count in self.left_out.items()]
        again = f"Averaged, because a pipeline answered the same question again: {self.repeated:,} of its answers."
        return (*left, *([again] if self.repeated else []), *self.remarks)


@dataclass(slots=True)
class _Row:
    """What of one trace is needed."""

    pipeline: str | None
    question: Question
    answer: str | None
    coverage: float | None
    label: object
    retrieved: Retrieved | None
    subject: str | None


@dataclass(slots=True)
class _Tally:
    """Successes by pipeline and question, and why traces are left out."""

    observed: list[tuple[str, str, float]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, row: _Row, success: float) -> None:
        self.observed.append((row.pipeline or "", row.question.text, success))


def gather_outcomes(
    results: Iterable[TraceResult | tuple[str, TraceResult]],
    *,
    success: str | None = None,
    scorer: Scorer | None = None,
    share: float = 0.5,
) -> Outcomes:
    """Build the responses of pipelines from evaluated traces.

    Args:
        results: of one or several evaluations; a pair names the pipeline of a trace that does not name its own.
        success: ``"correct"``, ``"coverage"`` or ``"label:KEY"``; None: correct where most traces have references and an
            answer and there is a scorer, else coverage.
        scorer: judges correctness.
        share: of core sub-questions that an answer must cover, in (0, 1].

    Raises:
        InvalidValueError: no such criterion, correctness without a scorer, or a share outside (0, 1].
        InputError: no trace can be judged by the criterion.
        IncomparableError: the traces come from one pipeline only.
    """
    if not 0 < share <= 1:
        message = f"share is {share}; it is a share of core sub-questions, in (0, 1]"
        raise InvalidValueError(message)
    key = success.removeprefix(_LABEL) if success and success.startswith(_LABEL) else None
    rows = [_row_of(item, key) for item in results]
    criterion = success or _likeliest(rows, scorer)
    tally = _tally_rows(rows, criterion, scorer, share)
    _refuse_nothing(tally, rows, criterion)
    _refuse_one(tally)
    responses = Responses.from_observations(tally.observed)
    by, retrieved = _collect_retrieved(rows, responses)
    keys = [normalise_question(text) for text in responses.questions]
    return Outcomes(
        responses=responses,
        success=criterion,
        criterion=_in_words(criterion, share),
        traces=len(rows),
        left_out=dict(tally.left_out.most_common()),
        repeated=len(tally.observed) - responses.observed,
        retrieved=retrieved,
        retrieved_by=by,
        subjects=agreed_subjects(((normalise_question(row.question.text), row.subject) for row in rows), keys),
    )


def trace_subject(trace: Trace) -> str | None:
    """Return what a trace's question is filed under: ``subject`` or ``collection`` of its metadata, else its only tag.

    >>> trace_subject(Trace(question="Why?", metadata={"subject": "law"}))
    'law'
    >>> trace_subject(Trace(question="Why?", tags=("law", "tort"))) is None
    True
    """
    said = next((value for key in _SUBJECTS if isinstance(value := trace.metadata.get(key), str) and value.strip()), None)
    if said is not None:
        return said.strip()
    return trace.tags[0].strip() if len(trace.tags) == 1 else None


def _row_of(item: TraceResult | tuple[str, TraceResult], key: str | None) -> _Row:
    pipeline, result = item if isinstance(item, tuple) else (None, item)
    trace = result.trace
    chunks = trace.chunks
    return _Row(
        pipeline=trace.pipeline or pipeline,
        question=trace.question,
        answer=trace.answer,
        coverage=_core_share(result.coverage),
        label=trace.metadata.get(key) if key is not None else None,
        retrieved=Retrieved(trace.question, chunks, result.complexity) if chunks else None,
        subject=trace_subject(trace),
    )


def _core_share(coverage: CoverageResult | None) -> float | None:
    core = [each.answer for each in coverage.sub_questions if each.role == Role.CORE and each.answer] if coverage else []
    return sum(verdict.covered for verdict in core) / len(core) if core else None


def _likeliest(rows: Sequence[_Row], scorer: Scorer | None) -> str:
    """Choose correctness where most traces can be judged by it, else coverage."""
    judged = sum(bool(row.question.references) and row.answer is not None for row in rows)
    covered = sum(row.coverage is not None for row in rows)
    return "correct" if scorer is not None and 2 * judged >= len(rows) and judged else "coverage" if covered else "correct"


def _tally_rows(rows: Sequence[_Row], criterion: str, scorer: Scorer | None, share: float) -> _Tally:
    tally = _Tally()
    named = []
    for row in rows:
        if row.pipeline is None:
            tally.left_out[_NO_PIPELINE] += 1
        else:
            named.append(row)
    if criterion == "correct":
        _by_correctness(named, scorer, tally)
    elif criterion == "coverage":
        _by_coverage(named, share, tally)
    elif criterion.startswith(_LABEL) and criterion != _LABEL:
        _by_label(named, criterion.removeprefix(_LABEL), tally)
    else:
        message = f"success is 'correct', 'coverage' or 'label:KEY' with a key of the traces' metadata, not {criterion!r}"
        raise InvalidValueError(message)
    return tally


def _by_correctness(rows: Sequence[_Row], scorer: Scorer | None, tally: _Tally) -> None:
    if scorer is None:
        message = "success by correctness needs a scorer, such as open_scorer('embedded')"
        raise InvalidValueError(message)
    judged = []
    for row in rows:
        if row.answer is None:
            tally.left_out[_NO_ANSWER] += 1
        elif not row.question.references:
            tally.left_out["its question has no references"] += 1
        else:
            judged.append(row)
    for start in range(0, len(judged), _AT_ONCE):
        block = judged[start : start + _AT_ONCE]
        for row, probability in zip(block, _probabilities(scorer, block), strict=True):
            if probability is None:
                tally.left_out["the judge failed on it"] += 1
            else:
                tally.add(row, float(probability >= _CUT))


def _probabilities(scorer: Scorer, rows: Sequence[_Row]) -> list[float | None]:
    """Judge answers together, one by one where that fails; None for one that fails alone, too."""
    items = [ScoringItem(row.question.text, row.answer or "", row.question.references, row.question.text) for row in rows]
    try:
        return [float(probability) for probability in scorer.correctness(items)]
    except ModelFailedError:
        if len(rows) == 1:
            return [None]
        return [probability for row in rows for probability in _probabilities(scorer, [row])]


def _by_coverage(rows: Sequence[_Row], share: float, tally: _Tally) -> None:
    for row in rows:
        if row.coverage is None:
            tally.left_out["no core sub-question was judged in its answer"] += 1
        else:
            tally.add(row, float(row.coverage >= share))


def _by_label(rows: Sequence[_Row], key: str, tally: _Tally) -> None:
    for row in rows:
        match row.label:
            case None:
                tally.left_out[f"its metadata has no {key!r}"] += 1
            case bool() | int() | float() as label if 0 <= label <= 1:
                tally.add(row, float(label))
            case _:
                tally.left_out[f"its {key!r} is neither true or false nor a number in [0, 1]"] += 1


def _refuse_nothing(tally: _Tally, rows: Sequence[_Row], criterion: str) -> None:
    if tally.observed:
        return
    why = "; ".join(f"{reason} ({count:,})" for reason, count in tally.left_out.most_common()) or "there are no traces"
    problem = (
        f"none of {len(rows):,} traces can be judged by {criterion!r}: {why}. Give the questions references, measure coverage "
        "with 'rag-cover evaluate', or name labels in the traces' metadata with label:KEY"
    )
    raise InputError(problem)


def _refuse_one(tally: _Tally) -> None:
    pipelines = {pipeline for pipeline, _, _ in tally.observed}
    if len(pipelines) == 1:
        message = (
            f"All {len(tally.observed):,} traces come from one pipeline, {next(iter(pipelines))!r}; skills tell several apart. "
            "Put the same questions to another pipeline, evaluate its traces, and give both stores."
        )
        raise IncomparableError(message)


def _collect_retrieved(rows: Sequence[_Row], responses: Responses) -> tuple[str | None, tuple[Retrieved | None, ...]]:
    found: dict[str, dict[str, Retrieved]] = {}
    for row in rows:
        if row.retrieved is not None and row.pipeline is not None:
            found.setdefault(row.pipeline, {}).setdefault(normalise_question(row.question.text), row.retrieved)
    if not found:
        return None, ()
    most = max(sorted(found), key=lambda pipeline: len(found[pipeline]))
    return most, tuple(found[most].get(normalise_question(text)) for text in responses.questions)


def _in_words(criterion: str, share: float) -> str:
    if criterion == "correct":
        return f"the judge gives the answer at least {_CUT:g} against the references"
    if criterion == "coverage":
        return f"the answer covers at least {share:.0%} of the core sub-questions"
    return f"{criterion.removeprefix(_LABEL)!r} in the traces' metadata"
