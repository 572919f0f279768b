"""What is judged, and what the judge said of it: facets of a full answer, texts as the judge reads them, verdicts on both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_cover.backends import Abstention, CertainCuts, Mode, Scorer, ScoringItem, Span, mode_of
from rag_cover.cascade import CascadeJudge, VerdictFate
from rag_cover.coverage.quotations import is_yes_or_no, quotes_any
from rag_cover.coverage.result import Verdict
from rag_cover.model_calls import ask_probabilities
from rag_cover.nuggets import Nugget, role_for
from rag_cover.questions import Role, RoleSource, SubQuestion
from rag_cover.statements import StatementItem, judge_statements
from rag_cover.stats.logistic import recentre

__all__ = ["Bench", "CoverageFacet", "Item", "JudgedText"]

Item = ScoringItem | StatementItem
"""What a judge is asked: does a text answer a question, or state a statement?"""


@dataclass(frozen=True, slots=True)
class CoverageFacet:
    """What a full answer covers: a sub-question, or a nugget, whose ``question`` is None where it is judged as a statement."""

    text: str
    role: Role | None
    role_source: RoleSource | None
    question: str | None
    references: tuple[str, ...] = ()

    @classmethod
    def of_sub_question(cls, given: SubQuestion) -> CoverageFacet:
        """Return a sub-question as what is asked."""
        return cls(given.text, given.role, given.role_source, given.text, given.references)

    @classmethod
    def of_nugget(cls, given: Nugget) -> CoverageFacet:
        """Return a nugget: its question, where it has one, else its statement."""
        return cls(given.text, role_for(given.importance), given.importance_source, given.question)


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text as the judge reads it; ``title`` characters at its start are not the passage's own.

    ``user_question`` is what an answer replies to, empty for passages.
    """

    text: str
    title: int = 0
    user_question: str = ""

    def item(self, facet: CoverageFacet) -> Item:
        """Return what the judge is asked about the text."""
        if facet.question is None:
            return StatementItem(facet.text, self.text, self.user_question)
        return ScoringItem(facet.question, self.text, facet.references, self.user_question)

    def items(self, facet: CoverageFacet) -> tuple[Item, ...]:
        """List what must be true of the text: a passage must agree with a reference and answer the sub-question, too.

        A passage that quotes a reference agrees with it, and no passage words itself as "yes" or "no": such a one is only
        asked whether it answers.
        """
        item = self.item(facet)
        if isinstance(item, StatementItem) or self.user_question or not item.references:
            return (item,)
        answers = replace(item, references=())
        is_settled = all(map(is_yes_or_no, item.references)) or quotes_any(item.text, item.references)
        return (answers,) if is_settled else (item, answers)

    def abstention_items(self, facets: Sequence[CoverageFacet]) -> Iterator[ScoringItem]:
        """List what the detector is asked about an answer: the whole question, then each sub-question."""
        for text in (self.user_question, *(each.question for each in facets if each.question is not None)):
            yield ScoringItem(text, self.text, user_question=self.user_question)

    def own(self, span: Span | None) -> Span | None:
        """Map a fragment to the passage's own text; None where it lies in the title."""
        if span is None or span.end <= self.title:
            return None
        return Span(max(0, span.start - self.title), span.end - self.title)


@dataclass(frozen=True, slots=True)
class Bench:
    """What the models said, and the cut from which it counts; ``fates`` tell how a cascade came to its verdicts.

    The judge ``entails`` statements where it cannot judge them otherwise (`StatementJudge`).
    """

    cuts: Mapping[Mode, float]
    statement_cut: float
    certain: CertainCuts
    scores: Mapping[Item, float] = field(default_factory=dict)
    spans: Mapping[Item, Span | None] = field(default_factory=dict)
    partial: frozenset[StatementItem] = frozenset()
    abstentions: Mapping[ScoringItem, Abstention] = field(default_factory=dict)
    fates: Mapping[Item, VerdictFate] = field(default_factory=dict)
    entails: bool = False

    def judging(self, scorer: Scorer, items: Iterable[Item]) -> Bench:
        """Return what is known once these are judged, too."""
        new = [item for item in items if item not in self.scores]
        stated = judge_statements(scorer, (item for item in new if isinstance(item, StatementItem)))
        scores: dict[Item, float] = {**self.scores, **{item: verdict.probability for item, verdict in stated.items()}}
        asked = [item for item in dict.fromkeys(new) if isinstance(item, ScoringItem)]
        fates = dict(self.fates)
        if isinstance(scorer, CascadeJudge):
            verdicts = dict(zip(asked, scorer.judge(asked), strict=True))
            scores.update((item, verdict.probability) for item, verdict in verdicts.items())
            fates.update((item, verdict.how) for item, verdict in verdicts.items())
        else:
            scores.update(ask_probabilities(scorer, asked).items())
        spans = dict(self.spans)
        spans.update((item, verdict.fragment) for item, verdict in stated.items())
        partial = self.partial | {item for item, verdict in stated.items() if verdict.partial}
        return replace(self, scores=scores, spans=spans, partial=partial, fates=fates)

    def cut_of(self, item: Item) -> float:
        """Return the probability from which an item counts."""
        return self.statement_cut if isinstance(item, StatementItem) else self.cuts[mode_of(item)]

    def covers(self, judged: JudgedText, facet: CoverageFacet) -> bool:
        """Return whether a text covers a facet; a blank one covers none."""
        return bool(judged.text) and all(self.scores[item] >= self.cut_of(item) for item in judged.items(facet))

    def is_certain(self, item: Item) -> bool:
        """Return whether the probability lies outside the judge's two cuts, or the model of a cascade was asked."""
        if item in self.fates and self.fates[item].is_by_model:
            return True
        if isinstance(item, StatementItem) or not item.text or (cuts := self.certain.get(mode_of(item))) is None:
            return True
        return not cuts[0] < self.scores[item] < cuts[1]

    def probability(self, judged: JudgedText, facet: CoverageFacet) -> float:
        """Return the probability that a text covers, as if its cut were a half."""
        if not judged.text:
            return 0.0
        return min(recentre(self.scores[item], cut=self.cut_of(item)) for item in judged.items(facet))

    def abstention(self, answer: JudgedText) -> Abstention | None:
        """Return how far an answer declines the whole question, None where nobody was asked."""
        return self.abstentions.get(next(answer.abstention_items(())))

    def verdict(self, judged: JudgedText, facet: CoverageFacet) -> Verdict:
        """Return what is said of a text and a facet."""
        items = judged.items(facet)
        covered = self.covers(judged, facet)
        asked = None if facet.question is None else ScoringItem(facet.question, judged.text, user_question=judged.user_question)
        return Verdict(
            min(self.scores.get(item, 0.0) for item in items),
            covered,
            judged.own(self.spans.get(items[0])),
            certain=all(map(self.is_certain, items)),
            refused=not covered and asked is not None and self.abstentions.get(asked) == "wholly",
            partial=not covered and items[0] in self.partial,
        )
