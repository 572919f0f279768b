"""What judging the coverage of one trace gives: a verdict for every sub-question and text, and where a lost one was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from rag_cover.backends import Abstention, Span
from rag_cover.coverage.cascade_counts import CascadeCounts
from rag_cover.coverage.corpus_search import CorpusSearch
from rag_cover.coverage.nugget_scores import NuggetScores, score_nuggets
from rag_cover.measures.texts import PassageKey, Text
from rag_cover.nuggets import Assignment, importance_for
from rag_cover.questions import Role, RoleSource

__all__ = ["CLEAR_LOSS", "Controls", "CoverageResult", "Loss", "LossEvidence", "SubQuestionCoverage", "Verdict"]


_FIGURES = 4  # of a loss's evidence that are always written
CLEAR_LOSS = 0.5
"""The probability from which a loss is named: it is at least as likely right as not."""


class Loss(StrEnum):
    """Where an uncovered sub-question was lost, in the order of its way into the answer.

    ``FAILED``: a retrieve or tool step whose query is the sub-question ended in an error, and nothing else brought it.
    ``SUB_ANSWER``: a model was shown a passage that covers it and wrote a part of the answer, such as a sub-engine's reply; but
    what the last model was shown covers it no more. ``NOT_IN_CORPUS``: the corpus was searched, and nothing that covers it was
    found (`CorpusSearch`); without a corpus that is among the ``NOT_RETRIEVED``.
    """

    NOT_IN_CORPUS = "not in the corpus"
    FAILED = "its retrieval failed"
    NOT_RETRIEVED = "not retrieved"
    DROPPED = "retrieved, then dropped"
    SUB_ANSWER = "left out of a sub-answer"
    UNUSED = "in the prompt, not used"


@dataclass(frozen=True, slots=True)
class Controls:
    """How many core sub-questions answers that say nothing would cover, of how many: a check of the judge on this question.

    ``echoed`` are covered by the question itself, ``refused`` by a sentence that declines to answer. Both should be 0.
    """

    echoed: int
    refused: int
    of: int


@dataclass(frozen=True, slots=True)
class LossEvidence:
    """The probabilities that a loss follows from, each as if its cut were a half.

    ``answer`` that the answer covers the sub-question; ``prompt`` and ``retrieved`` the highest of the prompt's passages and of
    the chunks that the prompt has not, 0 where there are none. ``contradicted`` tells that the answer, which answers something
    else, declines to answer the sub-question, while no verdict that a prompt passage covers it is certain. A ``nested``
    question asks about what another one answers, so that no single passage need answer it. A nugget's statement is judged by
    whether a text ``entails`` it, which misses much of what texts say in other words.
    """

    answer: float
    prompt: float
    retrieved: float
    contradicted: bool = False
    nested: bool = False
    entails: bool = False

    def probability_of(self, loss: Loss) -> float:
        """Return the probability of the verdicts that a loss follows from, those on answer and passages taken as independent.

        >>> LossEvidence(0.2, 0.1, 0.9).probability_of(Loss.DROPPED) == 0.8 * 0.9 * 0.9
        True
        """
        match loss:
            case Loss.UNUSED:
                passages = self.prompt
            case Loss.DROPPED | Loss.SUB_ANSWER:
                passages = (1 - self.prompt) * self.retrieved
            case _:
                passages = 1 - max(self.prompt, self.retrieved)
        return (1 - self.answer) * passages

    def is_clear(self, loss: Loss) -> bool:
        """Return whether a loss is at least as likely right as not, and nothing contradicts it.

        Whoever wrote an answer in part and says that the rest is not in the documents has read them: that stands against an
        unsure verdict that the prompt has it. That no passage answers a nested question is no sign that one was not retrieved.

        >>> LossEvidence(0.1, 0.8, 0.0).is_clear(Loss.UNUSED), LossEvidence(0.1, 0.8, 0.0, True).is_clear(Loss.UNUSED)
        (True, False)
        >>> LossEvidence(0.1, 0.2, 0.0, nested=True).is_clear(Loss.NOT_RETRIEVED)
        False
        """
        contradicted = self.contradicted and loss is Loss.UNUSED
        unseen = self.nested and loss is not Loss.UNUSED
        return not (contradicted or unseen or self.entails) and self.probability_of(loss) >= CLEAR_LOSS

    def to_list(self) -> list[float | bool]:
        """Write as JSON data, without flags at the end that are not set."""
        values = list(astuple(self))
        while values[-1] is False and len(values) > _FIGURES:
            values.pop()
        return values


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgment of (sub-question, text): its probability, whether that reaches the threshold, the answering fragment.

    ``fragment`` are code points of the answer, or of the passage's own text without its title; None where it is not covered
    or the judge offers no Locator. ``certain`` is False where the probability lies between the judge's two cuts
    (`rag_cover.backends.CertainCuts`). ``refused`` (replies only): the text declines to answer the sub-question. ``partial``
    (nuggets only, by judges that can tell it): the text states a part of the nugget, which does not cover it. ``judged``:
    what the judge says where a person's label stands in its place (``covered``); the probability is the judge's still.
    """

    probability: float
    covered: bool
    fragment: Span | None = None
    certain: bool = True
    refused: bool = False
    partial: bool = False
    judged: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; ``certain`` and what follows it only where they are not as usual."""
        data: dict[str, Any] = {"p": self.probability, "covered": self.covered}
        if self.fragment:
            data["fragment"] = [self.fragment.start, self.fragment.end]
        if not self.certain:
            data["certain"] = False
        if self.refused:
            data["refused"] = True
        if self.partial:
            data["partial"] = True
        if self.judged is not None:
            data["judged"] = self.judged
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        fragment = data.get("fragment")
        return cls(
            data["p"],
            data["covered"],
            Span(*fragment) if fragment else None,
            certain=data.get("certain", True),
            refused=data.get("refused", False),
            partial=data.get("partial", False),
            judged=data.get("judged"),
        )

    @property
    def assignment(self) -> Assignment:
        """Return the verdict in the words of the TREC 2024 RAG track."""
        if self.covered:
            return Assignment.SUPPORT
        return Assignment.PARTIAL_SUPPORT if self.partial else Assignment.NOT_SUPPORT


@dataclass(frozen=True, slots=True)
class SubQuestionCoverage:
    """One sub-question of one trace, or one nugget, of which ``text`` is the statement.

    ``answer`` is None where the trace has no answer, ``chunks`` (aligned with `CoverageResult.chunk_keys`) is None where it
    has no retrieval steps, ``in_prompt`` where what the answer was written from is unknown too. ``position`` is where in the
    answer its fragment begins, in (0, 1] of its words. ``loss`` is set for a sub-question that the answer does not cover,
    None where that is unknown; ``evidence`` is None where it would be unknown even for one that is not covered. ``lost_by``
    names the part of the pipeline that left it out of a sub-answer, where that is known. In ``question`` is what a nugget was
    judged by, where it brought one. ``corpus`` is what the corpus has on a core sub-question that was not retrieved; None where
    it was not searched.
    """

    text: Annotated[str, Text()]
    role: Role | None
    role_source: Annotated[RoleSource, Text(quotes=False)] | None
    answer: Verdict | None = None
    position: float | None = None
    chunks: tuple[Verdict, ...] | None = None
    in_prompt: bool | None = None
    loss: Loss | None = None
    evidence: LossEvidence | None = None
    lost_by: Annotated[str, Text()] | None = None
    question: Annotated[str, Text()] | None = None
    corpus: CorpusSearch | None = None

    @property
    def is_loss_clear(self) -> bool:
        """Return whether the loss may be named (`LossEvidence.is_clear`); one whose evidence was not kept counts as clear.

        That the corpus lacks it is named where nothing there speaks against it (`CorpusSearch.lacks_clearly`).
        """
        if self.loss is None:
            return False
        if self.loss is Loss.NOT_IN_CORPUS and self.corpus is not None and not self.corpus.lacks_clearly:
            return False
        return self.evidence is None or self.evidence.is_clear(self.loss)

    @property
    def retrieved(self) -> bool | None:
        """Check whether some chunk covers the sub-question; None without retrieval steps."""
        return None if self.chunks is None else any(verdict.covered for verdict in self.chunks)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "text": self.text,
            "role": self.role,
            "role_source": self.role_source,
            "answer": self.answer.to_dict() if self.answer else None,
            "position": self.position,
            "chunks": None if self.chunks is None else [verdict.to_dict() for verdict in self.chunks],
            "in_prompt": self.in_prompt,
            "loss": self.loss,
            **({"evidence": self.evidence.to_list()} if self.evidence else {}),
            **({} if self.lost_by is None else {"lost_by": self.lost_by}),
            **({"question": self.question} if self.question else {}),
            **({"corpus": self.corpus.to_dict()} if self.corpus else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(
            text=data["text"],
            role=Role(data["role"]) if data["role"] else None,
            role_source=data["role_source"],
            answer=Verdict.from_dict(data["answer"]) if data["answer"] else None,
            position=data["position"],
            chunks=None if data["chunks"] is None else tuple(map(Verdict.from_dict, data["chunks"])),
            in_prompt=data["in_prompt"],
            loss=Loss(data["loss"]) if data["loss"] else None,
            evidence=LossEvidence(*data["evidence"]) if data.get("evidence") else None,
            lost_by=data.get("lost_by"),
            question=data.get("question"),
            corpus=CorpusSearch.from_dict(data["corpus"]) if data.get("corpus") else None,
        )


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """The coverage of one trace (coverage paper, §3).

    ``chunk_keys`` are the `Passage.key` of the trace's chunks; ``prompt_assumed`` tells that the prompt was taken to be the
    last context; ``decomposed_by`` who made the sub-questions. ``reply_threshold`` is the cut for the answer, None where it is
    ``threshold``. ``abstained`` tells whether the answer declines to answer; None without an answer or without a detector.
    ``controls`` are None without an answer, without core sub-questions, and where a remote judge would be paid for them.
    ``answer_words`` counts the answer's words, None without an answer; ``repeats_question`` tells that they only repeat the
    question (`rag_cover.coverage.replies`). ``on_nuggets`` tells that ``sub_questions`` are nuggets: vital ones stand in
    the place of core sub-questions, okay ones in that of background ones. ``from_own_passages`` tells that all of them come
    from passages that this trace retrieved: its retrieval is then not judged by them, and no loss before the prompt is told.
    ``cascade`` counts how a cascade of judges came to the verdicts; None where another judge judged.
    """

    sub_questions: tuple[SubQuestionCoverage, ...]
    chunk_keys: tuple[PassageKey, ...]
    threshold: float
    rating: float | None
    prompt_assumed: bool
    decomposed_by: Annotated[RoleSource, Text(quotes=False)]
    reply_threshold: float | None = None
    abstained: Abstention | None = None
    controls: Controls | None = None
    answer_words: int | None = None
    repeats_question: bool = False
    on_nuggets: bool = False
    from_own_passages: bool = False
    cascade: CascadeCounts | None = None

    def noun_of(self, role: Role | None) -> str:
        """Name what was judged: a sub-question of a role, or a nugget of an importance."""
        if not self.on_nuggets:
            return f"{role} sub-question" if role else "sub-question"
        return f"{'vital' if role == Role.CORE else 'okay'} nugget" if role else "nugget"

    @property
    def core_coverage(self) -> float | None:
        """Return the share of the core sub-questions that the answer covers (#1); None without an answer, or without any."""
        covered = [each.answer.covered for each in self.sub_questions if each.role == Role.CORE and each.answer is not None]
        return sum(covered) / len(covered) if covered else None

    @property
    def core_retrieved(self) -> bool | None:
        """Check whether some retrieved passage covers a core sub-question; None where that is not known of any."""
        known = [each.retrieved for each in self.sub_questions if each.role == Role.CORE and each.retrieved is not None]
        return any(known) if known else None

    @property
    def lost(self) -> tuple[SubQuestionCoverage, ...]:
        """Return the core sub-questions that the answer does not cover and that were lost somewhere, clearly or not."""
        return tuple(each for each in self.sub_questions if each.role == Role.CORE and each.loss is not None)

    @property
    def unanswered(self) -> tuple[SubQuestionCoverage, ...]:
        """Return the core sub-questions that the answer does not cover, whether or not it is known where they were lost."""
        core = [each for each in self.sub_questions if each.role == Role.CORE]
        return tuple(each for each in core if each.answer is not None and not each.answer.covered)

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return the share of core sub-questions that the answer covers, in [0, 1], and the rating.

        Of nuggets the scores, too: ``nuggets_all``, ``nuggets_vital_strict`` and so on (`NuggetScores`).
        """
        scores = asdict(self.nugget_scores) if self.nugget_scores else {}
        return {
            "core_coverage": self.core_coverage,
            "rating": self.rating,
            **{f"nuggets_{name}": scores[name] for name in scores},
        }

    @property
    def nugget_scores(self) -> NuggetScores | None:
        """Return the scores of the answer by the TREC 2024 RAG track; None without an answer, and of sub-questions."""
        if not self.on_nuggets or any(each.answer is None for each in self.sub_questions):
            return None
        return score_nuggets(
            (importance_for(each.role), each.answer.assignment) for each in self.sub_questions if each.answer is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "sub_questions": [sub_question.to_dict() for sub_question in self.sub_questions],
            "chunk_keys": list(self.chunk_keys),
            "threshold": self.threshold,
            "rating": self.rating,
            "prompt_assumed": self.prompt_assumed,
            "decomposed_by": self.decomposed_by,
            "reply_threshold": self.reply_threshold,
            "abstained": self.abstained,
            **({"controls": list(astuple(self.controls))} if self.controls else {}),
            **({} if self.answer_words is None else {"answer_words": self.answer_words}),
            **({"repeats_question": True} if self.repeats_question else {}),
            **({"on_nuggets": True} if self.on_nuggets else {}),
            **({"from_own_passages": True} if self.from_own_passages else {}),
            **({"cascade": asdict(self.cascade)} if self.cascade else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(
            sub_questions=tuple(map(SubQuestionCoverage.from_dict, data["sub_questions"])),
            chunk_keys=tuple(data["chunk_keys"]),
            threshold=data["threshold"],
            rating=data["rating"],
            prompt_assumed=data["prompt_assumed"],
            decomposed_by=data["decomposed_by"],
            reply_threshold=data.get("reply_threshold"),
            abstained=data.get("abstained"),
            controls=Controls(*data["controls"]) if data.get("controls") else None,
            answer_words=data.get("answer_words"),
            repeats_question=data.get("repeats_question", False),
            on_nuggets=data.get("on_nuggets", False),
            from_own_passages=data.get("from_own_passages", False),
            cascade=CascadeCounts.from_dict(data["cascade"]) if data.get("cascade") else None,
        )
