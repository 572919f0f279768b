"""Why core sub-questions were not answered, and what the results hold on what would have brought each.

A cause is a clear loss (`rag_cover.coverage.Loss`), told apart where more is known: an answer that declines though the prompt
has it, a pipeline that failed. Evidence is only what a result holds: ranks before a step that drops, places in the prompt, what
a search of the corpus found (`rag_cover.coverage.corpus_search`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage
from rag_cover.measures import TraceResult
from rag_cover.questions import Passage, Role
from rag_cover.traces import Trace, describe_pipeline_failure

__all__ = ["Cause", "LostPart", "PartEvidence", "list_lost_parts"]


class Cause(StrEnum):
    """Why a core sub-question was not answered."""

    FAILED_PIPELINE = "the pipeline failed and gave no answer"
    NOT_IN_CORPUS = "not in the corpus"
    FAILED_RETRIEVAL = "its retrieval failed"
    NOT_RETRIEVED = "not retrieved"
    DROPPED = "retrieved, then dropped"
    SUB_ANSWER = "left out of a sub-answer"
    REFUSED = "refused though retrieved"
    UNUSED = "in the prompt, not used"
    UNCLEAR = "unclear where it was lost"
    UNKNOWN = "not known where it was lost"


_NAME = 80  # characters of a name that evidence keeps

_CAUSES: Mapping[Loss, Cause] = {
    Loss.NOT_IN_CORPUS: Cause.NOT_IN_CORPUS,
    Loss.FAILED: Cause.FAILED_RETRIEVAL,
    Loss.NOT_RETRIEVED: Cause.NOT_RETRIEVED,
    Loss.DROPPED: Cause.DROPPED,
    Loss.SUB_ANSWER: Cause.SUB_ANSWER,
    Loss.UNUSED: Cause.UNUSED,
}

EvidenceKind = Literal["k", "query", "retriever", "search failed", "not searched", "step", "prompt", "part", "none"]


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What a result holds on one lost sub-question.

    ``kind`` "k", "query" and "retriever" are what would have brought it (`CorpusSearch.remedy`). ``rank``, from 1, is that of a
    passage that covers it: in the search of the corpus for the question, in what a step was given, or in the prompt; ``of`` are
    the passages that the pipeline retrieved at most, that the step left, or that the prompt has. ``name`` is the kind of the
    step, or the part of the pipeline that left it out.
    """

    kind: EvidenceKind
    rank: int | None = None
    of: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class LostPart:
    """One core sub-question that was not answered."""

    text: str
    cause: Cause
    evidence: PartEvidence


def list_lost_parts(result: TraceResult) -> Iterator[LostPart]:
    """List the core sub-questions of one trace that its answer does not cover; nothing where coverage was not measured."""
    coverage, trace = result.coverage, result.trace
    if coverage is None:
        return
    failed = describe_pipeline_failure(trace) is not None
    for each in coverage.sub_questions:
        if each.role != Role.CORE:
            continue
        if failed:
            yield LostPart(each.text, Cause.FAILED_PIPELINE, PartEvidence("none"))
        elif each.loss is not None:
            cause = _cause_of(each, coverage)
            yield LostPart(each.text, cause, _evidence_of(cause, each, coverage, trace))
        elif each.answer is not None and not each.answer.covered:
            yield LostPart(each.text, Cause.UNKNOWN, PartEvidence("none"))


def _cause_of(each: SubQuestionCoverage, coverage: CoverageResult) -> Cause:
    if each.loss is None or not each.is_loss_clear:
        return Cause.UNCLEAR
    declines = coverage.abstained == "wholly" or (each.answer is not None and each.answer.refused)
    return Cause.REFUSED if each.loss is Loss.UNUSED and declines else _CAUSES[each.loss]


def _evidence_of(cause: Cause, each: SubQuestionCoverage, coverage: CoverageResult, trace: Trace) -> PartEvidence:
    match cause:
        case Cause.NOT_RETRIEVED:
            return _search_evidence(each)
        case Cause.DROPPED:
            return _step_evidence(each, coverage, trace)
        case Cause.UNUSED | Cause.REFUSED:
            prompt = trace.effective_prompt[0] or ()
            rank = _first_rank(prompt, _covering_keys(each, coverage))
            return PartEvidence("prompt", rank, len(prompt)) if rank else PartEvidence("none")
        case Cause.SUB_ANSWER if each.lost_by:
            return PartEvidence("part", name=each.lost_by[:_NAME])
    return PartEvidence("none")


def _search_evidence(each: SubQuestionCoverage) -> PartEvidence:
    search = each.corpus
    if search is None:
        return PartEvidence("not searched")
    if search.error is not None or search.remedy is None:
        return PartEvidence("search failed")
    rank = search.covering.question_rank if search.covering else None
    return PartEvidence(search.remedy, rank, search.retrieved)


def _step_evidence(each: SubQuestionCoverage, coverage: CoverageResult, trace: Trace) -> PartEvidence:
    """Find the step after which no passage that covers was left, and the best rank of one in what was there before it."""
    covering, before = _covering_keys(each, coverage), None
    found = PartEvidence("none")
    seen: Sequence[Passage] = ()
    for step, context in zip(trace.steps, trace.contexts(), strict=True):
        after = _first_rank(context, covering)
        if step.replaces and before and not after:
            found = PartEvidence("step", _first_rank(seen, covering), len(step.passages), step.kind)
        before, seen = after, context
    prompt = trace.effective_prompt[0] or ()
    return PartEvidence("step", before, len(prompt), "prompt") if before else found


def _covering_keys(each: SubQuestionCoverage, coverage: CoverageResult) -> set[str]:
    return {key for key, verdict in zip(coverage.chunk_keys, each.chunks or (), strict=False) if verdict.covered}


def _first_rank(passages: Sequence[Passage], keys: set[str]) -> int | None:
    return next((rank for rank, passage in enumerate(passages, 1) if passage.key in keys), None)
