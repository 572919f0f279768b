"""The entailment matrix of traces: claims of answers and gold answers, against each other and against passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from rag_cover.backends import AbstentionDetector, Entailer, Failure, Generator, fingerprint_of
from rag_cover.claims.entailment import EntailmentMatrix, Premise, ask_entailments
from rag_cover.claims.extraction import AnswerText, Claims, extract_claims, split_claims
from rag_cover.claims.prompts import ClaimPrompts
from rag_cover.claims.result import ClaimsResult, ClaimVerdicts
from rag_cover.grounding.statements import Statement
from rag_cover.model_calls import threshold_in_range
from rag_cover.questions import Passage
from rag_cover.traces import Trace, distinct

__all__ = ["judge_claims"]

_BY_SENTENCES = "sentences"


@dataclass(frozen=True, slots=True)
class _Side:
    """An answer or a gold answer: its claims, and itself as a premise."""

    claims: Claims
    premise: Premise

    def verdicts(self, other: _Side | None, passages: Sequence[Premise], matrix: EntailmentMatrix) -> tuple[ClaimVerdicts, ...]:
        premise = None if other is None else other.premise
        return tuple(_verdicts(claim, premise, passages, matrix) for claim in self.claims)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One trace: its answer, its gold answers, its passages."""

    trace: Trace
    answer: _Side | None
    gold: tuple[_Side, ...]
    passages: tuple[Passage, ...]
    premises: tuple[Premise, ...]

    def pairs(self) -> Iterator[tuple[Premise, Statement]]:
        if self.answer is not None:
            yield from product((*(gold.premise for gold in self.gold), *self.premises), self.answer.claims)
        for gold in self.gold:
            yield from product((*([self.answer.premise] if self.answer else []), *self.premises), gold.claims)


def judge_claims(
    traces: Sequence[Trace],
    entailer: Entailer,
    *,
    threshold: float = 0.5,
    generator: Generator | None = None,
    prompts: ClaimPrompts | None = None,
    abstention: AbstentionDetector | None = None,
) -> list[ClaimsResult | Failure]:
    """Tell which claims of answers and gold answers follow from which texts, all in one call to the entailer.

    A trace whose claims the generator could not write is a failure that says so.

    Args:
        traces: what to judge.
        entailer: tells what follows from a text.
        threshold: the probability from which a claim follows.
        generator: writes the claims, all in one call; without one each sentence is a claim.
        prompts: its instructions; the shipped ones unless given.
        abstention: tells sentences that decline to answer, which are no claims; not asked where a generator writes the claims.

    Raises:
        InvalidValueError: a threshold outside [0, 1].
        ModelFailedError: the entailer returned something that is no probability.
    """
    threshold = threshold_in_range(threshold)
    texts = list(dict.fromkeys(text for trace in traces for text in _texts(trace)))
    found: list[Claims] | list[Claims | Failure]
    if generator is None:
        made_by, found = _BY_SENTENCES, split_claims(texts, abstention=abstention)
    else:
        made_by = str(getattr(generator, "name", None) or fingerprint_of(generator))
        found = extract_claims(texts, generator, prompts=prompts or ClaimPrompts.read())
    claims: dict[AnswerText, Claims | Failure] = dict(zip(texts, found, strict=True))
    sheets = [_sheet(trace, claims) for trace in traces]
    matrix = ask_entailments(entailer, (pair for sheet in sheets if isinstance(sheet, _Sheet) for pair in sheet.pairs()))
    return [sheet if isinstance(sheet, Failure) else _result(sheet, matrix, threshold, made_by) for sheet in sheets]


def _texts(trace: Trace) -> list[AnswerText]:
    answer = [] if trace.answer is None else [trace.answer]
    return [AnswerText(trace.question.text, text) for text in (*answer, *_references(trace))]


def _references(trace: Trace) -> list[str]:
    return [reference for reference in trace.question.references if reference.strip()]


def _sheet(trace: Trace, claims: Mapping[AnswerText, Claims | Failure]) -> _Sheet | Failure:
    sides: dict[AnswerText, _Side] = {}
    for text in _texts(trace):
        found = claims[text]
        if isinstance(found, Failure):
            return Failure(found.kind, f"the claims of a text could not be had: {found.message}", found.attempts, found.raw)
        sides[text] = _Side(found, Premise.of_answer(text.text, text.question))
    question = trace.question.text
    passages = distinct((*trace.chunks, *(trace.effective_prompt[0] or ())))
    return _Sheet(
        trace,
        None if trace.answer is None else sides[AnswerText(question, trace.answer)],
        tuple(sides[AnswerText(question, reference)] for reference in _references(trace)),
        passages,
        tuple(Premise.of_passages([passage]) for passage in passages),
    )


def _result(sheet: _Sheet, matrix: EntailmentMatrix, threshold: float, made_by: str) -> ClaimsResult:
    """Make the result with the gold answer that the answer agrees with best; of equally good ones the first."""
    candidates = [_with_gold(sheet, index, matrix, threshold, made_by) for index in range(len(sheet.gold))]
    return max(candidates, key=_agreement) if candidates else _with_gold(sheet, None, matrix, threshold, made_by)


def _agreement(result: ClaimsResult) -> tuple[float, ...]:
    values = (result.values[name] for name in ("f1", "recall", "claim_recall"))
    return tuple(-1.0 if value is None else value for value in values)


def _with_gold(sheet: _Sheet, index: int | None, matrix: EntailmentMatrix, threshold: float, made_by: str) -> ClaimsResult:
    gold, answer = None if index is None else sheet.gold[index], sheet.answer
    places = {passage.key: place for place, passage in enumerate(sheet.passages)}
    prompt, assumed = sheet.trace.effective_prompt
    return ClaimsResult(
        answer_claims=None if answer is None else answer.verdicts(gold, sheet.premises, matrix),
        gold_claims=None if gold is None else gold.verdicts(answer, sheet.premises, matrix),
        passage_keys=tuple(places),
        retrieved=tuple(places[passage.key] for passage in sheet.trace.chunks) if sheet.trace.steps else None,
        in_prompt=None if prompt is None else tuple(places[passage.key] for passage in distinct(prompt)),
        threshold=threshold,
        made_by=made_by,
        prompt_assumed=assumed,
        reference=index,
    )


def _verdicts(claim: Statement, other: Premise | None, passages: Sequence[Premise], matrix: EntailmentMatrix) -> ClaimVerdicts:
    span = claim.sentence
    return ClaimVerdicts(
        claim.words,
        None if other is None else matrix.probability(other, claim),
        tuple(matrix.probability(passage, claim) for passage in passages),
        None if span is None else span.start,
        None if span is None else span.end,
    )
