"""Which sub-questions the chunks, the prompt and the answer cover, and where an uncovered one was lost.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §3: a text covers a sub-question when some part of it answers
it; here, when the judge's P(the text contains a correct answer) reaches its threshold. All pairs of all traces go to the
judge in one call, each distinct pair once. A blank text is never sent: it covers nothing, with probability 0. An answer is
judged as a reply to the user's question, by a sub-question's references where it has some (with a cut of 0.5); a passage must
then answer without them, too, since a name may stand in it for another reason.

A loss follows from two verdicts, on the answer and on the passages, and is named only where their joint probability is at least
a half and the answer itself does not contradict it (`LossEvidence.is_clear`); in a report the others are unclear.

A trace that brings nuggets and no sub-questions is measured on these: one with a question as that sub-question, one without as
a statement that a text states or not (`rag_cover.statements`). Vital ones take the role of core sub-questions, okay ones that
of background ones; a part of a nugget does not cover it.

Of what no chunk and no prompt passage covers, what a failed step was asked for is told apart from what was searched for and not
found. With a corpus, core ones that were not found are looked for in it: what it does not say cannot be retrieved
(`rag_cover.coverage.corpus_search`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from rag_cover.backends import (
    Abstention,
    AbstentionDetector,
    Embedder,
    Locator,
    Mode,
    Retriever,
    Scorer,
    ScoringItem,
    certain_cuts_of,
    reads_references,
    reply_threshold_of,
)
from rag_cover.cascade import CascadeJudge
from rag_cover.coverage.cascade_counts import CascadeCounts
from rag_cover.coverage.corpus_search import SearchedCorpus
from rag_cover.coverage.judged_texts import Bench, CoverageFacet, Item, JudgedText
from rag_cover.coverage.ratings import RATING_WEIGHTS, check_weights, rating
from rag_cover.coverage.replies import count_words, repeats
from rag_cover.coverage.result import Controls, CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.coverage.tables import CoverageRow, CoverageTable, addressing_position
from rag_cover.decomposition.embedded_roles import Untyped, assign_roles
from rag_cover.decomposition.multihop import hops_of
from rag_cover.decomposition.strategies import Decomposer, decompose, source_of
from rag_cover.english.indirect import ask_plainly
from rag_cover.english.topics import blank_opener
from rag_cover.llm.session import Remote
from rag_cover.model_calls import abstentions, fragments, threshold_in_range
from rag_cover.questions import Passage, Role, RoleSource, SubQuestion, plain_query, prepend_title
from rag_cover.statements import STATED, StatementJudge
from rag_cover.traces import Trace

__all__ = ["coverage_table", "find_failing_queries", "find_loss", "judge_coverage", "tiers_of"]

REFERENCE_CUT = 0.5
_REFUSAL = "I cannot tell. The documents do not say."


@dataclass(frozen=True, slots=True)
class _Case:
    """One trace, and all that is to be judged of it; None where the trace does not say.

    ``failed`` is what steps were asked for that ended in an error, as `plain_query` writes it. ``read_by`` names, for each
    passage that a model read which wrote a part of the answer, the engine that asked it. ``most_retrieved`` is how many
    passages a search brought at most.
    """

    facets: tuple[CoverageFacet, ...]
    on_nuggets: bool
    from_own_passages: bool
    decomposed_by: RoleSource
    chunk_keys: tuple[str, ...]
    chunks: tuple[JudgedText, ...] | None
    prompt: tuple[JudgedText, ...] | None
    prompt_assumed: bool
    answer: JudgedText | None
    failed: frozenset[str]
    read_by: Mapping[str, str | None]
    most_retrieved: int = 0
    controls: tuple[JudgedText, ...] = ()

    @property
    def core(self) -> list[CoverageFacet]:
        return [each for each in self.facets if each.role == Role.CORE]

    def texts_to_locate(self) -> tuple[JudgedText, ...]:
        """List the texts whose fragments are reported."""
        return (*(self.chunks or ()), *((self.answer,) if self.answer else ()))

    def items(self) -> Iterator[Item]:
        for judged in (*self.texts_to_locate(), *(self.prompt or ())):
            if judged.text:
                yield from (item for facet in self.facets for item in judged.items(facet))
        for control in self.controls:
            yield from map(control.item, self.core)


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
    corpus: Retriever | None = None,
    weights: Mapping[Role, float] = RATING_WEIGHTS,
) -> list[CoverageResult]:
    """Judge every (sub-question, chunk), (sub-question, prompt passage) and (sub-question, answer) of the traces.

    Args:
        traces: what to judge; a trace without sub-questions is measured on its nuggets, one without either is decomposed.
        scorer: the judge; for nuggets without a question one that entails (`Entailer`) or judges statements (`StatementJudge`).
        locator: finds the fragment that covers; without one, fragments and positions are None.
        threshold: the probability from which a text covers; the scorer's own for passages and for replies unless given. Where
            a sub-question has references, and for statements unless given, it is 0.5.
        decomposer: makes the sub-questions of traces that bring none; by rules unless given.
        untyped: whether sub-questions without a role are typed by the embedder (by rules without one), by rules, or left to
            count in no role.
        embedder: types sub-questions without a role.
        abstention: tells answers that decline to answer; without one, `CoverageResult.abstained` is None.
        corpus: searches the corpus for what no retrieved passage covers.
        weights: of the rating.

    Raises:
        InvalidValueError: a threshold outside [0, 1], or weights that are not finite numbers of roles.
        ModelFailedError: a model returned something that is no verdict, or nuggets have no question and the judge cannot judge
            statements.
    """
    weights = check_weights(weights)
    cuts: dict[Mode, float] = {
        "passage": threshold_in_range(scorer.threshold if threshold is None else threshold),
        "reply": threshold_in_range(reply_threshold_of(scorer) if threshold is None else threshold),
        "reference": REFERENCE_CUT,
    }
    cases = [_case(trace, decomposer, untyped, embedder) for trace in traces]
    if not reads_references(scorer):
        cases = [replace(case, facets=_without_references(case.facets)) for case in cases]
    if not isinstance(scorer, Remote):  # two more questions for each core sub-question, which somebody would pay for
        cases = list(map(_with_controls, cases))
    certain = {mode: pair for mode, pair in certain_cuts_of(scorer).items() if threshold is None or mode == "reference"}
    bench = Bench(
        cuts, STATED if threshold is None else cuts["passage"], certain, entails=not isinstance(scorer, StatementJudge)
    ).judging(scorer, (item for case in cases for item in case.items()))
    bench = replace(bench, abstentions=_abstentions(abstention, cases, bench))
    if locator is not None:
        located = fragments(locator, _items_to_locate(cases, bench))
        bench = replace(bench, spans=dict(chain(bench.spans.items(), located.items())))
    results = [_result(case, bench, weights) for case in cases]
    if corpus is None:
        return results
    return _search_missing(cases, results, corpus, scorer.first if isinstance(scorer, CascadeJudge) else scorer, bench)


def tiers_of(
    traces: Sequence[Trace],
    scorer: Scorer,
    *,
    decomposer: Decomposer | None = None,
    untyped: Untyped = "embedded",
    embedder: Embedder | None = None,
) -> list[Mapping[ScoringItem, int]]:
    """List for each trace what `judge_coverage` asks a scorer, and how it weighs in the headline: 0 is the most.

    Core sub-questions come before others, and among each of these the answer before the passages.
    """
    cases = [_case(trace, decomposer, untyped, embedder) for trace in traces]
    if not reads_references(scorer):
        cases = [replace(case, facets=_without_references(case.facets)) for case in cases]
    return [_tiers(case) for case in cases]


def _tiers(case: _Case) -> dict[ScoringItem, int]:
    found: dict[ScoringItem, int] = {}
    for judged in (*case.texts_to_locate(), *(case.prompt or ())):
        for facet in case.facets if judged.text else ():
            tier = 2 * (facet.role != Role.CORE) + (judged is not case.answer)
            for item in judged.items(facet):
                if isinstance(item, ScoringItem):
                    found[item] = min(tier, found.get(item, tier))
    return found


def coverage_table(result: CoverageResult) -> CoverageTable:
    """Reduce a result to what the metrics count."""
    return CoverageTable(tuple(map(_row, result.sub_questions)))


def _case(trace: Trace, decomposer: Decomposer | None, untyped: Untyped, embedder: Embedder | None) -> _Case:
    on_nuggets = trace.sub_questions is None and trace.nuggets is not None
    facets, source = _nuggets(trace) if on_nuggets else _sub_questions(trace, decomposer, untyped, embedder)
    own = on_nuggets and _are_of_own_passages(trace)
    retrieved = any(not step.replaces for step in trace.steps) and not own
    prompt, assumed = trace.effective_prompt
    return _Case(
        facets=facets,
        on_nuggets=on_nuggets,
        from_own_passages=own,
        decomposed_by=source,
        chunk_keys=() if own else tuple(passage.key for passage in trace.chunks),
        chunks=tuple(map(_text_to_judge, trace.chunks)) if retrieved else None,
        prompt=None if prompt is None else tuple(map(_text_to_judge, prompt)),
        prompt_assumed=assumed,
        answer=None if trace.answer is None else _answer_to_judge(trace.answer, ask_plainly(trace.question.text)),
        failed=find_failing_queries(trace, (each.question or each.text for each in facets)),
        read_by=_find_readers(trace),
        most_retrieved=max((len(step.passages) for step in trace.steps if not step.replaces), default=0),
    )


def _answer_to_judge(answer: str, question: str) -> JudgedText:
    return JudgedText(blank_opener(answer, question) if answer.strip() else "", 0, question)


def _find_readers(trace: Trace) -> dict[str, str | None]:
    """Name the engine whose model first read each chunk to write an answer or a part of it, by the chunk's key."""
    readers: dict[str, str | None] = {}
    for call in trace.calls or ():
        named = set(call.passages or ()) if call.purpose == "answer" else ()
        for passage in trace.chunks:
            if passage.key in named or passage.id in named:
                readers.setdefault(passage.key, call.engine)
    return readers


def _are_of_own_passages(trace: Trace) -> bool:
    """Return whether all nuggets come from passages that this trace retrieved, so that these say nothing of its retrieval."""
    keys = {passage.key for passage in trace.chunks} | {passage.id for passage in trace.chunks if passage.id}
    sources = [source for nugget in trace.nuggets or () for source in nugget.sources]
    sourced = all(nugget.sources for nugget in trace.nuggets or ())
    return bool(sources) and sourced and all(source.kind == "passage" and source.id in keys for source in sources)


def _with_controls(case: _Case) -> _Case:
    """Add answers that say nothing, where there is an answer: the question again, and a refusal."""
    if case.answer is None or not case.answer.text:
        return case
    question = case.answer.user_question
    return replace(case, controls=tuple(JudgedText(text, 0, question) for text in (question, _REFUSAL)))


def _controls(case: _Case, bench: Bench) -> Controls | None:
    if not case.controls or not case.core:
        return None
    echoed, refused = (sum(bench.covers(control, each) for each in case.core) for control in case.controls)
    return Controls(echoed, refused, len(case.core))


def find_failing_queries(trace: Trace, asked: Iterable[str]) -> frozenset[str]:
    """Return what failed steps were asked for, as plain queries: all that is ``asked``, where no other retrieved."""
    searches = [step for step in trace.steps if not step.replaces]
    errors = [step for step in searches if step.error is not None]
    queries = [step.query for step in errors]
    if errors and len(errors) == len(searches):
        queries += asked
    return frozenset(map(plain_query, queries)) - {""}  # a step without a query searched for nothing known


def _nuggets(trace: Trace) -> tuple[tuple[CoverageFacet, ...], RoleSource]:
    return tuple(map(CoverageFacet.of_nugget, trace.nuggets or ())), "given"


def _sub_questions(
    trace: Trace, decomposer: Decomposer | None, untyped: Untyped, embedder: Embedder | None
) -> tuple[tuple[CoverageFacet, ...], RoleSource]:
    found, source = _split(trace, decomposer)
    typed = assign_roles(trace.question, _with_references(trace, found), untyped, embedder)
    return tuple(map(CoverageFacet.of_sub_question, typed)), source


def _split(trace: Trace, decomposer: Decomposer | None) -> tuple[Sequence[SubQuestion], RoleSource]:
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
    return plain_query(question).rstrip(" ?.!")


def _without_references(facets: Sequence[CoverageFacet]) -> tuple[CoverageFacet, ...]:
    return tuple(replace(each, references=()) for each in facets)


def _abstentions(detector: AbstentionDetector | None, cases: Sequence[_Case], bench: Bench) -> Mapping[ScoringItem, Abstention]:
    """Ask how far answers decline their whole question, and the sub-questions that they do not cover."""
    if detector is None:
        return {}
    answered = ((case.answer, case.facets) for case in cases if case.answer is not None and case.answer.text)
    missed = ((answer, [each for each in facets if not bench.covers(answer, each)]) for answer, facets in answered)
    return abstentions(detector, (item for answer, facets in missed for item in answer.abstention_items(facets)))


def _text_to_judge(passage: Passage) -> JudgedText:
    if not passage.text.strip():
        return JudgedText("")
    text = prepend_title(passage.title, passage.text)
    return JudgedText(text, len(text) - len(passage.text))


def _items_to_locate(cases: Sequence[_Case], bench: Bench) -> Iterator[ScoringItem]:
    for case in cases:
        for judged in case.texts_to_locate():
            items = (judged.items(each)[0] for each in case.facets if bench.covers(judged, each))
            yield from (item for item in items if isinstance(item, ScoringItem))


def _result(case: _Case, bench: Bench, weights: Mapping[Role, float]) -> CoverageResult:
    judged = tuple(_sub_question(case, bench, facet) for facet in case.facets)
    stated = bool(case.facets) and all(facet.question is None for facet in case.facets)
    reply = None if stated or bench.cuts["reply"] == bench.cuts["passage"] else bench.cuts["reply"]
    abstained = _abstained(case, bench)
    return CoverageResult(
        sub_questions=judged,
        chunk_keys=case.chunk_keys,
        threshold=bench.statement_cut if stated else bench.cuts["passage"],
        rating=rating(CoverageTable(tuple(map(_row, judged))), weights=weights),
        prompt_assumed=case.prompt_assumed,
        decomposed_by=case.decomposed_by,
        reply_threshold=reply,
        abstained=abstained,
        controls=_controls(case, bench),
        answer_words=None if case.answer is None else count_words(case.answer.text),
        repeats_question=abstained != "wholly" and _repeats_question(case, judged),
        on_nuggets=case.on_nuggets,
        from_own_passages=case.from_own_passages,
        cascade=CascadeCounts.of(bench.fates[item] for item in dict.fromkeys(case.items()) if item in bench.fates),
    )


def _abstained(case: _Case, bench: Bench) -> Abstention | None:
    """Return whether the answer declines: of several sub-questions, wholly where it declines each, not where it covers each."""
    if (answer := case.answer) is None:
        return None
    said = bench.abstention(answer)
    if said == "partly" and len(case.facets) > 1:
        if all(bench.covers(answer, facet) for facet in case.facets):
            return "no"
        if all(bench.verdict(answer, facet).refused for facet in case.facets):
            return "wholly"
    return said


def _repeats_question(case: _Case, judged: Sequence[SubQuestionCoverage]) -> bool:
    """Return whether an answer that covers no core sub-question only repeats the question."""
    covers = any(each.answer.covered for each in judged if each.role == Role.CORE and each.answer is not None)
    return case.answer is not None and not covers and repeats(case.answer.user_question, case.answer.text)


def _sub_question(case: _Case, bench: Bench, facet: CoverageFacet) -> SubQuestionCoverage:
    answer = bench.verdict(case.answer, facet) if case.answer else None
    chunks = None if case.chunks is None else tuple(bench.verdict(chunk, facet) for chunk in case.chunks)
    in_prompt = None if case.prompt is None else any(bench.covers(passage, facet) for passage in case.prompt)
    failed = plain_query(facet.question or facet.text) in case.failed
    loss = find_loss(answer, chunks, in_prompt=in_prompt, failed=failed, own=case.from_own_passages)
    covering = [key for key, chunk in zip(case.chunk_keys, chunks or (), strict=False) if chunk.covered]
    read = [case.read_by[key] for key in covering if key in case.read_by]
    is_in_sub_answer = loss is Loss.DROPPED and bool(read)
    return SubQuestionCoverage(
        text=facet.text,
        role=facet.role,
        role_source=facet.role_source,
        answer=answer,
        position=_position(case.answer, answer),
        chunks=chunks,
        in_prompt=in_prompt,
        loss=Loss.SUB_ANSWER if is_in_sub_answer else loss,
        lost_by=read[0] if is_in_sub_answer else None,
        evidence=_evidence(case, bench, facet),
        question=facet.question if case.on_nuggets else None,
    )


def _position(judged: JudgedText | None, verdict: Verdict | None) -> float | None:
    if judged is None or verdict is None or verdict.fragment is None:
        return None
    return addressing_position(judged.text, verdict.fragment.of(judged.text))


def find_loss(
    answer: Verdict | None, chunks: tuple[Verdict, ...] | None, *, in_prompt: bool | None, failed: bool, own: bool
) -> Loss | None:
    """Return the stage at which a sub-question that the answer does not cover was lost; None where that is unknown.

    ``own`` tells that it comes from passages of this trace, so that no loss before the prompt is told.
    """
    if answer is None or answer.covered or in_prompt is None:
        return None
    if in_prompt:
        return Loss.UNUSED
    if own:
        return None
    if any(chunk.covered for chunk in chunks or ()):
        return Loss.DROPPED
    return Loss.FAILED if failed else Loss.NOT_RETRIEVED


def _evidence(case: _Case, bench: Bench, facet: CoverageFacet) -> LossEvidence | None:
    if case.answer is None or case.prompt is None:
        return None

    def highest(texts: Sequence[JudgedText] | None) -> float:
        return max((bench.probability(each, facet) for each in texts or ()), default=0.0)

    left_out = [chunk for chunk in case.chunks or () if chunk not in case.prompt]
    return LossEvidence(
        bench.probability(case.answer, facet),
        highest(case.prompt),
        highest(left_out),
        contradicted=_is_contradicted(case, bench, facet),
        nested=facet.question is not None and bool(hops_of(facet.question)),
        entails=facet.question is None and bench.entails,
    )


def _is_contradicted(case: _Case, bench: Bench, facet: CoverageFacet) -> bool:
    """Return whether the answer says that it lacks what an unsure verdict says that its prompt has.

    An answer that declines the whole question is no evidence on a single part: it may decline whatever it was given.
    """
    answer = case.answer
    if answer is None or bench.abstention(answer) == "wholly" or not bench.verdict(answer, facet).refused:
        return False
    verdicts = [bench.verdict(passage, facet) for passage in case.prompt or ()]
    return not any(verdict.covered and verdict.certain for verdict in verdicts)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A core sub-question that was not retrieved: its places, what the corpus is searched for, and what is judged of it."""

    case: int
    row: int
    facet: CoverageFacet
    question: str

    @property
    def query(self) -> str:
        return self.facet.question or self.facet.text


def _search_missing(
    cases: Sequence[_Case], results: Sequence[CoverageResult], corpus: Retriever, scorer: Scorer, bench: Bench
) -> list[CoverageResult]:
    """Look for core sub-questions that were not retrieved in the corpus: each search and each pair once."""
    missing = [
        _Missing(at, row, case.facets[row], case.answer.user_question)
        for at, (case, result) in enumerate(zip(cases, results, strict=True))
        for row, each in enumerate(result.sub_questions)
        if case.answer is not None and each.role == Role.CORE and each.loss is Loss.NOT_RETRIEVED
    ]
    if not missing:
        return list(results)
    searched = SearchedCorpus(corpus, [query for each in missing for query in (each.query, each.question)])
    near = [[_text_to_judge(passage) for passage in searched.nearest(each.query)] for each in missing]
    pairs = ((text, each.facet) for each, texts in zip(missing, near, strict=True) for text in texts if text.text)
    judged = bench.judging(scorer, (item for text, facet in pairs for item in text.items(facet)))
    rows = [list(result.sub_questions) for result in results]
    for each, texts in zip(missing, near, strict=True):
        found = searched.summed_up(
            each.query,
            each.question,
            [judged.probability(text, each.facet) for text in texts],
            retrieved=cases[each.case].most_retrieved,
        )
        is_missing = found.error is None and found.covering is None
        loss = Loss.NOT_IN_CORPUS if is_missing else Loss.NOT_RETRIEVED
        rows[each.case][each.row] = replace(rows[each.case][each.row], corpus=found, loss=loss)
    return [replace(result, sub_questions=tuple(each)) for result, each in zip(results, rows, strict=True)]


def _row(judged: SubQuestionCoverage) -> CoverageRow:
    return CoverageRow(
        role=judged.role,
        answered=judged.answer.covered if judged.answer else None,
        chunks=None if judged.chunks is None else tuple(chunk.covered for chunk in judged.chunks),
        position=judged.position,
    )
