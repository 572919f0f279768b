"""A question probed by what retrieval brings back for it: does one document answer it, are they about all of it?

The same question may be simple over one corpus and complex over another, which no router sees that reads its words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Failure, Relevance, Retriever, Scorer, fingerprint_of
from rag_cover.cascade import CascadeJudge
from rag_cover.complexity.calibration import Calibration
from rag_cover.complexity.choices import AnswerSource, Constraints
from rag_cover.complexity.evidence import Case, Read, read_documents
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.shipped_calibrations import calibration_for
from rag_cover.complexity.verdicts import complexity_from
from rag_cover.decomposition.multihop import hops_of
from rag_cover.english.indirect import ask_plainly
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage, Question

__all__ = ["Retrieved", "complexities_of", "complexity_of", "fit_to_hops", "probe"]

Retrieved = tuple[Question | str, Sequence[Passage], Sequence[str]]
"""A question, what was retrieved for it, and its gold answers, of which there may be none."""


def probe(  # noqa: PLR0913  # one question; every argument but three has a default
    question: Question | str,
    retriever: Retriever,
    scorer: Scorer,
    *,
    k: int = 10,
    references: Sequence[str] | None = None,
    relevance: Relevance | None = None,
    draft: str | None = None,
    calibration: Calibration | None = None,
    t_ans: float | None = None,
    t_com: float | None = None,
    constraints: Constraints | None = None,
) -> Complexity:
    """Retrieve k passages for a question and judge how complex it is for them; `complexity_of` explains the arguments.

    Raises:
        InvalidValueError: k below 1, or as `complexity_of`.
        ModelFailedError: the scorer failed on every passage.
    """
    refuse_below(1, k=k)
    passages = retriever.retrieve(_text(question), k=k)
    return complexity_of(
        question,
        passages,
        scorer,
        references=references,
        relevance=relevance,
        draft=draft,
        calibration=calibration,
        t_ans=t_ans,
        t_com=t_com,
        constraints=constraints,
    )


def complexity_of(  # noqa: PLR0913  # as `probe`
    question: Question | str,
    passages: Sequence[Passage],
    scorer: Scorer,
    *,
    references: Sequence[str] | None = None,
    relevance: Relevance | None = None,
    draft: str | None = None,
    calibration: Calibration | None = None,
    t_ans: float | None = None,
    t_com: float | None = None,
    constraints: Constraints | None = None,
) -> Complexity:
    """Judge how complex a question is for the passages that were retrieved for it.

    Args:
        question: what is asked.
        passages: what was retrieved; each distinct one counts once. None at all: not answerable, and complete.
        scorer: tells whether a passage contains a correct answer.
        references: gold answers; None: the question's own, and without any it is judged reference-free.
        relevance: tells which words of the question a passage is about; None: the scorer, where it can. Where nothing tells,
            answerability decides alone.
        draft: an answer that stands in for gold ones, and is marked so in the result.
        calibration: fitted thresholds; None: those that ship for this scorer, else the paper's.
        t_ans: the threshold of answerability, before those of any calibration (`Calibration.t_ans_single_hop` too).
        t_com: the threshold of completeness, likewise.
        constraints: which of the two decide; None: as the calibration says, or both.

    Raises:
        InvalidValueError: a blank draft, or one beside references; a threshold outside [0, 1].
        ModelFailedError: models failed on every passage. One that fails on some leaves these out, with their failures.
    """
    gold = _references(question, references)
    if draft is not None and gold:
        message = "a draft stands in for gold answers, and this question has some; give the one or the other"
        raise InvalidValueError(message)
    if draft is not None and not draft.strip():
        message = "the draft is blank; leave it out to judge without one"
        raise InvalidValueError(message)
    source: AnswerSource = "gold" if gold else "none" if draft is None else "draft"
    asked = _Asked(_text(question), passages, (draft,) if draft is not None else gold, source)
    (found,) = _Settings(scorer, relevance, calibration, t_ans, t_com, constraints).judge([asked])
    if isinstance(found, Failure):
        raise found.error()
    return found


def complexities_of(  # as `complexity_of`
    retrieved: Sequence[Retrieved],
    scorer: Scorer,
    *,
    relevance: Relevance | None = None,
    calibration: Calibration | None = None,
    t_ans: float | None = None,
    t_com: float | None = None,
    constraints: Constraints | None = None,
) -> list[Complexity | Failure]:
    """Judge many questions as `complexity_of` does, in one call to the scorer; one that nothing could be judged of fails alone.

    Where a question is given no gold answers beside it, it is judged by its own, and without any reference-free.

    Raises:
        InvalidValueError: a threshold outside [0, 1], or constraints that are none.
    """
    asked = [
        _Asked(_text(question), passages, gold, "gold" if gold else "none")
        for question, passages, references in retrieved
        for gold in [_references(question, references or None)]
    ]
    return _Settings(scorer, relevance, calibration, t_ans, t_com, constraints).judge(asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its passages, what right answers are like, and where these come from."""

    question: str
    passages: Sequence[Passage]
    references: tuple[str, ...]
    source: AnswerSource

    def case(self, calibration: Calibration) -> Case:
        return Case.of(self.question, self.passages, self.references, twofold=calibration.twofold)


@dataclass(frozen=True, slots=True)
class _Settings:
    """The models and thresholds by which questions are judged."""

    scorer: Scorer
    relevance: Relevance | None
    calibration: Calibration | None
    t_ans: float | None
    t_com: float | None
    constraints: Constraints | None

    def judge(self, asked: Sequence[_Asked]) -> list[Complexity | Failure]:
        """Ask the models about all questions at once, and decide each."""
        calibrations = {source: self._resolve_calibration(source) for source in {each.source for each in asked}}
        reads = read_documents([each.case(calibrations[each.source]) for each in asked], self.scorer, self._relevance_model)
        return [
            self._decide(read, fit_to_hops(calibrations[each.source], each.question), each.source)
            for read, each in zip(reads, asked, strict=True)
        ]

    def _decide(self, read: Read, calibration: Calibration, source: AnswerSource) -> Complexity | Failure:
        failures = [document.failure for document in read.documents if document.failure is not None]
        if failures and len(failures) == len(read.documents):
            return failures[0]
        has_relevance = self._relevance_model is not None
        found = complexity_from(read.documents, read.tokens, calibration, references=source, has_relevance=has_relevance)
        return self._require_parts(replace(found, parts=tuple(part.text for part in read.parts)), read)

    def _require_parts(self, found: Complexity, read: Read) -> Complexity:
        """Let what was retrieved be about all of a question only where some document answers each of its parts."""
        missing = [part.text for part in read.parts if part.best is None or part.best < self.scorer.threshold]
        if not missing:
            return found
        complete = None if found.complete is None else False
        note = f"no passage answers this part of it: {' '.join(missing)}"
        return replace(found, complete=complete, is_complex=False, notes=(*found.notes, note))

    @property
    def _own_judge(self) -> Scorer:
        """Return the judge whose probabilities these are on the scale of: a cascade's are on that of its first judge."""
        return self.scorer.first if isinstance(self.scorer, CascadeJudge) else self.scorer

    @property
    def _relevance_model(self) -> Relevance | None:
        if self.relevance is None and isinstance(judge := self._own_judge, Relevance):
            return judge
        return self.relevance

    def _resolve_calibration(self, source: AnswerSource) -> Calibration:
        wanted = self.constraints or (self.calibration.constraints if self.calibration else "both")
        found = self.calibration or self._preset(source, wanted) or Calibration()
        t_ans = found.t_ans if self.t_ans is None else self.t_ans
        t_com = found.t_com if self.t_com is None else self.t_com
        if wanted != found.constraints:  # its weights are of other features
            found = replace(found, constraints=wanted, weights=(), name="")
        fitted = (t_ans, t_com) == (found.t_ans, found.t_com)
        single = found.t_ans_single_hop if self.t_ans is None else None
        return replace(found, t_ans=t_ans, t_ans_single_hop=single, t_com=t_com, name=found.name if fitted else "")

    def _preset(self, source: AnswerSource, constraints: Constraints) -> Calibration | None:
        """Find what ships for the scorer, which holds only where it tells relevance itself."""
        scorer = fingerprint_of(self._own_judge)
        return calibration_for(scorer, source, constraints) if fingerprint_of(self._relevance_model) == scorer else None


def fit_to_hops(calibration: Calibration, question: str) -> Calibration:
    """Return what a calibration holds for a question: where its words name no hops (`hops_of`), the threshold of such ones."""
    return calibration if hops_of(question) else calibration.for_single_hop()


def _text(question: Question | str) -> str:
    return ask_plainly(question if isinstance(question, str) else question.text)


def _references(question: Question | str, given: Sequence[str] | None) -> tuple[str, ...]:
    if given is not None:
        return (given,) if isinstance(given, str) else tuple(given)
    return () if isinstance(question, str) else question.references
