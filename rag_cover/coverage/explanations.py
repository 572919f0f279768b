"""What an answer left out, and where that was lost, in the words of a comment: for dashboards beside the pipeline's spans."""

from __future__ import annotations

from collections.abc import Mapping

from rag_cover.coverage.corpus_search import Remedy
from rag_cover.coverage.notes import declines_in_words
from rag_cover.coverage.result import CoverageResult, Loss, SubQuestionCoverage
from rag_cover.placeholder import Placeholder, is_identifier
from rag_cover.questions import Role
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["dropping_step", "explain_coverage", "explain_loss"]

_LONGEST = 1000
_REMEDIES: Mapping[Remedy, str] = {"query": "a query of its own", "k": "a larger k", "retriever": "another retriever"}


def explain_coverage(result: CoverageResult, trace: Trace) -> str:
    """Tell how many core sub-questions an answer covers, and where each of the others was lost; "" without core ones.

    Of redacted results it quotes nothing: the sub-questions are counted.
    """
    core = [each for each in result.sub_questions if each.role == Role.CORE and each.answer is not None]
    if not core:
        return ""
    lost = [each for each in core if each.answer is not None and not each.answer.covered]
    lines = [f"{len(core) - len(lost)} of {len(core)} core sub-questions answered"]
    places: dict[str, list[str]] = {}
    for each in lost:
        places.setdefault(_place(each, result, trace), []).append(each.text)
    lines += [_tell(place, texts) for place, texts in places.items()]
    lines += [said] if (said := declines_in_words(result)) else []
    text = "; ".join(lines)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def explain_loss(sub_question: SubQuestionCoverage) -> str:
    """Say at which stage a sub-question was lost, and what would have brought it where the corpus was searched."""
    search = sub_question.corpus
    if sub_question.loss is Loss.NOT_RETRIEVED and search is not None and search.remedy is not None:
        return f"in the corpus, not retrieved ({_REMEDIES[search.remedy]} would have brought it)"
    return str(sub_question.loss)


def dropping_step(sub_question: SubQuestionCoverage, result: CoverageResult, trace: Trace) -> RetrievalStep | None:
    """Return the step after which none of the passages that answer a sub-question was left; None where there is none."""
    verdicts = zip(result.chunk_keys, sub_question.chunks or (), strict=False)
    answering = {key for key, verdict in verdicts if verdict.covered}
    before: set[str] = set()
    dropped_by = None
    for step, context in zip(trace.steps, trace.contexts(), strict=True):
        after = answering & {passage.key for passage in context}
        if step.replaces and before and not after:
            dropped_by = step
        before = after
    return None if before else dropped_by


def _place(sub_question: SubQuestionCoverage, result: CoverageResult, trace: Trace) -> str:
    """Say where a sub-question was lost, by the name of the step that dropped it; a name that is redacted is left out."""
    if sub_question.loss is None or not sub_question.is_loss_clear:
        return "lost, unclear where"
    if sub_question.loss != Loss.DROPPED:
        return explain_loss(sub_question)
    step = dropping_step(sub_question, result, trace)
    if step is None:
        return "retrieved, then left out of the prompt"
    return "dropped by a step" if is_identifier(step.id) else f"dropped by `{step.id}`"


def _tell(place: str, texts: list[str]) -> str:
    quoted = [text for text in texts if Placeholder.read(text) is None]
    return f"{place}: {' | '.join(quoted)}" if len(quoted) == len(texts) else f"{place}: {len(texts)}"
