"""Which statements of an answer follow from the passages that they cite, and which other passages would have been right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_cover.backends import AbstentionDetector, Entailer
from rag_cover.citations.markers import Citation
from rag_cover.citations.metrics import CitedSupport
from rag_cover.citations.result import CitationsResult, CitationVerdict, Finding, StatementCitations
from rag_cover.citations.statements import CitedStatement, read_cited_statements
from rag_cover.claims.entailment import EntailmentMatrix, Premise, ask_entailments
from rag_cover.grounding.statements import Statement, leave_out_refusals, normalise
from rag_cover.model_calls import threshold_in_range
from rag_cover.questions import Passage
from rag_cover.traces import Trace

__all__ = ["judge_citations"]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One trace: its statements, the passages of its prompt and the others that were retrieved, each as a premise."""

    trace: Trace
    statements: tuple[CitedStatement, ...]
    passages: tuple[Passage, ...]
    premises: tuple[Premise, ...]
    prompt_size: int

    def pairs(self) -> Iterator[tuple[Premise, Statement]]:
        for cited in self.statements:
            if any(citation.passages for citation in cited.citations):
                for premise in (*self.premises, self.together(cited.citations), *self.alone(cited), *self.without(cited)):
                    yield premise, cited.statement

    def together(self, citations: Sequence[Citation]) -> Premise:
        """Return what citations cite, read one after the other."""
        places = [place for citation in citations for place in citation.passages]
        return self.premises[places[0]] if len(places) == 1 else Premise.of_passages(self.passages[place] for place in places)

    def alone(self, cited: CitedStatement) -> list[Premise]:
        return [self.together([citation]) for citation in _there(cited)]

    def without(self, cited: CitedStatement) -> list[Premise]:
        """Return what is left of the citations without each of them; a blank premise where that is nothing."""
        there = _there(cited)
        return [self.together([*there[:index], *there[index + 1 :]]) for index in range(len(there))]


def judge_citations(
    traces: Sequence[Trace],
    entailer: Entailer,
    *,
    threshold: float = 0.5,
    most_citations: int | None = None,
    first_number: int = 1,
    abstention: AbstentionDetector | None = None,
) -> list[CitationsResult]:
    """Hold the statements of answers against what they cite, all in one call to the entailer.

    Args:
        traces: what to judge; each has an answer, and its prompt is known or assumed.
        entailer: tells what follows from passages.
        threshold: the probability from which a statement follows.
        most_citations: so many citations of a statement count at most, the first; None: all. ALCE's script takes 3.
        first_number: the number of the prompt's first passage.
        abstention: tells statements that decline to answer, which need no citation; without one they count.

    Raises:
        InvalidValueError: a threshold outside [0, 1].
        ModelFailedError: the entailer returned something that is no probability.
    """
    threshold = threshold_in_range(threshold)
    found = [read_cited_statements(trace, first_number=first_number) for trace in traces]
    if abstention is not None:
        found = _leave_out_refusals(found, traces, abstention)
    sheets = [_sheet(trace, each, most_citations) for trace, each in zip(traces, found, strict=True)]
    matrix = ask_entailments(entailer, (pair for sheet in sheets for pair in sheet.pairs()))
    return [_result(sheet, matrix, threshold) for sheet in sheets]


def _there(cited: CitedStatement) -> list[Citation]:
    return [citation for citation in cited.citations if citation.passages]


def _leave_out_refusals(
    found: Sequence[Sequence[CitedStatement]], traces: Sequence[Trace], detector: AbstentionDetector
) -> list[list[CitedStatement]]:
    statements = [[cited.statement for cited in each] for each in found]
    kept = leave_out_refusals(statements, [trace.question.text for trace in traces], detector)
    return [[cited for cited in each if cited.statement in those] for each, those in zip(found, kept, strict=True)]


def _sheet(trace: Trace, statements: Sequence[CitedStatement], most: int | None) -> _Sheet:
    prompt = trace.effective_prompt[0] or ()
    texts = [normalise(passage.text) for passage in prompt]
    others = [passage for passage in trace.chunks if not _is_among(passage, prompt, texts)]
    passages = (*prompt, *others)
    kept = tuple(replace(each, citations=_first(each.citations, most)) for each in statements)
    return _Sheet(trace, kept, passages, tuple(Premise.of_passages([passage]) for passage in passages), len(prompt))


def _first(citations: Sequence[Citation], most: int | None) -> tuple[Citation, ...]:
    """Keep the first citations, and those of passages that are not there."""
    return tuple(each for place, each in enumerate(citations) if most is None or place < most or not each.passages)


def _is_among(passage: Passage, prompt: Sequence[Passage], texts: Sequence[str]) -> bool:
    """Tell whether a passage, or a part of it, is in the prompt: CitationQueryEngine cuts and numbers what was retrieved."""
    text = normalise(passage.text)
    return any(passage.key == other.key for other in prompt) or any(
        text in other or _unnumbered(other) in text for other in texts if other
    )


def _unnumbered(text: str) -> str:
    """Strip the number that CitationQueryEngine begins a normalised passage with."""
    first, number, rest = (*text.split(" ", 2), "", "", "")[:3]
    return rest if first == "source" and number.isdecimal() and rest else text


def _result(sheet: _Sheet, matrix: EntailmentMatrix, threshold: float) -> CitationsResult:
    return CitationsResult(
        statements=tuple(_judge(cited, sheet, matrix, threshold) for cited in sheet.statements),
        passage_keys=tuple(passage.key for passage in sheet.passages),
        prompt_size=sheet.prompt_size,
        threshold=threshold,
        listed=any(cited.listed for cited in sheet.statements),
        prompt_assumed=sheet.trace.effective_prompt[1],
    )


def _judge(cited: CitedStatement, sheet: _Sheet, matrix: EntailmentMatrix, threshold: float) -> StatementCitations:
    statement, there = cited.statement, _there(cited)
    span = statement.sentence
    start, end = (0, 0) if span is None else (span.start, span.end)
    if not there:
        lost = tuple(CitationVerdict(each.label, (), None, None, (), "missing") for each in cited.citations)
        return StatementCitations(statement.words, start, end, None, lost)
    alone = [matrix.probability(premise, statement) for premise in sheet.alone(cited)]
    without = [matrix.probability(premise, statement) for premise in sheet.without(cited)]
    together = matrix.probability(sheet.together(cited.citations), statement)
    supporting = [place for place, premise in enumerate(sheet.premises) if matrix.probability(premise, statement) >= threshold]
    support = CitedSupport(
        together >= threshold, tuple(each >= threshold for each in alone), tuple(each >= threshold for each in without)
    )
    verdicts = iter(
        CitationVerdict(
            citation.label,
            citation.passages,
            alone[index],
            without[index] if len(there) > 1 else None,
            others := tuple(place for place in supporting if place not in citation.passages),
            _finding(support, index, others=bool(others) and not cited.listed),
        )
        for index, citation in enumerate(there)
    )
    citations = tuple(
        next(verdicts) if each.passages else CitationVerdict(each.label, (), None, None, tuple(supporting), "missing")
        for each in cited.citations
    )
    return StatementCitations(statement.words, start, end, together, citations)


def _finding(support: CitedSupport, index: int, *, others: bool) -> Finding:
    if support.alone[index]:
        return "supports"
    if support.precise[index]:
        return "needed"
    if others:
        return "misattributed"
    return "irrelevant" if support.together else "unsupported"
