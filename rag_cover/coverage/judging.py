"""Which sub-questions the chunks, the prompt and the answer cover, and where an uncovered one was lost.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §3: a text covers a sub-question when some part of it answers
it; here, when the judge's P(the text contains a correct answer) reaches its threshold. All pairs of all traces go to the
judge in one call, each distinct pair once. A blank text is never sent: it covers nothing, with probability 0. An answer is
judged as a reply to the user's question, by a sub-question's references where it has some (with a cut of 0.5); a passage must
then answer without them, too, since a name may stand in it for another reason.

A loss follows from two verdicts, on the answer and on the passages, and is named only where their joint probability is at least
a half (`SubQuestionCoverage.is_loss_clear`); in a report the others are unclear.

Of what no chunk and no prompt passage covers, what a failed step was asked for is told apart from what was searched for and not
found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_cover.backends import (
    Abstention,
    AbstentionDetector,
    CertainCuts,
    Embedder,
    Locator,
    Mode,
    Scorer,
    ScoringItem,
    Span,
    certain_cuts_of,
    mode_of,
    reads_references,
    reply_threshold_of,
)
from rag_cover.coverage.ratings import RATING_WEIGHTS, rating
from rag_cover.coverage.replies import count_words, repeats
from rag_cover.coverage.result import Controls, CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.coverage.tables import CoverageRow, CoverageTable, addressing_position
from rag_cover.decomposition.embedded_roles import Untyped, assign_roles
from rag_cover.decomposition.strategies import Decomposer, decompose, source_of
from rag_cover.llm.session import Remote
from rag_cover.model_calls import abstentions, fragments, probabilities, threshold_in_range
from rag_cover.passage_text import prepend_title
from rag_cover.questions import Passage, Role, RoleSource, SubQuestion
from rag_cover.searching import plain
from rag_cover.stats.logistic import recentre
from rag_cover.traces import Trace

__all__ = ["judge_coverage", "table_of"]

REFERENCE_CUT = 0.5
_REFUSAL = "I cannot tell. The documents do not say."


@dataclass(frozen=True, slots=True)
class _Judged:
    """A text as the judge reads it; ``title`` characters at its start are not the passage's own.

    ``user_question`` is what an answer replies to, empty for passages.
    """

    text: str
    title: int = 0
    user_question: str = ""

    def item(self, sub_question: SubQuestion) -> ScoringItem:
        return ScoringItem(sub_question.text, self.text, sub_question.references, self.user_question)

    def items(self, sub_question: SubQuestion) -> tuple[ScoringItem, ...]:
        """List what must be true of the text: a passage that agrees with a reference must answer the sub-question, too."""
        item = self.item(sub_question)
        return (item,) if self.user_question or not item.references else (item, replace(item, references=()))

    def abstention_items(self, sub_questions: Sequence[SubQuestion]) -> Iterator[ScoringItem]:
        """List what the detector is asked about an answer: the whole question, then each sub-question."""
        for text in (self.user_question, *(each.text for each in sub_questions)):
            yield ScoringItem(text, self.text, user_question=self.user_question)

    def own(self, span: Span | None) -> Span | None:
        """Map a fragment to the passage's own text; None where it lies in the title."""
        if span is None or span.end <= self.title:
            return None
        return Span(max(0, span.start - self.title), span.end - self.title)


@dataclass(frozen=True, slots=True)
class _Case:
    """One trace, and all that is to be judged of it; None where the trace does not say.

    ``failed`` is what steps were asked for that ended in an error, as `plain` writes it.
    """

    sub_questions: tuple[SubQuestion, ...]
    decomposed_by: RoleSource
    chunk_keys: tuple[str, ...]
    chunks: tuple[_Judged, ...] | None
    prompt: tuple[_Judged, ...] | None
    prompt_assumed: bool
    answer: _Judged | None
    failed: frozenset[str]
    controls: tuple[_Judged, ...] = ()

    @property
    def core(self) -> list[SubQuestion]:
        return [each for each in self.sub_questions if each.role == Role.CORE]

    def texts_to_locate(self) -> tuple[_Judged, ...]:
        """List the texts whose fragments are reported."""
        return (*(self.chunks or ()), *((self.answer,) if self.answer else ()))

    def items(self) -> Iterator[ScoringItem]:
        for judged in (*self.texts_to_locate(), *(self.prompt or ())):
            if judged.text:
                yield from (item for sub_question in self.sub_questions for item in judged.items(sub_question))
        for control in self.controls:
            yield from map(control.item, self.core)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What the models said, and the cut from which it counts."""

    cuts: Mapping[Mode, float]
    certain: CertainCuts
    scores: Mapping[ScoringItem, float]
    spans: Mapping[ScoringItem, Span | None]
    abstentions: Mapping[ScoringItem, Abstention]

    def covers(self, judged: _Judged, sub_question: SubQuestion) -> bool:
        items = judged.items(sub_question)
        return bool(judged.text) and all(self.scores[item] >= self.cuts[mode_of(item)] for item in items)

    def is_certain(self, item: ScoringItem) -> bool:
        if not item.text or (cuts := self.certain.get(mode_of(item))) is None:
            return True
        return not cuts[0] < self.scores[item] < cuts[1]

    def probability(self, judged: _Judged, sub_question: SubQuestion) -> float:
        """Return the probability that a text covers, as if its cut were a half."""
        if not judged.text:
            return 0.0
        items = judged.items(sub_question)
        return min(recentre(self.scores[item], cut=self.cuts[mode_of(item)]) for item in items)

    def verdict(self, judged: _Judged, sub_question: SubQuestion) -> Verdict:
        items = judged.items(sub_question)
        covered = self.covers(judged, sub_question)
        asked = ScoringItem(sub_question.text, judged.text, user_question=judged.user_question)
        return Verdict(
            min(self.scores.get(item, 0.0) for item in items),
            covered,
            judged.own(self.spans.get(items[0])),
            certain=all(map(self.is_certain, items)),
            refused=not covered and self.abstentions.get(asked) == "wholly",
        )


def judge_coverage(  # noqa: PLR0913  # one model or option each
    traces: Sequence[Trace],
    scorer: Scorer,
    *,
    locator: Locator | None = None,
    threshold: float | None = None,
    decomposer: Decomposer | None = None,
    untyped: Untyped = "embedded",
    embedder: Embedder | None = None,
    abstention: AbstentionDetector | None = None,
    weights: Mapping[Role, float] = RATING_WEIGHTS,
) -> list[CoverageResult]:
    """Judge every (sub-question, chunk), (sub-question, prompt passage) and (sub-question, answer) of the traces.

    Args:
        traces: what to judge; a trace without sub-questions is decomposed.
        scorer: the judge.
        locator: finds the fragment that covers; without one, fragments and positions are None.
        threshold: the probability from which a text covers; the scorer's own for passages and for replies unless given. Where
            a sub-question has references, it is 0.5.
        decomposer: makes the sub-questions of traces that bring none; by rules unless given.
        untyped: whether sub-questions without a role are typed by the embedder (by rules without one), by rules, or left to
            count in no role.
        embedder: types sub-questions without a role.
        abstention: tells answers that decline to answer; without one, `CoverageResult.abstained` is None.
        weights: of the rating.

    Raises:
        ModelFailedError: a model returned something that is no verdict.
    """
    cuts: dict[Mode, float] = {
        "passage": threshold_in_range(scorer.threshold if threshold is None else threshold),
        "reply": threshold_in_range(reply_threshold_of(scorer) if threshold is None else threshold),
        "reference": REFERENCE_CUT,
    }
    cases = [_case(trace, decomposer, untyped, embedder) for trace in traces]
    if not reads_references(scorer):
        cases = [replace(case, sub_questions=_without_references(case.sub_questions)) for case in cases]
    if not isinstance(scorer, Remote):  # two more questions for each core sub-question, which somebody would pay for
        cases = [_with_controls(case, trace) for case, trace in zip(cases, traces, strict=True)]
    scores = probabilities(scorer, (item for case in cases for item in case.items()))
    certain = {mode: pair for mode, pair in certain_cuts_of(scorer).items() if threshold is None or mode == "reference"}
    bench = _Bench(cuts, certain, scores, {}, _abstentions(abstention, cases))
    if locator is not None:
        bench = replace(bench, spans=fragments(locator, _items_to_score(cases, bench)))
    return [_result(case, bench, weights) for case in cases]


def table_of(result: CoverageResult) -> CoverageTable:
    """Reduce a result to what the metrics count."""
    return CoverageTable(tuple(map(_row, result.sub_questions)))


def _case(trace: Trace, decomposer: Decomposer | None, untyped: Untyped, embedder: Embedder | None) -> _Case:
    sub_questions, source = _sub_questions(trace, decomposer)
    sub_questions = assign_roles(trace.question, _with_references(trace, sub_questions), untyped, embedder)
    retrieved = any(not step.replaces for step in trace.steps)
    prompt, assumed = trace.effective_prompt
    return _Case(
        sub_questions=tuple(sub_questions),
        decomposed_by=source,
        chunk_keys=tuple(passage.key for passage in trace.chunks),
        chunks=tuple(map(_text_to_judge, trace.chunks)) if retrieved else None,
        prompt=None if prompt is None else tuple(map(_text_to_judge, prompt)),
        prompt_assumed=assumed,
        answer=None if trace.answer is None else _Judged(trace.answer if trace.answer.strip() else "", 0, trace.question.text),
        failed=_failing_queries(trace, sub_questions),
    )


def _with_controls(case: _Case, trace: Trace) -> _Case:
    """Add answers that say nothing, where there is an answer: the question again, and a refusal."""
    if case.answer is None or not case.answer.text:
        return case
    question = trace.question.text
    return replace(case, controls=tuple(_Judged(text, 0, question) for text in (question, _REFUSAL)))


def _controls(case: _Case, bench: _Bench) -> Controls | None:
    if not case.controls or not case.core:
        return None
    echoed, refused = (sum(bench.covers(control, each) for each in case.core) for control in case.controls)
    return Controls(echoed, refused, len(case.core))


def _failing_queries(trace: Trace, sub_questions: Sequence[SubQuestion]) -> frozenset[str]:
    """Return what failed steps were asked for: everything, where no other step retrieved at all."""
    searches = [step for step in trace.steps if not step.replaces]
    errors = [step for step in searches if step.error is not None]
    queries = [step.query for step in errors]
    if errors and len(errors) == len(searches):
        queries += [sub_question.text for sub_question in sub_questions]
    return frozenset(map(plain, queries)) - {""}  # a step without a query searched for nothing known


def _sub_questions(trace: Trace, decomposer: Decomposer | None) -> tuple[Sequence[SubQuestion], RoleSource]:
    if trace.sub_questions is not None:
        return trace.sub_questions, "given"
    if decomposer is not None:
        return tuple(decomposer(trace.question)), source_of(decomposer)
    return decompose(trace.question), "rules"


def _with_references(trace: Trace, sub_questions: Sequence[SubQuestion]) -> Sequence[SubQuestion]:
    """Give a question's own references to its only sub-question, where that is the question itself."""
    references = tuple(reference for reference in trace.question.references if reference.strip())
    if len(sub_questions) != 1 or not references:
        return sub_questions
    (only,) = sub_questions
    if only.references or _bare(only.text) != _bare(trace.question.text):
        return sub_questions
    return (only.model_copy(update={"references": references}),)


def _bare(question: str) -> str:
    return plain(question).rstrip(" ?.!")


def _without_references(sub_questions: Sequence[SubQuestion]) -> tuple[SubQuestion, ...]:
    return tuple(each.model_copy(update={"references": ()}) for each in sub_questions)


def _abstentions(detector: AbstentionDetector | None, cases: Sequence[_Case]) -> Mapping[ScoringItem, Abstention]:
    if detector is None:
        return {}
    answered = ((case.answer, case.sub_questions) for case in cases if case.answer is not None and case.answer.text)
    return abstentions(detector, (item for answer, subs in answered for item in answer.abstention_items(subs)))


def _text_to_judge(passage: Passage) -> _Judged:
    if not passage.text.strip():
        return _Judged("")
    text = prepend_title(passage.title, passage.text)
    return _Judged(text, len(text) - len(passage.text))


def _items_to_score(cases: Sequence[_Case], bench: _Bench) -> Iterator[ScoringItem]:
    for case in cases:
        for judged in case.texts_to_locate():
            yield from (judged.item(each) for each in case.sub_questions if bench.covers(judged, each))


def _result(case: _Case, bench: _Bench, weights: Mapping[Role, float]) -> CoverageResult:
    judged = tuple(_sub_question(case, bench, sub_question) for sub_question in case.sub_questions)
    abstained = None if case.answer is None else bench.abstentions.get(next(case.answer.abstention_items(())))
    return CoverageResult(
        sub_questions=judged,
        chunk_keys=case.chunk_keys,
        threshold=bench.cuts["passage"],
        rating=rating(CoverageTable(tuple(map(_row, judged))), weights=weights),
        prompt_assumed=case.prompt_assumed,
        decomposed_by=case.decomposed_by,
        reply_threshold=None if bench.cuts["reply"] == bench.cuts["passage"] else bench.cuts["reply"],
        abstained=abstained,
        controls=_controls(case, bench),
        answer_words=None if case.answer is None else count_words(case.answer.text),
        repeats_question=abstained != "wholly" and _repeats_question(case, judged),
    )


def _repeats_question(case: _Case, judged: Sequence[SubQuestionCoverage]) -> bool:
    """Tell whether an answer that covers no core sub-question only repeats the question."""
    covers = any(each.answer.covered for each in judged if each.role == Role.CORE and each.answer is not None)
    return case.answer is not None and not covers and repeats(case.answer.user_question, case.answer.text)


def _sub_question(case: _Case, bench: _Bench, sub_question: SubQuestion) -> SubQuestionCoverage:
    answer = bench.verdict(case.answer, sub_question) if case.answer else None
    chunks = None if case.chunks is None else tuple(bench.verdict(chunk, sub_question) for chunk in case.chunks)
    in_prompt = None if case.prompt is None else any(bench.covers(passage, sub_question) for passage in case.prompt)
    return SubQuestionCoverage(
        text=sub_question.text,
        role=sub_question.role,
        role_source=sub_question.role_source,
        answer=answer,
        position=_position(case.answer, answer),
        chunks=chunks,
        in_prompt=in_prompt,
        loss=_loss(answer, chunks, in_prompt=in_prompt, failed=plain(sub_question.text) in case.failed),
        evidence=_evidence(case, bench, sub_question),
    )


def _position(judged: _Judged | None, verdict: Verdict | None) -> float | None:
    if judged is None or verdict is None or verdict.fragment is None:
        return None
    return addressing_position(judged.text, verdict.fragment.of(judged.text))


def _loss(answer: Verdict | None, chunks: tuple[Verdict, ...] | None, *, in_prompt: bool | None, failed: bool) -> Loss | None:
    """Return the stage at which a sub-question that the answer does not cover was lost; None where that is unknown."""
    if answer is None or answer.covered or in_prompt is None:
        return None
    if in_prompt:
        return Loss.UNUSED
    if any(chunk.covered for chunk in chunks or ()):
        return Loss.DROPPED
    return Loss.FAILED if failed else Loss.NOT_RETRIEVED


def _evidence(case: _Case, bench: _Bench, sub_question: SubQuestion) -> LossEvidence | None:
    if case.answer is None or case.prompt is None:
        return None

    def highest(texts: Sequence[_Judged] | None) -> float:
        return max((bench.probability(each, sub_question) for each in texts or ()), default=0.0)

    left_out = [chunk for chunk in case.chunks or () if chunk not in case.prompt]
    return LossEvidence(bench.probability(case.answer, sub_question), highest(case.prompt), highest(left_out))


def _row(judged: SubQuestionCoverage) -> CoverageRow:
    return CoverageRow(
        role=judged.role,
        answered=judged.answer.covered if judged.answer else None,
        chunks=None if judged.chunks is None else tuple(chunk.covered for chunk in judged.chunks),
        position=judged.position,
    )
